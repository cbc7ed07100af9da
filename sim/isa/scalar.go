package isa

// scalar decodes SOP1, SOP2, SOPC, SOPK and SOPP.
func (d *decoder) scalar(w uint32) bool {
	switch {
	case w>>23 == 0b101111101:
		return d.find(sop1Table[:], SOP1, field(w, 15, 8)) && d.sop(w, field(w, 22, 16))
	case w>>23 == 0b101111110:
		return d.find(sopcTable[:], SOPC, field(w, 22, 16)) && d.sop(w, 0)
	case w>>23 == 0b101111111:
		d.in.Simm16 = int16(w)
		if !d.find(soppTable[:], SOPP, field(w, 22, 16)) {
			return false
		}
		if d.sh.a.in == inNone && d.in.Simm16 != 0 && d.in.Op != S_ENDPGM {
			return d.fail("%s has no immediate", d.in.Op)
		}
		return true
	case w>>28 == 0b1011:
		return d.find(sopkTable[:], SOPK, field(w, 27, 23)) && d.sopk(w)
	}
	return d.find(sop2Table[:], SOP2, field(w, 29, 23)) && d.sop(w, field(w, 22, 16))
}

// sop reads the operands of SOP1, SOP2 and SOPC.
func (d *decoder) sop(w, sdst uint32) bool {
	if d.sh.dst.in != inNone {
		d.in.Dst = d.sgpr(sdst, d.sh.dst.dwords)
	}
	for i, s := range [2]slot{d.sh.a, d.sh.b} {
		v := field(w>>(8*i), 7, 0)
		switch s.in {
		case inNone:
		case inImm4: // s_set_gpr_idx_on
			d.in.Src[i] = Operand{Kind: Const, Width: 1, Value: v}
		case inSGPR:
			d.in.Src[i] = d.sgpr(v, s.dwords)
		default:
			d.in.Src[i] = d.source(v, s, 1)
			if d.in.Src[i].Kind == Special && d.in.Src[i].Reg == srcLDSDirect {
				d.fail("LDS_DIRECT is not a scalar source")
			}
		}
	}
	return d.reason == ""
}

// sopk reads a register and a 16-bit immediate. The register is a source of
// the comparisons and of those that branch or set a hardware register.
func (d *decoder) sopk(w uint32) bool {
	d.in.Simm16 = int16(w)
	switch d.in.Op {
	case S_SETREG_IMM32_B32:
		d.in.Src[0] = d.source(srcLiteral, slot{inSSrc, 1, numInt}, 1)
		return d.reason == ""
	}
	r := d.sgpr(field(w, 22, 16), d.sh.dst.dwords)
	if sopkReads(d.in.Op) {
		d.in.Src[0] = r
	} else {
		d.in.Dst = r
	}
	return d.reason == ""
}

// sopkReads reports whether the register of a SOPK instruction is only read.
func sopkReads(op Op) bool {
	switch op {
	case S_CMPK_EQ_I32, S_CMPK_LG_I32, S_CMPK_GT_I32, S_CMPK_GE_I32, S_CMPK_LT_I32, S_CMPK_LE_I32,
		S_CMPK_EQ_U32, S_CMPK_LG_U32, S_CMPK_GT_U32, S_CMPK_GE_U32, S_CMPK_LT_U32, S_CMPK_LE_U32,
		S_SETREG_B32, S_CBRANCH_I_FORK:
		return true
	}
	return false
}

// smem decodes scalar memory instructions. The offset is an immediate, a
// scalar register, or both.
func (d *decoder) smem(w, w1 uint32) bool {
	if !d.find(smemTable[:], SMEM, field(w, 25, 18)) {
		return false
	}
	if d.sh.a.in == inNone && (field(w, 5, 0) != 0 || w1 != 0 || field(w, 17, 14) != 0 || d.sh.dst.in == inNone && field(w, 12, 6) != 0) {
		return d.fail("field set that %s does not have", d.in.Op)
	}
	d.in.SC0 = bit(w, 16) && d.sh.dst.in != inNone && d.sh.dst.in != inImm8
	var offset Operand
	imm, soffset := bit(w, 17), bit(w, 14)
	if d.sh.c.in != inNone {
		switch {
		case soffset:
			offset = d.sgpr(field(w1, 31, 25), 1)
		case !imm:
			offset = d.sgpr(field(w1, 6, 0), 1)
		}
		if imm {
			d.in.Offset = int32(w1<<11) >> 11 // 21 bits, signed
		}
	}
	data := d.sh.dst
	n := 0
	src := func(o Operand) { d.in.Src[n] = o; n++ }
	switch {
	case data.in == inNone:
	case data.in == inImm8:
		src(Operand{Kind: Const, Width: 1, Value: field(w, 12, 6)})
	default:
		o := d.sgpr(field(w, 12, 6), data.dwords)
		if o.Reg >= regM0 {
			d.fail("M0 and EXEC are not scalar memory data")
		}
		if isStore(d.in.Op) || isAtomic(d.in.Op) {
			src(o)
		}
		if !isStore(d.in.Op) && (!isAtomic(d.in.Op) || d.in.SC0) {
			d.in.Dst = o
		}
	}
	if d.sh.a.in != inNone {
		src(d.sgpr(2*field(w, 5, 0), d.sh.a.dwords))
		src(offset)
	}
	return d.reason == ""
}
