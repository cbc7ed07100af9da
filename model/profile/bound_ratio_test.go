package profile

import (
	"math"
	"math/rand/v2"
	"testing"

	"mqaproof/model/fp8"
)

// shapes are the heads and head_dims for which the bound's tightness is held.
var ratioShapes = [][2]int{{16, 32}, {16, 128}, {32, 64}, {64, 32}, {64, 128}, {128, 32}, {128, 128}}

// TestBoundIsUseful compares the largest error with the bound, for each matrix
// core and shape, over the kernels that the machine has: on data made to
// provoke it at least a tenth, on random data at least a hundredth.
func TestBoundIsUseful(t *testing.T) {
	kinds := []struct {
		name  string
		draws int
		least float64
		draw  func(r *rand.Rand, f fp8.Format, heads, dim int) sample
	}{
		{"provoked", 60, 0.1, provoke},
		{"random", 150, 0.01, func(r *rand.Rand, f fp8.Format, heads, dim int) sample { return draw(r, 0, f, heads, dim, 1) }},
	}
	for _, kind := range kinds {
		for _, shape := range ratioShapes {
			best := map[string]float64{}
			for _, p := range testProfiles() {
				rng := rand.New(rand.NewPCG(41, 42))
				ratio := 0.0
				for range kind.draws {
					s := kind.draw(rng, p.Format, shape[0], shape[1])
					ratio = max(ratio, ratioOf(t, p, s))
				}
				t.Logf("%s, %v: %s on %s: %.3g", kind.name, shape, p.Name, p.Target, ratio)
				best[p.Target] = max(best[p.Target], ratio)
			}
			for target, ratio := range best {
				if ratio < kind.least {
					t.Errorf("%s, %s data, %d heads of %d: the largest error is only %.3g of the bound, want %g",
						target, kind.name, shape[0], shape[1], ratio, kind.least)
				}
			}
		}
	}
}

// ratioOf is the error of a sample's first logit as a part of its bound.
func ratioOf(t *testing.T, p *Profile, s sample) float64 {
	t.Helper()
	m, err := MachineOf(p.Target)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Logit(s.row, s.token(0), s.scales[0])
	if err != nil {
		t.Fatal(err)
	}
	bound, e := boundFor(t, m.Rule, p.Format, s, 0), off(got, exactLogit(p.Format, s, 0))
	if !(e <= bound) || math.IsInf(bound, 0) {
		t.Fatalf("%s on %s: error %g is beyond the bound %g", p.Name, p.Target, e, bound)
	}
	if bound == 0 {
		return 0
	}
	return e / bound
}

// provoke draws data whose errors add up. Either the dots' do: all heads see
// one large product first and then products that lie just under (to be cut) or
// just over (to be rounded up) the last place that is kept beside it. Or the
// dots are exact and the terms of the heads are like that.
func provoke(r *rand.Rand, f fp8.Format, heads, dim int) sample {
	s := sample{dim: dim, k: make([]byte, dim), scales: []float32{[]float32{1, 1.9}[r.IntN(2)]}}
	s.row = Row{Q: make([]byte, heads*dim), Weights: make([]float32, heads)}
	places := []int{9, 12, 13, 14, 23, 24, 25}[r.IntN(7)]
	part := 0.9 + 0.25*r.Float64() // of the last place
	if r.IntN(2) == 0 {
		for h := range heads {
			s.row.Q[h*dim] = f.Encode(1)
			s.row.Weights[h] = float32(math.Ldexp(part, -24))
		}
		s.k[0] = f.Encode(1)
		s.row.Weights[0] = 1
		return s
	}
	large := math.Ldexp(1, 2*r.IntN(8))
	smallQ, smallK := factors(f, large*math.Ldexp(part, -places))
	largeCode := f.Encode(float32(math.Sqrt(large)))
	every := []int{dim, 16, 32}[r.IntN(3)]
	for h := range heads {
		for d := range dim {
			q, k := smallQ, smallK
			if d%every == 0 {
				q, k = largeCode, largeCode
			}
			s.row.Q[h*dim+d], s.k[d] = q, k
		}
		s.row.Weights[h] = 1
	}
	return s
}

// factors are two codes whose product is as near to x as there are.
func factors(f fp8.Format, x float64) (a, b byte) {
	best := math.Inf(1)
	for i := byte(1); i <= f.Top(); i++ {
		for j := i; j <= f.Top(); j++ {
			if d := math.Abs(float64(f.Decode(i))*float64(f.Decode(j)) - x); d < best {
				best, a, b = d, i, j
			}
		}
	}
	return a, b
}
