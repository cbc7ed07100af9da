package gpu

import "math"

// float64 arithmetic, one lane each, by the same rules as float32.

const (
	signBit64    = 1 << 63
	quietBit64   = 1 << 51
	defaultNaN64 = 0xfff8000000000000
)

func b64(x float64) uint64 {
	b := math.Float64bits(x)
	if x != x {
		b |= quietBit64
	}
	return b
}

// nan64 is the NaN that an operation on these sources gives.
func nan64(sources ...float64) uint64 {
	for _, x := range sources {
		if x != x {
			return math.Float64bits(x) | quietBit64
		}
	}
	return defaultNaN64
}

func addF64(x, y float64) uint64 {
	r := x + y
	if r != r {
		return nan64(x, y)
	}
	return math.Float64bits(r)
}

func mulF64(x, y float64) uint64 {
	r := x * y
	if r != r {
		return nan64(x, y)
	}
	return math.Float64bits(r)
}

func fmaF64(x, y, z float64) uint64 {
	r := math.FMA(x, y, z)
	if r != r {
		return nan64(x, y, z)
	}
	return math.Float64bits(r)
}

func isSignalling64(b uint64) bool {
	return b&^signBit64 > 0x7ff0000000000000 && b&quietBit64 == 0
}

func minF64(x, y float64, ieee bool) uint64 {
	bx, by := math.Float64bits(x), math.Float64bits(y)
	switch {
	case x < y:
		return bx
	case y < x:
		return by
	case x == y:
		return bx | by
	}
	return minMaxNaN64(bx, by, ieee)
}

func maxF64(x, y float64, ieee bool) uint64 {
	bx, by := math.Float64bits(x), math.Float64bits(y)
	switch {
	case x > y:
		return bx
	case y > x:
		return by
	case x == y:
		return bx & by
	}
	return minMaxNaN64(bx, by, ieee)
}

// minMaxNaN64 is the minimum or maximum when a source is a NaN.
func minMaxNaN64(x, y uint64, ieee bool) uint64 {
	switch {
	case ieee && isSignalling64(x):
		return x | quietBit64
	case ieee && isSignalling64(y):
		return y | quietBit64
	case x&^signBit64 > 0x7ff0000000000000:
		return y
	}
	return x
}

// ldexpF64 is x * 2^n rounded once (math.Ldexp rounds a subnormal result once).
func ldexpF64(x float64, n uint32) uint64 {
	if x != x {
		return nan64(x)
	}
	return math.Float64bits(math.Ldexp(x, min(max(int(int32(n)), -4000), 4000)))
}

func frexpExpF64(x float64) uint32 {
	if x != x || math.IsInf(x, 0) {
		return 0
	}
	_, e := math.Frexp(x)
	return uint32(int32(e))
}

func frexpMantF64(x float64) uint64 {
	if x != x {
		return nan64(x)
	}
	m, _ := math.Frexp(x)
	return math.Float64bits(m)
}

// fractF64 is fractF32 for float64.
func fractF64(x float64) uint64 {
	if x != x {
		return nan64(x)
	}
	if math.IsInf(x, 0) {
		return defaultNaN64
	}
	return math.Float64bits(min(x-math.Floor(x), 0x1.fffffffffffffp-1))
}
