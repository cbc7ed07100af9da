package isa

import "fmt"

// Encoding is the format of an instruction's dwords.
type Encoding uint8

const (
	SOP1 Encoding = iota + 1
	SOP2
	SOPC
	SOPK
	SOPP
	SMEM
	VOP1
	VOP2
	VOPC
	VOP3
	VOP3SD // VOP3 with a scalar destination besides the vector one
	VOP3P  // packed math
	MFMA   // VOP3P-MAI: the matrix core and moves to and from accumulation VGPRs
	VOP3PX2
	DS
	MUBUF
	MTBUF
	FLAT
	GLOBAL
	SCRATCH
)

var encodingNames = [...]string{
	SOP1: "SOP1", SOP2: "SOP2", SOPC: "SOPC", SOPK: "SOPK", SOPP: "SOPP", SMEM: "SMEM",
	VOP1: "VOP1", VOP2: "VOP2", VOPC: "VOPC", VOP3: "VOP3", VOP3SD: "VOP3SD", VOP3P: "VOP3P",
	MFMA: "MFMA", VOP3PX2: "VOP3PX2",
	DS: "DS", MUBUF: "MUBUF", MTBUF: "MTBUF", FLAT: "FLAT", GLOBAL: "GLOBAL", SCRATCH: "SCRATCH",
}

func (e Encoding) String() string {
	if e >= SOP1 && e <= SCRATCH {
		return encodingNames[e]
	}
	return fmt.Sprintf("Encoding(%d)", uint8(e))
}
