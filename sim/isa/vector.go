package isa

// vector32 decodes VOP1, VOP2 and VOPC with their SDWA and DPP forms.
func (d *decoder) vector32(w uint32) bool {
	src0 := field(w, 8, 0)
	vdst, vsrc1 := field(w, 24, 17), field(w, 16, 9)
	switch w >> 25 {
	case 0b0111111:
		if !d.find(vop1Table[:], VOP1, vsrc1) {
			return false
		}
	case 0b0111110:
		if !d.find(vopcTable[:], VOPC, vdst) {
			return false
		}
	default:
		if !d.find(vop2Table[:], VOP2, field(w, 30, 25)) {
			return false
		}
	}
	in, sh := &d.in, d.sh
	if in.Enc == VOPC {
		in.SDst = vcc
	} else {
		d.vectorDst(vdst)
	}
	switch {
	case sh.a.in == inNone: // v_nop, v_clrexcp
		if src0 != 0 || vdst != 0 {
			d.fail("%s has no operands", in.Op)
		}
	case src0 == srcSDWA:
		if !d.sdwa() {
			return false
		}
	case src0 == srcDPP:
		if !d.dpp() {
			return false
		}
	case sh.a.in == inSrc:
		in.Src[0] = d.source(src0, sh.a, 1)
	default:
		in.Src[0] = d.vectorSource(src0, sh.a, false)
	}
	if sh.b.in != inNone && !in.IsSDWA {
		in.Src[1] = d.vgpr(vsrc1, sh.b.dwords, false)
	}
	switch in.Op {
	case V_CNDMASK_B32:
		in.Src[2] = vcc
	case V_ADD_CO_U32, V_SUB_CO_U32, V_SUBREV_CO_U32:
		in.SDst = vcc
	case V_ADDC_CO_U32, V_SUBB_CO_U32, V_SUBBREV_CO_U32:
		in.SDst, in.Src[2] = vcc, vcc
	case V_FMAMK_F32, V_MADMK_F16: // D = S0 * K + S1
		in.Src[2] = in.Src[1]
		in.Src[1] = d.source(srcLiteral, sh.a, 1)
	case V_FMAAK_F32, V_MADAK_F16: // D = S0 * S1 + K
		in.Src[2] = d.source(srcLiteral, sh.a, 1)
	}
	return d.reason == "" && d.checkModifiers()
}

// vectorDst reads the 8-bit destination of the vector encodings.
func (d *decoder) vectorDst(v uint32) {
	s := d.sh.dst
	switch s.in {
	case inNone:
	case inSGPR: // comparisons in VOP3, v_readlane_b32, v_readfirstlane_b32
		if v >= srcInt0 {
			d.fail("no scalar register %d", v)
			return
		}
		d.in.SDst = d.sgpr(v, s.dwords)
	default:
		d.in.Dst = d.vgpr(v, s.dwords, s.in == inAcc)
	}
}

// sdwa reads the second dword of the sub-dword form.
func (d *decoder) sdwa() bool {
	if !d.take(2) {
		return false
	}
	in, w := &d.in, d.in.Raw[1]
	if !d.hasSDWA() {
		return d.fail("%s has no SDWA form", in.Op)
	}
	in.IsSDWA = true
	if in.Enc == VOPC {
		if bit(w, 15) { // SD: an explicit destination
			in.SDst = d.sgpr(field(w, 14, 8), 2)
		}
	} else {
		in.SDWA.DstSel, in.SDWA.DstUnused = uint8(field(w, 10, 8)), uint8(field(w, 12, 11))
		in.Clamp, in.OMod = bit(w, 13), uint8(field(w, 15, 14))
		if isConvertFP8(in.Op) && (in.SDWA.DstSel != 6 || in.SDWA.DstUnused != 0) {
			return d.fail("%s writes whole dwords only", in.Op)
		}
		if in.SDWA.DstSel > 6 || in.SDWA.DstUnused > 2 {
			return d.fail("SDWA destination selector is reserved")
		}
	}
	in.SDWA.Src0Sel, in.SDWA.Src0Sext = uint8(field(w, 18, 16)), bit(w, 19)
	in.SDWA.Src1Sel, in.SDWA.Src1Sext = uint8(field(w, 26, 24)), bit(w, 27)
	if in.SDWA.Src0Sel > 6 || in.SDWA.Src1Sel > 6 {
		return d.fail("SDWA source selector is reserved")
	}
	in.Neg = uint8(field(w, 20, 20) | field(w, 28, 28)<<1)
	in.Abs = uint8(field(w, 21, 21) | field(w, 29, 29)<<1)
	in.Src[0] = d.sdwaSource(field(w, 7, 0), bit(w, 23), d.sh.a)
	if d.sh.b.in != inNone {
		in.Src[1] = d.sdwaSource(field(in.Raw[0], 16, 9), bit(w, 31), d.sh.b)
	} else if w>>24 != 0 {
		return d.fail("SDWA selects from a second source that %s lacks", in.Op)
	}
	return d.reason == ""
}

