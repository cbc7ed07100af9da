package isa

import (
	"fmt"
	"strconv"
)

// text builds an instruction's line.
type text struct {
	in  *Inst
	sh  *shape
	b   []byte
	ops int // operands written
}

// row is the table entry that the instruction was decoded from.
func (in *Inst) row() *row {
	w := in.Raw[0]
	switch in.Enc {
	case SOP1:
		return &sop1Table[field(w, 15, 8)]
	case SOP2:
		return &sop2Table[field(w, 29, 23)]
	case SOPC:
		return &sopcTable[field(w, 22, 16)]
	case SOPK:
		return &sopkTable[field(w, 27, 23)]
	case SOPP:
		return &soppTable[field(w, 22, 16)]
	case SMEM:
		return &smemTable[field(w, 25, 18)]
	case VOP1:
		return &vop1Table[field(w, 16, 9)]
	case VOP2:
		return &vop2Table[field(w, 30, 25)]
	case VOPC:
		return &vopcTable[field(w, 24, 17)]
	case VOP3, VOP3SD:
		return &vop3Table[field(w, 25, 16)]
	case VOP3P, MFMA:
		return &vop3pTable[field(w, 22, 16)]
	case VOP3PX2:
		return &vop3px2Table[field(in.Raw[2], 22, 16)]
	case DS:
		return &dsTable[field(w, 24, 17)]
	case MUBUF:
		return &mubufTable[field(w, 24, 18)]
	case MTBUF:
		return &mtbufTable[field(w, 18, 15)]
	case FLAT:
		return &flatTable[field(w, 24, 18)]
	case GLOBAL:
		return &globalTable[field(w, 24, 18)]
	case SCRATCH:
		return &scratchTable[field(w, 24, 18)]
	}
	return &row{}
}

// format spells the instruction as llvm-objdump does, with single spaces.
func (in *Inst) format() string {
	r := in.row()
	if r.op == InvalidOp {
		return in.Op.String() // not from Decode
	}
	t := text{in: in, sh: &shapes[r.shape], b: make([]byte, 0, 96)}
	t.str(in.Op.String())
	switch in.Enc {
	case SOP1, SOP2, SOPC, SOPK, SOPP:
		t.scalar()
	case SMEM:
		t.smem()
	case VOP1, VOP2, VOPC, VOP3, VOP3SD:
		t.vector()
	case VOP3P:
		t.packed()
	case MFMA, VOP3PX2:
		t.matrix()
	case DS:
		t.ds()
	case FLAT, GLOBAL, SCRATCH:
		t.flat()
	case MUBUF, MTBUF:
		t.buffer()
	}
	return string(t.b)
}

func (t *text) str(s string) { t.b = append(t.b, s...) }

// sep starts the next operand.
func (t *text) sep() {
	if t.ops == 0 {
		t.b = append(t.b, ' ')
	} else {
		t.b = append(t.b, ", "...)
	}
	t.ops++
}

// arg writes s as the next operand.
func (t *text) arg(s string) {
	t.sep()
	t.str(s)
}

// op writes an operand that is present.
func (t *text) op(o Operand, s slot) {
	if o.Kind != None {
		t.sep()
		t.operand(o, s)
	}
}

// opOrOff writes an operand, or "off" where there is none.
func (t *text) opOrOff(o Operand) {
	t.sep()
	if o.Kind == None {
		t.str("off")
		return
	}
	t.operand(o, slot{})
}

// flag writes a word when it is set.
func (t *text) flag(set bool, word string) {
	if set {
		t.b = append(t.b, ' ')
		t.str(word)
	}
}

// value writes " name:v" unless v is zero.
func (t *text) value(name string, v int) {
	if v != 0 {
		t.b = append(t.b, ' ')
		t.str(name)
		t.b = append(t.b, ':')
		t.b = strconv.AppendInt(t.b, int64(v), 10)
	}
}

