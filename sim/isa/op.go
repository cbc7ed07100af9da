package isa

import "fmt"

//go:generate go run ./isagen tables_gen.go

// String is the instruction's name as LLVM spells it, without the suffixes of
// an encoding: "v_add_f32".
func (o Op) String() string {
	if o < numOps && o != InvalidOp {
		return opNames[o]
	}
	return fmt.Sprintf("Op(%d)", uint16(o))
}

// NumOps is one more than the highest Op: the length of a table indexed by Op.
const NumOps = int(numOps)
