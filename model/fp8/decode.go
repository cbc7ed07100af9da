package fp8

import "math"

// tables holds, for each code of a format, its value and its exact integer
// views. The formats are small enough that a lookup is the definition.
type tables struct {
	value [256]float32
	fixed [256]int32
	sig   [256]int8
	exp   [256]int8
}

var decoded = [...]tables{
	0:        invalidTables(),
	E4M3FN:   buildTables(E4M3FN),
	E4M3FNUZ: buildTables(E4M3FNUZ),
}

func invalidTables() (t tables) {
	for b := range t.value {
		t.value[b] = float32(math.NaN())
	}
	return t
}

func buildTables(f Format) (t tables) {
	minExp := f.MinExp()
	for code := range 256 {
		b := byte(code)
		sig, exp := int(b&7), minExp
		if field := int(b >> 3 & 15); field > 0 {
			sig |= 8
			exp += field - 1
		}
		if b&0x80 != 0 {
			sig = -sig
		}
		if f.IsNaN(b) {
			t.value[b], t.exp[b] = float32(math.NaN()), int8(minExp)
			continue
		}
		t.sig[b], t.exp[b] = int8(sig), int8(exp)
		t.fixed[b] = int32(sig) << (exp - minExp)
		t.value[b] = float32(math.Ldexp(float64(sig), exp-MantissaBits))
		if sig == 0 && b&0x80 != 0 { // only e4m3fn has a -0
			t.value[b] = float32(math.Copysign(0, -1))
		}
	}
	return t
}

func (f Format) tables() *tables {
	if !f.Valid() {
		f = 0
	}
	return &decoded[f]
}

// Decode is the value of b; every value is exact in float32.
func (f Format) Decode(b byte) float32 { return f.tables().value[b] }

// Split is b as an integer significand and an exponent:
//
//	value = sig * 2^(exp-3), |sig| <= 15, and |sig| >= 8 exactly for normal values
//
// A subnormal keeps exp = MinExp. Zeros and NaNs give sig 0 and exp MinExp.
func (f Format) Split(b byte) (sig, exp int) {
	t := f.tables()
	return int(t.sig[b]), int(t.exp[b])
}

// Fixed is b as a multiple of MinSubnormal, so value = Fixed * 2^(MinExp-3).
// It is below 2^18 in magnitude, and 0 for a NaN.
func (f Format) Fixed(b byte) int32 { return f.tables().fixed[b] }
