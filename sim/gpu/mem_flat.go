package gpu

import (
	"math/bits"

	"mqaproof/sim/isa"
)

// flatAddress computes the addresses of FLAT, GLOBAL and SCRATCH instructions.
type flatAddress struct {
	vector int    // first VGPR of the address, -1 for none
	scalar int    // first SGPR, -1 for none
	wide   bool   // the vector part has 64 bits
	offset uint64 // sign-extended
}

func newFlatAddress(in *isa.Inst) (flatAddress, error) {
	a := flatAddress{vector: -1, scalar: -1, offset: uint64(int64(in.Offset))}
	if o := in.Src[0]; o.Kind != isa.None {
		r, err := vectorReg(o)
		if err != nil {
			return a, err
		}
		a.vector = r
	}
	for _, o := range in.Src[1:] {
		if o.Kind == isa.SReg {
			a.scalar = int(o.Reg)
		}
	}
	a.wide = in.Enc == isa.FLAT || in.Enc == isa.GLOBAL && a.scalar < 0
	if a.vector < 0 && in.Enc != isa.SCRATCH {
		return a, unsupported("no address register")
	}
	return a, nil
}

// global fills in the 64-bit addresses of all lanes, active or not.
func (a *flatAddress) global(w *Wave, addr *[Lanes]uint64) {
	lo := &w.V[a.vector]
	if a.wide {
		hi := &w.V[a.vector+1]
		for l := range addr {
			addr[l] = (uint64(lo[l]) | uint64(hi[l])<<32) + a.offset
		}
		return
	}
	base := w.readS64(a.scalar) + a.offset
	for l := range addr {
		addr[l] = base + uint64(lo[l])
	}
}

// aperture tells where a flat address leads: 0 global, 1 LDS, 2 scratch.
func aperture(addr uint64) uint64 {
	switch addr >> 32 << 32 {
	case sharedAperture:
		return 1
	case privateAperture:
		return 2
	}
	return 0
}

func compileFlat(in *isa.Inst, step int) (execFn, error) {
	a, err := newFlatAddress(in)
	if err != nil {
		return nil, err
	}
	if in.LDS {
		return compileGlobalToLDS(in, a, step)
	}
	if name, ok := suffix(in.Op, "_atomic_"); ok {
		return compileFlatAtomic(in, a, name, step)
	}
	if name, ok := suffix(in.Op, "_load_"); ok {
		f, ok := memoryFormats[name]
		if !ok {
			return nil, notImplemented()
		}
		d, err := dataReg(in.Dst)
		if err != nil {
			return nil, err
		}
		if in.Enc == isa.SCRATCH {
			return scratchLoad(a, f, d, step), nil
		}
		return globalLoad(a, f, d, step, in.Enc == isa.FLAT), nil
	}
	if name, ok := suffix(in.Op, "_store_"); ok {
		f, ok := memoryFormats[name]
		if !ok {
			return nil, notImplemented()
		}
		d, err := dataReg(in.Src[1])
		if err != nil {
			return nil, err
		}
		if in.Enc == isa.SCRATCH {
			return scratchStore(a, f, d, step), nil
		}
		return globalStore(a, f, d, step, in.Enc == isa.FLAT), nil
	}
	return nil, notImplemented()
}

// globalLoad loads from global memory or, for FLAT, from wherever each lane's
// address leads.
func globalLoad(a flatAddress, f format, d, step int, flat bool) execFn {
	return func(w *Wave) {
		x := w.wg.worker
		a.global(w, &x.addr)
		mask := w.EXEC
		if flat {
			mask = w.loadApertures(f, d, step, mask)
		}
		w.gather(f, d, step, mask)
	}
}

// loadApertures loads for the lanes whose flat address leads to LDS or scratch
// and gives the others.
func (w *Wave) loadApertures(f format, d, step int, mask uint64) uint64 {
	x := w.wg.worker
	var out [4]uint32
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros64(m)
		off := uint64(uint32(x.addr[l]))
		switch aperture(x.addr[l]) {
		case 0:
			continue
		case 1:
			w.ldsLoadLane(step, l, off, f.size, &out)
		case 2:
			w.scratchLoadLane(step, l, off, f.size, &out)
		}
		w.setLane(f, d, l, &out)
		mask &^= 1 << l
	}
	return mask
}

