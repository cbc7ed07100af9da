package gpu

import (
	"math/bits"

	"mqaproof/sim/isa"
)

// carryFn adds or subtracts with the carry or borrow bits in and gives those
// out, a bit a lane.
type carryFn func(d, a, b *vreg, in uint64) (out uint64)

// addCarry and subBorrow are variables as merge is.
var (
	addCarry  carryFn = addCarryLoop
	subBorrow carryFn = subBorrowLoop
)

func addCarryLoop(d, a, b *vreg, in uint64) (out uint64) {
	for i := range d {
		r := uint64(a[i]) + uint64(b[i]) + in&1
		in >>= 1
		d[i] = uint32(r)
		out = out>>1 | r>>32<<63
	}
	return out
}

func subBorrowLoop(d, a, b *vreg, in uint64) (out uint64) {
	for i := range d {
		r := uint64(a[i]) - uint64(b[i]) - in&1
		in >>= 1
		d[i] = uint32(r)
		out = out>>1 | r>>63<<63
	}
	return out
}

func subRevBorrow(d, a, b *vreg, in uint64) uint64 { return subBorrow(d, b, a, in) }

func registerCarry(add func(isa.Op, compiler)) {
	registerSelect(add)
	add(isa.V_ADD_CO_U32, carryStep(addCarry, false))
	add(isa.V_SUB_CO_U32, carryStep(subBorrow, false))
	add(isa.V_SUBREV_CO_U32, carryStep(subRevBorrow, false))
	add(isa.V_ADDC_CO_U32, carryStep(addCarry, true))
	add(isa.V_SUBB_CO_U32, carryStep(subBorrow, true))
	add(isa.V_SUBBREV_CO_U32, carryStep(subRevBorrow, true))
	add(isa.V_MAD_U64_U32, mad64Step(madU64))
	add(isa.V_MAD_I64_I32, mad64Step(madI64))
}

func carryStep(f carryFn, takesCarry bool) compiler {
	return func(in *isa.Inst, _ *Program) (execFn, error) {
		carryIn := scalarSource{reg: -1}
		plain := *in
		if takesCarry {
			var err error
			if carryIn, err = scalar(in.Src[2]); err != nil {
				return nil, err
			}
			plain.Src[2] = isa.Operand{}
		}
		x, err := resolveLanes(&plain, typeB32, "ii", false)
		if err != nil {
			return nil, err
		}
		if x.dpp != nil {
			return nil, unsupported("DPP on an addition with carry")
		}
		sd, err := scalarDest(in.SDst, 2)
		if err != nil {
			return nil, err
		}
		return func(w *Wave) {
			c := carryIn.u64(w)
			if w.EXEC == allLanes && !x.merged {
				w.writeS64(sd, f(&w.V[x.d], x.src[0][0].get(w), x.src[1][0].get(w), c))
				return
			}
			var v [6]*vreg
			x.sources(w, &v)
			m := f(&w.scratch.out[0], v[0], v[2], c) & w.EXEC
			x.keep(w)
			w.writeS64(sd, m)
		}, nil
	}
}

// mad64Fn is a 32x32 bit product plus a 64-bit addend; out is bit 64 of each
// lane's sum.
type mad64Fn func(d, e, a, b, c, r *vreg) (out uint64)

func madU64(d, e, a, b, c, r *vreg) (out uint64) {
	for i := range d {
		s, carry := bits.Add64(uint64(a[i])*uint64(b[i]), uint64(c[i])|uint64(r[i])<<32, 0)
		d[i], e[i] = uint32(s), uint32(s>>32)
		out = out>>1 | carry<<63
	}
	return out
}

// madI64's sum is of 65 signed bits; bit 64 is the exact sum's sign.
func madI64(d, e, a, b, c, r *vreg) (out uint64) {
	for i := range d {
		p := int64(int32(a[i])) * int64(int32(b[i]))
		z := int64(uint64(c[i]) | uint64(r[i])<<32)
		s := p + z
		d[i], e[i] = uint32(uint64(s)), uint32(uint64(s)>>32)
		sign := uint64(s) >> 63
		if (p^s)&(z^s) < 0 {
			sign ^= 1
		}
		out = out>>1 | sign<<63
	}
	return out
}

func mad64Step(f mad64Fn) compiler {
	return func(in *isa.Inst, _ *Program) (execFn, error) {
		x, err := resolveLanes(in, typeB64, "iil", false)
		if err != nil {
			return nil, err
		}
		sd, err := scalarDest(in.SDst, 2)
		if err != nil {
			return nil, err
		}
		s := x.src
		return func(w *Wave) {
			a, b := s[0][0].get(w), s[1][0].get(w)
			c, r := s[2][0].get(w), s[2][1].get(w)
			if w.EXEC == allLanes {
				w.writeS64(sd, f(&w.V[x.d], &w.V[x.e], a, b, c, r))
				return
			}
			out := &w.scratch.out
			m := f(&out[0], &out[1], a, b, c, r) & w.EXEC
			x.keep(w)
			w.writeS64(sd, m)
		}, nil
	}
}
