package gpu

import (
	"mqaproof/sim/isa"
)

func registerPacked(add func(isa.Op, compiler)) {
	add(isa.V_PK_FMA_F32, packedF32(laneLoop(isa.V_FMA_F32), 3))
	add(isa.V_PK_MUL_F32, packedF32(laneLoop(isa.V_MUL_F32), 2))
	add(isa.V_PK_ADD_F32, packedF32(laneLoop(isa.V_ADD_F32), 2))
	add(isa.V_PK_MOV_B32, packedMov)

	for op, f := range packed16 {
		add(op, packedHalves(f))
	}
}

// packedSource is one float32 of a source of a packed float32 instruction.
type packedSource struct {
	vectorSource
	mod signMod
}

// packedPick is the dword of source n that op_sel chooses. Scalars and
// registers are pairs; a constant has one dword that is known, its low one.
func packedPick(in *isa.Inst, n int, high bool) (vectorSource, error) {
	s, err := vector(in.Src[n], typeB64, n)
	if err != nil {
		return s[0], err
	}
	if in.Src[n].Kind == isa.Const {
		if high && in.Src[n].Value != 0 {
			return s[0], unsupported("the high dword of a packed constant")
		}
		k := new(vreg)
		fill(k, in.Src[n].Value)
		s[0].konst = k
		return s[0], nil
	}
	if high {
		return s[1], nil
	}
	return s[0], nil
}

// packedF32 compiles two float32 operations on pairs of registers: op_sel and
// op_sel_hi choose the dwords that the low and the high result are made of.
func packedF32(f narrowFn, n int) compiler {
	return func(in *isa.Inst, _ *Program) (execFn, error) {
		if in.Clamp || in.OMod != 0 || in.Abs != 0 {
			return nil, unsupported("clamp, omod or abs on packed float32")
		}
		d, err := vectorReg(in.Dst)
		if err != nil {
			return nil, err
		}
		var half [2][3]packedSource
		modified := false
		alias := false // the low result overwrites a source of the high one
		for h, sel := range [2]uint8{in.OpSel, in.OpSelHi} {
			neg := [2]uint8{in.Neg, in.NegHi}[h]
			for i := range 3 {
				s := &half[h][i]
				s.kind = fromNothing
				if i >= n {
					continue
				}
				if s.vectorSource, err = packedPick(in, i, sel>>i&1 != 0); err != nil {
					return nil, err
				}
				s.mod = sign(neg>>i&1 != 0, false, signBit32)
				modified = modified || s.mod.flip != 0
				alias = alias || h == 1 && s.kind == fromVGPR && s.vgpr == d
			}
		}
		operand := func(w *Wave, s *packedSource, slot int) *vreg {
			v := s.get(w)
			if v == nil {
				return nil
			}
			m := &w.scratch.mod[slot]
			if s.mod.flip != 0 {
				s.mod.apply(m, v)
				v = m
			}
			if w.mode&(1<<4) == 0 {
				flushLanes(m, v)
				v = m
			}
			return v
		}
		general := func(w *Wave) {
			out := &w.scratch.out
			for h := range half {
				s := &half[h]
				f(&out[h], operand(w, &s[0], 0), operand(w, &s[1], 2), operand(w, &s[2], 4))
				if w.mode&(1<<5) == 0 {
					flushLanes(&out[h], &out[h])
				}
			}
			merge(&w.V[d], &out[0], w.EXEC)
			merge(&w.V[d+1], &out[1], w.EXEC)
		}
		if modified || alias {
			return general, nil
		}
		l, h := half[0], half[1]
		return func(w *Wave) {
			if w.EXEC != allLanes || w.mode&modeDenorm32 != modeDenorm32 {
				general(w)
				return
			}
			f(&w.V[d], l[0].get(w), l[1].get(w), l[2].get(w))
			f(&w.V[d+1], h[0].get(w), h[1].get(w), h[2].get(w))
		}, nil
	}
}

