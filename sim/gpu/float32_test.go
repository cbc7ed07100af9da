package gpu

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// interesting32 are float32 bits at the edges of the format.
var interesting32 = []uint32{
	0, 0x80000000, 1, 0x80000001, 2, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x00800001, 0x00ffffff, 0x01000000,
	0x33800000, 0x34000000, 0x3f7fffff, 0x3f800000, 0xbf800000, 0x3f800001, 0x3fffffff, 0x40000000, 0x4b000000, 0x4b7fffff,
	0x4b800000, 0x4b800001, 0x5f000000, 0x7e800000, 0x7f000000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
	0x7f800001, 0xffa00000, 0x7fc00000, 0xffc12345,
}

// randomFloat32 draws bits: any, near the edges, or with few significand bits.
func randomFloat32(r *rand.Rand) uint32 {
	switch r.IntN(4) {
	case 0:
		return interesting32[r.IntN(len(interesting32))]
	case 1:
		return r.Uint32()&^0x0000ffff | uint32(r.IntN(3))
	case 2:
		return r.Uint32()&0x80ffffff | 0x3e000000 + uint32(r.IntN(8))<<23
	}
	return r.Uint32()
}

// fmaReference is x*y + z by exact rational arithmetic, rounded once.
func fmaReference(x, y, z float32) uint32 {
	wide := float64(x)*float64(y) + float64(z) // right for NaN, infinities and zeros
	if math.IsNaN(wide) || math.IsInf(wide, 0) || wide == 0 {
		return b32(float32(wide))
	}
	exact := new(big.Rat).SetFloat64(float64(x))
	exact.Mul(exact, new(big.Rat).SetFloat64(float64(y)))
	exact.Add(exact, new(big.Rat).SetFloat64(float64(z)))
	f, _ := exact.Float32()
	if f == 0 && wide < 0 {
		f = float32(math.Copysign(0, -1))
	}
	return b32(f)
}

func sameFloat32(a, b uint32) bool { return a == b || isNaN32(a) && isNaN32(b) }

func TestFMA(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	check := func(x, y, z uint32) {
		got, want := fmaF32(f32(x), f32(y), f32(z)), fmaReference(f32(x), f32(y), f32(z))
		if !sameFloat32(got, want) {
			t.Fatalf("fma(%#x, %#x, %#x) = %#x, want %#x", x, y, z, got, want)
		}
	}
	for _, x := range interesting32 {
		for _, y := range interesting32 {
			for _, z := range interesting32 {
				check(x, y, z)
			}
		}
	}
	for range 200000 {
		check(randomFloat32(r), randomFloat32(r), randomFloat32(r))
	}
	// A sum that float64 rounds to a tie of float32: x*y is 1 + 2^-23 + 2^-24
	// but for a last bit that float64 has no room for next to it.
	x, z := f32(0x3f800001), float32(math.Ldexp(1, -60))
	check(b32(x), 0x3f800000, b32(z))
	check(0x3fc00000, 0x3f800001, b32(z))
	check(0x3fc00000, 0x3f800001, b32(-z))
}

func TestFMAOfHalves(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 300000 {
		x, y, z := uint16(r.Uint32()), uint16(r.Uint32()), uint16(r.Uint32())
		a, b, c := float64(f16ToF32(x)), float64(f16ToF32(y)), float64(f16ToF32(z))
		if s := a*b + c; math.IsNaN(s) || math.IsInf(s, 0) || s == 0 {
			continue
		}
		exact := new(big.Float).SetPrec(200).SetFloat64(a)
		exact.Mul(exact, new(big.Float).SetPrec(200).SetFloat64(b))
		exact.Add(exact, new(big.Float).SetPrec(200).SetFloat64(c))
		if got, want := fmaF16(x, y, z), roundToF16(exact); got != want {
			t.Fatalf("fma of float16 %#x, %#x, %#x = %#x, want %#x", x, y, z, got, want)
		}
	}
}