// bits writes " name:[b0,b1,...]" of n bits.
func (t *text) bits(name string, v uint8, n int) {
	t.b = append(t.b, ' ')
	t.str(name)
	t.str(":[")
	for i := 0; i < n; i++ {
		if i > 0 {
			t.b = append(t.b, ',')
		}
		t.b = append(t.b, '0'+v>>i&1)
	}
	t.b = append(t.b, ']')
}

func (t *text) hex(v uint64) {
	t.str("0x")
	t.b = strconv.AppendUint(t.b, v, 16)
}

// decimalOrHex is how small immediates are spelled: decimal where an inline
// constant could hold them.
func (t *text) decimalOrHex(v uint16) {
	if v <= 64 {
		t.b = strconv.AppendUint(t.b, uint64(v), 10)
	} else {
		t.hex(uint64(v))
	}
}

func (t *text) scalar() {
	in := t.in
	switch in.Enc {
	case SOPP:
		t.sopp()
		return
	case SOPK:
		t.sopk()
		return
	}
	t.op(in.Dst, t.sh.dst)
	t.op(in.Src[0], t.sh.a)
	if in.Op == S_SET_GPR_IDX_ON {
		t.sep()
		t.gprIndex(uint16(in.Src[1].Value))
		return
	}
	t.op(in.Src[1], t.sh.b)
}

func (t *text) sopk() {
	in, imm := t.in, uint16(t.in.Simm16)
	switch t.sh.a.in {
	case inHwreg:
		if in.Op == S_GETREG_B32 {
			t.op(in.Dst, t.sh.dst)
		}
		t.sep()
		t.hwreg(imm)
		if in.Op == S_SETREG_IMM32_B32 {
			t.sep()
			t.immediate(in.Src[0].Value)
		} else {
			t.op(in.Src[0], slot{inSSrc, 1, numInt})
		}
		return
	case inLabel:
		t.op(in.Dst, t.sh.dst)
		t.op(in.Src[0], t.sh.dst)
		t.arg(strconv.Itoa(int(imm)))
		return
	}
	t.op(in.Dst, t.sh.dst)
	t.op(in.Src[0], t.sh.dst)
	t.sep()
	if in.Op == S_CBRANCH_I_FORK {
		t.str(strconv.Itoa(int(imm)))
		return
	}
	t.hex(uint64(imm))
}

func (t *text) sopp() {
	in, imm := t.in, uint16(t.in.Simm16)
	switch {
	case t.sh.a.in == inLabel:
		t.arg(strconv.Itoa(int(imm)))
	case t.sh.a.in == inWaitcnt:
		t.waitcnt(imm)
	case t.sh.a.in == inSendmsg:
		t.sep()
		t.sendmsg(imm)
	case in.Op == S_SET_GPR_IDX_MODE:
		t.sep()
		t.gprIndex(imm)
	case in.Op == S_ENDPGM:
		if imm != 0 {
			t.arg(strconv.Itoa(int(imm)))
		}
	case t.sh.a.in != inNone:
		t.sep()
		t.decimalOrHex(imm)
	}
}

func (t *text) smem() {
	in := t.in
	data := in.Dst
	n := 0
	if isStore(in.Op) || isAtomic(in.Op) {
		data = in.Src[0]
		n = 1
	}
	if t.sh.dst.in == inImm8 { // s_atc_probe
		t.sep()
		t.decimalOrHex(uint16(in.Src[0].Value))
		n = 1
	} else {
		t.op(data, t.sh.dst)
	}
	if t.sh.a.in != inNone {
		t.op(in.Src[n], t.sh.a)
		offset := in.Src[n+1]
		switch {
		case offset.Kind == None:
			t.sep()
			t.signedHex(in.Offset)
		default:
			t.op(offset, slot{})
			if bit(in.Raw[0], 17) {
				t.str(" offset:")
				t.signedHex(in.Offset)
			}
		}
	}
	t.flag(in.SC0 && t.sh.a.in != inNone, "glc")
}