// storeApertures is loadApertures for stores.
func (w *Wave) storeApertures(f format, d, step int, mask uint64) uint64 {
	x := w.wg.worker
	var data [4]uint32
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros64(m)
		off := uint64(uint32(x.addr[l]))
		w.laneData(f, d, l, &data)
		switch aperture(x.addr[l]) {
		case 0:
			continue
		case 1:
			w.ldsStoreLane(step, l, off, f.size, &data)
		case 2:
			w.scratchStoreLane(step, l, off, f.size, &data)
		}
		mask &^= 1 << l
	}
	return mask
}

func globalStore(a flatAddress, f format, d, step int, flat bool) execFn {
	return func(w *Wave) {
		x := w.wg.worker
		a.global(w, &x.addr)
		mask := w.EXEC
		if flat {
			mask = w.storeApertures(f, d, step, mask)
		}
		w.scatter(f, d, step, mask)
	}
}

// compileGlobalToLDS compiles global_load_lds: each lane's data goes to the LDS
// address M0 + offset + lane times the size of the data.
func compileGlobalToLDS(in *isa.Inst, a flatAddress, step int) (execFn, error) {
	name, ok := suffix(in.Op, "_load_lds_")
	f := memoryFormats[name]
	if !ok || in.Enc != isa.GLOBAL || f.size < 4 {
		return nil, unsupported("only whole dwords from global memory to LDS are implemented")
	}
	offset := uint64(int64(in.Offset))
	return func(w *Wave) {
		a.global(w, &w.wg.addr)
		w.toLDS(f, step, uint64(w.S[regM0]&0xffff)+offset, w.EXEC)
	}, nil
}

// toLDS loads for the lanes of mask from the worker's addresses to LDS.
func (w *Wave) toLDS(f format, step int, at, mask uint64) {
	x := w.wg.worker
	var data [4]uint32
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros64(m)
		w.loadLane(step, l, x.addr[l], f.size, data[:])
		w.ldsStoreLane(step, l, at+uint64(l*f.size), f.size, &data)
	}
	x.leave()
}

// compileFlatAtomic compiles the atomics of FLAT and GLOBAL.
func compileFlatAtomic(in *isa.Inst, a flatAddress, name string, step int) (execFn, error) {
	op, ok := memoryAtomics[name]
	if !ok || in.Enc == isa.SCRATCH {
		return nil, notImplemented()
	}
	src, err := dataReg(in.Src[1])
	if err != nil {
		return nil, err
	}
	dst := -1
	if in.Dst.Kind != isa.None {
		if dst, err = dataReg(in.Dst); err != nil {
			return nil, err
		}
	}
	flat := in.Enc == isa.FLAT
	return func(w *Wave) {
		a.global(w, &w.wg.addr)
		w.atomics(op, src, dst, step, w.EXEC, flat)
	}, nil
}

// atomics does an atomic for each lane of mask, the lowest first. dst is -1
// when the old value is not returned.
func (w *Wave) atomics(op atomicOp, src, dst, step int, mask uint64, flat bool) {
	x := w.wg.worker
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros64(m)
		value, second := w.atomicSources(op, src, l)
		f := func(old uint64) uint64 { return op.apply(old, value, second) }
		addr := x.addr[l]
		var old uint64
		switch where := aperture(addr); {
		case flat && where == 1:
			old = w.ldsAtomic(step, l, uint64(uint32(addr)), op.size, f)
		case flat && where == 2:
			old = w.scratchAtomic(step, l, uint64(uint32(addr)), op.size, f)
		default:
			old = w.atomicLane(step, l, addr, op.size, f)
		}
		if dst >= 0 {
			w.V[dst][l] = uint32(old)
			if op.size == 8 {
				w.V[dst+1][l] = uint32(old >> 32)
			}
		}
	}
	x.leave()
}

// atomicSources is the operand of an atomic and, for compare-and-swap, the
// value compared with, which lies in the registers after it.
func (w *Wave) atomicSources(op atomicOp, src, lane int) (value, second uint64) {
	value = uint64(w.V[src][lane])
	next := 1
	if op.size == 8 {
		value |= uint64(w.V[src+1][lane]) << 32
		next = 2
	}
	if op.compare {
		second = uint64(w.V[src+next][lane])
		if op.size == 8 {
			second |= uint64(w.V[src+next+1][lane]) << 32
		}
	}
	return value, second
}
