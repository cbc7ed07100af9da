package profile

import (
	"math"
	"math/rand/v2"
	"testing"

	"mqaproof/model/fp8"
	"mqaproof/model/matrixcore"
)

// anyRule is a rule of the family, mostly with fewer bits than hardware has, so
// that every clause of the bound has something to bound.
func anyRule(r *rand.Rand) *matrixcore.Rule {
	cut := func() matrixcore.Cut {
		return matrixcore.Cut{Bits: 4 + r.IntN(24), Rounding: matrixcore.Rounding(r.IntN(3))}
	}
	rule := &matrixcore.Rule{
		Name: "any", Group: 8 << r.IntN(3), SubSums: 1 << r.IntN(3), Product: cut(), SubSum: cut(),
		Join: matrixcore.Join(r.IntN(2)), Sum: cut(), Acc: cut(), AccReach: 4 + r.IntN(26),
		Lanes: matrixcore.Lanes(r.IntN(2)), Normalise: r.IntN(3) == 0, AddC: r.IntN(2) == 0,
	}
	if rule.Join == matrixcore.JoinEarly {
		rule.SubSums = 1
	}
	if r.IntN(2) == 0 {
		rule.ResultBits, rule.ResultRounding = 4+r.IntN(20), matrixcore.Rounding(r.IntN(3))
	}
	return rule
}

// anyDot is a dot as some kernel makes it: dims in any order, by the matrix core
// in one chain or several, or without it.
func anyDot(r *rand.Rand, rule *matrixcore.Rule, f fp8.Format, q, k []byte) float32 {
	dim := len(q)
	order := r.Perm(dim)
	if r.IntN(2) == 0 { // as they come
		for i := range order {
			order[i] = i
		}
	}
	if rule == nil {
		products := make([]float32, dim)
		for i, d := range order {
			products[i] = f.Decode(q[d]) * f.Decode(k[d])
		}
		return anySum(r, products)
	}
	a, b := make([]byte, dim), make([]byte, dim)
	for i, d := range order {
		a[i], b[i] = q[d], k[d]
	}
	groups := (dim + rule.Group - 1) / rule.Group
	var parts []float32
	for groups > 0 {
		n := 1 + r.IntN(groups)
		groups -= n
		n = min(n*rule.Group, len(a))
		d := []float32{0}
		rule.MulAdd(f, f, 1, 1, n, a[:n], b[:n], d, d)
		parts = append(parts, d[0])
		a, b = a[n:], b[n:]
	}
	return anySum(r, parts)
}

// anySum adds in any order, now and then one after the other.
func anySum(r *rand.Rand, xs []float32) float32 {
	oneByOne := r.IntN(2) == 0
	for len(xs) > 1 {
		i, j := 0, 1
		if !oneByOne {
			i = r.IntN(len(xs))
			j = (i + 1 + r.IntN(len(xs)-1)) % len(xs)
		}
		xs[i] = add(xs[i], xs[j])
		xs = append(xs[:j], xs[j+1:]...)
	}
	return xs[0]
}

// anyLogit is a logit as some kernel makes it, with the scale in any place.
func anyLogit(r *rand.Rand, rule *matrixcore.Rule, f fp8.Format, s sample) float32 {
	scale, place, fused := s.scales[0], r.IntN(4), r.IntN(2) == 0
	terms := make([]float32, len(s.row.Weights))
	chain := float32(0)
	for h, w := range s.row.Weights {
		x := anyDot(r, rule, f, s.row.Q[h*s.dim:(h+1)*s.dim], s.token(0))
		switch place {
		case 0:
			x = max0(mul(x, scale))
		case 1:
			x = mul(max0(x), scale)
		case 2:
			x, w = max0(x), mul(w, scale)
		default:
			x = max0(x)
		}
		terms[h] = mul(x, w)
		chain = FMA(x, w, chain)
	}
	if !fused {
		chain = anySum(r, terms)
	}
	if place == 3 {
		chain = mul(chain, scale)
	}
	return chain
}

