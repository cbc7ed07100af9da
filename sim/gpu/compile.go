package gpu

import (
	"fmt"
	"sync"

	"mqaproof/sim/isa"
)

// refusal is why an instruction cannot be executed: it is not known, or uses a
// field or mode that the emulator does not implement. The step that holds the
// instruction traps with it when it is reached.
type refusal struct {
	kind   TrapKind // TrapUnknownOpcode or TrapUnsupported
	reason string
}

func (r *refusal) Error() string { return string(r.kind) + ": " + r.reason }

func unsupported(format string, args ...any) error {
	return &refusal{TrapUnsupported, fmt.Sprintf(format, args...)}
}

// compiler turns one instruction into a step.
type compiler func(in *isa.Inst, p *Program) (execFn, error)

// compilers has the compiler of each implemented opcode that is not a memory
// instruction. Each exec_*.go adds its own.
var compilers = sync.OnceValue(func() *[isa.NumOps]compiler {
	var t [isa.NumOps]compiler
	add := func(op isa.Op, c compiler) {
		if t[op] != nil {
			panic("gpu: two compilers for " + op.String())
		}
		t[op] = c
	}
	for _, register := range []func(func(isa.Op, compiler)){
		registerScalar, registerBranches, registerLaneOps, registerCompares,
		registerCarry, registerCrossLane, registerConversions, registerDivision, registerPacked, registerDots, registerMix, registerMatrix,
	} {
		register(add)
	}
	return &t
})

// compile turns one decoded instruction into a function that does all of its
// work. The error, a *refusal, says what is not implemented.
func compile(in *isa.Inst, p *Program) (execFn, error) {
	if err := checkRegisters(in, p); err != nil {
		return nil, err
	}
	switch in.Enc {
	case isa.SMEM, isa.DS, isa.MUBUF, isa.MTBUF, isa.FLAT, isa.GLOBAL, isa.SCRATCH:
		return compileMemory(in, p)
	}
	if int(in.Op) < isa.NumOps {
		if c := compilers()[in.Op]; c != nil {
			return c(in, p)
		}
	}
	return nil, &refusal{TrapUnknownOpcode, "this emulator does not implement it"}
}

// trapStep is the step of an instruction that compile refused: it stops the
// wave, by name, when it is reached.
func trapStep(err error) execFn {
	kind, reason := TrapUnsupported, err.Error()
	if r, ok := err.(*refusal); ok {
		kind, reason = r.kind, r.reason
	}
	return func(w *Wave) { w.stopWith(kind, reason) }
}
