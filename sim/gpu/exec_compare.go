package gpu

import (
	"mqaproof/sim/isa"
)

// compareFn is the mask of lanes in which a condition holds; p and q are the
// high dwords of 64-bit sources.
type compareFn func(a, p, b, q *vreg) uint64

// compareOp is a comparison: op writes its mask to a scalar pair, exec to EXEC
// besides.
type compareOp struct {
	op, exec isa.Op
	src      operandType
	fn       compareFn
}

// bit63 is the top bit of a mask that is built by shifting down.
func bit63(b bool) uint64 {
	var x uint64
	if b {
		x = 1
	}
	return x << 63
}

func registerCompares(add func(isa.Op, compiler)) {
	for i := range compareOps {
		o := &compareOps[i]
		srcs := string([]byte{byte(o.src), byte(o.src)})
		add(o.op, compare(o.fn, srcs, false))
		add(o.exec, compare(o.fn, srcs, true))
	}
	add(isa.V_CMP_CLASS_F32, compare(classF32, "si", false))
	add(isa.V_CMPX_CLASS_F32, compare(classF32, "si", true))
	add(isa.V_CMP_CLASS_F64, compare(classF64, "di", false))
	add(isa.V_CMPX_CLASS_F64, compare(classF64, "di", true))
	add(isa.V_CMP_CLASS_F16, compare(classF16, "hi", false))
	add(isa.V_CMPX_CLASS_F16, compare(classF16, "hi", true))
}

// compare compiles a comparison: bits of lanes that are off become 0.
func compare(f compareFn, srcs string, exec bool) compiler {
	return func(in *isa.Inst, _ *Program) (execFn, error) {
		x, err := resolveSources(in, srcs, false)
		if err != nil {
			return nil, err
		}
		if in.Clamp || in.OMod != 0 || x.dpp != nil {
			return nil, unsupported("clamp, omod or DPP on a comparison")
		}
		d, err := scalarDest(in.SDst, 2)
		if err != nil {
			return nil, err
		}
		general := func(w *Wave) {
			var v [6]*vreg
			x.sources(w, &v)
			m := f(v[0], v[1], v[2], v[3]) & w.EXEC
			w.writeS64(d, m)
			if exec {
				w.EXEC = m
			}
		}
		if x.merged || exec || x.float32 {
			return func(w *Wave) {
				if x.merged || exec || x.slow(w) {
					general(w)
					return
				}
				m := f(x.src[0][0].get(w), nil, x.src[1][0].get(w), nil)
				w.writeS64(d, m&w.EXEC)
			}, nil
		}
		s := x.src
		if d == regVCC {
			return func(w *Wave) {
				m := f(s[0][0].get(w), s[0][1].get(w), s[1][0].get(w), s[1][1].get(w))
				w.VCC = m & w.EXEC
			}, nil
		}
		return func(w *Wave) {
			m := f(s[0][0].get(w), s[0][1].get(w), s[1][0].get(w), s[1][1].get(w))
			w.writeS64(d, m&w.EXEC)
		}, nil
	}
}

// class is the bit of a V_CMP_CLASS mask that a float belongs to.
func class(nan, quiet, inf, normal, zero, negative bool) uint32 {
	switch {
	case nan && quiet:
		return 1 << 1
	case nan:
		return 1 << 0
	}
	var i uint // distance from the positive and negative zeros
	switch {
	case zero:
	case inf:
		i = 3
	case normal:
		i = 2
	default:
		i = 1
	}
	if negative {
		return 1 << (5 - i)
	}
	return 1 << (6 + i)
}

func class32(b uint32) uint32 {
	a := b &^ signBit32
	return class(a > inf32, b&quietBit32 != 0, a == inf32, a&inf32 != 0, a == 0, b&signBit32 != 0)
}

func class64(b uint64) uint32 {
	const inf = 0x7ff0000000000000
	a := b &^ (1 << 63)
	return class(a > inf, b&quietBit64 != 0, a == inf, a&inf != 0, a == 0, b>>63 != 0)
}

func classF32(a, _, b, _ *vreg) (m uint64) {
	for i := range a {
		m = m>>1 | bit63(class32(a[i])&b[i] != 0)
	}
	return m
}

func classF64(a, p, b, _ *vreg) (m uint64) {
	for i := range a {
		m = m>>1 | bit63(class64(uint64(a[i])|uint64(p[i])<<32)&b[i] != 0)
	}
	return m
}

func classF16(a, _, b, _ *vreg) (m uint64) {
	const inf = 0x7c00
	for i := range a {
		h := a[i] & 0xffff
		v := h &^ 0x8000
		c := class(v > inf, h&0x200 != 0, v == inf, v&inf != 0, v == 0, h&0x8000 != 0)
		m = m>>1 | bit63(c&b[i] != 0)
	}
	return m
}

// selectLanes is b where the mask has a lane's bit, else a.
var selectLanes = func(d, a, b *vreg, mask uint64) {
	for i := range d {
		on := -uint32(mask & 1)
		mask >>= 1
		d[i] = a[i] ^ (a[i]^b[i])&on
	}
}

// registerSelect adds V_CNDMASK_B32, whose third source is a mask.
func registerSelect(add func(isa.Op, compiler)) {
	add(isa.V_CNDMASK_B32, func(in *isa.Inst, _ *Program) (execFn, error) {
		mask, err := scalar(in.Src[2])
		if err != nil {
			return nil, err
		}
		plain := *in
		plain.Src[2] = isa.Operand{}
		x, err := resolveLanes(&plain, typeB32, "ss", false)
		if err != nil {
			return nil, err
		}
		if x.merged {
			return func(w *Wave) {
				var v [6]*vreg
				x.sources(w, &v)
				selectLanes(&w.scratch.out[0], v[0], v[2], mask.u64(w))
				x.keep(w)
			}, nil
		}
		d, s0, s1 := x.d, x.src[0][0], x.src[1][0]
		return func(w *Wave) {
			m := mask.u64(w)
			a, b := s0.get(w), s1.get(w)
			if w.EXEC == allLanes {
				selectLanes(&w.V[d], a, b, m)
				return
			}
			out := &w.scratch.out[0]
			selectLanes(out, a, b, m)
			merge(&w.V[d], out, w.EXEC)
		}, nil
	})
}
