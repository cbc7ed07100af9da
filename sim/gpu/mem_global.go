package gpu

import "encoding/binary"

// Global memory as one lane sees it. Alignment: the Linux driver runs this
// family in unaligned access mode (SH_MEM_CONFIG.ALIGNMENT_MODE), which LLVM's
// amdhsa targets rely on, so loads and stores of any alignment work, in LDS
// too. Atomics must be naturally aligned; scalar loads drop the low two bits.

// lookup is the buffer that holds the byte at addr, or nil. Each instruction
// remembers the last one.
func (x *worker) lookup(step int, addr uint64) *Buffer {
	if b := x.last[step]; b != nil && addr-b.base < b.size {
		return b
	}
	b := x.l.space.find(addr)
	if b != nil {
		x.last[step] = b
	}
	return b
}

// enter takes the lock of the block of the page's byte at in; leave gives the
// last one back. At most one lock is held at a time.
func (x *worker) enter(b *Buffer, p *page, in, off uint64) *block {
	k := x.l.shadowBlock(b, p, in, off)
	if x.held != k {
		x.leave()
		k.mu.Lock()
		x.held = k
	}
	return k
}

func (x *worker) leave() {
	if x.held != nil {
		x.held.mu.Unlock()
		x.held = nil
	}
}

// load reads the n (1, 2 or 4) bytes at addr. kind is "" or what is wrong.
func (x *worker) load(step int, addr uint64, n int, s site) (value uint32, kind FaultKind, b *Buffer) {
	b = x.lookup(step, addr)
	if b == nil || uint64(n) > b.size-(addr-b.base) {
		return 0, OutOfBoundsRead, x.l.space.nearest(addr)
	}
	off := addr - b.base
	if off&(blockBytes-1)+uint64(n) > blockBytes {
		for i := range n { // across blocks, byte by byte
			v, k, _ := x.load(step, addr+uint64(i), 1, s)
			value |= v << (8 * i)
			if k != "" {
				kind = k
			}
		}
		return value, kind, b
	}
	var defined bool
	if b.tracked {
		p, in := b.touch(off)
		k := x.enter(b, p, in, off)
		value, defined = k.load(in&(blockBytes-1), n, s)
	} else if p, in := b.page(off); p != nil {
		value, defined = little(p.data[in:], uint64(n)), hasBits(p.init, in, uint64(n))
	} else {
		var fill [8]byte
		copy(fill[:], b.fill[:])
		copy(fill[4:], b.fill[:])
		value, defined = little(fill[off&3:], uint64(n)), b.fillInit
	}
	if !defined {
		kind = UninitialisedRead
	}
	return value, kind, b
}

// store writes the low n (1, 2 or 4) bytes of value at addr.
func (x *worker) store(step int, addr uint64, n int, value uint32, s site) (kind FaultKind, b *Buffer) {
	b = x.lookup(step, addr)
	if b == nil || uint64(n) > b.size-(addr-b.base) {
		return OutOfBoundsWrite, x.l.space.nearest(addr)
	}
	if b.readOnly {
		return ReadOnlyWrite, b
	}
	off := addr - b.base
	if off&(blockBytes-1)+uint64(n) > blockBytes {
		for i := range n {
			x.store(step, addr+uint64(i), 1, value>>(8*i), s)
		}
		return "", b
	}
	p, in := b.touch(off)
	if b.tracked {
		x.enter(b, p, in, off).store(in&(blockBytes-1), n, value, s)
		return "", b
	}
	putLittle(p.data[in:], uint64(n), value)
	setFew(p.init, in, uint64(n))
	setFew(p.written, in, uint64(n))
	return "", b
}

// inBlock reports whether the bytes are whole, aligned dwords of one block of b.
func inBlock(b *Buffer, off uint64, size int) bool {
	return (off|uint64(size))&3 == 0 && uint64(size) <= b.size-off && off&(blockBytes-1)+uint64(size) <= blockBytes
}

// loadLane reads size bytes at addr for one lane, dword by dword: those that
// are out of bounds read as 0. Each kind of fault is noted once.
func (w *Wave) loadLane(step, lane int, addr uint64, size int, out []uint32) {
	s := makeSite(w.wg.index, step, w.id) | site(lane)
	x := w.wg.worker
	if b := x.lookup(step, addr); b != nil && inBlock(b, addr-b.base, size) {
		off := addr - b.base
		defined := true
		if b.tracked {
			p, in := b.touch(off)
			defined = x.enter(b, p, in, off).loadDwords(in&(blockBytes-1), out[:size/4], s)
		} else {
			for i := range size / 4 {
				var kind FaultKind
				out[i], kind, _ = x.load(step, addr+uint64(4*i), 4, s)
				defined = defined && kind == ""
			}
		}
		if !defined {
			w.fault(UninitialisedRead, step, b, lane, faultAt{addr: addr, size: size})
		}
		return
	}
	var outside, undefined bool
	for i := 0; i < size; i += 4 {
		v, kind, b := x.load(step, addr+uint64(i), min(4, size-i), s)
		out[i/4] = v
		if kind == "" || kind == OutOfBoundsRead && outside || kind == UninitialisedRead && undefined {
			continue
		}
		outside = outside || kind == OutOfBoundsRead
		undefined = undefined || kind == UninitialisedRead
		w.fault(kind, step, b, lane, faultAt{addr: addr, size: size})
	}
}

// storeLane writes size bytes at addr for one lane, dword by dword: those that
// are out of bounds or read-only are dropped.
func (w *Wave) storeLane(step, lane int, addr uint64, size int, in []uint32) {
	s := makeSite(w.wg.index, step, w.id) | site(lane)
	x := w.wg.worker
	if b := x.lookup(step, addr); b != nil && !b.readOnly && inBlock(b, addr-b.base, size) {
		off := addr - b.base
		p, at := b.touch(off)
		if b.tracked {
			x.enter(b, p, at, off).storeDwords(at&(blockBytes-1), in[:size/4], s)
			return
		}
		for i := range size / 4 {
			binary.LittleEndian.PutUint32(p.data[at+uint64(4*i):], in[i])
		}
		setFew(p.init, at, uint64(size))
		setFew(p.written, at, uint64(size))
		return
	}
	var seen FaultKind
	for i := 0; i < size; i += 4 {
		kind, b := x.store(step, addr+uint64(i), min(4, size-i), in[i/4], s)
		if kind == "" || kind == seen {
			continue
		}
		seen = kind
		w.fault(kind, step, b, lane, faultAt{addr: addr, size: size})
	}
}

// atomicLane changes the size (4 or 8) bytes at addr by f for one lane and
// gives their old value.
func (w *Wave) atomicLane(step, lane int, addr uint64, size int, f func(uint64) uint64) uint64 {
	x := w.wg.worker
	b := x.lookup(step, addr)
	at := faultAt{addr: addr, size: size}
	switch {
	case b == nil || uint64(size) > b.size-(addr-b.base):
		w.fault(OutOfBoundsWrite, step, x.l.space.nearest(addr), lane, at)
		return 0
	case addr%uint64(size) != 0:
		w.fault(Misaligned, step, b, lane, at)
		return 0
	case b.readOnly:
		w.fault(ReadOnlyWrite, step, b, lane, at)
		return 0
	}
	off := addr - b.base
	p, in := b.touch(off)
	k := x.enter(b, p, in, off)
	old, defined := k.atomic(in&(blockBytes-1), size, f)
	if !b.tracked {
		setFew(p.init, in, uint64(size))
	}
	if !defined {
		w.fault(UninitialisedRead, step, b, lane, at)
	}
	return old
}
