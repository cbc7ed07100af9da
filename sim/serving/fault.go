package serving

import (
	"fmt"
	"strings"
)

// Fault is a fault that an engine can be made with. The zero Fault is none.
type Fault uint8

const (
	NoFault Fault = iota
	RewriteAfterCopy
	CopyBeforeLocalize
	CopyBeforeCompress
	StaleReplay
	MovedBuffer
	PaddingKept
	PageReused
	SlotRewritten
)

var faults = [...]struct{ name, sentence string }{
	NoFault:            {"none", "no fault is planted"},
	RewriteAfterCopy:   {"rewrite-after-copy", "the table is built and copied as if all drafts of the step before had been accepted, then rewritten in place with the true lengths, and not copied again"},
	CopyBeforeLocalize: {"copy-before-localize", "under DCP, the per-request lengths are copied before the table is localized (and scaled)"},
	CopyBeforeCompress: {"copy-before-compress", "the per-request lengths are copied after the table is localized and before it is scaled by the compress ratio"},
	StaleReplay:        {"stale-replay", "the per-request copy is not part of the captured graph: a replayed step reads what an earlier step left"},
	MovedBuffer:        {"moved-buffer", "the block table is allocated anew when more requests run than ever before"},
	PaddingKept:        {"padding-kept", "a step that is padded to its graph's size leaves the padding rows' lengths, pages and slots as an earlier step left them"},
	PageReused:         {"page-reused", "a preempted request's pages are freed but stay in its block table, and it goes on with them"},
	SlotRewritten:      {"slot-rewritten", "a preempted request keeps its pages and computes its tokens once more, into slots that hold them"},
}

func (f Fault) String() string { return faults[f].name }

// Sentence says what the fault does.
func (f Fault) Sentence() string { return faults[f].sentence }

// Faults is every planted fault; NoFault is not among them.
func Faults() []Fault {
	all := make([]Fault, 0, len(faults)-1)
	for f := NoFault + 1; int(f) < len(faults); f++ {
		all = append(all, f)
	}
	return all
}

// ParseFault gives the fault of a name; "" and "none" are NoFault.
func ParseFault(name string) (Fault, error) {
	if name == "" {
		return NoFault, nil
	}
	names := make([]string, 0, len(faults))
	for f, d := range faults {
		if d.name == name {
			return Fault(f), nil
		}
		names = append(names, d.name)
	}
	return NoFault, fmt.Errorf("serving: no planted fault is called %q; there are %s", name, strings.Join(names, ", "))
}
