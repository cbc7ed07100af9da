package order

import (
	"fmt"
	"maps"
	"slices"

	"mqaproof/model/matrixcore"
	"mqaproof/model/profile"
)

// maxPartials bounds the partial sums of a rule that is looked for: the lanes
// of a wave.
const maxPartials = 64

// fitHeads finds one rule for all numbers of heads, and otherwise keeps their
// trees, which then are all that is known.
func fitHeads(p *profile.Profile, trees map[int]*profile.Tree, fromZero map[int]bool) error {
	sizes := slices.Sorted(maps.Keys(trees))
	most := sizes[len(sizes)-1]
	p.Sum.FromZero = fromZero[most]
	for _, n := range sizes {
		if fromZero[n] != p.Sum.FromZero {
			return fmt.Errorf("the sum of %d heads that are all -0 is %v, that of %d is not", n, zero(fromZero[n]), most)
		}
	}
	for sum := range sums(p.Sum.FromZero) {
		fits := true
		for _, n := range sizes {
			fits = fits && sum.Tree(n).Equal(trees[n])
		}
		if fits {
			p.Sum = sum
			return nil
		}
	}
	p.Heads = trees
	return nil
}

func zero(positive bool) string {
	if positive {
		return "+0"
	}
	return "-0"
}

// sums yields rules, simplest first: partial sums of heads 2^n apart, folded in
// twos in every order of the strides.
func sums(fromZero bool) func(yield func(profile.HeadSum) bool) {
	return func(yield func(profile.HeadSum) bool) {
		for partials := 1; partials <= maxPartials; partials *= 2 {
			var strides []int
			for s := 1; s < partials; s *= 2 {
				strides = append(strides, s)
			}
			for order := range permutations(strides) {
				var folds []profile.Fold
				for _, s := range order {
					folds = append(folds, profile.Fold{Stride: s, Count: 2})
				}
				for _, fused := range []bool{false, true} {
					if fused && !fromZero {
						continue // such a rule needs a zero to start from
					}
					if !yield(profile.HeadSum{Partials: partials, Fused: fused, FromZero: fromZero, Folds: folds}) {
						return
					}
				}
			}
		}
	}
}

// permutations yields all orders, the ascending one first.
func permutations(of []int) func(yield func([]int) bool) {
	return func(yield func([]int) bool) {
		var rec func(done, left []int) bool
		rec = func(done, left []int) bool {
			if len(left) == 0 {
				return yield(done)
			}
			for i := range left {
				rest := append(slices.Clone(left[:i]), left[i+1:]...)
				if !rec(append(slices.Clone(done), left[i]), rest) {
					return false
				}
			}
			return true
		}
		rec(nil, of)
	}
}

// fitDims puts the orders of dims into the profile: none at all where they are
// the plain one.
func fitDims(p *profile.Profile, orders map[int]*dotOrder, rule *matrixcore.Rule) error {
	matrix, scalar := 0, 0
	for dim, o := range orders {
		if o.dims != nil {
			matrix = dim
		} else {
			scalar = dim
		}
	}
	plain := true
	trees := map[int]*profile.Tree{}
	if matrix == 0 {
		for dim, o := range orders {
			trees[dim] = o.tree
			plain = plain && o.tree.Equal(profile.Chain(false, count(dim)...))
		}
		if !plain {
			p.Dots = trees
		}
		return nil
	}
	if scalar != 0 {
		return fmt.Errorf("head_dim %d is added in float32, %d by the matrix core: no profile describes both", scalar, matrix)
	}
	p.Rule = rule
	dims := map[int][][]int{}
	for dim, o := range orders {
		for _, chain := range o.dims {
			dims[dim] = append(dims[dim], canonical(rule, chain))
		}
		if o.tree != nil {
			trees[dim] = o.tree
		}
		plain = plain && len(o.dims) == 1 && slices.Equal(dims[dim][0], canonical(rule, count(dim)))
	}
	if !plain {
		p.Dims = dims
	}
	if len(trees) > 0 {
		p.Dots = trees
	}
	return nil
}

// canonical sorts what the rule does not see: the dims of a sub-sum, and the
// sub-sums of a group.
func canonical(rule *matrixcore.Rule, order []int) []int {
	out := slices.Clone(order)
	for at := 0; at < len(out); at += rule.Group {
		group := out[at:min(at+rule.Group, len(out))]
		sums := make([][]int, rule.SubSums)
		for i, d := range group {
			sums[i%rule.SubSums] = append(sums[i%rule.SubSums], d)
		}
		for _, s := range sums {
			slices.Sort(s)
		}
		slices.SortFunc(sums, slices.Compare)
		for i := range group {
			group[i] = sums[i%rule.SubSums][i/rule.SubSums]
		}
	}
	return out
}
