package main

// op is one instruction that works on each lane alone. Its signature gives the
// type of the result and of each source: i 32 bits, f float32, w 16 bits, h
// float16 (in the low half), l 64 bits, d float64. The expression gives the
// result's bits from x, y and z, the sources' bits, and X, Y and Z, the same as
// floats (f and d only).
type op struct {
	name, sig, expr string
	// alt is the expression when MODE.IEEE is 0; empty: the same.
	alt string
	// bitwise ops treat each bit alone, so two lanes are done at once.
	bitwise bool
	// reads says that the destination is also the last source.
	accumulates bool
}

// ops are in the order of the ISA document's chapters. The expressions follow
// AMD's pseudocode of each instruction (CDNA4 ISA, "Instructions").
var ops = []op{
	// Moves and bits.
	{name: "V_MOV_B32", sig: "i=i", expr: "x", bitwise: true},
	{name: "V_NOT_B32", sig: "i=i", expr: "^x", bitwise: true},
	{name: "V_BFREV_B32", sig: "i=i", expr: "bits.Reverse32(x)"},
	{name: "V_FFBH_U32", sig: "i=i", expr: "leadingOne(uint64(x) << 32)"},
	{name: "V_FFBL_B32", sig: "i=i", expr: "firstOne(uint64(x))"},
	{name: "V_FFBH_I32", sig: "i=i", expr: "signRun(uint64(x), 32)"},
	{name: "V_AND_B32", sig: "i=ii", expr: "x & y", bitwise: true},
	{name: "V_OR_B32", sig: "i=ii", expr: "x | y", bitwise: true},
	{name: "V_XOR_B32", sig: "i=ii", expr: "x ^ y", bitwise: true},
	{name: "V_XNOR_B32", sig: "i=ii", expr: "^(x ^ y)", bitwise: true},
	{name: "V_AND_OR_B32", sig: "i=iii", expr: "x&y | z", bitwise: true},
	{name: "V_OR3_B32", sig: "i=iii", expr: "x | y | z", bitwise: true},
	{name: "V_BFI_B32", sig: "i=iii", expr: "x&y | z&^x", bitwise: true},
	{name: "V_BFE_U32", sig: "i=iii", expr: "x >> (y & 31) & (1<<(z&31) - 1)"},
	{name: "V_BFE_I32", sig: "i=iii", expr: "bfeI32(x, y, z)"},
	{name: "V_BFM_B32", sig: "i=ii", expr: "(1<<(x&31) - 1) << (y & 31)"},
	{name: "V_BCNT_U32_B32", sig: "i=ii", expr: "uint32(bits.OnesCount32(x)) + y"},
	{name: "V_ALIGNBIT_B32", sig: "i=iii", expr: "uint32((uint64(x)<<32 | uint64(y)) >> (z & 31))"},
	{name: "V_ALIGNBYTE_B32", sig: "i=iii", expr: "uint32((uint64(x)<<32 | uint64(y)) >> (z & 3 * 8))"},
	{name: "V_PERM_B32", sig: "i=iii", expr: "permB32(x, y, z)"},
	{name: "V_LSHRREV_B32", sig: "i=ii", expr: "y >> (x & 31)"},
	{name: "V_ASHRREV_I32", sig: "i=ii", expr: "uint32(int32(y) >> (x & 31))"},
	{name: "V_LSHLREV_B32", sig: "i=ii", expr: "y << (x & 31)"},
	{name: "V_LSHL_OR_B32", sig: "i=iii", expr: "x<<(y&31) | z"},
	{name: "V_PRNG_B32", sig: "i=i", expr: "x<<1 ^ -(x>>31)&197"},

	// 32-bit integers.
	{name: "V_ADD_U32", sig: "i=ii", expr: "x + y"},
	{name: "V_SUB_U32", sig: "i=ii", expr: "x - y"},
	{name: "V_SUBREV_U32", sig: "i=ii", expr: "y - x"},
	{name: "V_ADD_I32", sig: "i=ii", expr: "x + y"},
	{name: "V_SUB_I32", sig: "i=ii", expr: "x - y"},
	{name: "V_ADD3_U32", sig: "i=iii", expr: "x + y + z"},
	{name: "V_LSHL_ADD_U32", sig: "i=iii", expr: "x<<(y&31) + z"},
	{name: "V_ADD_LSHL_U32", sig: "i=iii", expr: "(x + y) << (z & 31)"},
	{name: "V_XAD_U32", sig: "i=iii", expr: "x ^ y + z"},
	{name: "V_MUL_LO_U32", sig: "i=ii", expr: "x * y"},
	{name: "V_MUL_HI_U32", sig: "i=ii", expr: "uint32(uint64(x) * uint64(y) >> 32)"},
	{name: "V_MUL_HI_I32", sig: "i=ii", expr: "uint32(int64(int32(x)) * int64(int32(y)) >> 32)"},
	{name: "V_MUL_U32_U24", sig: "i=ii", expr: "x & 0xffffff * (y & 0xffffff)"},
	{name: "V_MUL_I32_I24", sig: "i=ii", expr: "uint32(int24(x) * int24(y))"},
	{name: "V_MUL_HI_U32_U24", sig: "i=ii", expr: "uint32(uint64(x&0xffffff) * uint64(y&0xffffff) >> 32)"},
	{name: "V_MUL_HI_I32_I24", sig: "i=ii", expr: "uint32(int64(int24(x)) * int64(int24(y)) >> 32)"},
	{name: "V_MAD_U32_U24", sig: "i=iii", expr: "x&0xffffff*(y&0xffffff) + z"},
	{name: "V_MAD_I32_I24", sig: "i=iii", expr: "uint32(int24(x)*int24(y)) + z"},
	{name: "V_MAD_U32_U16", sig: "i=wwi", expr: "x&0xffff*(y&0xffff) + z"},
	{name: "V_MAD_I32_I16", sig: "i=wwi", expr: "uint32(int32(int16(x))*int32(int16(y))) + z"},
	{name: "V_MIN_I32", sig: "i=ii", expr: "uint32(min(int32(x), int32(y)))"},
	{name: "V_MAX_I32", sig: "i=ii", expr: "uint32(max(int32(x), int32(y)))"},
	{name: "V_MIN_U32", sig: "i=ii", expr: "min(x, y)"},
	{name: "V_MAX_U32", sig: "i=ii", expr: "max(x, y)"},
	{name: "V_MIN3_I32", sig: "i=iii", expr: "uint32(min(int32(x), int32(y), int32(z)))"},
	{name: "V_MAX3_I32", sig: "i=iii", expr: "uint32(max(int32(x), int32(y), int32(z)))"},
	{name: "V_MIN3_U32", sig: "i=iii", expr: "min(x, y, z)"},
	{name: "V_MAX3_U32", sig: "i=iii", expr: "max(x, y, z)"},
	{name: "V_MED3_I32", sig: "i=iii", expr: "uint32(max(min(int32(x), int32(y)), min(max(int32(x), int32(y)), int32(z))))"},
	{name: "V_MED3_U32", sig: "i=iii", expr: "max(min(x, y), min(max(x, y), z))"},
	{name: "V_SAD_U8", sig: "i=iii", expr: "sadU8(x, y) + z"},
	{name: "V_SAD_HI_U8", sig: "i=iii", expr: "sadU8(x, y)<<16 + z"},
	{name: "V_SAD_U16", sig: "i=iii", expr: "absDiff(x&0xffff, y&0xffff) + absDiff(x>>16, y>>16) + z"},
	{name: "V_SAD_U32", sig: "i=iii", expr: "absDiff(x, y) + z"},
	{name: "V_MSAD_U8", sig: "i=iii", expr: "msadU8(x, y) + z"},
	{name: "V_LERP_U8", sig: "i=iii", expr: "lerpU8(x, y, z)"},
	{name: "V_CVT_PK_U16_U32", sig: "i=ii", expr: "min(x, 0xffff) | min(y, 0xffff)<<16"},
	{name: "V_CVT_PK_I16_I32", sig: "i=ii", expr: "clampI16(x) | clampI16(y)<<16"},

	// 16-bit integers: the result's high half is 0 on these targets.
	{name: "V_ADD_U16", sig: "w=ww", expr: "(x + y) & 0xffff"},
	{name: "V_SUB_U16", sig: "w=ww", expr: "(x - y) & 0xffff"},
	{name: "V_SUBREV_U16", sig: "w=ww", expr: "(y - x) & 0xffff"},
	{name: "V_MUL_LO_U16", sig: "w=ww", expr: "x * y & 0xffff"},
	{name: "V_LSHLREV_B16", sig: "w=ww", expr: "y << (x & 15) & 0xffff"},
	{name: "V_LSHRREV_B16", sig: "w=ww", expr: "y & 0xffff >> (x & 15)"},
	{name: "V_ASHRREV_I16", sig: "w=ww", expr: "uint32(uint16(int16(y) >> (x & 15)))"},
	{name: "V_MAX_U16", sig: "w=ww", expr: "max(x&0xffff, y&0xffff)"},
	{name: "V_MIN_U16", sig: "w=ww", expr: "min(x&0xffff, y&0xffff)"},
	{name: "V_MAX_I16", sig: "w=ww", expr: "uint32(uint16(max(int16(x), int16(y))))"},
	{name: "V_MIN_I16", sig: "w=ww", expr: "uint32(uint16(min(int16(x), int16(y))))"},
	{name: "V_ADD_I16", sig: "w=ww", expr: "(x + y) & 0xffff"},
	{name: "V_SUB_I16", sig: "w=ww", expr: "(x - y) & 0xffff"},
	{name: "V_MIN3_I16", sig: "w=www", expr: "uint32(uint16(min(int16(x), int16(y), int16(z))))"},
	{name: "V_MAX3_I16", sig: "w=www", expr: "uint32(uint16(max(int16(x), int16(y), int16(z))))"},
	{name: "V_MED3_I16", sig: "w=www", expr: "uint32(uint16(max(min(int16(x), int16(y)), min(max(int16(x), int16(y)), int16(z)))))"},
	{name: "V_MIN3_U16", sig: "w=www", expr: "min(x&0xffff, y&0xffff, z&0xffff)"},
	{name: "V_MAX3_U16", sig: "w=www", expr: "max(x&0xffff, y&0xffff, z&0xffff)"},
	{name: "V_MED3_U16", sig: "w=www", expr: "uint32(max(min(uint16(x), uint16(y)), min(max(uint16(x), uint16(y)), uint16(z))))"},
	{name: "V_MAD_U16", sig: "w=www", expr: "(x*y + z) & 0xffff"},
	{name: "V_MAD_I16", sig: "w=www", expr: "(x*y + z) & 0xffff"},

	// 64-bit integers.
	{name: "V_MOV_B64", sig: "l=l", expr: "x"},
	{name: "V_LSHLREV_B64", sig: "l=il", expr: "y << (x & 63)"},
	{name: "V_LSHRREV_B64", sig: "l=il", expr: "y >> (x & 63)"},
	{name: "V_ASHRREV_I64", sig: "l=il", expr: "uint64(int64(y) >> (x & 63))"},
	{name: "V_LSHL_ADD_U64", sig: "l=lil", expr: "x<<(y&7) + z"},

	// float32.
	{name: "V_ADD_F32", sig: "f=ff", expr: "addF32(X, Y)"},
	{name: "V_SUB_F32", sig: "f=ff", expr: "subF32(X, Y)"},
	{name: "V_SUBREV_F32", sig: "f=ff", expr: "subF32(Y, X)"},
	{name: "V_MUL_F32", sig: "f=ff", expr: "mulF32(X, Y)"},
	{name: "V_MUL_LEGACY_F32", sig: "f=ff", expr: "mulLegacyF32(X, Y)"},
	{name: "V_FMA_F32", sig: "f=fff", expr: "fmaF32(X, Y, Z)"},
	{name: "V_FMAMK_F32", sig: "f=fff", expr: "fmaF32(X, Y, Z)"},
	{name: "V_FMAAK_F32", sig: "f=fff", expr: "fmaF32(X, Y, Z)"},
	{name: "V_FMAC_F32", sig: "f=fff", expr: "fmaF32(X, Y, Z)", accumulates: true},
	{name: "V_MIN_F32", sig: "f=ff", expr: "minF32(X, Y, true)", alt: "minF32(X, Y, false)"},
	{name: "V_MAX_F32", sig: "f=ff", expr: "maxF32(X, Y, true)", alt: "maxF32(X, Y, false)"},
	{name: "V_MIN3_F32", sig: "f=fff", expr: "min3F32(X, Y, Z, true)", alt: "min3F32(X, Y, Z, false)"},
	{name: "V_MAX3_F32", sig: "f=fff", expr: "max3F32(X, Y, Z, true)", alt: "max3F32(X, Y, Z, false)"},
	{name: "V_MED3_F32", sig: "f=fff", expr: "med3F32(X, Y, Z, true)", alt: "med3F32(X, Y, Z, false)"},
	{name: "V_MINIMUM3_F32", sig: "f=fff", expr: "minimumF32(f32(minimumF32(X, Y)), Z)"},
	{name: "V_MAXIMUM3_F32", sig: "f=fff", expr: "maximumF32(f32(maximumF32(X, Y)), Z)"},
	{name: "V_LDEXP_F32", sig: "f=fi", expr: "ldexpF32(X, y)"},
	{name: "V_FREXP_EXP_I32_F32", sig: "i=f", expr: "frexpExpF32(X)"},
	{name: "V_FREXP_MANT_F32", sig: "f=f", expr: "frexpMantF32(X)"},
	{name: "V_FLOOR_F32", sig: "f=f", expr: "b32(float32(math.Floor(float64(X))))"},
	{name: "V_CEIL_F32", sig: "f=f", expr: "b32(float32(math.Ceil(float64(X))))"},
	{name: "V_TRUNC_F32", sig: "f=f", expr: "b32(float32(math.Trunc(float64(X))))"},
	{name: "V_RNDNE_F32", sig: "f=f", expr: "b32(float32(math.RoundToEven(float64(X))))"},
	{name: "V_FRACT_F32", sig: "f=f", expr: "fractF32(X)"},
	{name: "V_RCP_F32", sig: "f=f", expr: "rcpF32(X)"},
	{name: "V_RCP_IFLAG_F32", sig: "f=f", expr: "rcpF32(X)"},
	{name: "V_RSQ_F32", sig: "f=f", expr: "rsqF32(X)"},
	{name: "V_SQRT_F32", sig: "f=f", expr: "sqrtF32(X)"},
	{name: "V_EXP_F32", sig: "f=f", expr: "expF32(X)"},
	{name: "V_LOG_F32", sig: "f=f", expr: "logF32(X)"},
	{name: "V_DIV_FIXUP_F32", sig: "f=fff", expr: "divFixupF32(X, Y, Z)"},

	// float64.
	{name: "V_ADD_F64", sig: "d=dd", expr: "addF64(X, Y)"},
	{name: "V_MUL_F64", sig: "d=dd", expr: "mulF64(X, Y)"},
	{name: "V_FMA_F64", sig: "d=ddd", expr: "fmaF64(X, Y, Z)"},
	{name: "V_FMAC_F64", sig: "d=ddd", expr: "fmaF64(X, Y, Z)", accumulates: true},
	{name: "V_MIN_F64", sig: "d=dd", expr: "minF64(X, Y, true)", alt: "minF64(X, Y, false)"},
	{name: "V_MAX_F64", sig: "d=dd", expr: "maxF64(X, Y, true)", alt: "maxF64(X, Y, false)"},
	{name: "V_LDEXP_F64", sig: "d=di", expr: "ldexpF64(X, y)"},
	{name: "V_FREXP_EXP_I32_F64", sig: "i=d", expr: "frexpExpF64(X)"},
	{name: "V_FREXP_MANT_F64", sig: "d=d", expr: "frexpMantF64(X)"},
	{name: "V_FLOOR_F64", sig: "d=d", expr: "b64(math.Floor(X))"},
	{name: "V_CEIL_F64", sig: "d=d", expr: "b64(math.Ceil(X))"},
	{name: "V_TRUNC_F64", sig: "d=d", expr: "b64(math.Trunc(X))"},
	{name: "V_RNDNE_F64", sig: "d=d", expr: "b64(math.RoundToEven(X))"},
	{name: "V_FRACT_F64", sig: "d=d", expr: "fractF64(X)"},
	{name: "V_RCP_F64", sig: "d=d", expr: "b64(1 / X)"},
	{name: "V_RSQ_F64", sig: "d=d", expr: "b64(1 / math.Sqrt(X))"},
	{name: "V_SQRT_F64", sig: "d=d", expr: "b64(math.Sqrt(X))"},
	{name: "V_DIV_FIXUP_F64", sig: "d=ddd", expr: "divFixupF64(X, Y, Z)"},

	// Conversions.
	{name: "V_CVT_F32_I32", sig: "f=i", expr: "b32(float32(int32(x)))"},
	{name: "V_CVT_F32_U32", sig: "f=i", expr: "b32(float32(x))"},
	{name: "V_CVT_I32_F32", sig: "i=f", expr: "toI32(float64(X))"},
	{name: "V_CVT_U32_F32", sig: "i=f", expr: "toU32(float64(X))"},
	{name: "V_CVT_RPI_I32_F32", sig: "i=f", expr: "toI32(math.Floor(float64(X + 0.5)))"},
	{name: "V_CVT_FLR_I32_F32", sig: "i=f", expr: "toI32(math.Floor(float64(X)))"},
	{name: "V_CVT_F32_UBYTE0", sig: "f=i", expr: "b32(float32(x & 0xff))"},
	{name: "V_CVT_F32_UBYTE1", sig: "f=i", expr: "b32(float32(x >> 8 & 0xff))"},
	{name: "V_CVT_F32_UBYTE2", sig: "f=i", expr: "b32(float32(x >> 16 & 0xff))"},
	{name: "V_CVT_F32_UBYTE3", sig: "f=i", expr: "b32(float32(x >> 24))"},
	{name: "V_CVT_F64_I32", sig: "d=i", expr: "b64(float64(int32(x)))"},
	{name: "V_CVT_F64_U32", sig: "d=i", expr: "b64(float64(x))"},
	{name: "V_CVT_I32_F64", sig: "i=d", expr: "toI32(X)"},
	{name: "V_CVT_U32_F64", sig: "i=d", expr: "toU32(X)"},
	{name: "V_CVT_F32_F64", sig: "f=d", expr: "b32(float32(X))"},
	{name: "V_CVT_F64_F32", sig: "d=f", expr: "b64(float64(X))"},
	{name: "V_CVT_F16_F32", sig: "h=f", expr: "uint32(f32ToF16(X))"},
	{name: "V_CVT_F32_F16", sig: "f=h", expr: "b32(f16ToF32(uint16(x)))"},
	{name: "V_CVT_F16_I16", sig: "h=w", expr: "uint32(f32ToF16(float32(int16(x))))"},
	{name: "V_CVT_F16_U16", sig: "h=w", expr: "uint32(f32ToF16(float32(uint16(x))))"},
	{name: "V_CVT_I16_F16", sig: "w=h", expr: "toI16(f16ToF32(uint16(x)))"},
	{name: "V_CVT_U16_F16", sig: "w=h", expr: "toU16(f16ToF32(uint16(x)))"},
	{name: "V_CVT_OFF_F32_I4", sig: "f=i", expr: "b32(float32(int32(x<<28)>>28) / 16)"},
	{name: "V_CVT_F32_BF16", sig: "f=w", expr: "quiet32(x << 16)"},
	{name: "V_CVT_PKRTZ_F16_F32", sig: "i=ff", expr: "uint32(f32ToF16Cut(X)) | uint32(f32ToF16Cut(Y))<<16"},
	{name: "V_CVT_PK_F16_F32", sig: "i=ff", expr: "uint32(f32ToF16(X)) | uint32(f32ToF16(Y))<<16"},
	{name: "V_CVT_PK_BF16_F32", sig: "i=ff", expr: "uint32(f32ToBF16(X)) | uint32(f32ToBF16(Y))<<16"},

	// float16, computed in float32 or float64 and rounded once: float32 holds
	// more than twice the bits of float16, so rounding twice changes nothing.
	{name: "V_ADD_F16", sig: "h=hh", expr: "uint32(f32ToF16(f32(addF32(f16ToF32(uint16(x)), f16ToF32(uint16(y))))))"},
	{name: "V_SUB_F16", sig: "h=hh", expr: "uint32(f32ToF16(f32(subF32(f16ToF32(uint16(x)), f16ToF32(uint16(y))))))"},
	{name: "V_SUBREV_F16", sig: "h=hh", expr: "uint32(f32ToF16(f32(subF32(f16ToF32(uint16(y)), f16ToF32(uint16(x))))))"},
	{name: "V_MUL_F16", sig: "h=hh", expr: "uint32(f32ToF16(f32(mulF32(f16ToF32(uint16(x)), f16ToF32(uint16(y))))))"},
	{name: "V_PACK_B32_F16", sig: "i=hh", expr: "x&0xffff | y<<16"},
	{name: "V_FMA_F16", sig: "h=hhh", expr: "uint32(fmaF16(uint16(x), uint16(y), uint16(z)))"},
	{name: "V_MIN_F16", sig: "h=hh", expr: "narrowF16(minF32(wideF16(x), wideF16(y), true))", alt: "narrowF16(minF32(wideF16(x), wideF16(y), false))"},
	{name: "V_MAX_F16", sig: "h=hh", expr: "narrowF16(maxF32(wideF16(x), wideF16(y), true))", alt: "narrowF16(maxF32(wideF16(x), wideF16(y), false))"},
	{name: "V_MIN3_F16", sig: "h=hhh", expr: "narrowF16(min3F32(wideF16(x), wideF16(y), wideF16(z), true))", alt: "narrowF16(min3F32(wideF16(x), wideF16(y), wideF16(z), false))"},
	{name: "V_MAX3_F16", sig: "h=hhh", expr: "narrowF16(max3F32(wideF16(x), wideF16(y), wideF16(z), true))", alt: "narrowF16(max3F32(wideF16(x), wideF16(y), wideF16(z), false))"},
	{name: "V_MED3_F16", sig: "h=hhh", expr: "narrowF16(med3F32(wideF16(x), wideF16(y), wideF16(z), true))", alt: "narrowF16(med3F32(wideF16(x), wideF16(y), wideF16(z), false))"},
	{name: "V_FLOOR_F16", sig: "h=h", expr: "uint32(f64ToF16(math.Floor(float64(f16ToF32(uint16(x)))), true))"},
	{name: "V_CEIL_F16", sig: "h=h", expr: "uint32(f64ToF16(math.Ceil(float64(f16ToF32(uint16(x)))), true))"},
	{name: "V_TRUNC_F16", sig: "h=h", expr: "uint32(f64ToF16(math.Trunc(float64(f16ToF32(uint16(x)))), true))"},
	{name: "V_RNDNE_F16", sig: "h=h", expr: "uint32(f64ToF16(math.RoundToEven(float64(f16ToF32(uint16(x)))), true))"},
	{name: "V_FRACT_F16", sig: "h=h", expr: "fractF16(f16ToF32(uint16(x)))"},
	{name: "V_SQRT_F16", sig: "h=h", expr: "narrowF16(sqrtF32(f16ToF32(uint16(x))))"},
	{name: "V_RCP_F16", sig: "h=h", expr: "narrowF16(rcpF32(f16ToF32(uint16(x))))"},
	{name: "V_RSQ_F16", sig: "h=h", expr: "narrowF16(rsqF32(f16ToF32(uint16(x))))"},
	{name: "V_LDEXP_F16", sig: "h=hw", expr: "uint32(f64ToF16(math.Ldexp(float64(f16ToF32(uint16(x))), int(int16(y))), true))"},
	{name: "V_FREXP_EXP_I16_F16", sig: "w=h", expr: "frexpExpF32(f16ToF32(uint16(x))) & 0xffff"},
	{name: "V_FREXP_MANT_F16", sig: "h=h", expr: "narrowF16(frexpMantF32(f16ToF32(uint16(x))))"},
	{name: "V_DIV_FIXUP_F16", sig: "h=hhh", expr: "uint32(divFixupF16(uint16(x), uint16(y), uint16(z)))"},
}

