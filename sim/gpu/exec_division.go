package gpu

import (
	"math"

	"mqaproof/sim/isa"
)

// The division steps that compilers put around a reciprocal and Newton's
// iteration (CDNA3 ISA, V_DIV_SCALE, V_DIV_FMAS, V_DIV_FIXUP). Four places of
// that text cannot be meant as they stand, and follow what makes the quotient
// right: "== DENORM" asks whether a value is subnormal in the instruction's
// own format; a denominator whose reciprocal is subnormal is scaled down, not
// up, where the quotient is subnormal too; V_DIV_FMAS scales by 2^64 or 2^-64
// (2^128 or 2^-128 for float64), against what V_DIV_SCALE did, by the magnitude
// of its addend; and V_DIV_FIXUP makes an infinity of the NaN that the steps
// between give when the quotient of ordinary numbers overflows.

func registerDivision(add func(isa.Op, compiler)) {
	add(isa.V_DIV_SCALE_F32, divScale32)
	add(isa.V_DIV_SCALE_F64, divScale64)
	add(isa.V_DIV_FMAS_F32, divFmas32)
	add(isa.V_DIV_FMAS_F64, divFmas64)
}

func exponent32(b uint32) int { return int(b >> 23 & 0xff) }
func exponent64(b uint64) int { return int(b >> 52 & 0x7ff) }

// scaleF32 is one lane of V_DIV_SCALE_F32: x is den or num, scaled so that
// the division of num by den does not leave the range of float32 on the way.
func scaleF32(x, den, num float32) (r uint32, vcc bool) {
	bx, bd, bn := b32(x), b32(den), b32(num)
	up := func() uint32 { return ldexpF32(x, 64) }
	subnormal := func(v float64) bool { return v != 0 && math.Abs(v) < 0x1p-126 }
	q := float64(num) / float64(den)
	switch {
	case num == 0 || den == 0:
		return defaultNaN, false
	case exponent32(bn)-exponent32(bd) >= 96:
		if bx == bd {
			return up(), true
		}
		return bx, true
	case isSubnormal32(bd):
		return up(), false
	case subnormal(1/float64(den)) && subnormal(q):
		if bx == bd {
			return ldexpF32(x, ^uint32(63)), true
		}
		return bx, true
	case subnormal(1 / float64(den)):
		return ldexpF32(x, ^uint32(63)), false
	case subnormal(q):
		if bx == bn {
			return up(), true
		}
		return bx, true
	case exponent32(bn) <= 23:
		return up(), false
	}
	return bx, false
}

// scaleF64 is scaleF32 for float64.
func scaleF64(x, den, num float64) (r uint64, vcc bool) {
	bx, bd, bn := math.Float64bits(x), math.Float64bits(den), math.Float64bits(num)
	up := func() uint64 { return ldexpF64(x, 128) }
	subnormal := func(v float64) bool { return v != 0 && math.Abs(v) < 0x1p-1022 }
	q := num / den
	switch {
	case num == 0 || den == 0:
		return defaultNaN64, false
	case exponent64(bn)-exponent64(bd) >= 768:
		if bx == bd {
			return up(), true
		}
		return bx, true
	case subnormal(den):
		return up(), false
	case subnormal(1/den) && (subnormal(q) || q == 0):
		if bx == bd {
			return ldexpF64(x, ^uint32(127)), true
		}
		return bx, true
	case subnormal(1 / den):
		return ldexpF64(x, ^uint32(127)), false
	case subnormal(q) || q == 0:
		if bx == bn {
			return up(), true
		}
		return bx, true
	case exponent64(bn) <= 53:
		return up(), false
	}
	return bx, false
}

func divScale32(in *isa.Inst, _ *Program) (execFn, error) {
	x, sd, err := divScaleOperands(in, typeF32, "fff")
	return func(w *Wave) {
		var v [6]*vreg
		x.sources(w, &v)
		out := &w.scratch.out[0]
		var m uint64
		for i := range out {
			r, vcc := scaleF32(f32(v[0][i]), f32(v[2][i]), f32(v[4][i]))
			out[i] = r
			m = m>>1 | bit63(vcc)
		}
		x.keep(w)
		w.writeS64(sd, m&w.EXEC)
	}, err
}

func divScale64(in *isa.Inst, _ *Program) (execFn, error) {
	x, sd, err := divScaleOperands(in, typeF64, "ddd")
	return func(w *Wave) {
		var v [6]*vreg
		x.sources(w, &v)
		out := &w.scratch.out
		var m uint64
		for i := range Lanes {
			r, vcc := scaleF64(double(v[0], v[1], i), double(v[2], v[3], i), double(v[4], v[5], i))
			out[0][i], out[1][i] = uint32(r), uint32(r>>32)
			m = m>>1 | bit63(vcc)
		}
		x.keep(w)
		w.writeS64(sd, m&w.EXEC)
	}, err
}

func double(lo, hi *vreg, lane int) float64 {
	return math.Float64frombits(uint64(lo[lane]) | uint64(hi[lane])<<32)
}

func divScaleOperands(in *isa.Inst, dst operandType, srcs string) (*laneArgs, int, error) {
	x, err := resolveLanes(in, dst, srcs, false)
	if err != nil {
		return nil, 0, err
	}
	sd, err := scalarDest(in.SDst, 2)
	return x, sd, err
}

// fmasF32 is x*y + z, scaled back and rounded once.
func fmasF32(x, y, z float32, scale bool) uint32 {
	if !scale {
		return fmaF32(x, y, z)
	}
	p := float64(x) * float64(y)
	s := p + float64(z)
	if s != s {
		return nan32(x, y, z)
	}
	if s != 0 {
		s = roundToOdd(s, p, float64(z))
	}
	if exponent32(b32(z)) > 127 {
		return b32(float32(s * 0x1p64))
	}
	return b32(float32(s * 0x1p-64))
}