// TestBoundHoldsInAnyOrder makes logits in orders of operations drawn at random,
// on the known matrix cores, on others of the family and without one.
func TestBoundHoldsInAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	inexact, runs := 0, 6000
	if testing.Short() {
		runs = 600
	}
	for range runs {
		rule, f := anyRule(rng), fp8.E4M3FN+fp8.Format(rng.IntN(2))
		switch rng.IntN(4) {
		case 0:
			rule = nil
		case 1:
			rule = matrixcore.All()[rng.IntN(3)]
		}
		if rule != nil {
			if err := rule.Check(); err != nil {
				t.Fatal(err)
			}
		}
		heads, dim := 1+rng.IntN(12), 1+rng.IntN(70)
		var s sample
		switch style := rng.IntN(5); style {
		case 3:
			s = provoke(rng, f, heads, dim)
		case 4:
			s = draw(rng, 0, f, heads, dim, 1)
			for h := range heads {
				q, k := hostile(rng, f, dim)
				copy(s.row.Q[h*dim:], q)
				copy(s.k, k)
			}
		default:
			s = draw(rng, style, f, heads, dim, 1)
		}
		for i, b := range s.row.Q { // hostile may draw a NaN
			if f.IsNaN(b) {
				s.row.Q[i] = 0
			}
		}
		for i, b := range s.k {
			if f.IsNaN(b) {
				s.k[i] = 0
			}
		}
		exact, bound := exactLogit(f, s, 0), boundFor(t, rule, f, s, 0)
		for range 3 {
			e := off(math.Float32bits(anyLogit(rng, rule, f, s)), exact)
			if !(e <= bound) {
				t.Fatalf("error %g is beyond the bound %g: rule %+v, %v, %d heads of %d\nq %v\nk %v\nweights %v scale %v", e, bound, rule, f, heads, dim,
					s.row.Q, s.k, s.row.Weights, s.scales)
			}
			if e > 0 {
				inexact++
			}
		}
	}
	t.Logf("%d of %d logits inexact", inexact, 3*runs)
}

// TestDotBoundHoldsInAnyOrder looks at single dots, whose errors the sum over
// heads does not hide, and at how near they come.
func TestDotBoundHoldsInAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 54))
	closest, runs := 0.0, 20000
	if testing.Short() {
		runs = 2000
	}
	for range runs {
		rule, f := anyRule(rng), fp8.E4M3FN+fp8.Format(rng.IntN(2))
		switch rng.IntN(4) {
		case 0:
			rule = nil
		case 1:
			rule = matrixcore.All()[rng.IntN(3)]
		}
		dim := 1 + rng.IntN(130)
		q, k := make([]byte, dim), make([]byte, dim)
		switch style := rng.IntN(4); style {
		case 3:
			s := provoke(rng, f, 1, dim)
			copy(q, s.row.Q)
			copy(k, s.k)
		default:
			for d := range q {
				q[d], k[d] = styles[style].code(rng, f), styles[style].code(rng, f)
				if f.IsNaN(q[d]) || f.IsNaN(k[d]) {
					q[d], k[d] = 0, 0
				}
			}
		}
		size, err := Measure(f, q, k)
		if err != nil {
			t.Fatal(err)
		}
		bound := dotBound(rule, dim, &size)
		for range 2 {
			e := float64(anyDot(rng, rule, f, q, k)) - size.Dot
			if e > bound.up || -e > bound.down {
				t.Fatalf("error %g is beyond the bound %+v: rule %+v, %v\nq %v\nk %v", e, bound, rule, f, q, k)
			}
			if e > 0 {
				closest = max(closest, e/bound.up)
			} else if e < 0 {
				closest = max(closest, -e/bound.down)
			}
		}
	}
	t.Logf("largest error is %.3g of the bound", closest)
	if closest < 0.9 {
		t.Errorf("the largest error is only %.3g of the bound: this test would not see a wrong one", closest)
	}
}

// TestDotBoundByHand is bounds that are met exactly.
func TestDotBoundByHand(t *testing.T) {
	f := fp8.E4M3FNUZ
	code := func(xs ...float32) (codes []byte) {
		for _, x := range xs {
			codes = append(codes, f.Encode(x))
		}
		return codes
	}
	low := f.MinSubnormal() // 2^-10
	tests := []struct {
		name string
		rule *matrixcore.Rule
		q, k []byte
		want reach
	}{
		{"zero", nil, code(0), code(1), reach{}},
		{"zeros", matrixcore.CDNA3, code(0, 1), code(1, 0), reach{}},
		{"one product", nil, code(240), code(240), reach{}},
		// 2^14 + 2^-9 has 24 bits.
		{"24 bits", nil, code(128, 2*low), code(128, 1), reach{}},
		// 2^14 + 2^-10 has 25 and is rounded by 2^-10; likewise 2^14 + 3*2^-10.
		{"25 bits", nil, code(128, low), code(128, 1), reach{0x1p-10, 0x1p-10}},
		// The matrix core rounds once, too; no sub-sum loses anything.
		{"25 bits, matrix core", matrixcore.CDNA3, code(128, low), code(128, 1), reach{0x1p-10, 0x1p-10}},
		// Hopper keeps multiples of 2: 1 is lost, and no more.
		{"hopper", matrixcore.Hopper, code(128, 1), code(128, 1), reach{1, 0}},
		{"hopper, below zero", matrixcore.Hopper, code(128, -1), code(128, 1), reach{0, 1}},
	}
	for _, test := range tests {
		size, err := Measure(f, test.q, test.k)
		if err != nil {
			t.Fatal(err)
		}
		got := scalarBound(&size)
		if test.rule != nil {
			got = matrixBound(test.rule, 1, &size)
		}
		if got != test.want {
			t.Errorf("%s: bound %+v, want %+v", test.name, got, test.want)
		}
	}
}
