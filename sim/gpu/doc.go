// Package gpu runs CDNA code objects: waves of 64 lanes, workgroups with LDS
// and barriers, and a sparse, guarded global memory. It knows nothing of what
// a kernel computes, and it refuses rather than guesses: an opcode, field or
// mode it does not implement stops the run with a *Trap.
//
// Where the hardware leaves something open, this is what it does: roots and
// reciprocals are correctly rounded (float32.go, float16.go), the clamp of a dot
// product acts on the whole sum (exec_dot.go), and a kernel with recursion or
// indirect calls has 16 KiB of stack a lane (mem_scratch.go). The matrix core's
// float16, bfloat16 and bf8 instructions are refused: their order of additions
// is not modelled.
//
// A use of it:
//
//	file, err := codeobject.ReadTarget(data, "gfx942")
//	program, err := gpu.Load(file, "kernel")       // decodes once; share it
//	memory := gpu.NewMemory()
//	x, err := memory.Alloc(gpu.Spec{Name: "x", Size: n, Data: bytes, ReadOnly: true})
//	y, err := memory.Alloc(gpu.Spec{Name: "y", Size: n})
//	report, err := memory.Run(ctx, program, gpu.Launch{Grid: grid, Block: block, Kernarg: arguments})
//	words, written := y.Words()
//
// Which file holds what:
//
//	program.go            decoding a kernel into steps
//	compile*.go, exec_*   what the steps do; mem_* for memory instructions
//	loop.go, wave.go      running the steps of one wave
//	workgroup.go          the waves of a workgroup, their turns and barriers
//	launch.go, abi.go     a dispatch: checks, registers, arguments, workers
//	memory*.go            buffers, addresses, faults
//	shadow*.go            why results do not depend on the order of workgroups
package gpu
