package gpu

import (
	"math/bits"

	"mqaproof/sim/isa"
)

// The scalar integer instructions. A function gets the sources and gives the
// result; those that set SCC do so through w.

type (
	scalar32  func(w *Wave, a, b uint32) uint32
	scalar64  func(w *Wave, a, b uint64) uint64
	scalarCmp func(a, b uint64) bool
)

// nonZero sets SCC to whether x is not zero and gives x back.
func nonZero(w *Wave, x uint32) uint32 {
	w.SCC = x != 0
	return x
}

func nonZero64(w *Wave, x uint64) uint64 {
	w.SCC = x != 0
	return x
}

func carry(w *Wave, x uint64) uint32 {
	w.SCC = x>>32 != 0
	return uint32(x)
}

func b2u(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// bitField is bits offset..offset+width-1 of x, offset and width packed as in
// the second source of S_BFE; signed fields are sign-extended.
func bitField(x uint64, control uint32, size uint, signed bool) uint64 {
	offset := uint(control) & (size - 1)
	width := uint(control) >> 16 & 0x7f
	if width == 0 {
		return 0
	}
	if signed {
		v := int64(x<<(64-size)) >> (64 - size) >> offset
		if width < size {
			v = v << (64 - width) >> (64 - width)
		}
		return uint64(v)
	}
	x >>= offset
	if width < 64 {
		x &= 1<<width - 1
	}
	return x
}

// signRun is how many bits of an n-bit value equal its sign bit, from the top,
// or -1 when all do.
func signRun(x uint64, n uint) uint32 {
	x <<= 64 - n
	if int64(x) < 0 {
		x = ^x
	}
	x &= ^uint64(0) << (64 - n)
	if x == 0 {
		return ^uint32(0)
	}
	return uint32(bits.LeadingZeros64(x))
}

// wholeQuads spreads a set bit over its group of four.
func wholeQuads(x uint64) uint64 {
	x |= x >> 1
	x |= x >> 2
	return (x & 0x1111111111111111) * 15
}

// quadMask has one bit for each group of four that has a bit set.
func quadMask(x uint64) uint64 {
	x |= x >> 1
	x |= x >> 2
	var r uint64
	for i := range uint(16) {
		r |= x >> (4 * i) & 1 << i
	}
	return r
}

var scalarOps32 = map[isa.Op]scalar32{
	isa.S_MOV_B32:  func(_ *Wave, a, _ uint32) uint32 { return a },
	isa.S_NOT_B32:  func(w *Wave, a, _ uint32) uint32 { return nonZero(w, ^a) },
	isa.S_BREV_B32: func(_ *Wave, a, _ uint32) uint32 { return bits.Reverse32(a) },
	isa.S_WQM_B32:  func(w *Wave, a, _ uint32) uint32 { return nonZero(w, uint32(wholeQuads(uint64(a)))) },
	isa.S_QUADMASK_B32: func(w *Wave, a, _ uint32) uint32 {
		return nonZero(w, uint32(quadMask(uint64(a))))
	},
	isa.S_BCNT0_I32_B32: func(w *Wave, a, _ uint32) uint32 { return nonZero(w, uint32(bits.OnesCount32(^a))) },
	isa.S_BCNT1_I32_B32: func(w *Wave, a, _ uint32) uint32 { return nonZero(w, uint32(bits.OnesCount32(a))) },
	isa.S_FF0_I32_B32:   func(_ *Wave, a, _ uint32) uint32 { return firstOne(uint64(^a)) },
	isa.S_FF1_I32_B32:   func(_ *Wave, a, _ uint32) uint32 { return firstOne(uint64(a)) },
	isa.S_FLBIT_I32_B32: func(_ *Wave, a, _ uint32) uint32 { return leadingOne(uint64(a) << 32) },
	isa.S_FLBIT_I32:     func(_ *Wave, a, _ uint32) uint32 { return signRun(uint64(a), 32) },
	isa.S_SEXT_I32_I8:   func(_ *Wave, a, _ uint32) uint32 { return uint32(int32(int8(a))) },
	isa.S_SEXT_I32_I16:  func(_ *Wave, a, _ uint32) uint32 { return uint32(int32(int16(a))) },
	isa.S_ABS_I32: func(w *Wave, a, _ uint32) uint32 {
		if int32(a) < 0 {
			a = -a
		}
		return nonZero(w, a)
	},

	isa.S_ADD_U32: func(w *Wave, a, b uint32) uint32 { return carry(w, uint64(a)+uint64(b)) },
	isa.S_SUB_U32: func(w *Wave, a, b uint32) uint32 { w.SCC = b > a; return a - b },
	isa.S_ADD_I32: func(w *Wave, a, b uint32) uint32 {
		r := a + b
		w.SCC = (a^r)&(b^r)>>31 != 0
		return r
	},
	isa.S_SUB_I32: func(w *Wave, a, b uint32) uint32 {
		r := a - b
		w.SCC = (a^b)&(a^r)>>31 != 0
		return r
	},
	isa.S_ADDC_U32: func(w *Wave, a, b uint32) uint32 {
		return carry(w, uint64(a)+uint64(b)+uint64(b2u(w.SCC)))
	},
	isa.S_SUBB_U32: func(w *Wave, a, b uint32) uint32 {
		c := b2u(w.SCC)
		w.SCC = uint64(b)+uint64(c) > uint64(a)
		return a - b - c
	},
	isa.S_MIN_I32: func(w *Wave, a, b uint32) uint32 { w.SCC = int32(a) < int32(b); return pick(w.SCC, a, b) },
	isa.S_MIN_U32: func(w *Wave, a, b uint32) uint32 { w.SCC = a < b; return pick(w.SCC, a, b) },
	isa.S_MAX_I32: func(w *Wave, a, b uint32) uint32 { w.SCC = int32(a) >= int32(b); return pick(w.SCC, a, b) },
	isa.S_MAX_U32: func(w *Wave, a, b uint32) uint32 { w.SCC = a >= b; return pick(w.SCC, a, b) },
	isa.S_CSELECT_B32: func(w *Wave, a, b uint32) uint32 {
		return pick(w.SCC, a, b)
	},
	isa.S_AND_B32:   func(w *Wave, a, b uint32) uint32 { return nonZero(w, a&b) },
	isa.S_OR_B32:    func(w *Wave, a, b uint32) uint32 { return nonZero(w, a|b) },
	isa.S_XOR_B32:   func(w *Wave, a, b uint32) uint32 { return nonZero(w, a^b) },
	isa.S_ANDN2_B32: func(w *Wave, a, b uint32) uint32 { return nonZero(w, a&^b) },
	isa.S_ORN2_B32:  func(w *Wave, a, b uint32) uint32 { return nonZero(w, a|^b) },
	isa.S_NAND_B32:  func(w *Wave, a, b uint32) uint32 { return nonZero(w, ^(a & b)) },
	isa.S_NOR_B32:   func(w *Wave, a, b uint32) uint32 { return nonZero(w, ^(a | b)) },
	isa.S_XNOR_B32:  func(w *Wave, a, b uint32) uint32 { return nonZero(w, ^(a ^ b)) },
	isa.S_LSHL_B32:  func(w *Wave, a, b uint32) uint32 { return nonZero(w, a<<(b&31)) },
	isa.S_LSHR_B32:  func(w *Wave, a, b uint32) uint32 { return nonZero(w, a>>(b&31)) },
	isa.S_ASHR_I32:  func(w *Wave, a, b uint32) uint32 { return nonZero(w, uint32(int32(a)>>(b&31))) },
	isa.S_BFM_B32:   func(_ *Wave, a, b uint32) uint32 { return (1<<(a&31) - 1) << (b & 31) },
	isa.S_MUL_I32:   func(_ *Wave, a, b uint32) uint32 { return a * b },
	isa.S_BFE_U32: func(w *Wave, a, b uint32) uint32 {
		return nonZero(w, uint32(bitField(uint64(a), b, 32, false)))
	},
	isa.S_BFE_I32: func(w *Wave, a, b uint32) uint32 {
		return nonZero(w, uint32(bitField(uint64(a), b, 32, true)))
	},
	isa.S_ABSDIFF_I32: func(w *Wave, a, b uint32) uint32 {
		r := a - b
		if int32(r) < 0 {
			r = -r
		}
		return nonZero(w, r)
	},
	isa.S_MUL_HI_U32: func(_ *Wave, a, b uint32) uint32 { return uint32(uint64(a) * uint64(b) >> 32) },
	isa.S_MUL_HI_I32: func(_ *Wave, a, b uint32) uint32 { return uint32(int64(int32(a)) * int64(int32(b)) >> 32) },
	isa.S_LSHL1_ADD_U32: func(w *Wave, a, b uint32) uint32 {
		return carry(w, uint64(a)<<1+uint64(b))
	},
	isa.S_LSHL2_ADD_U32: func(w *Wave, a, b uint32) uint32 {
		return carry(w, uint64(a)<<2+uint64(b))
	},
	isa.S_LSHL3_ADD_U32: func(w *Wave, a, b uint32) uint32 {
		return carry(w, uint64(a)<<3+uint64(b))
	},
	isa.S_LSHL4_ADD_U32: func(w *Wave, a, b uint32) uint32 {
		return carry(w, uint64(a)<<4+uint64(b))
	},
	isa.S_PACK_LL_B32_B16: func(_ *Wave, a, b uint32) uint32 { return a&0xffff | b<<16 },
	isa.S_PACK_LH_B32_B16: func(_ *Wave, a, b uint32) uint32 { return a&0xffff | b&0xffff0000 },
	isa.S_PACK_HH_B32_B16: func(_ *Wave, a, b uint32) uint32 { return a>>16 | b&0xffff0000 },
}

// scalarWide are 64-bit sources with a 32-bit result.
var scalarWide = map[isa.Op]func(w *Wave, a uint64) uint32{
	isa.S_BCNT0_I32_B64: func(w *Wave, a uint64) uint32 { return nonZero(w, uint32(bits.OnesCount64(^a))) },
	isa.S_BCNT1_I32_B64: func(w *Wave, a uint64) uint32 { return nonZero(w, uint32(bits.OnesCount64(a))) },
	isa.S_FF0_I32_B64:   func(_ *Wave, a uint64) uint32 { return firstOne(^a) },
	isa.S_FF1_I32_B64:   func(_ *Wave, a uint64) uint32 { return firstOne(a) },
	isa.S_FLBIT_I32_B64: func(_ *Wave, a uint64) uint32 { return leadingOne(a) },
	isa.S_FLBIT_I32_I64: func(_ *Wave, a uint64) uint32 { return signRun(a, 64) },
}

func pick(cond bool, a, b uint32) uint32 {
	if cond {
		return a
	}
	return b
}

// firstOne is the index of the lowest set bit, -1 when there is none.
func firstOne(x uint64) uint32 {
	if x == 0 {
		return ^uint32(0)
	}
	return uint32(bits.TrailingZeros64(x))
}

// leadingOne is the distance of the highest set bit from bit 63, -1 when there is none.
func leadingOne(x uint64) uint32 {
	if x == 0 {
		return ^uint32(0)
	}
	return uint32(bits.LeadingZeros64(x))
}

var scalarOps64 = map[isa.Op]scalar64{
	isa.S_MOV_B64:      func(_ *Wave, a, _ uint64) uint64 { return a },
	isa.S_NOT_B64:      func(w *Wave, a, _ uint64) uint64 { return nonZero64(w, ^a) },
	isa.S_BREV_B64:     func(_ *Wave, a, _ uint64) uint64 { return bits.Reverse64(a) },
	isa.S_WQM_B64:      func(w *Wave, a, _ uint64) uint64 { return nonZero64(w, wholeQuads(a)) },
	isa.S_QUADMASK_B64: func(w *Wave, a, _ uint64) uint64 { return nonZero64(w, quadMask(a)) },
	isa.S_CSELECT_B64: func(w *Wave, a, b uint64) uint64 {
		if w.SCC {
			return a
		}
		return b
	},
	isa.S_AND_B64:   func(w *Wave, a, b uint64) uint64 { return nonZero64(w, a&b) },
	isa.S_OR_B64:    func(w *Wave, a, b uint64) uint64 { return nonZero64(w, a|b) },
	isa.S_XOR_B64:   func(w *Wave, a, b uint64) uint64 { return nonZero64(w, a^b) },
	isa.S_ANDN2_B64: func(w *Wave, a, b uint64) uint64 { return nonZero64(w, a&^b) },
	isa.S_ORN2_B64:  func(w *Wave, a, b uint64) uint64 { return nonZero64(w, a|^b) },
	isa.S_NAND_B64:  func(w *Wave, a, b uint64) uint64 { return nonZero64(w, ^(a & b)) },
	isa.S_NOR_B64:   func(w *Wave, a, b uint64) uint64 { return nonZero64(w, ^(a | b)) },
	isa.S_XNOR_B64:  func(w *Wave, a, b uint64) uint64 { return nonZero64(w, ^(a ^ b)) },
}

// scalarShifts have a 64-bit first source and a 32-bit second one.
var scalarShifts = map[isa.Op]func(w *Wave, a uint64, b uint32) uint64{
	isa.S_LSHL_B64: func(w *Wave, a uint64, b uint32) uint64 { return nonZero64(w, a<<(b&63)) },
	isa.S_LSHR_B64: func(w *Wave, a uint64, b uint32) uint64 { return nonZero64(w, a>>(b&63)) },
	isa.S_ASHR_I64: func(w *Wave, a uint64, b uint32) uint64 { return nonZero64(w, uint64(int64(a)>>(b&63))) },
	isa.S_BFE_U64:  func(w *Wave, a uint64, b uint32) uint64 { return nonZero64(w, bitField(a, b, 64, false)) },
	isa.S_BFE_I64:  func(w *Wave, a uint64, b uint32) uint64 { return nonZero64(w, bitField(a, b, 64, true)) },
}

// scalarFrom32 have 32-bit sources and a 64-bit result.
var scalarFrom32 = map[isa.Op]func(a, b uint32) uint64{
	isa.S_BFM_B64: func(a, b uint32) uint64 { return (1<<(a&63) - 1) << (b & 63) },
	isa.S_BITREPLICATE_B64_B32: func(a, _ uint32) uint64 {
		x := uint64(a)
		x = (x | x<<16) & 0x0000ffff0000ffff
		x = (x | x<<8) & 0x00ff00ff00ff00ff
		x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
		x = (x | x<<2) & 0x3333333333333333
		x = (x | x<<1) & 0x5555555555555555
		return x * 3
	},
}

// saveexec are the instructions that keep EXEC in their destination and
// combine it with their source; wrexec also write the new EXEC there.
var (
	saveexec = map[isa.Op]func(s, exec uint64) uint64{
		isa.S_AND_SAVEEXEC_B64:   func(s, e uint64) uint64 { return s & e },
		isa.S_OR_SAVEEXEC_B64:    func(s, e uint64) uint64 { return s | e },
		isa.S_XOR_SAVEEXEC_B64:   func(s, e uint64) uint64 { return s ^ e },
		isa.S_ANDN2_SAVEEXEC_B64: func(s, e uint64) uint64 { return s &^ e },
		isa.S_ORN2_SAVEEXEC_B64:  func(s, e uint64) uint64 { return s | ^e },
		isa.S_NAND_SAVEEXEC_B64:  func(s, e uint64) uint64 { return ^(s & e) },
		isa.S_NOR_SAVEEXEC_B64:   func(s, e uint64) uint64 { return ^(s | e) },
		isa.S_XNOR_SAVEEXEC_B64:  func(s, e uint64) uint64 { return ^(s ^ e) },
		isa.S_ANDN1_SAVEEXEC_B64: func(s, e uint64) uint64 { return ^s & e },
		isa.S_ORN1_SAVEEXEC_B64:  func(s, e uint64) uint64 { return ^s | e },
	}
	wrexec = map[isa.Op]func(s, exec uint64) uint64{
		isa.S_ANDN1_WREXEC_B64: func(s, e uint64) uint64 { return ^s & e },
		isa.S_ANDN2_WREXEC_B64: func(s, e uint64) uint64 { return s &^ e },
	}
)

var scalarCompares32 = map[isa.Op]func(a, b uint32) bool{
	isa.S_CMP_EQ_I32: func(a, b uint32) bool { return a == b },
	isa.S_CMP_LG_I32: func(a, b uint32) bool { return a != b },
	isa.S_CMP_GT_I32: func(a, b uint32) bool { return int32(a) > int32(b) },
	isa.S_CMP_GE_I32: func(a, b uint32) bool { return int32(a) >= int32(b) },
	isa.S_CMP_LT_I32: func(a, b uint32) bool { return int32(a) < int32(b) },
	isa.S_CMP_LE_I32: func(a, b uint32) bool { return int32(a) <= int32(b) },
	isa.S_CMP_EQ_U32: func(a, b uint32) bool { return a == b },
	isa.S_CMP_LG_U32: func(a, b uint32) bool { return a != b },
	isa.S_CMP_GT_U32: func(a, b uint32) bool { return a > b },
	isa.S_CMP_GE_U32: func(a, b uint32) bool { return a >= b },
	isa.S_CMP_LT_U32: func(a, b uint32) bool { return a < b },
	isa.S_CMP_LE_U32: func(a, b uint32) bool { return a <= b },

	isa.S_BITCMP0_B32: func(a, b uint32) bool { return a>>(b&31)&1 == 0 },
	isa.S_BITCMP1_B32: func(a, b uint32) bool { return a>>(b&31)&1 == 1 },
}

var scalarCompares64 = map[isa.Op]scalarCmp{
	isa.S_CMP_EQ_U64:  func(a, b uint64) bool { return a == b },
	isa.S_CMP_LG_U64:  func(a, b uint64) bool { return a != b },
	isa.S_BITCMP0_B64: func(a, b uint64) bool { return a>>(b&63)&1 == 0 },
	isa.S_BITCMP1_B64: func(a, b uint64) bool { return a>>(b&63)&1 == 1 },
}

// cmpk maps a compare with an immediate to the compare that it abbreviates.
var cmpk = map[isa.Op]isa.Op{
	isa.S_CMPK_EQ_I32: isa.S_CMP_EQ_I32, isa.S_CMPK_LG_I32: isa.S_CMP_LG_I32,
	isa.S_CMPK_GT_I32: isa.S_CMP_GT_I32, isa.S_CMPK_GE_I32: isa.S_CMP_GE_I32,
	isa.S_CMPK_LT_I32: isa.S_CMP_LT_I32, isa.S_CMPK_LE_I32: isa.S_CMP_LE_I32,
}

var cmpkUnsigned = map[isa.Op]isa.Op{
	isa.S_CMPK_EQ_U32: isa.S_CMP_EQ_U32, isa.S_CMPK_LG_U32: isa.S_CMP_LG_U32,
	isa.S_CMPK_GT_U32: isa.S_CMP_GT_U32, isa.S_CMPK_GE_U32: isa.S_CMP_GE_U32,
	isa.S_CMPK_LT_U32: isa.S_CMP_LT_U32, isa.S_CMPK_LE_U32: isa.S_CMP_LE_U32,
}
