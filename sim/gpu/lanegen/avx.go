package main

// avxOps are the loops that have an AVX2 form: the instructions for eight
// lanes, with $x, $y and $z for the sources' memory and the result in Y0. Y1 to
// Y10 are free. The constants are named in asm.go.
var avxOps = map[string]string{
	"V_NOT_B32":        "VPXOR $x, ONES, Y0",
	"V_AND_B32":        "VMOVDQU $x, Y0; VPAND $y, Y0, Y0",
	"V_OR_B32":         "VMOVDQU $x, Y0; VPOR $y, Y0, Y0",
	"V_XOR_B32":        "VMOVDQU $x, Y0; VPXOR $y, Y0, Y0",
	"V_XNOR_B32":       "VPXOR $x, ONES, Y0; VPXOR $y, Y0, Y0",
	"V_AND_OR_B32":     "VMOVDQU $x, Y0; VPAND $y, Y0, Y0; VPOR $z, Y0, Y0",
	"V_OR3_B32":        "VMOVDQU $x, Y0; VPOR $y, Y0, Y0; VPOR $z, Y0, Y0",
	"V_BFI_B32":        "VMOVDQU $x, Y1; VPAND $y, Y1, Y0; VPANDN $z, Y1, Y2; VPOR Y2, Y0, Y0",
	"V_BFE_U32":        "VPAND $y, M5, Y1; VMOVDQU $x, Y0; VPSRLVD Y1, Y0, Y0; VPAND $z, M5, Y2; VPSLLVD Y2, ONES, Y3; VPANDN Y0, Y3, Y0",
	"V_LSHRREV_B32":    "VPAND $x, M5, Y1; VMOVDQU $y, Y0; VPSRLVD Y1, Y0, Y0",
	"V_ASHRREV_I32":    "VPAND $x, M5, Y1; VMOVDQU $y, Y0; VPSRAVD Y1, Y0, Y0",
	"V_LSHLREV_B32":    "VPAND $x, M5, Y1; VMOVDQU $y, Y0; VPSLLVD Y1, Y0, Y0",
	"V_LSHL_OR_B32":    "VPAND $y, M5, Y1; VMOVDQU $x, Y0; VPSLLVD Y1, Y0, Y0; VPOR $z, Y0, Y0",
	"V_ADD_U32":        "VMOVDQU $x, Y0; VPADDD $y, Y0, Y0",
	"V_SUB_U32":        "VMOVDQU $x, Y0; VPSUBD $y, Y0, Y0",
	"V_SUBREV_U32":     "VMOVDQU $y, Y0; VPSUBD $x, Y0, Y0",
	"V_ADD_I32":        "VMOVDQU $x, Y0; VPADDD $y, Y0, Y0",
	"V_SUB_I32":        "VMOVDQU $x, Y0; VPSUBD $y, Y0, Y0",
	"V_ADD3_U32":       "VMOVDQU $x, Y0; VPADDD $y, Y0, Y0; VPADDD $z, Y0, Y0",
	"V_LSHL_ADD_U32":   "VPAND $y, M5, Y1; VMOVDQU $x, Y0; VPSLLVD Y1, Y0, Y0; VPADDD $z, Y0, Y0",
	"V_ADD_LSHL_U32":   "VPAND $z, M5, Y1; VMOVDQU $x, Y0; VPADDD $y, Y0, Y0; VPSLLVD Y1, Y0, Y0",
	"V_XAD_U32":        "VMOVDQU $x, Y0; VPXOR $y, Y0, Y0; VPADDD $z, Y0, Y0",
	"V_MUL_LO_U32":     "VMOVDQU $x, Y0; VPMULLD $y, Y0, Y0",
	"V_MUL_HI_U32":     "VMOVDQU $x, Y0; VMOVDQU $y, Y1; VPMULUDQ Y1, Y0, Y2; VPSRLQ $32, Y0, Y0; VPSRLQ $32, Y1, Y1; VPMULUDQ Y1, Y0, Y0; VPSRLQ $32, Y2, Y2; VPBLENDD $0xAA, Y0, Y2, Y0",
	"V_MUL_HI_I32":     "VMOVDQU $x, Y0; VMOVDQU $y, Y1; VPMULDQ Y1, Y0, Y2; VPSRLQ $32, Y0, Y0; VPSRLQ $32, Y1, Y1; VPMULDQ Y1, Y0, Y0; VPSRLQ $32, Y2, Y2; VPBLENDD $0xAA, Y0, Y2, Y0",
	"V_MUL_U32_U24":    "VPAND $x, M24, Y0; VPAND $y, M24, Y1; VPMULLD Y1, Y0, Y0",
	"V_MAD_U32_U24":    "VPAND $x, M24, Y0; VPAND $y, M24, Y1; VPMULLD Y1, Y0, Y0; VPADDD $z, Y0, Y0",
	"V_MIN_I32":        "VMOVDQU $x, Y0; VPMINSD $y, Y0, Y0",
	"V_MAX_I32":        "VMOVDQU $x, Y0; VPMAXSD $y, Y0, Y0",
	"V_MIN_U32":        "VMOVDQU $x, Y0; VPMINUD $y, Y0, Y0",
	"V_MAX_U32":        "VMOVDQU $x, Y0; VPMAXUD $y, Y0, Y0",
	"V_CVT_F32_I32":    "VCVTDQ2PS $x, Y0",
	"V_CVT_F32_UBYTE0": "VPAND $x, M8, Y0; VCVTDQ2PS Y0, Y0",
	"V_CVT_F32_UBYTE1": "VMOVDQU $x, Y0; VPSRLD $8, Y0, Y0; VPAND M8, Y0, Y0; VCVTDQ2PS Y0, Y0",
	"V_CVT_F32_UBYTE2": "VMOVDQU $x, Y0; VPSRLD $16, Y0, Y0; VPAND M8, Y0, Y0; VCVTDQ2PS Y0, Y0",
	"V_CVT_F32_UBYTE3": "VMOVDQU $x, Y0; VPSRLD $24, Y0, Y0; VCVTDQ2PS Y0, Y0",
}