// packedMov makes a pair of a dword of each source: op_sel picks it.
func packedMov(in *isa.Inst, _ *Program) (execFn, error) {
	if in.Neg != 0 || in.NegHi != 0 || in.Clamp || in.Abs != 0 || in.OMod != 0 {
		return nil, unsupported("a modifier of v_pk_mov_b32")
	}
	d, err := vectorReg(in.Dst)
	if err != nil {
		return nil, err
	}
	a, err := packedPick(in, 0, in.OpSel&1 != 0)
	if err != nil {
		return nil, err
	}
	b, err := packedPick(in, 1, in.OpSel&2 != 0)
	return func(w *Wave) {
		out := &w.scratch.out
		out[0], out[1] = *a.get(w), *b.get(w)
		merge(&w.V[d], &out[0], w.EXEC)
		merge(&w.V[d+1], &out[1], w.EXEC)
	}, err
}

// half is one 16-bit operation; its operands are in the low bits.
type half struct {
	n     int
	float bool
	fn    func(x, y, z uint32) uint32

	clamped func(x, y, z uint32) uint32 // with clamp; nil where that is not implemented
	nonIEEE func(x, y, z uint32) uint32 // when MODE.IEEE is 0; nil: the same
}

func signed16(x uint32) int32   { return int32(int16(x)) }
func unsigned16(x uint32) int32 { return int32(x & 0xffff) }

// saturateI16 and saturateU16 bring a sum into the range of 16 bits.
func saturateI16(x int32) uint32 { return uint32(min(max(x, -1<<15), 1<<15-1)) }
func saturateU16(x int32) uint32 { return uint32(min(max(x, 0), 1<<16-1)) }

var packed16 = map[isa.Op]half{
	isa.V_PK_ADD_U16: {n: 2, fn: func(x, y, _ uint32) uint32 { return x + y },
		clamped: func(x, y, _ uint32) uint32 { return saturateU16(unsigned16(x) + unsigned16(y)) }},
	isa.V_PK_SUB_U16: {n: 2, fn: func(x, y, _ uint32) uint32 { return x - y },
		clamped: func(x, y, _ uint32) uint32 { return saturateU16(unsigned16(x) - unsigned16(y)) }},
	isa.V_PK_ADD_I16: {n: 2, fn: func(x, y, _ uint32) uint32 { return x + y },
		clamped: func(x, y, _ uint32) uint32 { return saturateI16(signed16(x) + signed16(y)) }},
	isa.V_PK_SUB_I16: {n: 2, fn: func(x, y, _ uint32) uint32 { return x - y },
		clamped: func(x, y, _ uint32) uint32 { return saturateI16(signed16(x) - signed16(y)) }},
	isa.V_PK_MUL_LO_U16:  {n: 2, fn: func(x, y, _ uint32) uint32 { return x * y }},
	isa.V_PK_MAD_U16:     {n: 3, fn: func(x, y, z uint32) uint32 { return x*y + z }},
	isa.V_PK_MAD_I16:     {n: 3, fn: func(x, y, z uint32) uint32 { return x*y + z }},
	isa.V_PK_LSHLREV_B16: {n: 2, fn: func(x, y, _ uint32) uint32 { return y << (x & 15) }},
	isa.V_PK_LSHRREV_B16: {n: 2, fn: func(x, y, _ uint32) uint32 { return y & 0xffff >> (x & 15) }},
	isa.V_PK_ASHRREV_I16: {n: 2, fn: func(x, y, _ uint32) uint32 { return uint32(int16(y) >> (x & 15)) }},
	isa.V_PK_MAX_U16:     {n: 2, fn: func(x, y, _ uint32) uint32 { return max(x&0xffff, y&0xffff) }},
	isa.V_PK_MIN_U16:     {n: 2, fn: func(x, y, _ uint32) uint32 { return min(x&0xffff, y&0xffff) }},
	isa.V_PK_MAX_I16:     {n: 2, fn: func(x, y, _ uint32) uint32 { return uint32(max(int16(x), int16(y))) }},
	isa.V_PK_MIN_I16:     {n: 2, fn: func(x, y, _ uint32) uint32 { return uint32(min(int16(x), int16(y))) }},
	isa.V_PK_MAX_F16: {n: 2, float: true,
		fn:      func(x, y, _ uint32) uint32 { return narrowF16(maxF32(wideF16(x), wideF16(y), true)) },
		nonIEEE: func(x, y, _ uint32) uint32 { return narrowF16(maxF32(wideF16(x), wideF16(y), false)) }},
	isa.V_PK_MIN_F16: {n: 2, float: true,
		fn:      func(x, y, _ uint32) uint32 { return narrowF16(minF32(wideF16(x), wideF16(y), true)) },
		nonIEEE: func(x, y, _ uint32) uint32 { return narrowF16(minF32(wideF16(x), wideF16(y), false)) }},
	isa.V_PK_ADD_F16: {n: 2, float: true, fn: func(x, y, _ uint32) uint32 {
		return uint32(f32ToF16(f32(addF32(f16ToF32(uint16(x)), f16ToF32(uint16(y))))))
	}},
	isa.V_PK_MUL_F16: {n: 2, float: true, fn: func(x, y, _ uint32) uint32 {
		return uint32(f32ToF16(f32(mulF32(f16ToF32(uint16(x)), f16ToF32(uint16(y))))))
	}},
	isa.V_PK_FMA_F16: {n: 3, float: true, fn: func(x, y, z uint32) uint32 {
		return uint32(fmaF16(uint16(x), uint16(y), uint16(z)))
	}},
}

