package matrixcore

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"mqaproof/model/fp8"
)

// TestUnknownFieldsByHand pins each field that no known rule uses to numbers
// worked out by hand.
func TestUnknownFieldsByHand(t *testing.T) {
	z := fp8.E4M3FNUZ
	one, two, top, low := z.Encode(1), z.Encode(2), z.Top(), byte(1) // low is 2^-10
	half, minus := z.Encode(0.5), z.Encode(-1)
	base := Rule{
		Group: 4, SubSums: 1, Join: JoinLate, AccReach: 40,
		Product: Cut{30, Trunc}, SubSum: Cut{30, Trunc}, Sum: Cut{30, Trunc}, Acc: Cut{30, Trunc},
	}
	with := func(change func(*Rule)) *Rule {
		r := base
		change(&r)
		return &r
	}
	tests := []struct {
		name string
		rule *Rule
		a, b []byte
		c    float32
		want float32
	}{
		// At exponent 0, two fraction bits: 3/8 = 1.5 units, -3/8 likewise.
		{"nearest product", with(func(r *Rule) { r.Product = Cut{2, Nearest} }), []byte{one, z.Encode(0.375)}, []byte{one, one}, 0, 1.5},
		{"nearest product, negative", with(func(r *Rule) { r.Product = Cut{2, Nearest} }), []byte{one, z.Encode(-0.375)}, []byte{one, one}, 0, 0.5},
		{"nearest product, tie to even", with(func(r *Rule) { r.Product = Cut{2, Nearest} }), []byte{one, z.Encode(0.125)}, []byte{one, one}, 0, 1},
		{"floor product", with(func(r *Rule) { r.Product = Cut{2, Floor} }), []byte{one, z.Encode(-0.125)}, []byte{one, one}, 0, 0.75},
		// 1 and -1 meet 2^-2 in the first lane only when lanes are consecutive; one bit is kept.
		{"interleaved", with(func(r *Rule) { r.SubSums, r.Product = 2, Cut{1, Trunc} }), []byte{one, half, minus, half}, []byte{one, half, one, 0}, 0, 0.25},
		{"consecutive", with(func(r *Rule) { r.SubSums, r.Product, r.Lanes = 2, Cut{1, Trunc}, Consecutive }), []byte{one, half, minus, half}, []byte{one, half, one, 0}, 0, 0},
		{"consecutive, partial", with(func(r *Rule) { r.SubSums, r.Lanes = 4, Consecutive }), []byte{one, two}, []byte{one, two}, 1, 6},
		// 1.875*1.875 = 3.515625 has raw exponent 0 and normalised exponent 1: 1/16 counts or not.
		{"raw exponent", with(func(r *Rule) { r.Product = Cut{4, Trunc} }), []byte{z.Encode(1.875), z.Encode(0.0625)}, []byte{z.Encode(1.875), one}, 0, 3.5 + 0.0625},
		{"normalised exponent", with(func(r *Rule) { r.Product, r.Normalise = Cut{4, Trunc}, true }), []byte{z.Encode(1.875), z.Encode(0.0625)}, []byte{z.Encode(1.875), one}, 0, 3.5},
		{"subnormal fp8", &base, []byte{low}, []byte{one}, 0, 0x1p-10},
		{"flushed fp8", with(func(r *Rule) { r.FlushFP8 = true }), []byte{low, one}, []byte{one, low}, 0, 0},
		{"flushed C", with(func(r *Rule) { r.FlushFloat32 = true }), []byte{0}, []byte{0}, 0x1p-130, 0},
		{"flushed C, added last", with(func(r *Rule) { r.FlushFloat32, r.AddC = true, true }), []byte{0}, []byte{0}, 0x1p-130, 0},
		{"C of the smallest exponent", with(func(r *Rule) { r.FlushFloat32 = true }), []byte{0}, []byte{0}, 0x1p-126, 0x1p-126},
		{"result cut", with(func(r *Rule) { r.ResultBits = 3 }), []byte{one, one}, []byte{z.Encode(16), z.Encode(-1)}, 0, 15},
		{"result cut, trunc", with(func(r *Rule) { r.ResultBits = 2 }), []byte{one, one}, []byte{z.Encode(16), z.Encode(-1)}, 0, 14},
		{"result cut, nearest with a carry", with(func(r *Rule) { r.ResultBits, r.ResultRounding = 2, Nearest }), []byte{one, one}, []byte{z.Encode(16), z.Encode(-1)}, 0, 16},
		{"result cut, floor", with(func(r *Rule) { r.ResultBits, r.ResultRounding = 2, Floor }), []byte{one, one}, []byte{z.Encode(-16), z.Encode(1)}, 0, -16},
		{"subnormal result cut", with(func(r *Rule) { r.ResultBits = 23 }), []byte{0}, []byte{0}, 0x1.8p-148, 0x1.8p-148},
		{"trunc, after a large one", with(func(r *Rule) { r.ResultBits, r.Acc = 23, Cut{40, Trunc} }), []byte{top, 0, 0, 0}, []byte{top, 0, 0, 0}, 0x1.fp-10, 57600},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.rule.Name = test.name; test.rule.Check() != nil {
				t.Fatal(test.rule.Check())
			}
			d := make([]float32, 1)
			test.rule.MulAdd(z, z, 1, 1, len(test.a), test.a, test.b, []float32{test.c}, d)
			if !sameBits(d[0], test.want) {
				t.Errorf("got %v (%x), want %v", d[0], math.Float32bits(d[0]), test.want)
			}
		})
	}
}

