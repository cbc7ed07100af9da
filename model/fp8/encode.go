package fp8

import "math"

// Encode is the code nearest to x, ties to the even code, as the conversion
// instructions with saturation do it: what lies beyond the largest finite
// value, infinities included, becomes that value with x's sign, and a NaN
// becomes the canonical NaN. A negative x that rounds to zero gives -0 (0x80)
// in e4m3fn and 0 in e4m3fnuz, which has no -0.
func (f Format) Encode(x float32) byte {
	b, over := f.round(x)
	if over {
		return f.Top() | sign(x)
	}
	return b
}

// EncodeNonSaturating is Encode with NaN for what rounds beyond the largest
// finite value, infinities included. The tie between the largest value and the
// first one out of range goes to the even code: 464 is 448 in e4m3fn, 248 is
// NaN in e4m3fnuz.
func (f Format) EncodeNonSaturating(x float32) byte {
	b, over := f.round(x)
	if !over {
		return b
	}
	if f == E4M3FNUZ {
		return f.NaN()
	}
	return f.NaN() | sign(x)
}

func sign(x float32) byte { return byte(math.Float32bits(x) >> 24 & 0x80) }

// round is x to nearest even without a limit on the exponent, and whether the
// outcome is out of range. The codes of one sign are in the order of their
// values, so a carry out of the mantissa needs no care: it is the next code.
func (f Format) round(x float32) (b byte, over bool) {
	if !f.Valid() {
		return 0, false
	}
	bits := math.Float32bits(x)
	mag := bits &^ (1 << 31)
	if mag > 0x7f800000 {
		return f.NaN(), false
	}
	minExp := f.MinExp()
	exp := int(mag>>23) - 127
	sig := mag&(1<<23-1) | 1<<23
	drop := 23 - MantissaBits // bits below the code's last one
	if exp < minExp {
		drop += minExp - exp
		exp = minExp
	}
	if drop > 24 { // under half the smallest subnormal; float32 subnormals too
		return f.signed(0, x), false
	}
	q := sig >> drop
	rest, half := sig&(1<<drop-1), uint32(1)<<(drop-1)
	if rest > half || rest == half && q&1 == 1 {
		q++
	}
	code := uint32(exp-minExp)<<MantissaBits + q
	if code > uint32(f.Top()) {
		return 0, true
	}
	return f.signed(byte(code), x), false
}

// signed is the magnitude code with x's sign.
func (f Format) signed(code byte, x float32) byte {
	if code == 0 && f == E4M3FNUZ {
		return 0
	}
	return code | sign(x)
}