// sdwaSource reads an SDWA source: a VGPR, or with the S bit a scalar source.
func (d *decoder) sdwaSource(v uint32, scalar bool, s slot) Operand {
	if !scalar {
		return d.vgpr(v, s.dwords, false)
	}
	return d.source(v, s, 0)
}

// dpp reads the second dword of the data-parallel-primitive form.
func (d *decoder) dpp() bool {
	if !d.take(2) {
		return false
	}
	in, w := &d.in, d.in.Raw[1]
	if !d.hasDPP() {
		return d.fail("%s has no DPP form", in.Op)
	}
	in.IsDPP = true
	in.DPP = DPP{Ctrl: uint16(field(w, 16, 8)), BoundCtrl: bit(w, 19), BankMask: uint8(field(w, 27, 24)), RowMask: uint8(field(w, 31, 28))}
	in.Neg = uint8(field(w, 20, 20) | field(w, 22, 22)<<1)
	in.Abs = uint8(field(w, 21, 21) | field(w, 23, 23)<<1)
	in.Src[0] = d.vgpr(field(w, 7, 0), d.sh.a.dwords, false)
	if !isDPPControl(in.DPP.Ctrl) {
		return d.fail("DPP control %#x is reserved", in.DPP.Ctrl)
	}
	if wide := d.sh.a.dwords > 1 || d.sh.dst.dwords > 1; wide && in.DPP.Ctrl&^0xf != 0x150 {
		return d.fail("64-bit %s takes only row_newbcast", in.Op)
	}
	return d.reason == ""
}

// isDPPControl reports whether gfx9 defines a DPP control.
func isDPPControl(c uint16) bool {
	switch {
	case c <= 0xff, c >= 0x150 && c <= 0x15f:
		return true
	case c >= 0x100 && c <= 0x12f:
		return c&0xf != 0 // shifts and rotations of a row by 1..15
	}
	switch c {
	case 0x130, 0x134, 0x138, 0x13c, 0x140, 0x141, 0x142, 0x143:
		return true
	}
	return false
}

// vop3 decodes VOP3 and VOP3SD.
func (d *decoder) vop3(w, w1 uint32) bool {
	if !d.find(vop3Table[:], VOP3, field(w, 25, 16)) {
		return false
	}
	in, sh := &d.in, d.sh
	d.vectorDst(field(w, 7, 0))
	in.Clamp, in.OMod = bit(w, 15), uint8(field(w1, 28, 27))
	in.Neg = uint8(field(w1, 31, 29))
	if in.Enc == VOP3SD {
		in.SDst = d.sgpr(field(w, 14, 8), sh.sdst.dwords)
	} else {
		in.Abs = uint8(field(w, 10, 8))
		in.OpSel = uint8(field(w, 14, 11))
	}
	switch {
	case sh.a.in == inNone && (w&0xffff != 0 || w1 != 0):
		return d.fail("%s has no operands", in.Op)
	case (opSelCount[in.Op] == 3 || in.Op == V_CVT_PK_BF16_F32) && in.OpSel&4 != 0:
		return d.fail("op_sel of a source that %s lacks", in.Op)
	case in.Op == V_BITOP3_B32 && in.OpSel != 0:
		return d.fail("%s takes no op_sel", in.Op)
	}
	if in.Op == V_BITOP3_B16 || in.Op == V_BITOP3_B32 {
		// The truth table lies in the fields of the modifiers.
		in.BitOp3 = in.OMod<<6 | in.Abs<<3 | in.Neg
		in.OMod, in.Abs, in.Neg = 0, 0, 0
	}
	d.threeSources(w1, 0)
	return d.reason == "" && d.checkModifiers()
}

// threeSources reads src0, src1 and src2 of a second dword; acc holds the
// accumulation bits of src0 and src1.
func (d *decoder) threeSources(w1, acc uint32) {
	for i, s := range [3]slot{d.sh.a, d.sh.b, d.sh.c} {
		if s.in != inNone {
			d.in.Src[i] = d.vectorSource(field(w1>>(9*i), 8, 0), s, bit(acc, uint(i)))
		}
	}
}