func (t *text) signedHex(v int32) {
	if v < 0 {
		t.b = append(t.b, '-')
		v = -v
	}
	t.hex(uint64(v))
}

// mnemonic ends the name of a vector instruction with its form.
func (t *text) mnemonic() {
	in := t.in
	switch {
	case in.IsSDWA:
		t.str("_sdwa")
	case in.IsDPP:
		t.str("_dpp")
	case traits[in.Op]&traitE32 == 0:
	case in.Enc == VOP3 || in.Enc == VOP3SD:
		t.str("_e64")
	default:
		t.str("_e32")
	}
}

func (t *text) vector() {
	in, sh := t.in, t.sh
	t.mnemonic()
	t.op(in.Dst, sh.dst)
	t.op(in.SDst, slot{inSGPR, in.SDst.Width, numMask})
	slots := [3]slot{sh.a, sh.b, sh.c}
	switch in.Op {
	case V_FMAMK_F32, V_MADMK_F16, V_FMAAK_F32, V_MADAK_F16:
		t.multiplyConstant()
		return
	}
	for i, s := range slots {
		if i == 2 && s.in == inNone {
			s = slot{inSGPR, 2, numMask} // VCC of the short encodings
		}
		if in.Src[i].Kind != None {
			t.sep()
			t.modified(i, s)
		}
	}
	switch {
	case in.IsDPP:
		t.dpp()
		return
	case in.Op == V_BITOP3_B16 || in.Op == V_BITOP3_B32:
		t.bitop3()
	case in.Enc == VOP3 && (in.Op == V_PERMLANE16_SWAP_B32 || in.Op == V_PERMLANE32_SWAP_B32):
		t.flag(in.OpSel&2 != 0, "bound_ctrl:1")
		t.flag(in.OpSel&1 != 0, "fi:1")
	case t.opSelBits() > 0 && in.OpSel != 0:
		n := t.opSelBits()
		v := in.OpSel
		if n == 3 {
			v = v&3 | v>>1&4 // the destination follows two sources
		}
		t.bits("op_sel", v, n)
	}
	t.flag(in.Clamp, "clamp")
	t.omod()
	if in.IsSDWA {
		t.sdwa()
	}
}

// bitop3 writes the truth table and the half selectors of the 16-bit form.
func (t *text) bitop3() {
	if t.in.BitOp3 != 0 {
		if t.str(" bitop3:"); t.in.BitOp3 > 10 {
			t.hex(uint64(t.in.BitOp3))
		} else {
			t.b = strconv.AppendUint(t.b, uint64(t.in.BitOp3), 10)
		}
	}
	if t.in.Op == V_BITOP3_B16 && t.in.OpSel != 0 {
		t.bits("op_sel", t.in.OpSel, 4)
	}
}

// multiplyConstant writes the sources of v_fmamk and v_fmaak, whose constant
// is always 32 bits in full.
func (t *text) multiplyConstant() {
	k := 2
	if t.in.Op == V_FMAMK_F32 || t.in.Op == V_MADMK_F16 {
		k = 1
	}
	for i := range 3 {
		t.sep()
		if i == k {
			t.hex(uint64(t.in.Src[i].Value))
		} else {
			t.operand(t.in.Src[i], t.sh.a)
		}
	}
}

// opSelBits is the number of half selectors that the opcode has in VOP3: one
// for each source and one for the destination, or none.
func (t *text) opSelBits() int {
	if t.in.Enc != VOP3 {
		return 0
	}
	return int(opSelCount[t.in.Op])
}

// modified writes source i with its modifiers.
func (t *text) modified(i int, s slot) {
	in := t.in
	neg, abs := in.Neg>>i&1 != 0, in.Abs>>i&1 != 0
	sext := in.IsSDWA && (i == 0 && in.SDWA.Src0Sext || i == 1 && in.SDWA.Src1Sext)
	o := in.Src[i]
	if neg {
		// "-1" would read as another inline constant.
		if o.Kind == Const && !abs {
			t.str("neg(")
			t.operand(o, s)
			t.str(")")
			return
		}
		t.str("-")
	}
	if abs {
		t.str("|")
	}
	if sext {
		t.str("sext(")
	}
	t.operand(o, s)
	if sext {
		t.str(")")
	}
	if abs {
		t.str("|")
	}
}

