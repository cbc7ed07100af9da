package isa

import "strings"

// trait is a property of an opcode that its name tells.
type trait uint16

const (
	traitStore   trait = 1 << iota // writes memory and returns nothing
	traitAtomic                    // reads and writes memory
	traitLDS                       // loads from memory to LDS
	traitTwo                       // LDS: two offsets
	traitE32                       // has an e64 form, so that the text names the form
	traitCompare                   // vector comparison
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
	for i := range vopcTable {
		t[vopcTable[i].op] |= traitCompare
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
		}
	}
	return t
}()

func isStore(op Op) bool  { return traits[op]&traitStore != 0 }
func isAtomic(op Op) bool { return traits[op]&traitAtomic != 0 }
