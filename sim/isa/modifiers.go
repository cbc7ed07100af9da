package isa

import "strings"

// Which modifiers an opcode takes. The hardware ignores the others; Decode
// refuses them, because no compiler writes them and an emulator that ignored
// one by mistake would compute something else.

// isFloat reports whether a source in this format can be negated and have its
// absolute value taken.
func (n numFormat) isFloat() bool {
	switch n {
	case numF16, numBF16, numF32, numF64, numPkF16, numPkBF16, numPkF32:
		return true
	}
	return false
}

// integerClamps are the opcodes without a float operand that saturate.
var integerClamps = []Op{
	V_MUL_I32_I24, V_MUL_U32_U24, V_ADD_U16, V_SUB_U16, V_SUBREV_U16, V_ADD_U32, V_SUB_U32, V_SUBREV_U32,
	V_DOT2C_I32_I16, V_DOT4C_I32_I8, V_DOT8C_I32_I4, V_MAD_I32_I24, V_MAD_U32_U24, V_ALIGNBIT_B32, V_ALIGNBYTE_B32,
	V_SAD_U8, V_SAD_HI_U8, V_SAD_U16, V_SAD_U32, V_MSAD_U8, V_QSAD_PK_U16_U8, V_MQSAD_PK_U16_U8, V_MQSAD_U32_U8,
	V_MAD_LEGACY_U16, V_MAD_LEGACY_I16, V_MAD_U32_U16, V_MAD_I32_I16,
	V_MIN3_I16, V_MIN3_U16, V_MAX3_I16, V_MAX3_U16, V_MED3_I16, V_MED3_U16, V_MAD_U16, V_MAD_I16,
	V_ADD_I32, V_SUB_I32, V_ADD_I16, V_SUB_I16, V_ADD_CO_U32, V_SUB_CO_U32, V_SUBREV_CO_U32, V_ADDC_CO_U32,
	V_SUBB_CO_U32, V_SUBBREV_CO_U32, V_MAD_U64_U32, V_MAD_I64_I32,
}

// unscaledOutputs are the opcodes with a float operand and a vector result
// that no output multiplier applies to.
var unscaledOutputs = []Op{
	V_CVT_RPI_I32_F32, V_CVT_FLR_I32_F32, V_FREXP_EXP_I32_F32, V_CVT_PK_U8_F32, V_CVT_PKACCUM_U8_F32,
	V_CVT_PKNORM_I16_F32, V_CVT_PKNORM_U16_F32, V_CVT_PKNORM_I16_F16, V_CVT_PKNORM_U16_F16, V_PACK_B32_F16,
}

// unclamped are those that do not clamp either.
var unclamped = []Op{V_CVT_PK_FP8_F32, V_CVT_PK_BF8_F32, V_CVT_SR_FP8_F32, V_CVT_SR_BF8_F32, V_CVT_SR_F16_F32, V_CVT_SR_BF16_F32}

// modifierTraits sets traitClamp, traitOMod and traitNegAny for the vector
// opcodes.
func modifierTraits(t *[numOps]trait) {
	for _, table := range [][]row{vop1Table[:], vop2Table[:], vopcTable[:], vop3Table[:], vop3pTable[:]} {
		for i := range table {
			r := &table[i]
			s := &shapes[r.shape]
			source := s.a.num.isFloat() || s.b.num.isFloat() || s.c.num.isFloat()
			if source || s.dst.num.isFloat() {
				t[r.op] |= traitClamp
				if s.dst.in == inVGPR {
					t[r.op] |= traitOMod
				}
			}
		}
	}
	for _, op := range unscaledOutputs {
		t[op] &^= traitOMod
	}
	for _, op := range integerClamps {
		t[op] |= traitClamp
	}
	for op := Op(1); op < numOps; op++ {
		if name := opNames[op]; strings.HasPrefix(name, "v_cvt_scalef32_") || strings.Contains(name, "_class_") {
			t[op] &^= traitOMod | traitClamp
		}
	}
	for _, op := range unclamped {
		t[op] &^= traitOMod | traitClamp
	}
	// A select copies a float without arithmetic: its sources can be negated.
	t[V_CNDMASK_B32] |= traitNegAny
}

// negatable reports whether source i of the instruction takes a sign.
func (d *decoder) negatable(i int) bool {
	if traits[d.in.Op]&traitNegAny != 0 && i < 2 {
		return true
	}
	s := [3]slot{d.sh.a, d.sh.b, d.sh.c}[i]
	if traits[d.in.Op]&traitWideConvert != 0 {
		return false
	}
	return s.num.isFloat() && s.in != inNone && !(traits[d.in.Op]&traitClass != 0 && i == 1)
}

// checkModifiers refuses modifiers that the opcode does not take.
func (d *decoder) checkModifiers() bool {
	in := &d.in
	tr := traits[in.Op]
	if m := in.Neg | in.Abs; m != 0 {
		for i := range 3 {
			if m>>i&1 != 0 && !d.negatable(i) {
				return d.fail("source %d of %s takes no sign or absolute value", i, in.Op)
			}
		}
	}
	if in.Clamp && tr&traitClamp == 0 {
		return d.fail("%s does not clamp", in.Op)
	}
	if in.OMod != 0 && tr&traitOMod == 0 {
		return d.fail("%s has no output multiplier", in.Op)
	}
	if in.IsSDWA && in.OMod != 0 && !d.sh.dst.num.isFloat() {
		return d.fail("the SDWA form of %s has no output multiplier", in.Op)
	}
	if in.IsSDWA && (in.SDWA.Src0Sext && d.negatable(0) || in.SDWA.Src1Sext && d.negatable(1)) {
		return d.fail("a float source of %s cannot be sign-extended", in.Op)
	}
	return d.reason == ""
}

// hasSDWA reports whether the opcode has a sub-dword form: those of 32-bit and
// narrower operands that compute one lane from one lane.
func (d *decoder) hasSDWA() bool {
	switch d.in.Op {
	case V_FMAMK_F32, V_FMAAK_F32, V_MADMK_F16, V_MADAK_F16, V_FMAC_F32, V_MAC_F16, V_READFIRSTLANE_B32, V_SWAP_B32, V_ACCVGPR_MOV_B32,
		V_PERMLANE16_SWAP_B32, V_PERMLANE32_SWAP_B32, V_PK_FMAC_F16,
		V_DOT2C_F32_F16, V_DOT2C_F32_BF16, V_DOT2C_I32_I16, V_DOT4C_I32_I8, V_DOT8C_I32_I4:
		return false
	}
	return d.sh.a.dwords < 2 && d.sh.b.dwords < 2 && (d.sh.dst.dwords < 2 || isConvertFP8(d.in.Op))
}

// hasDPP reports whether the opcode has a data-parallel form.
func (d *decoder) hasDPP() bool {
	switch d.in.Op {
	case V_FMAMK_F32, V_FMAAK_F32, V_MADMK_F16, V_MADAK_F16, V_READFIRSTLANE_B32, V_SWAP_B32, V_ACCVGPR_MOV_B32,
		V_PERMLANE16_SWAP_B32, V_PERMLANE32_SWAP_B32:
		return false
	}
	return d.in.Enc != VOPC
}