var omods = [4]string{"", " mul:2", " mul:4", " div:2"}

func (t *text) omod() { t.str(omods[t.in.OMod&3]) }

var (
	sdwaSels    = [8]string{"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD", "7"}
	sdwaUnuseds = [4]string{"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", "3"}
)

func (t *text) sdwa() {
	in := t.in
	if in.Enc != VOPC && !isConvertFP8(in.Op) {
		t.str(" dst_sel:")
		t.str(sdwaSels[in.SDWA.DstSel&7])
		t.str(" dst_unused:")
		t.str(sdwaUnuseds[in.SDWA.DstUnused&3])
	}
	t.str(" src0_sel:")
	t.str(sdwaSels[in.SDWA.Src0Sel&7])
	if t.sh.b.in != inNone {
		t.str(" src1_sel:")
		t.str(sdwaSels[in.SDWA.Src1Sel&7])
	}
}

// isConvertFP8 reports whether the opcode widens fp8: its SDWA form selects a
// byte or word of the source and always writes whole dwords.
func isConvertFP8(op Op) bool {
	switch op {
	case V_CVT_F32_FP8, V_CVT_F32_BF8, V_CVT_PK_F32_FP8, V_CVT_PK_F32_BF8:
		return true
	}
	return false
}

func (t *text) dpp() {
	d := &t.in.DPP
	t.b = append(t.b, ' ')
	t.str(dppControl(d.Ctrl))
	t.b = fmt.Appendf(t.b, " row_mask:%#x bank_mask:%#x", d.RowMask, d.BankMask)
	t.flag(d.BoundCtrl, "bound_ctrl:1")
}

// dppControl spells a DPP control; "" is one that gfx9 does not define.
func dppControl(c uint16) string {
	n := c & 0xf
	switch {
	case c <= 0xff:
		return fmt.Sprintf("quad_perm:[%d,%d,%d,%d]", c&3, c>>2&3, c>>4&3, c>>6&3)
	case c > 0x100 && c <= 0x10f:
		return fmt.Sprintf("row_shl:%d", n)
	case c > 0x110 && c <= 0x11f:
		return fmt.Sprintf("row_shr:%d", n)
	case c > 0x120 && c <= 0x12f:
		return fmt.Sprintf("row_ror:%d", n)
	case c >= 0x150 && c <= 0x15f:
		return fmt.Sprintf("row_newbcast:%d", n)
	}
	switch c {
	case 0x130:
		return "wave_shl:1"
	case 0x134:
		return "wave_rol:1"
	case 0x138:
		return "wave_shr:1"
	case 0x13c:
		return "wave_ror:1"
	case 0x140:
		return "row_mirror"
	case 0x141:
		return "row_half_mirror"
	case 0x142:
		return "row_bcast:15"
	case 0x143:
		return "row_bcast:31"
	}
	return ""
}

// packed writes packed math. The mixed-precision multiply-adds show their
// modifiers as plain signs and select no high halves by default.
func (t *text) packed() {
	in, sh := t.in, t.sh
	n := 2
	if sh.c.in != inNone {
		n = 3
	}
	mix := isMix(in.Op)
	t.op(in.Dst, sh.dst)
	for i, s := range [3]slot{sh.a, sh.b, sh.c} {
		if in.Src[i].Kind == None {
			continue
		}
		if mix {
			t.sep()
			t.modified(i, s)
		} else {
			t.op(in.Src[i], s)
		}
	}
	all := uint8(1<<n - 1)
	if !isDot4or8(in.Op) {
		if in.OpSel&all != 0 {
			t.bits("op_sel", in.OpSel, n)
		}
		normal := all
		if mix {
			normal = 0
		}
		if in.OpSelHi&all != normal {
			t.bits("op_sel_hi", in.OpSelHi, n)
		}
	}
	if !mix && in.Op != V_MFMA_LD_SCALE_B32 {
		if in.Neg&all != 0 {
			t.bits("neg_lo", in.Neg, n)
		}
		if in.NegHi&all != 0 {
			t.bits("neg_hi", in.NegHi, n)
		}
	}
	t.flag(in.Clamp, "clamp")
}