// avxChecked compute into R, which stays a register until it is known that no
// lane is a NaN; if one is, nothing is stored and the Go loop does the work,
// because the processor's NaNs are not the ones wanted. Y8 to Y10 are free.
var avxChecked = map[string]string{
	"V_ADD_F32":    "VMOVUPS $x, R; VADDPS $y, R, R",
	"V_SUB_F32":    "VMOVUPS $x, R; VSUBPS $y, R, R",
	"V_SUBREV_F32": "VMOVUPS $y, R; VSUBPS $x, R, R",
	"V_MUL_F32":    "VMOVUPS $x, R; VMULPS $y, R, R",
	"V_FMA_F32":    "VMOVUPS $x, Y8; VMOVUPS $z, R; VFMADD231PS $y, Y8, R",
	"V_FMAMK_F32":  "VMOVUPS $x, Y8; VMOVUPS $z, R; VFMADD231PS $y, Y8, R",
	"V_FMAAK_F32":  "VMOVUPS $x, Y8; VMOVUPS $z, R; VFMADD231PS $y, Y8, R",
	"V_FMAC_F32":   "VMOVUPS $x, Y8; VMOVUPS $z, R; VFMADD231PS $y, Y8, R",
	// Subnormals become zeros, before and after.
	"V_RCP_F32": "VMOVUPS $x, Y8; VPAND Y8, SIGN, Y9; VPAND Y8, INF, Y10; VPCMPEQD ZERO, Y10, Y10; VBLENDVPS Y10, Y9, Y8, Y8; VDIVPS Y8, ONE, R; VPAND R, SIGN, Y9; VPAND R, INF, Y10; VPCMPEQD ZERO, Y10, Y10; VBLENDVPS Y10, Y9, R, R",
	// Where the sources are equal they may be zeros of different signs, which
	// the processor does not tell apart. A NaN as source makes R a NaN.
	"V_MIN_F32": "VMOVUPS $x, Y8; VMOVUPS $y, Y9; VORPS Y9, Y8, Y10; VMINPS Y9, Y8, R; VCMPPS $0, Y9, Y8, Y11; VBLENDVPS Y11, Y10, R, R; VCMPPS $3, Y9, Y8, Y10; VORPS Y10, R, R",
	"V_MAX_F32": "VMOVUPS $x, Y8; VMOVUPS $y, Y9; VANDPS Y9, Y8, Y10; VMAXPS Y9, Y8, R; VCMPPS $0, Y9, Y8, Y11; VBLENDVPS Y11, Y10, R, R; VCMPPS $3, Y9, Y8, Y10; VORPS Y10, R, R",
}

