package isa

import "strings"

// trait is a property of an opcode that its name tells.
type trait uint16

const (
	traitStore       trait = 1 << iota // writes memory and returns nothing
	traitAtomic                        // reads and writes memory
	traitLDS                           // loads from memory to LDS
	traitTwo                           // LDS: two offsets
	traitE32                           // has an e64 form, so that the text names the form
	traitClamp                         // saturates on request
	traitOMod                          // multiplies its result on request
	traitNegAny                        // negates sources that are not floats by format
	traitClass                         // tests the class of source 0
	traitWideConvert                   // converts 16 or 32 values and takes no modifiers
	traitSparse                        // sparse matrix multiplication
)

var traits = func() (t [numOps]trait) {
	var e64 [numOps]bool
	for i := range vop3Table {
		e64[vop3Table[i].op] = true
	}
	for _, table := range [][]row{vop1Table[:], vop2Table[:], vopcTable[:]} {
		for i := range table {
			op := table[i].op
			// v_nop and v_clrexcp have no operands and one name.
			if op != InvalidOp && e64[op] && op != V_NOP && op != V_CLREXCP {
				t[op] |= traitE32
			}
		}
	}
	for op := Op(1); op < numOps; op++ {
		name := opNames[op]
		switch {
		case strings.Contains(name, "_atomic_"):
			t[op] |= traitAtomic
		case strings.Contains(name, "_load_lds_"):
			t[op] |= traitLDS
		case strings.Contains(name, "_store_"):
			t[op] |= traitStore
		case strings.HasPrefix(name, "ds_read2"), strings.HasPrefix(name, "ds_write2"), strings.HasPrefix(name, "ds_wrxchg2"):
			t[op] |= traitTwo
		case strings.HasPrefix(name, "v_smfmac_"):
			t[op] |= traitSparse
		case strings.Contains(name, "_class_"):
			t[op] |= traitClass
		case strings.Contains(name, "_pk32_"), strings.Contains(name, "_2xpk16_"):
			t[op] |= traitWideConvert
		}
	}
	modifierTraits(&t)
	return t
}()

func isStore(op Op) bool  { return traits[op]&traitStore != 0 }
func isAtomic(op Op) bool { return traits[op]&traitAtomic != 0 }

// opSelCount is the number of half selectors an opcode has in VOP3: its
// sources and its destination, or none.
var opSelCount = func() (n [numOps]uint8) {
	for _, op := range []Op{
		V_ALIGNBIT_B32, V_ALIGNBYTE_B32, V_MAD_U32_U16, V_MAD_I32_I16,
		V_MIN3_F16, V_MIN3_I16, V_MIN3_U16, V_MAX3_F16, V_MAX3_I16, V_MAX3_U16, V_MED3_F16, V_MED3_I16, V_MED3_U16,
		V_MAD_F16, V_MAD_U16, V_MAD_I16, V_FMA_F16, V_DIV_FIXUP_F16, V_BITOP3_B16,
		V_CVT_SCALEF32_PK_FP8_F32, V_CVT_SCALEF32_PK_BF8_F32, V_CVT_SCALEF32_SR_FP8_F32, V_CVT_SCALEF32_SR_BF8_F32,
		V_CVT_SCALEF32_PK_FP4_F32, V_CVT_SCALEF32_SR_PK_FP4_F32, V_CVT_SCALEF32_SR_FP8_F16, V_CVT_SCALEF32_SR_BF8_F16,
		V_CVT_SCALEF32_SR_FP8_BF16, V_CVT_SCALEF32_SR_BF8_BF16, V_CVT_SCALEF32_PK_FP4_F16, V_CVT_SCALEF32_PK_FP4_BF16,
		V_CVT_SCALEF32_SR_PK_FP4_F16, V_CVT_SCALEF32_SR_PK_FP4_BF16,
		V_ASHR_PK_I8_I32, V_ASHR_PK_U8_I32, V_CVT_SR_FP8_F32, V_CVT_SR_BF8_F32,
	} {
		n[op] = 4
	}
	for _, op := range []Op{
		V_CVT_SCALEF32_PK_F32_FP8, V_CVT_SCALEF32_PK_F32_BF8, V_CVT_SCALEF32_F32_FP8, V_CVT_SCALEF32_F32_BF8,
		V_CVT_SCALEF32_PK_F32_FP4, V_CVT_SCALEF32_PK_FP8_F16, V_CVT_SCALEF32_PK_BF8_F16, V_CVT_SCALEF32_PK_FP8_BF16,
		V_CVT_SCALEF32_PK_BF8_BF16, V_CVT_SCALEF32_PK_F16_FP8, V_CVT_SCALEF32_PK_F16_BF8, V_CVT_SCALEF32_F16_FP8,
		V_CVT_SCALEF32_F16_BF8, V_CVT_SCALEF32_PK_F16_FP4, V_CVT_SCALEF32_PK_BF16_FP4, V_CVT_SCALEF32_PK_BF16_FP8,
		V_CVT_SCALEF32_PK_BF16_BF8, V_CVT_PKNORM_I16_F16, V_CVT_PKNORM_U16_F16, V_ADD_I16, V_SUB_I16, V_PACK_B32_F16,
		V_CVT_PK_FP8_F32, V_CVT_PK_BF8_F32, V_CVT_SR_F16_F32, V_CVT_SR_BF16_F32,
	} {
		n[op] = 3
	}
	return n
}()
