package gpu

import (
	"fmt"
)

// Launch is one kernel dispatch.
type Launch struct {
	Grid       [3]uint32 // workgroups along x, y, z
	Block      [3]uint32 // work-items of a workgroup along x, y, z
	Kernarg    []byte    // explicit arguments at the offsets that the metadata gives; hidden ones are filled in
	DynamicLDS uint32    // bytes of LDS beyond the static ones
	Workers    int       // workgroups run on this many goroutines; 0 means all cores. Results do not depend on it
	Budget     uint64    // instructions one wave may execute; 0 means DefaultBudget
	Order      uint64    // seed of the order in which a workgroup's waves are scheduled; 0 is round robin
}

// DefaultBudget is the number of instructions a wave may run before it counts
// as stuck.
const DefaultBudget = 1 << 28

// Report is what a launch did besides changing memory. It is the same for any
// number of workers.
type Report struct {
	Instructions       uint64 // wave instructions executed, all waves
	VectorInstructions uint64 // of those, VALU and matrix-core ones
	Faults             []Fault
	MoreFaults         int // faults beyond those kept
}

// FaultKind says what a memory access did wrong.
type FaultKind string

const (
	OutOfBoundsRead   FaultKind = "out-of-bounds read"
	OutOfBoundsWrite  FaultKind = "out-of-bounds write"
	UninitialisedRead FaultKind = "read of uninitialised memory"
	ReadOnlyWrite     FaultKind = "write to read-only memory"
	Race              FaultKind = "race between workgroups"
	Misaligned        FaultKind = "misaligned access"
)

// Fault is one wrong memory access; the run goes on after it as the hardware
// would (reads give 0, writes are dropped).
type Fault struct {
	Kind      FaultKind
	Space     string // "global", "lds", "scratch", "kernarg"
	Buffer    string // nearest tensor by address, or "" when none
	Offset    int64  // bytes from that tensor's start
	Addr      uint64
	Size      int    // bytes of the access
	PC        uint64 // in the code object's own addresses, as a disassembler shows them
	Inst      string // disassembly
	Detail    string // what else is known, such as the other workgroup of a race
	Workgroup [3]uint32
	Wave      int // wave within the workgroup
	Lane      int
	Count     int // how often this instruction did this to this buffer
}

func (f Fault) String() string {
	name := f.Buffer
	if name == "" {
		name = f.Space
	}
	s := fmt.Sprintf("%s: %s%+d (%d bytes at %#x) by workgroup %v wave %d lane %d at pc %#x: %s",
		f.Kind, name, f.Offset, f.Size, f.Addr, f.Workgroup, f.Wave, f.Lane, f.PC, f.Inst)
	if f.Detail != "" {
		s += " (" + f.Detail + ")"
	}
	return s
}

// TrapKind says why a run could not go on.
type TrapKind string

const (
	TrapUnknownOpcode TrapKind = "unknown opcode"     // not decodable, or not implemented
	TrapUnsupported   TrapKind = "unsupported"        // a field, mode or feature the emulator refuses
	TrapBudget        TrapKind = "instruction budget" // a wave ran too long
	TrapDeadlock      TrapKind = "barrier deadlock"   // waves wait for each other; not met on these targets, whose barrier does not count waves that ended
	TrapBadPC         TrapKind = "program counter out of the code"
	TrapFault         TrapKind = "s_trap"
)

// Trap is the error of a run that could not go on. The kernel's own fault are
// TrapBudget, TrapDeadlock, TrapBadPC and TrapFault; the others are the
// emulator's limits.
type Trap struct {
	Kind      TrapKind
	Kernel    string
	PC        uint64
	Inst      string // disassembly or raw encoding
	Reason    string // what to do, or what exactly is not supported
	Workgroup [3]uint32
	Wave      int
}

func (t *Trap) Error() string {
	s := fmt.Sprintf("%s in kernel %s at pc %#x", t.Kind, t.Kernel, t.PC)
	if t.Inst != "" {
		s += ": " + t.Inst
	}
	if t.Reason != "" {
		s += ": " + t.Reason
	}
	return s
}

// KernelsFault reports whether the trap is the kernel's doing (a violation)
// and not a limit of the emulator (bad input).
func (t *Trap) KernelsFault() bool {
	switch t.Kind {
	case TrapBudget, TrapDeadlock, TrapBadPC, TrapFault:
		return true
	}
	return false
}