func isMix(op Op) bool {
	return op == V_FMA_MIX_F32 || op == V_FMA_MIXLO_F16 || op == V_FMA_MIXHI_F16
}

func isDot4or8(op Op) bool {
	switch op {
	case V_DOT4_I32_I8, V_DOT4_U32_U8, V_DOT8_I32_I4, V_DOT8_U32_U4:
		return true
	}
	return false
}

func (t *text) matrix() {
	in, sh := t.in, t.sh
	t.op(in.Dst, sh.dst)
	t.op(in.Src[0], sh.a)
	t.op(in.Src[1], sh.b)
	t.op(in.Src[2], sh.c)
	if in.Enc == VOP3PX2 {
		scale := slot{inSrc, 1, numInt}
		t.op(in.Scale[0], scale)
		t.op(in.Scale[1], scale)
		if in.OpSel != 0 {
			t.bits("op_sel", in.OpSel, 3)
		}
		t.bits("op_sel_hi", in.OpSelHi, 3)
	}
	t.value("cbsz", int(in.CBSZ))
	if in.Enc != VOP3PX2 {
		t.value("abid", int(in.ABID))
	}
	switch in.Op {
	case V_MFMA_F64_16X16X4_F64, V_MFMA_F64_4X4X4_4B_F64:
		if in.BLGP != 0 {
			t.bits("neg", in.BLGP, 3)
		}
	default:
		t.value("blgp", int(in.BLGP))
	}
}

func (t *text) ds() {
	in, sh := t.in, t.sh
	t.op(in.Dst, sh.dst)
	t.op(in.Src[0], sh.a)
	t.op(in.Src[1], sh.b)
	t.op(in.Src[2], sh.c)
	switch {
	case in.Op == DS_SWIZZLE_B32:
		t.swizzle(uint16(in.Offset))
	case traits[in.Op]&traitTwo != 0:
		t.value("offset0", int(in.Offset0))
		t.value("offset1", int(in.Offset1))
	default:
		t.value("offset", int(in.Offset))
	}
	t.flag(in.GDS, "gds")
}

func (t *text) flat() {
	in := t.in
	t.op(in.Dst, t.sh.dst)
	n := 0
	t.opOrOff(in.Src[0])
	if t.sh.b.in != inNone {
		n++
		t.op(in.Src[n], t.sh.b)
	}
	if in.Enc != FLAT {
		t.opOrOff(in.Src[n+1])
	}
	t.value("offset", int(in.Offset))
	t.cache()
}

func (t *text) cache() {
	t.flag(t.in.SC0, "sc0")
	t.flag(t.in.NT, "nt")
	t.flag(t.in.SC1, "sc1")
}

func (t *text) buffer() {
	in := t.in
	if t.sh.b.in == inNone {
		t.cache()
		return
	}
	n := 0
	if !in.LDS {
		if isStore(in.Op) || isAtomic(in.Op) {
			t.op(in.Src[0], t.sh.dst)
			n = 1
		} else {
			t.op(in.Dst, t.sh.dst)
		}
	}
	t.opOrOff(in.Src[n])
	t.op(in.Src[n+1], t.sh.b)
	t.op(in.Src[n+2], slot{inSSrc, 1, numInt})
	if in.Enc == MTBUF {
		t.bufferFormat()
	}
	t.flag(in.IdxEn, "idxen")
	t.flag(in.OffEn, "offen")
	t.value("offset", int(in.Offset))
	t.cache()
	t.flag(in.LDS, "lds")
}
