package isa

// Opcode fields of VOP3P that a block-scaled matrix instruction is made of.
const (
	opLoadScale  = 0x2c // first two dwords: the scales
	opMFMA16x128 = 0x2d // last two dwords: the multiplication
	opMFMA32x64  = 0x2e
)

// vop3p decodes packed math, the matrix core, and the scaled form of its
// f8f6f4 instructions, whose prefix of two dwords gives the scales.
func (d *decoder) vop3p(w, w1 uint32) bool {
	opcode := field(w, 22, 16)
	if opcode == opLoadScale && d.target == GFX950 && d.have >= 4 && d.in.Raw[2]>>23 == 0b110100111 {
		// Bit 0 of ABID asks for the scales.
		if next := field(d.in.Raw[2], 22, 16); (next == opMFMA16x128 || next == opMFMA32x64) && bit(d.in.Raw[2], 11) {
			return d.scaled(w, w1, next)
		}
	}
	if !d.find(vop3pTable[:], VOP3P, opcode) {
		return false
	}
	if d.in.Enc == MFMA {
		return d.mfma(w, w1)
	}
	in := &d.in
	d.vectorDst(field(w, 7, 0))
	in.Clamp = bit(w, 15)
	in.Neg, in.NegHi = uint8(field(w1, 31, 29)), uint8(field(w, 10, 8))
	in.OpSel = uint8(field(w, 13, 11))
	in.OpSelHi = uint8(field(w1, 28, 27) | field(w, 14, 14)<<2)
	d.threeSources(w1, 0)
	return d.reason == "" && d.checkPacked()
}

// checkPacked refuses modifiers of sources that the opcode does not have. The
// mixed-precision multiply-adds take absolute values where packed math negates
// high halves.
func (d *decoder) checkPacked() bool {
	in := &d.in
	sources := uint8(1)
	for _, s := range [2]slot{d.sh.b, d.sh.c} {
		if s.in != inNone {
			sources = sources<<1 | 1
		}
	}
	if in.Op == V_MFMA_LD_SCALE_B32 {
		if (in.Neg|in.NegHi)&^sources != 0 || in.Clamp || field(in.Raw[0], 7, 0) != 0 {
			return d.fail("%s takes no modifiers but op_sel", in.Op)
		}
		in.Neg, in.NegHi = 0, 0
	}
	if (in.Neg|in.NegHi|in.OpSel)&^sources != 0 {
		return d.fail("modifier of a source that %s lacks", in.Op)
	}
	if isDot4or8(in.Op) {
		if in.OpSel != 0 {
			return d.fail("%s takes no op_sel", in.Op)
		}
		in.OpSelHi = 0
	}
	in.OpSelHi &= sources
	if isMix(in.Op) {
		in.Abs, in.NegHi = in.NegHi, 0
	}
	return true
}

// mfma decodes a matrix instruction. The accumulation bits say which operands
// lie in accumulation VGPRs: one for C and D together, one each for A and B.
func (d *decoder) mfma(w, w1 uint32) bool {
	in := &d.in
	acc, accCD := field(w1, 28, 27), bit(w, 15)
	in.CBSZ, in.ABID, in.BLGP = uint8(field(w, 10, 8)), uint8(field(w, 14, 11)), uint8(field(w1, 31, 29))
	switch {
	case in.Op == V_ACCVGPR_READ_B32 || in.Op == V_ACCVGPR_WRITE_B32:
		if in.CBSZ != 0 || in.ABID&7 != 0 || in.BLGP != 0 {
			return d.fail("%s takes no modifiers", in.Op)
		}
		in.ABID = 0 // its top bit is op_sel_hi of packed math, which does not matter
	case isSparse(in.Op) && in.BLGP != 0:
		return d.fail("%s takes no blgp", in.Op)
	case in.Enc == MFMA && isF8F6F4(in.Op) && in.ABID != 0:
		return d.fail("%s takes no abid without scales", in.Op)
	}
	in.Dst = d.vgpr(field(w, 7, 0), d.sh.dst.dwords, accCD && d.sh.dst.in == inVGPROrAcc || d.sh.dst.in == inAcc)
	if accCD {
		acc |= 1 << 2
	}
	d.threeSources(w1, acc)
	if isF8F6F4(in.Op) {
		d.f8f6f4Width(w1, acc)
	}
	return d.reason == ""
}

// isSparse reports whether A of a matrix instruction is 4:2 sparse.
func isSparse(op Op) bool { return traits[op]&traitSparse != 0 }

func isF8F6F4(op Op) bool {
	switch op {
	case V_MFMA_F32_16X16X128_F8F6F4, V_MFMA_F32_32X32X64_F8F6F4,
		V_MFMA_SCALE_F32_16X16X128_F8F6F4, V_MFMA_SCALE_F32_32X32X64_F8F6F4:
		return true
	}
	return false
}

// f8f6f4Width gives A and B the size of their formats: CBSZ names that of A,
// BLGP that of B (0 fp8, 1 bf8, 2 fp6, 3 bf6, 4 fp4).
func (d *decoder) f8f6f4Width(w1, acc uint32) {
	for i, format := range [2]uint8{d.in.CBSZ, d.in.BLGP} {
		width := uint8(8)
		switch format {
		case 0, 1:
		case 2, 3:
			width = 6
		case 4:
			width = 4
		default:
			d.fail("matrix format %d is reserved", format)
		}
		d.in.Src[i] = d.vgpr(field(w1>>(9*i), 7, 0), width, bit(acc, uint(i)))
	}
}

// scaled decodes the four dwords of a block-scaled matrix instruction.
func (d *decoder) scaled(w, w1, opcode uint32) bool {
	if !d.take(4) || !d.find(vop3px2Table[:], VOP3PX2, opcode) {
		return false
	}
	in := &d.in
	if !d.mfma(in.Raw[2], in.Raw[3]) {
		return false
	}
	scale := slot{inSrc, 1, numInt}
	in.Scale[0] = d.source(field(w1, 8, 0), scale, 0)
	in.Scale[1] = d.source(field(w1, 17, 9), scale, 0)
	in.Neg, in.NegHi = uint8(field(w1, 31, 29)), uint8(field(w, 10, 8))
	in.OpSel, in.OpSelHi = uint8(field(w, 13, 11)), uint8(field(w1, 28, 27))
	return d.reason == ""
}
