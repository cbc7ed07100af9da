package gpu

import (
	"encoding/binary"
	"slices"
)

// lds is a workgroup's local data share, with one bit a byte that says whether
// it was stored.
type lds struct {
	data []byte
	init []uint64
}

// resize gives it n bytes; reset has to follow.
func (m *lds) resize(n uint32) {
	m.data = slices.Grow(m.data[:0], int(n))[:n]
	words := int(n+63) / 64
	m.init = slices.Grow(m.init[:0], words)[:words]
}

func (m *lds) load(off uint64, n int) (value uint32, defined bool) {
	return little(m.data[off:], uint64(n)), hasBits(m.init, off, uint64(n))
}

func (m *lds) store(off uint64, n int, value uint32) {
	putLittle(m.data[off:], uint64(n), value)
	setFew(m.init, off, uint64(n))
}

// setFew sets the n (1 to 64) bits at i.
func setFew(set []uint64, i, n uint64) {
	w, s := i/64, i%64
	mask := ^uint64(0) >> (64 - n)
	set[w] |= mask << s
	if s+n > 64 {
		set[w+1] |= mask >> (64 - s)
	}
}

// reset makes it as at the start of a workgroup: undefined, here 0.
func (m *lds) reset() {
	clear(m.data)
	clear(m.init)
}

func (m *lds) in(off uint64, n int) bool {
	size := uint64(len(m.data))
	return off < size && uint64(n) <= size-off
}

// ldsLoadLane reads one lane's bytes dword by dword: those out of bounds read
// as 0. Each kind of fault is noted once.
func (w *Wave) ldsLoadLane(step, lane int, off uint64, size int, out *[4]uint32) {
	m := &w.wg.lds
	var undefined, outside bool
	for i := 0; i < size; i += 4 {
		n := min(4, size-i)
		if at := off + uint64(i); m.in(at, n) {
			v, ok := m.load(at, n)
			out[i/4] = v
			undefined = undefined || !ok
		} else {
			out[i/4] = 0
			outside = true
		}
	}
	w.localFaults("lds", step, lane, off, size, undefined, outside, OutOfBoundsRead)
}

// ldsStoreLane stores one lane's bytes dword by dword: those out of bounds are
// dropped.
func (w *Wave) ldsStoreLane(step, lane int, off uint64, size int, in *[4]uint32) {
	m := &w.wg.lds
	outside := false
	for i := 0; i < size; i += 4 {
		n := min(4, size-i)
		if at := off + uint64(i); m.in(at, n) {
			m.store(at, n, in[i/4])
		} else {
			outside = true
		}
	}
	w.localFaults("lds", step, lane, off, size, false, outside, OutOfBoundsWrite)
}

// ldsAtomic changes the size (4 or 8) bytes at off by f and gives their old
// value.
func (w *Wave) ldsAtomic(step, lane int, off uint64, size int, f func(uint64) uint64) uint64 {
	m := &w.wg.lds
	if off%uint64(size) != 0 {
		w.fault(Misaligned, step, nil, lane, faultAt{space: "lds", addr: off, size: size})
		return 0
	}
	if !m.in(off, size) {
		w.fault(OutOfBoundsWrite, step, nil, lane, faultAt{space: "lds", addr: off, size: size})
		return 0
	}
	if !hasBits(m.init, off, uint64(size)) {
		w.fault(UninitialisedRead, step, nil, lane, faultAt{space: "lds", addr: off, size: size})
	}
	setFew(m.init, off, uint64(size))
	b := m.data[off:]
	if size == 8 {
		old := binary.LittleEndian.Uint64(b)
		binary.LittleEndian.PutUint64(b, f(old))
		return old
	}
	old := binary.LittleEndian.Uint32(b)
	binary.LittleEndian.PutUint32(b, uint32(f(uint64(old))))
	return uint64(old)
}

// localFaults notes what was wrong with one lane's access to LDS or scratch.
func (w *Wave) localFaults(space string, step, lane int, off uint64, size int, undefined, outside bool, kind FaultKind) {
	at := faultAt{space: space, addr: off, size: size}
	if outside {
		w.fault(kind, step, nil, lane, at)
	}
	if undefined {
		w.fault(UninitialisedRead, step, nil, lane, at)
	}
}
