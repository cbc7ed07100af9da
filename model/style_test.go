package model

import (
	"math"
	"testing"

	"mqaproof/model/fp8"
	"mqaproof/model/matrixcore"
)

// heavy is a case at the largest head count and head dim, where sums are
// largest.
func heavy(data Style, heads int) Case {
	return Case{
		Seed: 11, Data: data, NextN: 2, Heads: heads, HeadDim: MaxHeadDim, Page: 16, MaxModelLen: 64,
		Requests: []Request{{ID: 1, Context: 40}, {ID: 2, Context: 17}},
	}
}

// TestExactBound is the proof of values.exact in numbers: from the codes that
// can occur at all, the largest sums at MaxHeads and MaxHeadDim.
func TestExactBound(t *testing.T) {
	for _, f := range []fp8.Format{fp8.E4M3FN, fp8.E4M3FNUZ} {
		v := newValues(Case{Data: Exact}, f)
		largest := func(p *palette) (most float64) {
			for _, code := range p {
				x := float64(f.Decode(code))
				if x != math.Trunc(x) {
					t.Fatalf("%s: code %#x is %v, no integer", f, code, x)
				}
				most = max(most, math.Abs(x))
			}
			return most
		}
		product := 0.0
		for _, q := range v.q {
			product = max(product, largest(q)*largest(v.k))
		}
		dot := product * MaxHeadDim
		if exponent := math.Ilogb(dot); exponent > 13 {
			t.Errorf("%s: a dot can have the exponent %d; Hopper keeps 13 bits below it", f, exponent)
		}
		if sum := dot * exactWeight * MaxHeads; sum >= 1<<24 {
			t.Errorf("%s: sums over heads can reach %v, float32 is exact below 2^24", f, sum)
		}
	}
}

// TestExactOnMatrixCores: every rule gives the exact dots, at 512 dims, with a
// zero accumulator and k in one chain.
func TestExactOnMatrixCores(t *testing.T) {
	in := build(t, heavy(Exact, 128))
	c := in.Case
	n := in.LocalLen(0)
	zero, got := make([]float32, c.Heads*n), make([]float32, c.Heads*n)
	q, k := in.QMatrix(1), in.KMatrix(0)
	for _, rule := range matrixcore.All() {
		rule.MulAdd(in.Format, in.Format, c.Heads, n, c.HeadDim, in.QCodes(1), in.KCodes(0), zero, got)
		for h := range c.Heads {
			for pos := range n {
				want := 0.0
				for d := range c.HeadDim {
					want += q[h*c.HeadDim+d] * k[pos*c.HeadDim+d]
				}
				if float64(got[h*n+pos]) != want {
					t.Fatalf("%s: head %d position %d: %v, exact %v", rule.Name, h, pos, got[h*n+pos], want)
				}
			}
		}
	}
}

// TestExactInAnyOrder computes logits in float32 in the orders that kernels
// use, forward and backward, fused and not, and always finds the exact value.
func TestExactInAnyOrder(t *testing.T) {
	fma := func(a, b, c float32) float32 { return float32(math.FMA(float64(a), float64(b), float64(c))) }
	for _, heads := range []int{1, 128, MaxHeads} {
		in := build(t, heavy(Exact, heads))
		c := in.Case
		for _, row := range []int{0, 3} {
			exact, err := in.ExactRow(row)
			if err != nil {
				t.Fatal(err)
			}
			for pos, want := range exact {
				r, scale := row/c.NextN, in.ScaleAt(row/c.NextN, pos)
				var scaledFirst, scaledLast, fused, backward float32
				for i := range c.Heads {
					dot := func(h int) (sum float32) {
						for d := range c.HeadDim {
							sum += in.QAt(row, h, d) * in.KAt(r, pos, d)
						}
						return max(sum, 0)
					}
					h := c.Heads - 1 - i
					w := in.WeightAt(row, i)
					scaledFirst += dot(i) * scale * w
					scaledLast += dot(i) * w
					fused = fma(dot(i), w, fused)
					backward += dot(h) * in.WeightAt(row, h)
				}
				for name, got := range map[string]float32{
					"scaled first": scaledFirst, "scaled last": scaledLast * scale, "fused": fused * scale, "backward": backward * scale,
				} {
					if got != want {
						t.Fatalf("%d heads, row %d, position %d: %s gives %v, exact %v", heads, row, pos, name, got, want)
					}
				}
				if big, ok := ExactLogit(in, row, pos); !ok {
					t.Fatal("ExactLogit finds a NaN in exact data")
				} else if v, _ := big.Float64(); v != float64(want) {
					t.Fatalf("row %d position %d: ExactLogit %v, ExactRow %v", row, pos, v, want)
				}
			}
		}
	}
}

// TestExactTellsPositions: logits are almost never zero and almost never the
// same at two positions, so that a wrong position shows.
func TestExactTellsPositions(t *testing.T) {
	for _, tc := range []struct{ heads, dims int }{{16, 32}, {32, 64}, {64, 128}, {128, 128}} {
		in := build(t, Case{
			Seed: 3, Data: Exact, NextN: 1, Heads: tc.heads, HeadDim: tc.dims, Page: 16, MaxModelLen: 1000,
			Requests: []Request{{ID: 4, Context: 1000}},
		})
		logits, err := in.ExactRow(0)
		if err != nil {
			t.Fatal(err)
		}
		zeros, neighbours, distinct := 0, 0, map[float32]bool{}
		for pos, v := range logits {
			distinct[v] = true
			if v == 0 {
				zeros++
			}
			if pos > 0 && v == logits[pos-1] {
				neighbours++
			}
		}
		if zeros > 5 || neighbours > 5 || len(distinct) < 700 {
			t.Errorf("%d heads, %d dims: %d zeros, %d equal neighbours, %d distinct of 1000", tc.heads, tc.dims, zeros, neighbours, len(distinct))
		}
	}
}

