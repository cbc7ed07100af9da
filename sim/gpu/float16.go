package gpu

import (
	"math"
	"math/bits"
)

// f16ToF32 is exact; a NaN becomes quiet.
func f16ToF32(h uint16) float32 {
	sign := uint32(h) & 0x8000 << 16
	exp, man := uint32(h)>>10&31, uint32(h)&0x3ff
	switch {
	case exp == 31 && man != 0:
		return f32(sign | inf32 | quietBit32 | man<<13)
	case exp == 31:
		return f32(sign | inf32)
	case exp != 0:
		return f32(sign | (exp+112)<<23 | man<<13)
	case man == 0:
		return f32(sign)
	}
	n := uint32(bits.LeadingZeros32(man)) - 21 // shift that makes bit 10 the leading one
	return f32(sign | (113-n)<<23 | man<<n&0x3ff<<13)
}

// wideF16 is f16ToF32 with a signalling NaN kept, for what tells one from a
// quiet one.
func wideF16(h uint32) float32 {
	if h&0x7c00 == 0x7c00 && h&0x3ff != 0 {
		return f32(h&0x8000<<16 | inf32 | h&0x3ff<<13)
	}
	return f16ToF32(uint16(h))
}

// narrowF16 rounds float32 bits to the bits of a float16. What was computed in
// float32 from float16 by one operation, a root or reciprocal included, is
// thereby correctly rounded: 24 bits are twice 11 and two more. The hardware's
// roots and reciprocals of float16 are within 0.51 ulp (as LLVM's code generator
// takes it), so that some may differ in the last bit.
func narrowF16(b uint32) uint32 { return uint32(f32ToF16(f32(b))) }

// toI16 cuts towards zero; what is out of range becomes the nearest end, NaN 0.
func toI16(x float32) uint32 {
	if x != x {
		return 0
	}
	return uint32(uint16(int16(min(max(x, -1<<15), 1<<15-1))))
}

// toU16 is toI16 for unsigned numbers.
func toU16(x float32) uint32 {
	if x != x {
		return 0
	}
	return uint32(uint16(min(max(x, 0), 1<<16-1)))
}

// fractF16 is x - floor(x), below 1 as fractF32 is.
func fractF16(x float32) uint32 {
	switch {
	case x != x:
		return narrowF16(nan32(x))
	case math.IsInf(float64(x), 0):
		return narrowF16(defaultNaN)
	}
	return min(uint32(f64ToF16(float64(x)-math.Floor(float64(x)), true)), 0x3bff)
}

// f32ToF16 rounds to nearest even.
func f32ToF16(x float32) uint16 { return f64ToF16(float64(x), true) }

// f32ToF16Cut rounds towards zero: what overflows becomes the largest number.
func f32ToF16Cut(x float32) uint16 { return f64ToF16(float64(x), false) }

// f64ToF16 rounds to nearest even, or towards zero.
func f64ToF16(x float64, nearest bool) uint16 {
	b := math.Float64bits(x)
	sign := uint16(b >> 48 & 0x8000)
	switch {
	case x != x:
		return sign | 0x7e00 | uint16(b>>42&0x1ff)
	case math.IsInf(x, 0):
		return sign | 0x7c00
	}
	a := math.Abs(x)
	if a == 0 {
		return sign
	}
	// The value in units of the last place that the result has.
	_, e := math.Frexp(a)
	ulp := max(e-11, -24)
	n := math.Ldexp(a, -ulp) // below 2^11, exact: scaling up only, or down from 53 bits
	var m uint32
	if nearest {
		m = uint32(math.RoundToEven(n))
	} else {
		m = uint32(n)
	}
	// m carries into the exponent by itself; ulp -24 is the subnormals'.
	r := uint32(ulp+24)<<10 + m
	if r >= 0x7c00 {
		if nearest {
			return sign | 0x7c00
		}
		return sign | 0x7bff
	}
	return sign | uint16(r)
}

// clamp01F16 is clamp01 for float16.
func clamp01F16(b uint32, dx10 bool) uint32 {
	return narrowF16(clamp01(b32(f16ToF32(uint16(b))), dx10))
}

// fmaF16 is x*y + z rounded once.
func fmaF16(x, y, z uint16) uint16 {
	a, b, c := f16ToF32(x), f16ToF32(y), f16ToF32(z)
	p := float64(a) * float64(b)
	s := p + float64(c)
	if s != s {
		n := nan32(a, b, c)
		return uint16(n>>16&0x8000) | 0x7e00 | uint16(n>>13&0x1ff)
	}
	if s == 0 {
		return f64ToF16(s, true)
	}
	return f64ToF16(roundToOdd(s, p, float64(c)), true)
}

// f32ToBF16 rounds to nearest even.
func f32ToBF16(x float32) uint16 {
	b := b32(x)
	if x != x {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}
