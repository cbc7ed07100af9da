package profile

import "math"

// FMA is a*b + c rounded once to the nearest even float32, as v_fma_f32 and
// v_fmac_f32 give it.
//
// The product is exact in float64. The sum is rounded there to odd: of the two
// float64 values around an inexact sum, the one whose last bit is set. With 29
// more bits than float32, that odd bit stands for all that was lost, so the
// second rounding decides as if it saw the exact sum (Boldo and Melquiond,
// "Emulation of a FMA and correctly rounded sums", 2008).
func FMA(a, b, c float32) float32 {
	p := float64(a) * float64(b)
	z := float64(c)
	s := p + z
	if math.IsInf(s, 0) || math.IsNaN(s) {
		return float32(s)
	}
	// Knuth's two-sum: s + lost = p + z exactly.
	t := s - p
	lost := (p - (s - t)) + (z - t)
	if bits := math.Float64bits(s); lost != 0 && bits&1 == 0 {
		if (lost > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
		s = math.Float64frombits(bits)
	}
	return float32(s)
}

// mul and add keep the compiler from fusing what the kernel does not fuse: a
// conversion forces the rounding.
func mul(a, b float32) float32 { return float32(a * b) }
func add(a, b float32) float32 { return float32(a + b) }

// relu is max(x, 0): -0 gives +0, a NaN what kind says.
func relu(x float32, kind Relu) float32 {
	if x > 0 || x != x && kind == ReluNaN {
		return x
	}
	return 0
}

// nanBits is the NaN that profiles give.
const nanBits = 0x7fc00000

// Same reports whether two logits are the same bits; any NaN is the same as any
// other, for the payload of a NaN is not part of a profile.
func Same(x, y uint32) bool {
	const infinity = 0x7f800000
	return x == y || x&^(1<<31) > infinity && y&^(1<<31) > infinity
}
