package gpu

import (
	"math/bits"

	"mqaproof/sim/codeobject"
)

// maxScratch is the most bytes of scratch that a lane may have.
const maxScratch = 1 << 20

// dynamicStack is how many bytes of stack a lane gets beyond the fixed part in a
// kernel whose metadata says .uses_dynamic_stack: one with recursion, calls
// through pointers or arrays of run-time size. How much such a kernel needs
// cannot be known, and the choice is the runtime's: 16 KiB is what LLVM reserved
// up to code object version 4 and what its OpenMP runtime gives since
// (llvm-project pull request 72606). HIP gives 1 KiB unless the program raises
// hipLimitStackSize; a kernel that needs more than that overflows there without
// notice. Beyond 16 KiB every access is an out-of-bounds fault.
const dynamicStack = 16 << 10

// scratchSize is the bytes of scratch of a lane.
func scratchSize(k *codeobject.Kernel) uint32 {
	if k.DynamicStack {
		return k.Scratch + dynamicStack
	}
	return k.Scratch
}

// private is the scratch memory of a wave's lanes, interleaved as on the
// hardware: dword i of all lanes lies together, so that a spilled register is
// one copy. It grows as it is stored to: what no store has reached takes no
// memory and no time.
type private struct {
	size   uint64      // bytes a lane
	dwords []vreg      // those that stores have reached; 0 beyond len up to cap
	init   [][4]uint64 // by dword and byte: the lanes that stored it
}

// reset makes it as at the start of a wave: undefined, here 0.
func (m *private) reset(size uint32) {
	m.size = uint64(size)
	clear(m.dwords)
	clear(m.init)
	m.dwords, m.init = m.dwords[:0], m.init[:0]
}

// reach makes room for the first n dwords.
func (m *private) reach(n uint64) {
	if have := uint64(len(m.dwords)); n > have {
		if uint64(cap(m.dwords)) < n || uint64(cap(m.init)) < n {
			c := min(max(n, 2*have), (m.size+3)/4)
			m.dwords = append(make([]vreg, 0, c), m.dwords...)
			m.init = append(make([][4]uint64, 0, c), m.init...)
		}
		m.dwords, m.init = m.dwords[:n], m.init[:n]
	}
}

func (m *private) loadByte(lane int, off uint64) (value uint32, defined bool) {
	i, b := off/4, off%4
	if i >= uint64(len(m.dwords)) {
		return 0, false
	}
	return m.dwords[i][lane] >> (8 * b) & 0xff, m.init[i][b]>>lane&1 != 0
}

func (m *private) storeByte(lane int, off uint64, value uint32) {
	i, b := off/4, off%4
	m.reach(i + 1)
	v := &m.dwords[i][lane]
	*v = *v&^(0xff<<(8*b)) | value&0xff<<(8*b)
	m.init[i][b] |= 1 << lane
}

// scratchLoadLane reads one lane's bytes: those out of bounds read as 0. Each
// kind of fault is noted once.
func (w *Wave) scratchLoadLane(step, lane int, off uint64, size int, out *[4]uint32) {
	var undefined, outside bool
	*out = [4]uint32{}
	for i := range size {
		at := off + uint64(i)
		if at >= w.private.size {
			outside = true
			continue
		}
		v, ok := w.private.loadByte(lane, at)
		out[i/4] |= v << (8 * (i & 3))
		undefined = undefined || !ok
	}
	w.localFaults("scratch", step, lane, off, size, undefined, outside, OutOfBoundsRead)
}

// scratchStoreLane stores one lane's bytes: those out of bounds are dropped.
func (w *Wave) scratchStoreLane(step, lane int, off uint64, size int, in *[4]uint32) {
	outside := false
	for i := range size {
		if at := off + uint64(i); at < w.private.size {
			w.private.storeByte(lane, at, in[i/4]>>(8*(i&3)))
		} else {
			outside = true
		}
	}
	w.localFaults("scratch", step, lane, off, size, false, outside, OutOfBoundsWrite)
}

// scratchAtomic changes the size (4 or 8) bytes at off by f and gives their
// old value.
func (w *Wave) scratchAtomic(step, lane int, off uint64, size int, f func(uint64) uint64) uint64 {
	if off%uint64(size) != 0 {
		w.fault(Misaligned, step, nil, lane, faultAt{space: "scratch", addr: off, size: size})
		return 0
	}
	var data [4]uint32
	w.scratchLoadLane(step, lane, off, size, &data)
	old := uint64(data[0]) | uint64(data[1])<<32
	x := f(old)
	data[0], data[1] = uint32(x), uint32(x>>32)
	w.scratchStoreLane(step, lane, off, size, &data)
	return old
}

// scratchOffset is the part of a SCRATCH instruction's address that all lanes
// share, 32 bits.
func (a *flatAddress) scratchOffset(w *Wave) uint32 {
	off := uint32(a.offset)
	if a.scalar >= 0 {
		off += w.readS(a.scalar)
	}
	return off
}

// aligned gives the dwords that a SCRATCH instruction accesses when they are
// the same whole dwords in all lanes.
func (a *flatAddress) aligned(w *Wave, f format) (first uint64, ok bool) {
	off := uint64(a.scratchOffset(w))
	return off / 4, a.vector < 0 && off%4 == 0 && f.size >= 4 && off+uint64(f.size) <= w.private.size
}

func scratchLoad(a flatAddress, f format, d, step int) execFn {
	n := uint64(f.dwords())
	return func(w *Wave) {
		first, ok := a.aligned(w, f)
		ok = ok && first+n <= uint64(len(w.private.dwords))
		if ok {
			for _, init := range w.private.init[first : first+n] {
				ok = ok && init[0]&init[1]&init[2]&init[3]&w.EXEC == w.EXEC
			}
		}
		if ok {
			for i := range w.private.dwords[first : first+n] {
				merge(&w.V[d+i], &w.private.dwords[first+uint64(i)], w.EXEC)
			}
			return
		}
		shared := a.scratchOffset(w)
		var at vreg
		if a.vector >= 0 {
			at = w.V[a.vector] // the destination may be the address
		}
		var out [4]uint32
		for m := w.EXEC; m != 0; m &= m - 1 {
			l := bits.TrailingZeros64(m)
			w.scratchLoadLane(step, l, uint64(at[l]+shared), f.size, &out)
			w.setLane(f, d, l, &out)
		}
	}
}

func scratchStore(a flatAddress, f format, d, step int) execFn {
	n := uint64(f.dwords())
	return func(w *Wave) {
		if first, ok := a.aligned(w, f); ok {
			w.private.reach(first + n)
			for i := range n {
				merge(&w.private.dwords[first+i], &w.V[d+int(i)], w.EXEC)
				for b := range 4 {
					w.private.init[first+i][b] |= w.EXEC
				}
			}
			return
		}
		shared := a.scratchOffset(w)
		var data [4]uint32
		for m := w.EXEC; m != 0; m &= m - 1 {
			l := bits.TrailingZeros64(m)
			off := shared
			if a.vector >= 0 {
				off += w.V[a.vector][l]
			}
			w.laneData(f, d, l, &data)
			w.scratchStoreLane(step, l, uint64(off), f.size, &data)
		}
	}
}
