package profile

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// exactFMA is a*b + c by arbitrary precision: 640 bits hold any such sum of
// finite float32s exactly, so the only rounding is the last one.
func exactFMA(a, b, c float32) float32 {
	num := func(x float32) *big.Float { return new(big.Float).SetPrec(700).SetFloat64(float64(x)) }
	p := num(a)
	p.Mul(p, num(b))
	p.Add(p, num(c))
	v, _ := p.Float32()
	return v
}

func checkFMA(t *testing.T, a, b, c float32) {
	t.Helper()
	got := FMA(a, b, c)
	if !finite(a) || !finite(b) || !finite(c) {
		want := float32(float64(a)*float64(b) + float64(c)) // infinities and NaN: no rounding is involved
		if !Same(math.Float32bits(got), math.Float32bits(want)) {
			t.Fatalf("FMA(%v, %v, %v) = %v, want %v", a, b, c, got, want)
		}
		return
	}
	if want := exactFMA(a, b, c); math.Float32bits(got) != math.Float32bits(want) {
		t.Fatalf("FMA(%x, %x, %x) = %x, want %x", math.Float32bits(a), math.Float32bits(b), math.Float32bits(c), math.Float32bits(got), math.Float32bits(want))
	}
}

func TestFMARandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	bits := func() float32 { return math.Float32frombits(rng.Uint32()) }
	near := func(lo, span int) float32 {
		return math.Float32frombits(rng.Uint32()&0x807fffff | uint32(lo+rng.IntN(span))<<23)
	}
	for range 60000 {
		checkFMA(t, bits(), bits(), bits())
		checkFMA(t, near(100, 54), near(100, 54), near(80, 94))  // sums where all three matter
		checkFMA(t, near(40, 30), near(30, 30), near(0, 10))     // subnormal results
		checkFMA(t, near(180, 20), near(180, 20), near(240, 15)) // near overflow
		a, b := near(110, 30), near(110, 30)
		checkFMA(t, a, b, -mul(a, b)) // cancellation leaves the product's low half
	}
}

// TestFMATies tries sums that lie on the midpoint of two float32s, or next to
// it by less than float64 can hold: where rounding twice goes wrong.
func TestFMATies(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	below, above := math.Nextafter32(1, 0), math.Nextafter32(1, 2)
	for range 20000 {
		// c's last place is 2, so c + 1 is a tie and a product just off 1 is not.
		c := float32(math.Ldexp(float64(rng.IntN(1<<23)+1<<23), 1))
		checkFMA(t, 1, 1, c)
		checkFMA(t, below, above, c)
		checkFMA(t, below, below, c)
		checkFMA(t, above, above, -c)
	}
	// c + half is a tie at every exponent of c.
	for e := range 100 {
		c := float32(math.Ldexp(0x1.000002p0, e-20))
		half := float32(math.Ldexp(1, e-20-24))
		checkFMA(t, half, above, c)
		checkFMA(t, half, below, c)
		checkFMA(t, half, 1, c)
	}
	// The same where only 2^-46 of the product is off the tie, and where
	// everything but 2^-46 cancels.
	checkFMA(t, 0x1.000002p0, 0x1.fffffcp-1, 0x1p24)
	if got := FMA(0x1.000002p0, 0x1.000002p0, -0x1.000004p0); got != 0x1p-46 {
		t.Errorf("FMA keeps %g of (1+2^-23)^2 - (1+2^-22), want 2^-46", got)
	}
	// Rounded in float64 first, (1+2^-23)*(1-2^-23) * 2^-24 + (1+2^-23) would
	// become a tie and go up; it lies just below one.
	checkFMA(t, 0x1.000002p-24, 0x1.fffffcp-1, 0x1.000002p0)
	if naive := float32(float64(float32(0x1.000002p-24))*float64(float32(0x1.fffffcp-1)) + 0x1.000002p0); naive == FMA(0x1.000002p-24, 0x1.fffffcp-1, 0x1.000002p0) {
		t.Error("the case above no longer tells one rounding from two")
	}
}

func TestFMASigns(t *testing.T) {
	minus := float32(math.Copysign(0, -1))
	for _, a := range []float32{0, minus, 1, -1} {
		for _, b := range []float32{0, minus, 1, -1} {
			for _, c := range []float32{0, minus, 1, -1} {
				want := float32(float64(a)*float64(b) + float64(c))
				if got := FMA(a, b, c); math.Float32bits(got) != math.Float32bits(want) {
					t.Errorf("FMA(%v, %v, %v) = %v, want %v", a, b, c, got, want)
				}
			}
		}
	}
}

func TestSame(t *testing.T) {
	tests := []struct {
		x, y uint32
		want bool
	}{
		{0, 0, true},
		{0, 1 << 31, false},
		{0x7fc00000, 0xffffffff, true},
		{0x7f800000, 0x7fc00000, false},
		{0x7f800000, 0xff800000, false},
		{0x3f800000, 0x3f800001, false},
	}
	for _, test := range tests {
		if got := Same(test.x, test.y); got != test.want {
			t.Errorf("Same(%#x, %#x) = %v", test.x, test.y, got)
		}
	}
}

func BenchmarkFMA(b *testing.B) {
	x := float32(1)
	for b.Loop() {
		x = FMA(x, 0.999, 0.001)
	}
}
