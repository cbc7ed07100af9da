package gpu

import (
	"fmt"

	"mqaproof/sim/isa"
)

// branchTarget is the step that a relative branch goes to. A branch out of the
// code is the kernel's fault, and only when it is taken.
func branchTarget(in *isa.Inst, p *Program) (step int, ok bool) {
	return p.stepAt(in.Addr + 4 + uint64(int64(in.Simm16)*4))
}

// jump sets the program counter to an address computed at run time.
func (w *Wave) jump(addr uint64) {
	step, ok := w.prog.stepAt(addr)
	if !ok {
		w.stopWith(TrapBadPC, fmt.Sprintf("jump to %#x, which is no instruction of the kernel", addr-codeBase))
		return
	}
	w.pc = step
}

// branch compiles a relative branch that is taken when cond holds.
func branch(cond func(w *Wave) bool) compiler {
	return func(in *isa.Inst, p *Program) (execFn, error) {
		step, ok := branchTarget(in, p)
		if !ok {
			target := in.Addr + 4 + uint64(int64(in.Simm16)*4)
			return func(w *Wave) {
				if cond(w) {
					w.jump(target)
				}
			}, nil
		}
		return func(w *Wave) {
			if cond(w) {
				w.pc = step
			}
		}, nil
	}
}

func nothing(*Wave) {}

// always compiles an instruction to a fixed step.
func always(f execFn) compiler {
	return func(*isa.Inst, *Program) (execFn, error) { return f, nil }
}

func registerBranches(add func(isa.Op, compiler)) {
	add(isa.S_BRANCH, branch(func(*Wave) bool { return true }))
	add(isa.S_CBRANCH_SCC0, branch(func(w *Wave) bool { return !w.SCC }))
	add(isa.S_CBRANCH_SCC1, branch(func(w *Wave) bool { return w.SCC }))
	add(isa.S_CBRANCH_VCCZ, branch(func(w *Wave) bool { return w.VCC == 0 }))
	add(isa.S_CBRANCH_VCCNZ, branch(func(w *Wave) bool { return w.VCC != 0 }))
	add(isa.S_CBRANCH_EXECZ, branch(func(w *Wave) bool { return w.EXEC == 0 }))
	add(isa.S_CBRANCH_EXECNZ, branch(func(w *Wave) bool { return w.EXEC != 0 }))

	add(isa.S_GETPC_B64, func(in *isa.Inst, _ *Program) (execFn, error) {
		d, err := scalarDest(in.Dst, 2)
		next := in.Addr + 4
		return func(w *Wave) { w.writeS64(d, next) }, err
	})
	add(isa.S_SETPC_B64, scalarStep(0, func(x scalarArgs) execFn {
		return func(w *Wave) { w.jump(x.a.u64(w)) }
	}))
	add(isa.S_SWAPPC_B64, func(in *isa.Inst, _ *Program) (execFn, error) {
		x, err := scalarOperands(in, 2)
		next := in.Addr + 4
		return func(w *Wave) {
			to := x.a.u64(w)
			w.writeS64(x.d, next)
			w.jump(to)
		}, err
	})
	add(isa.S_CALL_B64, func(in *isa.Inst, _ *Program) (execFn, error) {
		d, err := scalarDest(in.Dst, 2)
		next := in.Addr + 4
		target := next + uint64(int64(in.Simm16)*4)
		return func(w *Wave) {
			w.writeS64(d, next)
			w.jump(target)
		}, err
	})

	add(isa.S_ENDPGM, always(func(w *Wave) { w.done, w.stop = true, true }))
	add(isa.S_BARRIER, always(func(w *Wave) { w.atBarrier, w.stop = true, true }))
	add(isa.S_TRAP, func(in *isa.Inst, _ *Program) (execFn, error) {
		reason := fmt.Sprintf("the kernel ran into its own trap %d", uint8(in.Simm16))
		return func(w *Wave) { w.stopWith(TrapFault, reason) }, nil
	})
	// What these wait for, hint at or flush has already happened here: memory
	// instructions complete before the next one starts.
	for _, op := range []isa.Op{
		isa.S_NOP, isa.S_WAITCNT, isa.S_SLEEP, isa.S_SETPRIO, isa.S_INCPERFLEVEL, isa.S_DECPERFLEVEL,
		isa.S_ICACHE_INV, isa.S_TTRACEDATA, isa.V_NOP,
	} {
		add(op, always(nothing))
	}
}