// packedHalves compiles two 16-bit operations on the halves of dwords.
func packedHalves(h half) compiler {
	return func(in *isa.Inst, _ *Program) (execFn, error) {
		plain, n, float := h.fn, h.n, h.float
		if in.Clamp {
			plain = h.clamped
		}
		nonIEEE := h.nonIEEE
		if nonIEEE == nil {
			nonIEEE = plain
		}
		if plain == nil || in.OMod != 0 || in.Abs != 0 || !float && (in.Neg != 0 || in.NegHi != 0) {
			return nil, unsupported("a modifier of packed 16-bit operations")
		}
		d, err := vectorReg(in.Dst)
		if err != nil {
			return nil, err
		}
		src := [3]vectorSource{{kind: fromNothing}, {kind: fromNothing}, {kind: fromNothing}}
		for i := range n {
			o, t := in.Src[i], typeB32
			if o.Kind == isa.Const && o.Value != 0 {
				// Its low half is a 16-bit constant; what the high half holds is
				// not documented.
				if (in.OpSel|in.OpSelHi)>>i&1 != 0 || o.Float && !float {
					return nil, unsupported("the high half of a constant in packed 16-bit operations")
				}
				t = typeB16
			}
			s, err := vector(o, t, i)
			if err != nil {
				return nil, err
			}
			src[i] = s[0]
		}
		sel, selHi, neg, negHi := in.OpSel, in.OpSelHi, in.Neg, in.NegHi
		pickHalf := func(x uint32, sel, neg uint8, i int) uint32 {
			return x>>(uint(sel>>i&1)*16)&0xffff ^ uint32(neg>>i&1)<<15
		}
		return func(w *Wave) {
			f := plain
			if w.mode&modeIEEE == 0 {
				f = nonIEEE
			}
			var v [3]*vreg
			for i := range v {
				if v[i] = src[i].get(w); v[i] == nil {
					v[i] = v[0]
				}
			}
			out := &w.scratch.out[0]
			for i := range out {
				x, y, z := v[0][i], v[1][i], v[2][i]
				lo := f(pickHalf(x, sel, neg, 0), pickHalf(y, sel, neg, 1), pickHalf(z, sel, neg, 2))
				hi := f(pickHalf(x, selHi, negHi, 0), pickHalf(y, selHi, negHi, 1), pickHalf(z, selHi, negHi, 2))
				out[i] = lo&0xffff | hi<<16
			}
			merge(&w.V[d], out, w.EXEC)
		}, nil
	}
}