// roundToF16 finds the float16 nearest to x by comparing with all of them.
func roundToF16(x *big.Float) uint16 {
	sign := uint16(0)
	if x.Sign() < 0 {
		sign = 0x8000
		x = new(big.Float).Neg(x)
	}
	lo, hi := 0, 0x7c00 // codes of values <= x and of the one after; 0x7c00 stands for 2^16
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if x.Cmp(big.NewFloat(halfValue(mid))) >= 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	mean := (halfValue(lo) + halfValue(hi)) / 2
	switch c := x.Cmp(big.NewFloat(mean)); {
	case c > 0, c == 0 && lo&1 == 1:
		return sign | uint16(hi)
	}
	return sign | uint16(lo)
}

// halfValue is the value of a positive float16 code by its definition.
func halfValue(code int) float64 {
	exp, man := code>>10, code&0x3ff
	if exp == 0 {
		return math.Ldexp(float64(man), -24)
	}
	return math.Ldexp(float64(1024+man), exp-25)
}

func TestFloat16(t *testing.T) {
	for code := range 0x7c00 {
		if got := f16ToF32(uint16(code)); float64(got) != halfValue(code) {
			t.Fatalf("f16ToF32(%#x) = %v, want %v", code, got, halfValue(code))
		}
		if got := f32ToF16(f16ToF32(uint16(code))); got != uint16(code) {
			t.Fatalf("f32ToF16 of code %#x gives %#x", code, got)
		}
		if got := f32ToF16(-f16ToF32(uint16(code))); got != uint16(code)|0x8000 {
			t.Fatalf("f32ToF16 of minus code %#x gives %#x", code, got)
		}
		if code == 0 {
			continue
		}
		// Around the tie with the code before.
		tie := (halfValue(code-1) + halfValue(code)) / 2
		up, even := uint16(code), uint16(code&^1)
		if code&1 == 1 {
			even = uint16(code - 1)
		}
		at := float32(tie)
		if got := f32ToF16(at); got != even {
			t.Fatalf("f32ToF16(%v), a tie, gives %#x, want %#x", at, got, even)
		}
		if got := f32ToF16(math.Nextafter32(at, 1e9)); got != up {
			t.Fatalf("f32ToF16 above %v gives %#x, want %#x", at, got, up)
		}
		if got := f32ToF16(math.Nextafter32(at, 0)); got != uint16(code-1) {
			t.Fatalf("f32ToF16 below %v gives %#x, want %#x", at, got, code-1)
		}
		if got := f32ToF16Cut(math.Nextafter32(f16ToF32(uint16(code)), 0)); got != uint16(code-1) {
			t.Fatalf("cutting below code %#x gives %#x", code, got)
		}
	}
	for _, c := range []struct {
		x         float32
		near, cut uint16
	}{
		{65504, 0x7bff, 0x7bff}, {65519, 0x7bff, 0x7bff}, {65520, 0x7c00, 0x7bff}, {1e30, 0x7c00, 0x7bff},
		{float32(math.Inf(-1)), 0xfc00, 0xfc00}, {-65520, 0xfc00, 0xfbff}, {1e-30, 0, 0}, {-1e-45, 0x8000, 0x8000},
	} {
		if got := f32ToF16(c.x); got != c.near {
			t.Errorf("f32ToF16(%v) = %#x, want %#x", c.x, got, c.near)
		}
		if got := f32ToF16Cut(c.x); got != c.cut {
			t.Errorf("f32ToF16Cut(%v) = %#x, want %#x", c.x, got, c.cut)
		}
	}
	for _, c := range []struct {
		x    uint32
		want uint16
	}{{0x3f800000, 0x3f80}, {0x3f808000, 0x3f80}, {0x3f808001, 0x3f81}, {0x3f818000, 0x3f82}, {0x7f7fffff, 0x7f80}, {0x7f800001, 0x7fc0}, {0xff800000, 0xff80}} {
		if got := f32ToBF16(f32(c.x)); got != c.want {
			t.Errorf("f32ToBF16(%#x) = %#x, want %#x", c.x, got, c.want)
		}
	}
}

