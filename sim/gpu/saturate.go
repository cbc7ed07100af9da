package gpu

import "mqaproof/sim/isa"

// saturating are the loops of integer additions and subtractions with clamp:
// the result is the exact one, brought into the range of the type.
var saturating = map[isa.Op]narrowFn{
	isa.V_ADD_U32:    saturate(0, 1<<32-1, func(x, y uint32) int64 { return int64(x) + int64(y) }),
	isa.V_SUB_U32:    saturate(0, 1<<32-1, func(x, y uint32) int64 { return int64(x) - int64(y) }),
	isa.V_SUBREV_U32: saturate(0, 1<<32-1, func(x, y uint32) int64 { return int64(y) - int64(x) }),
	isa.V_ADD_I32:    saturate(-1<<31, 1<<31-1, func(x, y uint32) int64 { return int64(int32(x)) + int64(int32(y)) }),
	isa.V_SUB_I32:    saturate(-1<<31, 1<<31-1, func(x, y uint32) int64 { return int64(int32(x)) - int64(int32(y)) }),
	isa.V_ADD_U16:    saturate(0, 1<<16-1, func(x, y uint32) int64 { return int64(uint16(x)) + int64(uint16(y)) }),
	isa.V_SUB_U16:    saturate(0, 1<<16-1, func(x, y uint32) int64 { return int64(uint16(x)) - int64(uint16(y)) }),
	isa.V_SUBREV_U16: saturate(0, 1<<16-1, func(x, y uint32) int64 { return int64(uint16(y)) - int64(uint16(x)) }),
	isa.V_ADD_I16:    saturate16(func(x, y uint32) int64 { return int64(int16(x)) + int64(int16(y)) }),
	isa.V_SUB_I16:    saturate16(func(x, y uint32) int64 { return int64(int16(x)) - int64(int16(y)) }),
}

// saturate16 is saturate for signed 16 bits: the result's high half is 0.
func saturate16(f func(x, y uint32) int64) narrowFn {
	g := saturate(-1<<15, 1<<15-1, f)
	return func(d, a, b, c *vreg) {
		g(d, a, b, c)
		for i := range d {
			d[i] &= 0xffff
		}
	}
}

func saturate(low, high int64, f func(x, y uint32) int64) narrowFn {
	return func(d, a, b, _ *vreg) {
		for i := range d {
			d[i] = uint32(min(max(f(a[i], b[i]), low), high))
		}
	}
}
