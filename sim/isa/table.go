package isa

// row is what the tables say of one opcode of one encoding. A zero row is an
// opcode that does not exist.
type row struct {
	op    Op
	enc   Encoding
	on    targetSet
	shape uint16 // index into shapes
}

// targetSet is a set of targets, bit Target-1 each.
type targetSet uint8

const (
	on942  targetSet = 1 << (GFX942 - 1)
	on950  targetSet = 1 << (GFX950 - 1)
	onBoth           = on942 | on950
)

func (s targetSet) has(t Target) bool { return s>>(t-1)&1 != 0 }

// shape is the operands of an opcode by the field that encodes them. A zero
// slot is a field that the opcode does not use.
type shape struct {
	dst  slot // vdst, vdata, sdata; sdst of the scalar encodings
	sdst slot // VOP3SD
	a    slot // src0, ssrc0, addr, vaddr, sbase, simm16
	b    slot // src1, vsrc1, ssrc1, data, data0, srsrc
	c    slot // src2, data1, saddr, soffset
}

// slot is one operand: the registers its field names, its size, and the
// number format in which a constant is meant.
type slot struct {
	in     class
	dwords uint8
	num    numFormat
}

// class is the set of registers and constants that a field can name.
type class uint8

const (
	inNone                class = iota
	inVGPR                      // 8 bits: VGPR
	inVGPROrAcc                 // 8 bits and an acc bit: VGPR or accumulation VGPR
	inAcc                       // 8 bits: accumulation VGPR
	inSrc                       // 9 bits: scalar register, constant or VGPR
	inSrcVGPR                   // 9 bits: only VGPRs
	inSrcAcc                    // 9 bits: only accumulation VGPRs
	inSrcVGPROrAcc              // 9 bits and an acc bit: VGPR or accumulation VGPR
	inSrcVGPROrAccOrConst       // the same, or an inline constant
	inSGPR                      // 7 bits: scalar register
	inSSrc                      // 8 bits: scalar register or constant
	inLaneSelect                // scalar register or small integer that names a lane
	inSMEMOffset
	inImm16
	inImm8
	inImm4
	inLabel
	inHwreg
	inSendmsg
	inWaitcnt
)

// numFormat is how an operand's bits are read, as far as a constant's meaning
// and spelling depend on it.
type numFormat uint8

const (
	numBits  numFormat = iota // memory data, packed formats that no constant can stand for
	numInt                    // integers and bits of 24 or 32 bits, unsigned integers and bits of 64
	numI64                    // signed integers of 64 bits
	numInt16                  // and of 16 or 8
	numF16
	numBF16
	numF32
	numF64
	numPkInt16
	numPkInt32
	numPkF16
	numPkBF16
	numPkF32
	numMatrixF32
	numMatrixF64
	numMatrixI32
	numMask // a 64-bit lane mask
)
