package gpu

import (
	"math/bits"

	"mqaproof/sim/isa"
)

func registerCrossLane(add func(isa.Op, compiler)) {
	add(isa.V_READFIRSTLANE_B32, readLane(func(w *Wave, _ scalarSource) int {
		if w.EXEC == 0 {
			return 0
		}
		return bits.TrailingZeros64(w.EXEC)
	}))
	add(isa.V_READLANE_B32, readLane(func(w *Wave, lane scalarSource) int { return int(lane.u32(w) & 63) }))
	add(isa.V_WRITELANE_B32, writeLane)
	add(isa.V_MBCNT_LO_U32_B32, lanewise(typeB32, "ii", mbcntLo))
	add(isa.V_MBCNT_HI_U32_B32, lanewise(typeB32, "ii", mbcntHi))
	add(isa.V_SWAP_B32, twoRegisters(func(w *Wave, d, s *vreg) {
		m := w.EXEC
		for i := range d {
			x := (d[i] ^ s[i]) & -uint32(m>>uint(i)&1)
			d[i] ^= x
			s[i] ^= x
		}
	}))
	// Lanes 16..31 and 48..63 of the destination and the 16 lanes below them
	// of the source change places.
	add(isa.V_PERMLANE16_SWAP_B32, permlaneSwap(16))
	add(isa.V_PERMLANE32_SWAP_B32, permlaneSwap(32))
	for _, op := range []isa.Op{isa.V_ACCVGPR_READ_B32, isa.V_ACCVGPR_WRITE_B32, isa.V_ACCVGPR_MOV_B32} {
		add(op, lanewise(typeB32, "i", laneVMovB32))
	}
	add(isa.V_BITOP3_B32, bitop3)
	add(isa.V_BITOP3_B16, bitop3Half)
}

// lanewise compiles an instruction of one-dword operands whose lanes are
// independent and that is not in laneOps.
func lanewise(dst operandType, srcs string, f narrowFn) compiler {
	return func(in *isa.Inst, _ *Program) (execFn, error) {
		x, err := resolveLanes(in, dst, srcs, false)
		if err != nil {
			return nil, err
		}
		return x.narrowStep(f, nil), nil
	}
}

func readLane(which func(w *Wave, lane scalarSource) int) compiler {
	return func(in *isa.Inst, _ *Program) (execFn, error) {
		s, err := vectorReg(in.Src[0])
		if err != nil {
			return nil, err
		}
		lane := scalarSource{reg: -1}
		if in.Src[1].Kind != isa.None {
			if lane, err = scalar(in.Src[1]); err != nil {
				return nil, err
			}
		}
		d, err := scalarDest(in.SDst, 1)
		return func(w *Wave) { w.writeS(d, w.V[s][which(w, lane)]) }, err
	}
}

// writeLane sets one lane, whatever EXEC says.
func writeLane(in *isa.Inst, _ *Program) (execFn, error) {
	d, err := vectorReg(in.Dst)
	if err != nil {
		return nil, err
	}
	x, err := scalar(in.Src[0])
	if err != nil {
		return nil, err
	}
	lane, err := scalar(in.Src[1])
	return func(w *Wave) { w.V[d][lane.u32(w)&63] = x.u32(w) }, err
}

// mbcntLo and mbcntHi add to y the bits of x that stand for lanes below this
// one, among lanes 0..31 and 32..63.
func mbcntLo(d, a, b, _ *vreg) {
	for i := range d {
		below := uint32(uint64(1)<<min(uint(i), 32) - 1)
		d[i] = uint32(bits.OnesCount32(a[i]&below)) + b[i]
	}
}

func mbcntHi(d, a, b, _ *vreg) {
	for i := range d {
		var below uint32
		if i > 32 {
			below = uint32(1)<<uint(i-32) - 1
		}
		d[i] = uint32(bits.OnesCount32(a[i]&below)) + b[i]
	}
}

// twoRegisters compiles an instruction that writes its source as well.
func twoRegisters(f func(w *Wave, d, s *vreg)) compiler {
	return func(in *isa.Inst, _ *Program) (execFn, error) {
		d, err := vectorReg(in.Dst)
		if err != nil {
			return nil, err
		}
		s, err := vectorReg(in.Src[0])
		if err != nil {
			return nil, err
		}
		if in.IsDPP || in.IsSDWA || in.OpSel != 0 || in.Clamp || in.OMod != 0 {
			return nil, unsupported("a modifier of an exchange of registers")
		}
		return func(w *Wave) { f(w, &w.V[d], &w.V[s]) }, nil
	}
}

// permlaneSwap exchanges, in each group of 2n lanes, the upper half of the
// destination with the lower half of the source.
func permlaneSwap(n int) compiler {
	return twoRegisters(func(w *Wave, d, s *vreg) {
		if w.EXEC != allLanes {
			w.stopWith(TrapUnsupported, "an exchange between lanes while some are off")
			return
		}
		for base := 0; base < Lanes; base += 2 * n {
			for i := base; i < base+n; i++ {
				s[i], d[i+n] = d[i+n], s[i]
			}
		}
	})
}

// bitop3 computes any function of three bits, from its truth table: bit
// 4x+2y+z is the result for source bits x, y and z.
func bitop3(in *isa.Inst, _ *Program) (execFn, error) {
	x, err := resolveLanes(in, typeB32, "iii", false)
	if err != nil {
		return nil, err
	}
	return x.narrowStep(bitop3Lanes(in.BitOp3), nil), nil
}

func bitop3Lanes(table uint8) narrowFn {
	var t [8]uint64
	for i := range t {
		t[i] = -uint64(table >> i & 1)
	}
	t0, t1, t2, t3, t4, t5, t6, t7 := t[0], t[0]^t[1], t[2], t[2]^t[3], t[4], t[4]^t[5], t[6], t[6]^t[7]
	return func(d, a, b, c *vreg) {
		dq, aq, bq, cq := pairs(d), pairs(a), pairs(b), pairs(c)
		for i := range dq {
			for j := range dq[i] {
				x, y, z := aq[i][j], bq[i][j], cq[i][j]
				u0, u1, u2, u3 := t0^t1&z, t2^t3&z, t4^t5&z, t6^t7&z
				v0, v1 := u0^(u0^u1)&y, u2^(u2^u3)&y
				dq[i][j] = v0 ^ (v0^v1)&x
			}
		}
	}
}

// bitop3Half is bitop3 of 16 bits; op_sel picks halves, and the other half of
// the destination stays.
func bitop3Half(in *isa.Inst, _ *Program) (execFn, error) {
	plain := *in
	plain.OpSel = 0
	x, err := resolveLanes(&plain, typeB16, "www", false)
	if err != nil {
		return nil, err
	}
	f, sel := bitop3Lanes(in.BitOp3), in.OpSel
	up := uint(sel>>3) * 16
	return func(w *Wave) {
		var v [6]*vreg
		x.sources(w, &v)
		var half [3]*vreg
		for i := range half {
			half[i] = v[2*i]
			if sel>>i&1 != 0 {
				half[i] = &w.scratch.mod[2*i]
				for j := range half[i] {
					half[i][j] = v[2*i][j] >> 16
				}
			}
		}
		out, old := &w.scratch.out[0], &w.V[x.d]
		f(out, half[0], half[1], half[2])
		for i := range out {
			out[i] = old[i]&^(0xffff<<up) | out[i]&0xffff<<up
		}
		x.keep(w)
	}, nil
}