// compares are the conditions of V_CMP and V_CMPX. For integers: unsigned and
// signed. A float condition is false on a NaN unless negated.
var (
	intConditions = map[string]string{
		"F": "false", "LT": "X < Y", "EQ": "X == Y", "LE": "X <= Y",
		"GT": "X > Y", "NE": "X != Y", "GE": "X >= Y", "T": "true",
	}
	floatConditions = map[string]string{
		"F": "false", "LT": "X < Y", "EQ": "X == Y", "LE": "X <= Y", "GT": "X > Y", "LG": "X < Y || X > Y", "GE": "X >= Y",
		"O": "X == X && Y == Y", "U": "X != X || Y != Y",
		"NGE": "!(X >= Y)", "NLG": "!(X < Y || X > Y)", "NGT": "!(X > Y)", "NLE": "!(X <= Y)", "NEQ": "X != Y", "NLT": "!(X < Y)", "TRU": "true",
	}
)

// compareType is a type of operands that are compared: how X is made of the
// bits x, and the operandType of the sources.
type compareType struct {
	name, src, conv string
	float           bool
}

var compareTypes = []compareType{
	{name: "I16", src: "w", conv: "int16(%s)"},
	{name: "U16", src: "w", conv: "uint16(%s)"},
	{name: "I32", src: "i", conv: "int32(%s)"},
	{name: "U32", src: "i", conv: "%s"},
	{name: "I64", src: "l", conv: "int64(%s)"},
	{name: "U64", src: "l", conv: "%s"},
	{name: "F16", src: "h", conv: "f16ToF32(uint16(%s))", float: true},
	{name: "F32", src: "f", conv: "math.Float32frombits(%s)", float: true},
	{name: "F64", src: "d", conv: "math.Float64frombits(%s)", float: true},
}