func TestMinMax(t *testing.T) {
	const (
		one, two  = 0x3f800000, 0x40000000
		qnan, sna = 0x7fc01234, 0x7f801234
	)
	for _, c := range []struct {
		x, y, min, max uint32
		ieee           bool
	}{
		{one, two, one, two, true},
		{two, one, one, two, true},
		{0, signBit32, signBit32, 0, true},
		{signBit32, 0, signBit32, 0, true},
		{qnan, one, one, one, true},
		{one, qnan, one, one, true},
		{sna, one, sna | quietBit32, sna | quietBit32, true},
		{one, sna, sna | quietBit32, sna | quietBit32, true},
		{sna, one, one, one, false},
		{one, sna, one, one, false},
		{qnan, qnan + 1, qnan + 1, qnan + 1, true},
	} {
		if got := minF32(f32(c.x), f32(c.y), c.ieee); got != c.min {
			t.Errorf("min(%#x, %#x), IEEE %v = %#x, want %#x", c.x, c.y, c.ieee, got, c.min)
		}
		if got := maxF32(f32(c.x), f32(c.y), c.ieee); got != c.max {
			t.Errorf("max(%#x, %#x), IEEE %v = %#x, want %#x", c.x, c.y, c.ieee, got, c.max)
		}
	}
}

func TestReciprocalsAndRoots(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		name string
		f    func(float32) uint32
		x, y float32
	}{
		{"rcp", rcpF32, 3, 1.0 / 3}, {"rcp", rcpF32, 0, inf}, {"rcp", rcpF32, -inf, float32(math.Copysign(0, -1))},
		{"rcp", rcpF32, 0x1p-140, inf}, {"rcp", rcpF32, 0x1p127, 0}, {"rcp", rcpF32, nan, nan},
		{"rsq", rsqF32, 4, 0.5}, {"rsq", rsqF32, -1, nan}, {"rsq", rsqF32, 0, inf}, {"rsq", rsqF32, inf, 0},
		{"sqrt", sqrtF32, 2, float32(math.Sqrt2)}, {"sqrt", sqrtF32, -2, nan}, {"sqrt", sqrtF32, inf, inf},
		{"exp", expF32, 10, 1024}, {"exp", expF32, -127, 0}, {"exp", expF32, 200, inf}, {"exp", expF32, -inf, 0},
		{"log", logF32, 8, 3}, {"log", logF32, 0, -inf}, {"log", logF32, 0x1p-140, -inf}, {"log", logF32, -1, nan},
	} {
		if got := c.f(c.x); !sameFloat32(got, b32(c.y)) {
			t.Errorf("%s(%v) = %v, want %v", c.name, c.x, f32(got), c.y)
		}
	}
}

func TestToInteger(t *testing.T) {
	for _, c := range []struct {
		x    float64
		i, u uint32
	}{
		{0, 0, 0}, {1.99, 1, 1}, {-1.99, ^uint32(0), 0}, {2147483520, 2147483520, 2147483520}, {2147483648, math.MaxInt32, 1 << 31},
		{-2147483648, 1 << 31, 0}, {-3e9, 1 << 31, 0}, {4294967040, math.MaxInt32, 4294967040}, {1e20, math.MaxInt32, math.MaxUint32},
		{math.Inf(-1), 1 << 31, 0}, {math.NaN(), 0, 0}, {-0.5, 0, 0},
	} {
		if got := toI32(c.x); got != c.i {
			t.Errorf("toI32(%v) = %#x, want %#x", c.x, got, c.i)
		}
		if got := toU32(c.x); got != c.u {
			t.Errorf("toU32(%v) = %#x, want %#x", c.x, got, c.u)
		}
	}
}
