// Package isa decodes and disassembles the machine code of CDNA3 (gfx942) and
// CDNA4 (gfx950). Its opcode tables are generated from AMD's machine-readable
// ISA; it executes nothing.
package isa

import "fmt"

// Target is the instruction set that a code object was compiled for.
type Target uint8

const (
	GFX942 Target = iota + 1 // CDNA3: MI300A, MI300X, MI325X
	GFX950                   // CDNA4: MI350X, MI355X
)

func (t Target) String() string {
	switch t {
	case GFX942:
		return "gfx942"
	case GFX950:
		return "gfx950"
	}
	return fmt.Sprintf("Target(%d)", uint8(t))
}

// ParseTarget reads a target name such as "gfx942".
func ParseTarget(s string) (Target, error) {
	switch s {
	case "gfx942":
		return GFX942, nil
	case "gfx950":
		return GFX950, nil
	}
	return 0, fmt.Errorf("target %q is not supported: gfx942 and gfx950 are", s)
}

// Op is an instruction's name whatever its encoding: V_ADD_F32 is one Op in
// VOP2, VOP3, SDWA and DPP form. The constants are generated.
type Op uint16

// OperandKind says where an operand lives.
type OperandKind uint8

const (
	None    OperandKind = iota
	SReg                // scalar register file by encoding: 0..101 SGPR, 102/103 FLAT_SCRATCH, 104/105 XNACK_MASK, 106/107 VCC, 108..123 TTMP, 124 M0, 126/127 EXEC
	VReg                // VGPR 0..255
	AReg                // accumulation VGPR 0..255
	Const               // inline constant or literal: Value holds its 32 bits as the instruction's operand type sees them
	Special             // a readable source with no register: Reg is its encoding (235..239, 251 VCCZ, 252 EXECZ, 253 SCC, 254 LDS_DIRECT)
)

// Operand is one source or destination.
type Operand struct {
	Kind  OperandKind
	Width uint8  // dwords read or written (2 for b64, 4 for x4, ...); 1 also for narrower values
	Reg   uint16 // first register
	// Value is a constant's bits. An inline integer is a 32-bit value, which
	// every 64-bit operand sign-extends. Float marks an inline float, whose
	// Value is its float32 bits; a 64-bit or 16-bit operand has the same number
	// in its own format. Literal marks a trailing 32-bit literal: the high half
	// of a float64 operand, sign-extended by a signed 64-bit one, which Signed
	// marks, and zero-extended by any other 64-bit one.
	Value   uint32
	Float   bool
	Literal bool
	Signed  bool
}

// SDWA selects, as encoded: 0..3 BYTE_0..3, 4 WORD_0, 5 WORD_1, 6 DWORD.
type SDWA struct {
	DstSel, DstUnused  uint8 // DstUnused: 0 pad, 1 sext, 2 preserve
	Src0Sel, Src1Sel   uint8
	Src0Sext, Src1Sext bool
}

// DPP is the data-parallel-primitive control of an instruction (DPP16, 9-bit ctrl).
type DPP struct {
	Ctrl              uint16
	RowMask, BankMask uint8
	BoundCtrl         bool // bound_ctrl:1 as encoded: out-of-range lanes read 0
}

// Inst is one decoded instruction.
type Inst struct {
	Addr uint64 // address of its first byte
	Size uint8  // bytes: 4, 8, 12 or 16
	Op   Op
	Enc  Encoding
	Raw  [4]uint32 // the encoded dwords, Size/4 of them

	Dst  Operand    // first destination
	SDst Operand    // scalar destination of VOPC, VOP3SD, v_readlane and the like
	Src  [4]Operand // sources in the order the assembler writes them

	Neg, Abs       uint8 // bit i: source i (VOP3, SDWA, DPP; neg_lo for VOP3P)
	NegHi          uint8 // VOP3P
	OpSel, OpSelHi uint8 // bit i: source i; OpSel bit 3: destination
	Clamp          bool
	OMod           uint8
	IsDPP, IsSDWA  bool
	DPP            DPP
	SDWA           SDWA

	Simm16 int16 // SOPK, SOPP

	// Memory instructions.
	Offset           int32 // SMEM imm21, FLAT imm13, MUBUF imm12, DS offset0 | offset1<<8
	Offset0, Offset1 uint8 // DS read2/write2
	OffEn, IdxEn     bool
	SC0, SC1, NT     bool // also GLC for SMEM in SC0
	LDS, GDS         bool

	// Matrix core instructions.
	CBSZ, ABID, BLGP uint8
	Scale            [2]Operand // VOP3PX2: the scales of A and B; OpSel and OpSelHi pick their bytes

	BitOp3 uint8 // v_bitop3: the truth table of the three sources
	Format uint8 // MTBUF: dfmt | nfmt<<4
}

// String is the instruction as llvm-objdump prints it, with single spaces.
func (in *Inst) String() string { return in.format() }