// traits counts what a style is made of.
type traits struct {
	n, nan, zero, top, subnormal, negative int
}

func codeTraits(f fp8.Format, codes []byte) (t traits) {
	for _, b := range codes {
		v := f.Decode(b)
		t.n++
		switch {
		case v != v:
			t.nan++
		case v == 0:
			t.zero++
		case max(v, -v) == f.Max():
			t.top++
		case max(v, -v) < f.MinSubnormal()*8:
			t.subnormal++
		}
		if v < 0 {
			t.negative++
		}
	}
	return t
}

func TestStyles(t *testing.T) {
	for _, f := range []fp8.Format{fp8.E4M3FN, fp8.E4M3FNUZ} {
		for _, data := range []Style{Exact, Normal, Adversarial, NaN} {
			t.Run(f.String()+"/"+string(data), func(t *testing.T) {
				c := heavy(data, 16)
				c.Requests = manyRequests(32, 40)
				in, err := Build(c, f)
				if err != nil {
					t.Fatal(err)
				}
				for name, tr := range map[string]traits{"q": codeTraits(f, in.Q), "k": codeTraits(f, in.keys)} {
					if tr.nan > 0 != (data == NaN) {
						t.Errorf("%s: %d NaNs of %d", name, tr.nan, tr.n)
					}
					if tr.negative*8 < tr.n {
						t.Errorf("%s: only %d of %d are negative", name, tr.negative, tr.n)
					}
					if data == Adversarial && (tr.top*8 < tr.n || tr.subnormal*8 < tr.n || tr.zero*16 < tr.n) {
						t.Errorf("%s: %+v is not adversarial", name, tr)
					}
				}
				negative, odd, zeroScales := 0, 0, 0
				for _, w := range in.Weights {
					if w < 0 {
						negative++
					}
					if !finite(float64(w)) {
						odd++
					}
				}
				for _, s := range in.scales {
					switch {
					case !finite(float64(s)):
						odd++
					case s == 0:
						zeroScales++
					case s < 0:
						t.Fatalf("scale %v", s)
					case (data == Normal || data == NaN) && (s < 0.0078 || s >= 2):
						t.Fatalf("scale %v is not of 2^-7 to 2", s)
					}
				}
				if negative == 0 {
					t.Error("no weight is negative")
				}
				if odd > 0 != (data == NaN) {
					t.Errorf("%d weights and scales are not finite", odd)
				}
				if zeroScales > 0 != (data == Adversarial) {
					t.Errorf("%d scales are zero", zeroScales)
				}
			})
		}
	}
}

// TestNormalMoments: mean 0 and deviation 1 of keys and weights, within what a
// sample of that size allows.
func TestNormalMoments(t *testing.T) {
	in := build(t, with(func(c *Case) {
		c.Data, c.Heads, c.HeadDim, c.NextN, c.MaxModelLen, c.Requests = Normal, 64, 128, 8, 1000, manyRequests(8, 1000)
	}))
	weights := make([]float64, len(in.Weights))
	for i, w := range in.Weights {
		weights[i] = float64(w)
	}
	for name, xs := range map[string][]float64{"k": in.KMatrix(0), "q": in.QMatrix(0), "weights": weights} {
		sum, squares := 0.0, 0.0
		for _, x := range xs {
			sum += x
			squares += x * x
		}
		n := float64(len(xs))
		mean, deviation := sum/n, math.Sqrt(squares/n)
		if math.Abs(mean) > 5/math.Sqrt(n) || math.Abs(deviation-1) > 4/math.Sqrt(n)+0.005 {
			t.Errorf("%s: mean %.4f, deviation %.4f of %d", name, mean, deviation, len(xs))
		}
	}
}

// TestLogitsStayFinite: only NaN data may give a logit that is not finite in
// float32; -inf is the mask's alone. The bound is over every order of sums: the
// sum of the terms' magnitudes.
func TestLogitsStayFinite(t *testing.T) {
	for _, f := range []fp8.Format{fp8.E4M3FN, fp8.E4M3FNUZ} {
		in, err := Build(heavy(Adversarial, MaxHeads), f)
		if err != nil {
			t.Fatal(err)
		}
		heaviest := 0.0
		for _, w := range in.Weights {
			heaviest = max(heaviest, math.Abs(float64(w)))
		}
		for _, s := range in.scales {
			m := float64(f.Max())
			if worst := float64(s) * m * m * MaxHeadDim * heaviest * MaxHeads; worst > math.MaxFloat32 {
				t.Fatalf("%s: a logit with scale %v can reach %v", f, s, worst)
			}
		}
	}
	// The same from the ranges that the generators document.
	if worst := math.Ldexp(1, 61) * math.Ldexp(1, 21) * 448 * 448 * MaxHeadDim * MaxHeads; worst > math.MaxFloat32 {
		t.Errorf("the documented ranges allow a logit of %v", worst)
	}
	for i := range 1 << 16 {
		h := at(1, i)
		if s := adversarialScale(h); s >= 0x1p61 || s != 0 && s < 0x1p-120 {
			t.Fatalf("scale %v is out of its range", s)
		}
		if w := math.Abs(float64(adversarialWeight(h))); w >= 0x1p21 || w != 0 && w < 0x1p-20 {
			t.Fatalf("weight %v is out of its range", w)
		}
	}
}