// avxWide are the loops of wideFn that have an AVX2 form: the instructions for
// four lanes, with the sources in Y0, Y1 and Y2 as 64-bit numbers, zero-extended
// where they are dwords, and the result in Y0. Y3 to Y8 are free.
var avxWide = map[string]string{
	"V_MOV_B64":      "",
	"V_LSHLREV_B64":  "VPAND Y0, M6Q, Y0; VPSLLVQ Y0, Y1, Y0",
	"V_LSHRREV_B64":  "VPAND Y0, M6Q, Y0; VPSRLVQ Y0, Y1, Y0",
	"V_LSHL_ADD_U64": "VPAND Y1, M3Q, Y1; VPSLLVQ Y1, Y0, Y0; VPADDQ Y2, Y0, Y0",
}

// avxCompares leave the sign bit set in the lanes of Y0 where the condition
// holds; not: where it does not hold.
var avxCompares = map[string]struct {
	code string
	not  bool
}{
	"EQ_U32": {"VMOVDQU $x, Y0; VPCMPEQD $y, Y0, Y0", false},
	"NE_U32": {"VMOVDQU $x, Y0; VPCMPEQD $y, Y0, Y0", true},
	"GT_U32": {"VPXOR $x, SIGN, Y0; VPXOR $y, SIGN, Y1; VPCMPGTD Y1, Y0, Y0", false},
	"LE_U32": {"VPXOR $x, SIGN, Y0; VPXOR $y, SIGN, Y1; VPCMPGTD Y1, Y0, Y0", true},
	"LT_U32": {"VPXOR $x, SIGN, Y0; VPXOR $y, SIGN, Y1; VPCMPGTD Y0, Y1, Y0", false},
	"GE_U32": {"VPXOR $x, SIGN, Y0; VPXOR $y, SIGN, Y1; VPCMPGTD Y0, Y1, Y0", true},
	"EQ_I32": {"VMOVDQU $x, Y0; VPCMPEQD $y, Y0, Y0", false},
	"NE_I32": {"VMOVDQU $x, Y0; VPCMPEQD $y, Y0, Y0", true},
	"GT_I32": {"VMOVDQU $x, Y0; VPCMPGTD $y, Y0, Y0", false},
	"LE_I32": {"VMOVDQU $x, Y0; VPCMPGTD $y, Y0, Y0", true},
	"LT_I32": {"VMOVDQU $y, Y0; VPCMPGTD $x, Y0, Y0", false},
	"GE_I32": {"VMOVDQU $y, Y0; VPCMPGTD $x, Y0, Y0", true},

	// The predicates of VCMPPS, ordered or not, none of them signalling.
	"EQ_F32":  {"VMOVUPS $x, Y0; VCMPPS $0x00, $y, Y0, Y0", false},
	"LT_F32":  {"VMOVUPS $x, Y0; VCMPPS $0x11, $y, Y0, Y0", false},
	"LE_F32":  {"VMOVUPS $x, Y0; VCMPPS $0x12, $y, Y0, Y0", false},
	"GT_F32":  {"VMOVUPS $x, Y0; VCMPPS $0x1e, $y, Y0, Y0", false},
	"GE_F32":  {"VMOVUPS $x, Y0; VCMPPS $0x1d, $y, Y0, Y0", false},
	"LG_F32":  {"VMOVUPS $x, Y0; VCMPPS $0x0c, $y, Y0, Y0", false},
	"O_F32":   {"VMOVUPS $x, Y0; VCMPPS $0x07, $y, Y0, Y0", false},
	"U_F32":   {"VMOVUPS $x, Y0; VCMPPS $0x03, $y, Y0, Y0", false},
	"NEQ_F32": {"VMOVUPS $x, Y0; VCMPPS $0x00, $y, Y0, Y0", true},
	"NLT_F32": {"VMOVUPS $x, Y0; VCMPPS $0x11, $y, Y0, Y0", true},
	"NLE_F32": {"VMOVUPS $x, Y0; VCMPPS $0x12, $y, Y0, Y0", true},
	"NGT_F32": {"VMOVUPS $x, Y0; VCMPPS $0x1e, $y, Y0, Y0", true},
	"NGE_F32": {"VMOVUPS $x, Y0; VCMPPS $0x1d, $y, Y0, Y0", true},
	"NLG_F32": {"VMOVUPS $x, Y0; VCMPPS $0x0c, $y, Y0, Y0", true},
}