// fmasF64 is fmasF32 for float64.
func fmasF64(x, y, z float64, scale bool) uint64 {
	r := math.FMA(x, y, z)
	if !scale || r != r || math.IsInf(r, 0) || r == 0 {
		return fmaF64(x, y, z)
	}
	if exponent64(math.Float64bits(z)) > 1023 {
		return math.Float64bits(math.Ldexp(r, 128))
	}
	if math.Abs(r) >= 0x1p-894 {
		return math.Float64bits(math.Ldexp(r, -128)) // normal, exact
	}
	return scaleToSubnormal(r, fmaError(x, y, z, r))
}

// scaleToSubnormal is (r + err) * 2^-128 rounded once, for an r of a normal
// number's magnitude whose scaled value is subnormal and an err below half of
// r's last bit.
func scaleToSubnormal(r, err float64) uint64 {
	b := math.Float64bits(r)
	m := (b&(1<<52-1) | 1<<52) << 2 // in quarters of r's last bit
	switch {
	case err == 0:
	case (err > 0) == (r > 0):
		m++
	default:
		m--
	}
	// One unit of the result, 2^-1074, is so many quarters as a power of 2.
	shift := 1 - (exponent64(b) - 128) + 2
	if shift > 62 {
		return b & signBit64
	}
	q, rest, half := m>>shift, m&(1<<shift-1), uint64(1)<<(shift-1)
	if rest > half || rest == half && q&1 == 1 {
		q++
	}
	return b&signBit64 | q
}

// fmaError is the sign, at least, of x*y + z - r, where r is that sum rounded
// to nearest. The operands are far from the limits of the format, as
// V_DIV_SCALE leaves them.
func fmaError(x, y, z, r float64) float64 {
	// x*y - p and p + z - t are exact, and t - r is small enough to be.
	p := x * y
	low := math.FMA(x, y, -p)
	t := p + z
	u := t - p
	lowSum := (p - (t - u)) + (z - u)
	return (t - r) + lowSum + low
}

func divFmas32(in *isa.Inst, _ *Program) (execFn, error) {
	x, err := resolveLanes(in, typeF32, "fff", false)
	return func(w *Wave) {
		var v [6]*vreg
		x.sources(w, &v)
		out := &w.scratch.out[0]
		for i := range out {
			out[i] = fmasF32(f32(v[0][i]), f32(v[2][i]), f32(v[4][i]), w.VCC>>uint(i)&1 != 0)
		}
		x.keep(w)
	}, err
}

func divFmas64(in *isa.Inst, _ *Program) (execFn, error) {
	x, err := resolveLanes(in, typeF64, "ddd", false)
	return func(w *Wave) {
		var v [6]*vreg
		x.sources(w, &v)
		out := &w.scratch.out
		for i := range Lanes {
			r := fmasF64(double(v[0], v[1], i), double(v[2], v[3], i), double(v[4], v[5], i), w.VCC>>uint(i)&1 != 0)
			out[0][i], out[1][i] = uint32(r), uint32(r>>32)
		}
		x.keep(w)
	}, err
}

// divFixupF32 gives the quotient q of num / den its sign and the values of
// the special cases.
func divFixupF32(q, den, num float32) uint32 {
	bd, bn := b32(den), b32(num)
	sign := (bd ^ bn) & signBit32
	inf := func(b uint32) bool { return b&^signBit32 == inf32 }
	switch {
	case num != num:
		return bn | quietBit32
	case den != den:
		return bd | quietBit32
	case den == 0 && num == 0, inf(bd) && inf(bn):
		return defaultNaN
	case den == 0 || inf(bn):
		return sign | inf32
	case inf(bd) || num == 0:
		return sign
	case exponent32(bn)-exponent32(bd) < -150:
		return sign // below half the smallest subnormal
	case q != q:
		return sign | inf32 // out of range
	}
	return sign | b32(q)&^signBit32
}

// divFixupF16 is divFixupF32 for float16, of which the quotient comes from a
// division in float32: it neither overflows nor vanishes on the way there.
func divFixupF16(q, den, num uint16) uint16 {
	const quiet, inf = 0x200, 0x7c00
	sign := (den ^ num) & 0x8000
	d, n := den&0x7fff, num&0x7fff
	switch {
	case n > inf:
		return num | quiet
	case d > inf:
		return den | quiet
	case d == 0 && n == 0, d == inf && n == inf:
		return 0xfe00
	case d == 0 || n == inf:
		return sign | inf
	case d == inf || n == 0:
		return sign
	}
	return sign | q&0x7fff
}

// divFixupF64 is divFixupF32 for float64.
func divFixupF64(q, den, num float64) uint64 {
	bd, bn := math.Float64bits(den), math.Float64bits(num)
	sign := (bd ^ bn) & signBit64
	switch {
	case num != num:
		return bn | quietBit64
	case den != den:
		return bd | quietBit64
	case den == 0 && num == 0, math.IsInf(den, 0) && math.IsInf(num, 0):
		return defaultNaN64
	case den == 0 || math.IsInf(num, 0):
		return sign | 0x7ff0000000000000
	case math.IsInf(den, 0) || num == 0:
		return sign
	case exponent64(bn)-exponent64(bd) < -1075:
		return sign
	case q != q:
		return sign | 0x7ff0000000000000
	}
	return sign | math.Float64bits(q)&^(1<<63)
}
