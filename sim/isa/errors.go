package isa

import (
	"fmt"
	"strings"
)

// DecodeError says why bytes are not an instruction.
type DecodeError struct {
	Addr   uint64
	Words  []uint32 // the dwords at Addr, as many as there are up to four
	Target Target
	Reason string
}

func (e *DecodeError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cannot decode %s instruction at %#x", e.Target, e.Addr)
	for i, w := range e.Words {
		if i == 0 {
			b.WriteString(" (")
		}
		fmt.Fprintf(&b, "%08x", w)
		if i < len(e.Words)-1 {
			b.WriteByte(' ')
		} else {
			b.WriteByte(')')
		}
	}
	return b.String() + ": " + e.Reason
}
