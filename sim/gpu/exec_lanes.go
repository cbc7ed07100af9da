package gpu

import (
	"mqaproof/sim/isa"
)

// laneArgs are the resolved operands of an instruction that works on each
// lane alone, and what is to be done around its loop.
type laneArgs struct {
	d, e    int // destination registers in Wave.V; e is the high dword
	dwords  int // of the destination
	src     [3][2]vectorSource
	mods    [3]func(dst, lo *vreg) // modifiers of one-dword sources, nil for none
	mods64  [3]signMod             // modifiers of float64 sources
	types   [3]operandType
	n       int                         // sources
	finish  func(w *Wave, r, old *vreg) // clamp, SDWA destination: changes the result r in place; old is the register
	dpp     *dppControl                 // of source 0
	merged  bool                        // finish or dpp is set, or a source is modified
	float32 bool                        // float32 is read or written: MODE's subnormal bits matter
	dstType operandType
}

func registerLaneOps(add func(isa.Op, compiler)) {
	for i := range laneOps {
		o := &laneOps[i]
		add(o.op, func(in *isa.Inst, _ *Program) (execFn, error) {
			if f := saturating[o.op]; f != nil && in.Clamp {
				plain := *in
				plain.Clamp = false
				x, err := resolveLanes(&plain, o.dst, o.srcs, false)
				if err != nil {
					return nil, err
				}
				return x.narrowStep(f, nil), nil
			}
			x, err := resolveLanes(in, o.dst, o.srcs, o.accumulates)
			if err != nil {
				return nil, err
			}
			if o.wide != nil {
				return x.wideStep(o.wide, o.wideNonIEEE), nil
			}
			return x.narrowStep(o.narrow, o.narrowNonIEEE), nil
		})
	}
}

// resolveLanes resolves destination and sources and refuses the fields that
// the operands' types do not allow.
func resolveLanes(in *isa.Inst, dst operandType, srcs string, accumulates bool) (*laneArgs, error) {
	x, err := resolveSources(in, srcs, accumulates)
	if err != nil {
		return nil, err
	}
	x.dwords, x.dstType = dst.dwords(), dst
	x.float32 = x.float32 || dst == typeF32
	if x.d, err = vectorReg(in.Dst); err != nil {
		return nil, err
	}
	x.e = x.d + x.dwords - 1
	if x.dpp != nil && x.dwords != 1 {
		return nil, unsupported("DPP with a 64-bit result")
	}
	return x, x.outputs(in)
}

// resolveSources resolves the sources alone: an operandType each, the last one
// being the destination's old value if accumulates is set.
func resolveSources(in *isa.Inst, srcs string, accumulates bool) (*laneArgs, error) {
	x := &laneArgs{n: len(srcs)}
	if in.OpSel != 0 {
		return nil, unsupported("op_sel")
	}
	for i := range x.src {
		for j := range x.src[i] {
			x.src[i][j].kind = fromNothing
		}
	}
	var err error
	for i := range x.n {
		t := operandType(srcs[i])
		o := in.Src[i]
		if accumulates && i == x.n-1 {
			o = in.Dst
		}
		if x.src[i], err = vector(o, t, i); err != nil {
			return nil, err
		}
		x.types[i] = t
		x.float32 = x.float32 || t == typeF32
	}
	return x, x.modifiers(in)
}

// sources puts the registers of all sources, modified, into v.
func (x *laneArgs) sources(w *Wave, v *[6]*vreg) {
	for i := range x.n {
		lo := x.src[i][0].get(w)
		hi := x.src[i][1].get(w)
		if i == 0 && x.dpp != nil {
			m := &w.scratch.mod[0]
			x.dpp.move(m, lo, w.EXEC)
			lo = m
		}
		if f := x.mods[i]; f != nil {
			m := &w.scratch.mod[2*i]
			f(m, lo)
			lo = m
		}
		if s := x.mods64[i]; s != (signMod{}) {
			m := &w.scratch.mod[2*i+1]
			s.apply(m, hi)
			hi = m
		}
		if x.types[i] == typeF32 && w.mode&(1<<4) == 0 {
			m := &w.scratch.mod[2*i]
			flushLanes(m, lo)
			lo = m
		}
		v[2*i], v[2*i+1] = lo, hi
	}
}

// mask is the lanes that the instruction writes.
func (x *laneArgs) mask(w *Wave) uint64 {
	if x.dpp != nil {
		return x.dpp.writes(w.EXEC)
	}
	return w.EXEC
}

