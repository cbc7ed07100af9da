package gpu

import "math"

// float32 arithmetic, one lane each, with the bits of the result. Rounding is
// to nearest even and subnormals are kept; the modes that differ are applied
// around these functions. A NaN result is the first NaN source made quiet, or
// defaultNaN where there is none: 0/0 of V_DIV_FIXUP_F32 in the ISA document.

const (
	signBit32  = 0x80000000
	quietBit32 = 0x00400000
	inf32      = 0x7f800000
	defaultNaN = 0xffc00000
)

func f32(b uint32) float32 { return math.Float32frombits(b) }
func b32(x float32) uint32 { return math.Float32bits(x) }

func isNaN32(b uint32) bool { return b&^signBit32 > inf32 }

func isSignalling32(b uint32) bool { return isNaN32(b) && b&quietBit32 == 0 }

func isSubnormal32(b uint32) bool { return b&inf32 == 0 && b<<1 != 0 }

// quiet32 is b, with the quiet bit if it is a NaN.
func quiet32(b uint32) uint32 {
	if isNaN32(b) {
		return b | quietBit32
	}
	return b
}

// nan32 is the NaN that an operation on these sources gives.
func nan32(sources ...float32) uint32 {
	for _, x := range sources {
		if x != x {
			return b32(x) | quietBit32
		}
	}
	return defaultNaN
}

func nan32of2(x, y float32) uint32 {
	switch {
	case x != x:
		return b32(x) | quietBit32
	case y != y:
		return b32(y) | quietBit32
	}
	return defaultNaN
}

func addF32(x, y float32) uint32 {
	r := x + y
	if r != r {
		return nan32of2(x, y)
	}
	return b32(r)
}

func subF32(x, y float32) uint32 {
	r := x - y
	if r != r {
		return nan32of2(x, y)
	}
	return b32(r)
}

func mulF32(x, y float32) uint32 {
	r := x * y
	if r != r {
		return nan32of2(x, y)
	}
	return b32(r)
}

// mulLegacyF32 makes zero times anything zero.
func mulLegacyF32(x, y float32) uint32 {
	if x == 0 || y == 0 {
		return 0
	}
	return mulF32(x, y)
}

// fmaF32 is x*y + z rounded once. The product is exact in float64, so only
// the rounding of the sum to float64 and then to float32 could go wrong, which
// takes a sum halfway between two float32 values. Those, and results that are
// zero, subnormal, infinite or NaN, take the slow path.
func fmaF32(x, y, z float32) uint32 {
	s := float64(x)*float64(y) + float64(z)
	b := math.Float64bits(s)
	if b&0x1fffffff == 0x10000000 || uint32(b>>52)&0x7ff-897 >= 1150 {
		return fmaF32Slow(x, y, z)
	}
	return b32(float32(s))
}

func fmaF32Slow(x, y, z float32) uint32 {
	p := float64(x) * float64(y)
	s := p + float64(z)
	if s == 0 {
		return b32(float32(s)) // no double of this size is rounded to zero
	}
	if s != s {
		return nan32(x, y, z)
	}
	return b32(float32(roundToOdd(s, p, float64(z))))
}

// roundToOdd corrects s = p + z, rounded to nearest, to the double next to the
// exact sum that has an odd last bit, or to the sum itself if it is exact.
// Rounding that once more to fewer bits is as good as rounding the exact sum.
func roundToOdd(s, p, z float64) float64 {
	if math.IsInf(s, 0) {
		return s
	}
	// The error of the sum, exact (Knuth's TwoSum).
	t := s - p
	err := (p - (s - t)) + (z - t)
	b := math.Float64bits(s)
	if err == 0 || b&1 != 0 {
		return s
	}
	if (err > 0) == (s > 0) {
		return math.Float64frombits(b + 1)
	}
	return math.Float64frombits(b - 1)
}

// minF32 is the smaller source; with one NaN, the other. In IEEE mode a
// signalling NaN wins and becomes quiet.
func minF32(x, y float32, ieee bool) uint32 {
	if x < y {
		return b32(x)
	}
	if y < x {
		return b32(y)
	}
	return minMaxRest(x, y, ieee, b32(x)|b32(y))
}

func maxF32(x, y float32, ieee bool) uint32 {
	if x > y {
		return b32(x)
	}
	if y > x {
		return b32(y)
	}
	return minMaxRest(x, y, ieee, b32(x)&b32(y))
}

// minMaxRest is the minimum or maximum of sources that are equal, in which case
// it is same (they may be zeros of different sign), or of which one is a NaN.
func minMaxRest(x, y float32, ieee bool, same uint32) uint32 {
	bx, by := b32(x), b32(y)
	switch {
	case x == y:
		return same
	case ieee && isSignalling32(bx):
		return bx | quietBit32
	case ieee && isSignalling32(by):
		return by | quietBit32
	case x != x:
		return by
	}
	return bx
}

