package order_test

import (
	"context"
	"slices"
	"testing"

	"mqaproof/kernels"
	"mqaproof/kernels/order"
	"mqaproof/model"
	"mqaproof/model/matrixcore"
	"mqaproof/model/profile"
	"mqaproof/shrink"
)

// mutations change one detail of a profile. Left out are those that random data
// show once in thousands of cases, which the probes of Derive show (see
// TestDotProbesSeeEveryClause and TestDeriveCompiled): the accumulator's reach,
// and sums that are -0.
var mutations = []struct {
	name   string
	kernel string
	change func(p *profile.Profile)
}{
	{"one bit less of products", "hip/mfma-split", rule(func(r *matrixcore.Rule) { r.Product.Bits-- })},
	{"one bit less of sub-sums", "hip/mfma-split", rule(func(r *matrixcore.Rule) { r.SubSum.Bits-- })},
	{"one bit less of the sum", "hip/mfma-split", rule(func(r *matrixcore.Rule) { r.Sum.Bits-- })},
	{"one bit less of the accumulator", "hip/mfma-split", rule(func(r *matrixcore.Rule) { r.Acc.Bits-- })},
	{"one bit more of the accumulator", "hip/mfma-split", rule(func(r *matrixcore.Rule) { r.Acc.Bits++ })},
	{"products rounded down", "hip/mfma-split", rule(func(r *matrixcore.Rule) { r.Product.Rounding = matrixcore.Floor })},
	{"sub-sums rounded to zero", "hip/mfma-split", rule(func(r *matrixcore.Rule) { r.SubSum.Rounding = matrixcore.Trunc })},
	{"the accumulator rounded to zero", "hip/mfma-split", rule(func(r *matrixcore.Rule) { r.Acc.Rounding = matrixcore.Trunc })},
	{"one sub-sum", "hip/mfma-split", rule(func(r *matrixcore.Rule) { r.SubSums = 1 })},
	{"groups of 32", "hip/mfma-split", rule(func(r *matrixcore.Rule) { r.Group = 32 })},
	{"neighbouring dims swapped", "hip/mfma-split", swapDims(1, 2)},
	{"two groups swapped", "hip/mfma-split", swapDims(0, 16)},
	{"lanes folded before registers", "hip/mfma-split", func(p *profile.Profile) { slices.Reverse(p.Sum.Folds) }},
	{"heads one after the other", "hip/mfma-split", func(p *profile.Profile) { p.Sum.Partials, p.Sum.Folds = 1, nil }},
	{"two heads swapped", "hip/mfma-split", swapHeads},
	{"no fusion", "hip/mfma-split", func(p *profile.Profile) { p.Sum.Fused = false }},
	{"scale last", "hip/mfma-split", func(p *profile.Profile) { p.Scale = profile.ScaleLast }},
	{"scale after relu", "hip/mfma-split", func(p *profile.Profile) { p.Scale = profile.ScaleAfterRelu }},
	{"scale in the weight", "hip/mfma-split", func(p *profile.Profile) { p.Scale = profile.ScaleIntoWeight }},
	{"scale after the weight", "hip/mfma-split", func(p *profile.Profile) { p.Scale = profile.ScaleAfterWeight }},
	{"relu keeps a NaN", "hip/mfma-split", func(p *profile.Profile) { p.Relu = profile.ReluNaN }},
	{"fusion", "hip/per-row", func(p *profile.Profile) { p.Sum.Fused = true }},
	{"lanes in another order", "hip/per-row", func(p *profile.Profile) { slices.Reverse(p.Sum.Folds) }},
	{"scale before relu", "hip/per-row", func(p *profile.Profile) { p.Scale = profile.ScaleBeforeRelu }},
	{"dims from the last", "hip/naive", func(p *profile.Profile) {
		p.Dots = map[int]*profile.Tree{}
		for dim := 1; dim <= 128; dim++ {
			order := make([]int, dim)
			for i := range order {
				order[i] = dim - 1 - i
			}
			p.Dots[dim] = profile.Chain(false, order...)
		}
	}},
	{"heads from the last", "hip/naive", func(p *profile.Profile) {
		p.Heads = map[int]*profile.Tree{}
		for heads := 1; heads <= 64; heads++ {
			order := make([]int, heads)
			for i := range order {
				order[i] = heads - 1 - i
			}
			p.Heads[heads] = profile.Chain(false, order...)
		}
	}},
}

// rule changes the matrix core.
func rule(change func(r *matrixcore.Rule)) func(p *profile.Profile) {
	return func(p *profile.Profile) {
		r := *p.Rule
		r.Name = "mutant"
		change(&r)
		p.Rule = &r
	}
}

func swapDims(a, b int) func(p *profile.Profile) {
	return func(p *profile.Profile) {
		p.Dims = map[int][][]int{}
		for _, dim := range []int{32, 64, 128} {
			order := make([]int, dim)
			for i := range order {
				order[i] = i
			}
			order[a], order[b] = b, a
			p.Dims[dim] = [][]int{order}
		}
	}
}

// swapHeads exchanges heads 0 and 1.
func swapHeads(p *profile.Profile) {
	var swap func(t *profile.Tree) *profile.Tree
	swap = func(t *profile.Tree) *profile.Tree {
		if !t.IsLeaf() {
			return profile.Node(swap(t.A), swap(t.B))
		}
		u := *t
		if u.Term < 2 {
			u.Term = 1 - u.Term
		}
		return &u
	}
	p.Heads = map[int]*profile.Tree{}
	for heads := 2; heads <= 128; heads++ {
		p.Heads[heads] = swap(p.Sum.Tree(heads))
	}
	p.Sum = profile.HeadSum{FromZero: true}
}

// TestMutantsAreCaught changes one detail of a profile at a time: a generated
// case shows it within 100 cases, and shrinks to a small one.
func TestMutantsAreCaught(t *testing.T) {
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := builtin(t, m.kernel, "gfx942")
			right, err := s.NumericProfile()
			if err != nil {
				t.Fatal(err)
			}
			mutant := *right
			mutant.Sum.Folds = slices.Clone(right.Sum.Folds)
			m.change(&mutant)
			if err := mutant.Check(); err != nil {
				t.Fatal(err)
			}
			differs := func(ctx context.Context, c model.Case) (bool, error) {
				if s.Accepts(c) != nil || mutant.Covers(c.Heads, c.HeadDim) != nil {
					return false, nil
				}
				in, err := s.Inputs(c)
				if err != nil {
					return false, err
				}
				r, err := s.Run(ctx, in, kernels.RunOptions{Workers: 1})
				if err != nil {
					return false, err
				}
				d, _, err := order.Compare(s, &mutant, in, r)
				return d != nil, err
			}
			for i, c := range generated(t, s, 1, 100) {
				found, err := differs(t.Context(), c)
				if err != nil {
					t.Fatal(err)
				}
				if !found {
					continue
				}
				out, err := shrink.Case(t.Context(), c, differs, nil)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("case %d, shrunk in %d runs to %s", i, out.Runs, out.Case)
				if len(out.Case.Requests) != 1 || out.Case.Requests[0].Context > 32 {
					t.Errorf("shrunk to %s, want one request and a few tokens", out.Case)
				}
				return
			}
			t.Error("no difference in 100 generated cases")
		})
	}
}
