package gpu

import (
	"unsafe"

	"mqaproof/sim/isa"
)

//go:generate go run ./lanegen .

// narrowFn computes all 64 lanes of an instruction whose operands are one
// dword each; sources that it does not have are nil. The destination may be
// one of the sources: a lane is read before it is written.
type narrowFn func(d, a, b, c *vreg)

// wideFn is the same for operands of one or two dwords: d and e are the low and
// high dwords of the result, a and p of the first source, b and q of the
// second, c and r of the third.
type wideFn func(d, e, a, p, b, q, c, r *vreg)

// laneOp is an instruction that works on each lane alone.
type laneOp struct {
	op                    isa.Op
	dst                   operandType
	srcs                  string // an operandType a source
	narrow, narrowNonIEEE narrowFn
	wide, wideNonIEEE     wideFn
	accumulates           bool // the destination is the last source
}

// quads and pairs view a register as groups of lanes that a loop can work
// through without bounds checks.
func quads(v *vreg) *[Lanes / 4][4]uint32 { return (*[Lanes / 4][4]uint32)(unsafe.Pointer(v)) }

func pairs(v *vreg) *[Lanes / 4][2]uint64 { return (*[Lanes / 4][2]uint64)(unsafe.Pointer(v)) }

// laneLoop is the loop of a one-dword instruction.
func laneLoop(op isa.Op) narrowFn {
	for i := range laneOps {
		if laneOps[i].op == op {
			return laneOps[i].narrow
		}
	}
	panic("gpu: no loop for " + op.String())
}
