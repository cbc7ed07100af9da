// Package gpu runs CDNA code objects: waves of 64 lanes, workgroups with LDS
// and barriers, and a sparse, guarded global memory. It knows nothing of what
// a kernel computes, and it refuses rather than guesses: an opcode, field or
// mode it does not implement stops the run with a *Trap.
package gpu
