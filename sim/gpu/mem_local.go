package gpu

import "encoding/binary"

// maxScratch is the most bytes of scratch that a lane may have.
const maxScratch = 1 << 20

// local is memory that no other workgroup sees, LDS or scratch, with one bit a
// byte that says whether it was stored.
type local struct {
	data []byte
	init []uint64
}

func (m *local) resize(n uint32) {
	m.data = make([]byte, n)
	m.init = make([]uint64, (n+63)/64)
}

// load reads n (1, 2 or 4) bytes, which are in bounds.
func (m *local) load(off uint64, n int) (value uint32, defined bool) {
	return little(m.data[off:], uint64(n)), hasBits(m.init, off, uint64(n))
}

func (m *local) store(off uint64, n int, value uint32) {
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

// lds is a workgroup's local data share.
type lds struct{ local }

// reset makes it as at the start of a workgroup: undefined, here 0.
func (m *lds) reset() {
	clear(m.data)
	clear(m.init)
}

// private is the scratch memory of a wave's lanes. The hardware interleaves
// the lanes' dwords; only addresses within a lane can be seen by a program, so
// here each lane has its own run of bytes.
type private struct {
	local
	size   uint64 // bytes a lane
	stride uint64 // distance between lanes, a multiple of 64
}

func (m *private) reset(size int) {
	m.size = uint64(size)
	m.stride = (m.size + 63) &^ 63
	if n := uint32(m.stride * Lanes); uint32(len(m.data)) != n {
		m.resize(n)
		return
	}
	clear(m.data)
	clear(m.init)
}

// localAccess loads or stores one lane's bytes of LDS or scratch, dword by
// dword. Bytes out of bounds load as 0 and are not stored; each kind of fault
// is noted once.
type localAccess struct {
	space string // of faults
	local *local
	base  uint64 // of the lane's bytes in local
	limit uint64 // bytes from base on that exist
}

func (w *Wave) ldsAccess() localAccess {
	return localAccess{"lds", &w.wg.lds.local, 0, uint64(len(w.wg.lds.data))}
}

func (w *Wave) scratchAccess(lane int) localAccess {
	return localAccess{"scratch", &w.private.local, uint64(lane) * w.private.stride, w.private.size}
}

func (a localAccess) in(off uint64, n int) bool {
	return off < a.limit && uint64(n) <= a.limit-off
}

func (a localAccess) load(w *Wave, step, lane int, off uint64, size int, out *[4]uint32) {
	var undefined, outside bool
	for i := 0; i < size; i += 4 {
		n := min(4, size-i)
		if at := off + uint64(i); a.in(at, n) {
			v, ok := a.local.load(a.base+at, n)
			out[i/4] = v
			undefined = undefined || !ok
		} else {
			out[i/4] = 0
			outside = true
		}
	}
	if outside {
		w.fault(OutOfBoundsRead, step, nil, lane, faultAt{space: a.space, addr: off, size: size})
	}
	if undefined {
		w.fault(UninitialisedRead, step, nil, lane, faultAt{space: a.space, addr: off, size: size})
	}
}

func (a localAccess) store(w *Wave, step, lane int, off uint64, size int, in *[4]uint32) {
	outside := false
	for i := 0; i < size; i += 4 {
		n := min(4, size-i)
		if at := off + uint64(i); a.in(at, n) {
			a.local.store(a.base+at, n, in[i/4])
		} else {
			outside = true
		}
	}
	if outside {
		w.fault(OutOfBoundsWrite, step, nil, lane, faultAt{space: a.space, addr: off, size: size})
	}
}

// atomic changes the size (4 or 8) bytes at off by f and gives their old value.
func (a localAccess) atomic(w *Wave, step, lane int, off uint64, size int, f func(uint64) uint64) uint64 {
	if off%uint64(size) != 0 {
		w.fault(Misaligned, step, nil, lane, faultAt{space: a.space, addr: off, size: size})
		return 0
	}
	if !a.in(off, size) {
		w.fault(OutOfBoundsWrite, step, nil, lane, faultAt{space: a.space, addr: off, size: size})
		return 0
	}
	at := a.base + off
	if !hasBits(a.local.init, at, uint64(size)) {
		w.fault(UninitialisedRead, step, nil, lane, faultAt{space: a.space, addr: off, size: size})
	}
	setFew(a.local.init, at, uint64(size))
	b := a.local.data[at:]
	if size == 8 {
		old := binary.LittleEndian.Uint64(b)
		binary.LittleEndian.PutUint64(b, f(old))
		return old
	}
	old := binary.LittleEndian.Uint32(b)
	binary.LittleEndian.PutUint32(b, uint32(f(uint64(old))))
	return uint64(old)
}