// keep applies what follows the loop to the result in the wave's scratch and
// merges it into the destination.
func (x *laneArgs) keep(w *Wave) {
	out := &w.scratch.out
	if x.dstType == typeF32 && w.mode&(1<<5) == 0 {
		flushLanes(&out[0], &out[0])
	}
	if x.finish != nil {
		x.finish(w, &out[0], &w.V[x.d])
	}
	m := x.mask(w)
	merge(&w.V[x.d], &out[0], m)
	if x.dwords == 2 {
		merge(&w.V[x.e], &out[1], m)
	}
}

// slow reports whether MODE asks for more than the loop does.
func (x *laneArgs) slow(w *Wave) bool {
	return x.float32 && w.mode&modeDenorm32 != modeDenorm32
}

// narrowStep is the step of a one-dword instruction.
func (x *laneArgs) narrowStep(f, nonIEEE narrowFn) execFn {
	general := func(w *Wave) {
		var v [6]*vreg
		x.sources(w, &v)
		g := f
		if nonIEEE != nil && w.mode&modeIEEE == 0 {
			g = nonIEEE
		}
		g(&w.scratch.out[0], v[0], v[2], v[4])
		x.keep(w)
	}
	if x.merged || nonIEEE != nil {
		return general
	}
	d := x.d
	s0, s1, s2 := x.src[0][0], x.src[1][0], x.src[2][0]
	run := func(w *Wave, a, b, c *vreg) {
		if w.EXEC == allLanes {
			f(&w.V[d], a, b, c)
			return
		}
		out := &w.scratch.out[0]
		f(out, a, b, c)
		merge(&w.V[d], out, w.EXEC)
	}
	float := x.float32
	special := func(w *Wave) bool { return float && w.mode&modeDenorm32 != modeDenorm32 }
	switch {
	case x.n == 1 && s0.kind == fromVGPR:
		r0 := s0.vgpr
		return func(w *Wave) {
			if special(w) {
				general(w)
				return
			}
			run(w, &w.V[r0], nil, nil)
		}
	case x.n == 2 && s0.kind == fromVGPR && s1.kind == fromVGPR:
		r0, r1 := s0.vgpr, s1.vgpr
		return func(w *Wave) {
			if special(w) {
				general(w)
				return
			}
			run(w, &w.V[r0], &w.V[r1], nil)
		}
	case x.n == 2 && s0.kind == fromConst && s1.kind == fromVGPR:
		k, r1 := s0.konst, s1.vgpr
		return func(w *Wave) {
			if special(w) {
				general(w)
				return
			}
			run(w, k, &w.V[r1], nil)
		}
	}
	return func(w *Wave) {
		if special(w) {
			general(w)
			return
		}
		run(w, s0.get(w), s1.get(w), s2.get(w))
	}
}

// wideStep is the step of an instruction with an operand of two dwords.
func (x *laneArgs) wideStep(f, nonIEEE wideFn) execFn {
	general := func(w *Wave) {
		var v [6]*vreg
		x.sources(w, &v)
		g := f
		if nonIEEE != nil && w.mode&modeIEEE == 0 {
			g = nonIEEE
		}
		out := &w.scratch.out
		g(&out[0], &out[1], v[0], v[1], v[2], v[3], v[4], v[5])
		x.keep(w)
	}
	if x.merged || nonIEEE != nil {
		return general
	}
	d, e, dwords := x.d, x.e, x.dwords
	s := x.src
	return func(w *Wave) {
		if x.slow(w) {
			general(w)
			return
		}
		a, p := s[0][0].get(w), s[0][1].get(w)
		b, q := s[1][0].get(w), s[1][1].get(w)
		c, r := s[2][0].get(w), s[2][1].get(w)
		if w.EXEC == allLanes {
			f(&w.V[d], &w.V[e], a, p, b, q, c, r)
			return
		}
		out := &w.scratch.out
		f(&out[0], &out[1], a, p, b, q, c, r)
		merge(&w.V[d], &out[0], w.EXEC)
		if dwords == 2 {
			merge(&w.V[e], &out[1], w.EXEC)
		}
	}
}

// flushLanes replaces float32 subnormals by zeros of their sign.
func flushLanes(dst, src *vreg) {
	for i := range dst {
		dst[i] = flush32(src[i])
	}
}
