package kernels

import (
	"mqaproof/sim/gpu"
)

// RunOptions vary how, not what, a subject runs.
type RunOptions struct {
	Workers   int    // goroutines for workgroups; 0: all cores
	Order     uint64 // wave scheduling seed; 0: round robin
	Placement uint64 // seed of where tensors lie in the address space; 0: the default places
	Budget    uint64 // instructions a wave; 0: the emulator's default
}

// Unwritten stands for a word of a metadata output that the kernel left alone.
const Unwritten int32 = -1 << 31

// Result is what one run of a subject gave. A word of an output is unwritten
// until the kernel stores to it.
type Result struct {
	// Logits kernels: bits [rows, width] after summing heads where the kernel
	// leaves them apart (see sumHeads); Written tells stored words from sentinels.
	Rows, Width int
	Logits      []uint32 // float32 bits
	Written     []bool

	// Metadata kernels. An unwritten word is Unwritten, which is no length.
	Table             []int32 // [B, next_n]
	PerRequest        []int32 // [B]
	TableWritten      []bool  // which words of Table the kernel stored
	PerRequestWritten []bool

	// Metadata kernels of a step: their outputs, in the order of Tensors.
	Outputs []Output

	Faults []gpu.Fault // memory faults, in a deterministic order
	More   int         // faults beyond those kept
	Trap   *gpu.Trap   // the kernel's own failure to end (budget, deadlock, ...), else nil

	Instructions, VectorInstructions uint64
}

// Output is one output tensor of a metadata kernel of a step, as it came or as
// it must be.
type Output struct {
	Tensor  string
	Values  []int64 // element by element; of no meaning where not written
	Written []bool
}