// TestCutIsTheRoundingItNames compares cut with rational arithmetic.
func TestCutIsTheRoundingItNames(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20000 {
		x := number{rng.Int64N(1<<20) - 1<<19, rng.IntN(24), rng.IntN(40) - 20}
		c, at := Cut{1 + rng.IntN(40), Rounding(rng.IntN(3))}, 20+rng.IntN(40)
		// x in units of 2^(at-bits), as a fraction
		v := new(big.Rat).SetInt64(x.sig)
		power := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(x.exp-x.frac-at+c.Bits, -(x.exp-x.frac-at+c.Bits)))))
		if x.exp-x.frac-at+c.Bits < 0 {
			power.Inv(power)
		}
		v.Mul(v, power)
		floor := new(big.Int).Div(v.Num(), v.Denom()) // Euclidean: toward minus infinity
		want := floor.Int64()
		rest := new(big.Rat).Sub(v, new(big.Rat).SetInt(floor))
		switch half := rest.Cmp(big.NewRat(1, 2)); {
		case c.Rounding == Trunc && v.Sign() < 0 && rest.Sign() > 0,
			c.Rounding == Nearest && (half > 0 || half == 0 && want&1 != 0):
			want++
		}
		if got := x.cut(c, at); got != want {
			t.Fatalf("%+v cut by %+v at %d is %d, want %d", x, c, at, got, want)
		}
	}
}

func TestRulesInJSON(t *testing.T) {
	for _, rule := range append(All(), otherRules()...) {
		r := *rule
		r.Lanes, r.ResultRounding = Consecutive, Nearest
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var back Rule
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if back != r {
			t.Errorf("%s comes back as %+v, want %+v", text, back, r)
		}
		if !strings.Contains(string(text), `"Lanes":"consecutive"`) {
			t.Errorf("%s: lanes are not named", text)
		}
	}
	var r Rule
	if err := json.Unmarshal([]byte(`{"Join":"never"}`), &r); err == nil || !strings.Contains(err.Error(), `no join is named "never"`) {
		t.Errorf("an unknown join gives %v", err)
	}
	if _, err := json.Marshal(Rule{Lanes: 9}); err == nil {
		t.Error("lanes without a name become JSON")
	}
}

// TestUnknownFieldsTakeNoFastPath: a whole tile by MulAdd is what the reference
// gives, for the named rules with each of the fields that no hardware is known
// to use.
func TestUnknownFieldsTakeNoFastPath(t *testing.T) {
	for name, change := range map[string]func(*Rule){
		"consecutive lanes": func(r *Rule) { r.Lanes = Consecutive },
		"rounded result":    func(r *Rule) { r.ResultBits, r.ResultRounding = 13, Nearest },
		"normalised":        func(r *Rule) { r.Normalise = true },
		"fp8 flushed":       func(r *Rule) { r.FlushFP8 = true },
		"float32 flushed":   func(r *Rule) { r.FlushFloat32 = true },
		"nearest products":  func(r *Rule) { r.Product.Rounding = Nearest },
	} {
		for _, base := range All() {
			rule := *base
			change(&rule)
			rng := rand.New(rand.NewPCG(9, 9))
			const m, n, k = 32, 32, 64
			a, bt, c := make([]byte, m*k), make([]byte, n*k), make([]float32, m*n)
			for i := range a {
				a[i], bt[i] = kinds[i/512%len(kinds)].draw(rng, fp8.E4M3FN), kinds[i/256%len(kinds)].draw(rng, fp8.E4M3FN)
			}
			for i := range c {
				c[i] = accKinds[i%len(accKinds)].draw(rng)
			}
			got, want, plain := make([]float32, m*n), make([]float32, m*n), make([]float32, m*n)
			rule.MulAdd(fp8.E4M3FN, fp8.E4M3FN, m, n, k, a, bt, c, got)
			rule.mulAddReference(fp8.E4M3FN, fp8.E4M3FN, m, n, k, a, bt, c, want)
			base.mulAddReference(fp8.E4M3FN, fp8.E4M3FN, m, n, k, a, bt, c, plain)
			differs := false
			for i := range want {
				if !sameBits(got[i], want[i]) {
					t.Fatalf("%s with %s: output %d is %x, want %x", base.Name, name, i, math.Float32bits(got[i]), math.Float32bits(want[i]))
				}
				differs = differs || !sameBits(plain[i], want[i])
			}
			if !differs && (name != "consecutive lanes" || base.SubSums > 1) {
				t.Errorf("%s with %s gives what it gives without", base.Name, name)
			}
		}
	}
}
