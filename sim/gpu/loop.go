package gpu

// run executes the wave until it is done, waits at a barrier or traps, or has
// executed slice instructions, whichever is first. The caller gives waves of a
// workgroup slices in turn and checks budgets between them.
func (w *Wave) run(slice int) {
	if err := checkMode(w.mode); err != "" {
		w.stopWith(TrapUnsupported, err)
		w.place(w.pc)
		return
	}
	steps, isVector := w.prog.steps, w.prog.isVector
	isVector = isVector[:len(steps)]
	var executed, vector uint64
	w.stop = false
	at := w.pc
	for range slice {
		at = w.pc
		if uint(at) >= uint(len(steps)) {
			w.stopWith(TrapBadPC, "the program runs past the end of its code")
			break
		}
		w.pc = at + 1
		steps[at](w)
		executed++
		if isVector[at] {
			vector++
		}
		if w.stop || w.trap != nil {
			break
		}
	}
	w.executed += executed
	w.vector += vector
	if w.trap != nil {
		w.pc = at
		w.place(at)
	}
}

// place says in the wave's trap where it happened, unless it says so itself.
func (w *Wave) place(at int) {
	t := w.trap
	t.Wave = w.id
	insts := w.prog.insts
	if t.Inst != "" || len(insts) == 0 {
		return
	}
	if at < len(insts) {
		t.PC, t.Inst = insts[at].Addr, insts[at].String()
		return
	}
	last := insts[len(insts)-1]
	t.PC = last.Addr + uint64(last.Size)
}