func min3F32(x, y, z float32, ieee bool) uint32 {
	return minF32(f32(minF32(x, y, ieee)), z, ieee)
}

func max3F32(x, y, z float32, ieee bool) uint32 {
	return maxF32(f32(maxF32(x, y, ieee)), z, ieee)
}

func med3F32(x, y, z float32, ieee bool) uint32 {
	if x != x || y != y || z != z {
		return min3F32(x, y, z, ieee)
	}
	switch m := f32(max3F32(x, y, z, ieee)); m {
	case x:
		return maxF32(y, z, ieee)
	case y:
		return maxF32(x, z, ieee)
	}
	return maxF32(x, y, ieee)
}

// minimumF32 is IEEE 754-2019 minimum: a NaN source gives NaN.
func minimumF32(x, y float32) uint32 {
	if x != x || y != y {
		return nan32(x, y)
	}
	return minF32(x, y, true)
}

func maximumF32(x, y float32) uint32 {
	if x != x || y != y {
		return nan32(x, y)
	}
	return maxF32(x, y, true)
}

// ldexpF32 is x * 2^n, rounded once: float64 holds the exact value of every
// result that does not overflow or vanish.
func ldexpF32(x float32, n uint32) uint32 {
	if x != x {
		return nan32(x)
	}
	e := min(max(int(int32(n)), -400), 400)
	return b32(float32(math.Ldexp(float64(x), e)))
}

func frexpExpF32(x float32) uint32 {
	if x != x || math.IsInf(float64(x), 0) {
		return 0
	}
	_, e := math.Frexp(float64(x))
	return uint32(int32(e))
}

func frexpMantF32(x float32) uint32 {
	if x != x {
		return nan32(x)
	}
	if math.IsInf(float64(x), 0) {
		return b32(x)
	}
	m, _ := math.Frexp(float64(x))
	return b32(float32(m))
}

// fractF32 is x - floor(x), below 1: LLVM's code generator takes the
// instruction to be min(x - floor(x), largest float32 below 1).
func fractF32(x float32) uint32 {
	if x != x {
		return nan32(x)
	}
	if math.IsInf(float64(x), 0) {
		return defaultNaN
	}
	r := float32(float64(x) - math.Floor(float64(x)))
	return b32(min(r, 0x1.fffffep-1))
}

// The hardware's reciprocals, roots, exponentials and logarithms of float32
// are within 1 ulp or so (LLVM's code generator counts on 1 ulp and on
// subnormals being flushed, for sources and results alike). Here they are the
// correctly rounded value, an approximation of the hardware in the last bit.

// flush32 replaces a subnormal by a zero of its sign.
func flush32(b uint32) uint32 {
	if b&inf32 == 0 {
		return b & signBit32
	}
	return b
}

func flushedF32(x float32) float32 { return f32(flush32(b32(x))) }

func rcpF32(x float32) uint32 {
	if x != x {
		return nan32(x)
	}
	return flush32(b32(1 / flushedF32(x)))
}

func rsqF32(x float32) uint32 {
	if x != x {
		return nan32(x)
	}
	x = flushedF32(x)
	if x < 0 {
		return defaultNaN
	}
	return b32(float32(1 / math.Sqrt(float64(x)))) // 1/sqrt(-0) is -Inf, as 1/-0 is
}

func sqrtF32(x float32) uint32 {
	if x != x {
		return nan32(x)
	}
	x = flushedF32(x)
	if x < 0 {
		return defaultNaN
	}
	return b32(float32(math.Sqrt(float64(x))))
}

func expF32(x float32) uint32 {
	if x != x {
		return nan32(x)
	}
	return flush32(b32(float32(math.Exp2(float64(flushedF32(x))))))
}

func logF32(x float32) uint32 {
	if x != x {
		return nan32(x)
	}
	x = flushedF32(x)
	if x < 0 {
		return defaultNaN
	}
	return flush32(b32(float32(math.Log2(float64(x)))))
}

// toI32 is x cut to an integer and to the range of int32; NaN gives 0.
func toI32(x float64) uint32 {
	switch {
	case x != x:
		return 0
	case x >= math.MaxInt32:
		return math.MaxInt32
	case x <= math.MinInt32:
		return 1 << 31
	}
	return uint32(int32(x))
}

// toU32 is x cut to an integer and to the range of uint32; NaN gives 0.
func toU32(x float64) uint32 {
	switch {
	case !(x > 0):
		return 0
	case x >= math.MaxUint32:
		return math.MaxUint32
	}
	return uint32(int64(x))
}

// clamp01 is V_..._CLAMP of a float32 result; with DX10_CLAMP a NaN becomes 0.
func clamp01(b uint32, dx10 bool) uint32 {
	x := f32(b)
	switch {
	case x != x:
		if dx10 {
			return 0
		}
		return b
	case x <= 0:
		return 0
	case x > 1:
		return 0x3f800000
	}
	return b
}
