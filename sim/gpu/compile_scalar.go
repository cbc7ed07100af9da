package gpu

import "mqaproof/sim/isa"

// scalarArgs are the resolved operands of a scalar instruction.
type scalarArgs struct {
	d    int
	a, b scalarSource
}

func scalarOperands(in *isa.Inst, dwords int) (x scalarArgs, err error) {
	if dwords > 0 {
		if x.d, err = scalarDest(in.Dst, dwords); err != nil {
			return x, err
		}
	}
	for i, s := range []*scalarSource{&x.a, &x.b} {
		s.reg = -1
		if in.Src[i].Kind == isa.None {
			continue
		}
		if *s, err = scalar(in.Src[i]); err != nil {
			return x, err
		}
	}
	return x, nil
}

// scalarStep wraps what differs between scalar instructions, build, in the
// resolving of operands; dwords is the size of the destination.
func scalarStep(dwords int, build func(x scalarArgs) execFn) compiler {
	return func(in *isa.Inst, _ *Program) (execFn, error) {
		x, err := scalarOperands(in, dwords)
		if err != nil {
			return nil, err
		}
		return build(x), nil
	}
}

func registerScalar(add func(isa.Op, compiler)) {
	for op, f := range scalarOps32 {
		add(op, scalarStep(1, func(x scalarArgs) execFn {
			d, a, b := x.d, x.a, x.b
			if d < regVCC {
				return func(w *Wave) { w.S[d] = f(w, a.u32(w), b.u32(w)) }
			}
			return func(w *Wave) { w.writeS(d, f(w, a.u32(w), b.u32(w))) }
		}))
	}
	for op, f := range scalarOps64 {
		add(op, scalarStep(2, func(x scalarArgs) execFn {
			return func(w *Wave) { w.writeS64(x.d, f(w, x.a.u64(w), x.b.u64(w))) }
		}))
	}
	for op, f := range scalarWide {
		add(op, scalarStep(1, func(x scalarArgs) execFn {
			return func(w *Wave) { w.writeS(x.d, f(w, x.a.u64(w))) }
		}))
	}
	for op, f := range scalarShifts {
		add(op, scalarStep(2, func(x scalarArgs) execFn {
			return func(w *Wave) { w.writeS64(x.d, f(w, x.a.u64(w), x.b.u32(w))) }
		}))
	}
	for op, f := range scalarFrom32 {
		add(op, scalarStep(2, func(x scalarArgs) execFn {
			return func(w *Wave) { w.writeS64(x.d, f(x.a.u32(w), x.b.u32(w))) }
		}))
	}
	for op, f := range saveexec {
		add(op, scalarStep(2, func(x scalarArgs) execFn {
			return func(w *Wave) {
				s, old := x.a.u64(w), w.EXEC
				w.EXEC = f(s, old)
				w.writeS64(x.d, old)
				w.SCC = w.EXEC != 0
			}
		}))
	}
	for op, f := range wrexec {
		add(op, scalarStep(2, func(x scalarArgs) execFn {
			return func(w *Wave) {
				w.EXEC = f(x.a.u64(w), w.EXEC)
				w.writeS64(x.d, w.EXEC)
				w.SCC = w.EXEC != 0
			}
		}))
	}
	for op, f := range scalarCompares32 {
		add(op, scalarStep(0, func(x scalarArgs) execFn {
			return func(w *Wave) { w.SCC = f(x.a.u32(w), x.b.u32(w)) }
		}))
	}
	for op, f := range scalarCompares64 {
		bitcmp := op == isa.S_BITCMP0_B64 || op == isa.S_BITCMP1_B64
		add(op, scalarStep(0, func(x scalarArgs) execFn {
			if bitcmp {
				return func(w *Wave) { w.SCC = f(x.a.u64(w), uint64(x.b.u32(w))) }
			}
			return func(w *Wave) { w.SCC = f(x.a.u64(w), x.b.u64(w)) }
		}))
	}
	for op, base := range cmpk {
		add(op, compareImmediate(scalarCompares32[base], true))
	}
	for op, base := range cmpkUnsigned {
		add(op, compareImmediate(scalarCompares32[base], false))
	}
	registerScalarConditional(add)
	registerScalarImmediate(add)
	registerHardwareRegisters(add)
}

// registerScalarConditional adds moves that depend on SCC or on the old
// destination, and moves relative to M0.
func registerScalarConditional(add func(isa.Op, compiler)) {
	add(isa.S_CMOV_B32, scalarStep(1, func(x scalarArgs) execFn {
		return func(w *Wave) {
			if w.SCC {
				w.writeS(x.d, x.a.u32(w))
			}
		}
	}))
	add(isa.S_CMOV_B64, scalarStep(2, func(x scalarArgs) execFn {
		return func(w *Wave) {
			if w.SCC {
				w.writeS64(x.d, x.a.u64(w))
			}
		}
	}))
	setBit := func(op isa.Op, wide, one bool) {
		dwords := 1
		if wide {
			dwords = 2
		}
		add(op, scalarStep(dwords, func(x scalarArgs) execFn {
			return func(w *Wave) {
				n := x.a.u32(w)
				switch {
				case wide && one:
					w.writeS64(x.d, w.readS64(x.d)|1<<(n&63))
				case wide:
					w.writeS64(x.d, w.readS64(x.d)&^(1<<(n&63)))
				case one:
					w.writeS(x.d, w.readS(x.d)|1<<(n&31))
				default:
					w.writeS(x.d, w.readS(x.d)&^(1<<(n&31)))
				}
			}
		}))
	}
	setBit(isa.S_BITSET0_B32, false, false)
	setBit(isa.S_BITSET1_B32, false, true)
	setBit(isa.S_BITSET0_B64, true, false)
	setBit(isa.S_BITSET1_B64, true, true)
}

// immediate is the 16-bit immediate of a SOPK instruction and its register.
func immediate(in *isa.Inst) (d int, imm int32, err error) {
	o := in.Dst
	if o.Kind == isa.None {
		o = in.Src[0]
	}
	d, err = scalarDest(o, 1)
	return d, int32(in.Simm16), err
}

func compareImmediate(f func(a, b uint32) bool, signed bool) compiler {
	return func(in *isa.Inst, _ *Program) (execFn, error) {
		d, imm, err := immediate(in)
		if err != nil {
			return nil, err
		}
		b := uint32(imm)
		if !signed {
			b = uint32(uint16(imm))
		}
		return func(w *Wave) { w.SCC = f(w.readS(d), b) }, nil
	}
}

func registerScalarImmediate(add func(isa.Op, compiler)) {
	step := func(op isa.Op, f func(w *Wave, d int, imm uint32)) {
		add(op, func(in *isa.Inst, _ *Program) (execFn, error) {
			d, imm, err := immediate(in)
			if err != nil {
				return nil, err
			}
			return func(w *Wave) { f(w, d, uint32(imm)) }, nil
		})
	}
	step(isa.S_MOVK_I32, func(w *Wave, d int, imm uint32) { w.writeS(d, imm) })
	step(isa.S_CMOVK_I32, func(w *Wave, d int, imm uint32) {
		if w.SCC {
			w.writeS(d, imm)
		}
	})
	step(isa.S_ADDK_I32, func(w *Wave, d int, imm uint32) {
		a := w.readS(d)
		r := a + imm
		w.SCC = (a^r)&(imm^r)>>31 != 0
		w.writeS(d, r)
	})
	step(isa.S_MULK_I32, func(w *Wave, d int, imm uint32) { w.writeS(d, w.readS(d)*imm) })
}
