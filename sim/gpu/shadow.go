package gpu

import (
	"encoding/binary"
	"sync"
)

// Shadow of the buffers that a launch may write.
//
// Workgroups have no order, so what a launch leaves in memory, and what it
// reports, must not depend on which ran first. While more than one workgroup
// is launched, every writable buffer is therefore seen as in the state before
// the launch, plus a workgroup's own stores:
//
//   - a load gives the workgroup's own store, else what was there before the
//     launch, even if another workgroup has stored already;
//   - of several workgroups that store to the same bytes the highest wins;
//   - different values stored by different workgroups, and a load of what
//     another workgroup stores, are races, found out when all have run.
//
// Atomics act at once on the one shared value, and loads of bytes that atomics
// changed see it; both are exempt from race reports. Integer atomics other
// than swap, compare-and-swap and wrapping inc and dec give a result that
// does not depend on the order. Floating-point ones are applied in the order
// in which workgroups happen to run, so that only exact sums are reproducible
// with more than one worker; so are values that atomics return, and the
// outcome of stores and atomics of different workgroups to the same dword.

// blockBytes is the granularity of locks and of shadow memory.
const (
	blockShift = 13
	blockBytes = 1 << blockShift
)

// site is one lane of one instruction of one wave: the workgroup plus one in
// the high half, then 22 bits of step, 4 of wave and 6 of lane. So sites order
// as workgroups do.
type site uint64

const (
	siteStepBits = 22
	maxSteps     = 1 << siteStepBits
)

func makeSite(workgroup uint32, step, wave int) site {
	return site(uint64(workgroup)+1)<<32 | site(step)<<10 | site(wave)<<6
}

func (s site) workgroup() uint32 { return uint32(s>>32) - 1 }
func (s site) step() int         { return int(uint32(s) >> 10) }
func (s site) wave() int         { return int(s>>6) & 15 }
func (s site) lane() int         { return int(s & 63) }

// sameGroup reports whether two sites belong to one workgroup.
func (s site) sameGroup(o site) bool { return s>>32 == o>>32 }

// Owners that are no site.
const (
	ownerNone     site = iota
	ownerConflict      // several workgroups stored: see block.conflicts
	ownerAtomic        // changed by atomics
)

// block is the shadow of blockBytes of a page. A unit is a dword, or a byte
// once anything narrower or misaligned has touched the block.
type block struct {
	mu     sync.Mutex
	buffer *Buffer
	page   *page
	offset uint64 // of the block in its page
	at     uint64 // of the block in its buffer

	unit       uint            // log2 of a unit's bytes: 2 or 0
	owners     []site          // of each unit: who stored it last; nil until the first store
	readers    [][2]site       // of each unit: the first site of the two lowest workgroups that loaded it
	old        []byte          // data before the launch, once owners is set
	oldWritten []uint64        // written bits before the launch
	conflicts  map[int][]claim // by unit, one claim a workgroup
}

// claim is what a workgroup stored last to a unit that others stored to as well.
type claim struct {
	site  site
	value uint32
}

// shadowBlock is the block of the page's byte at off, made on first use and
// put on the launch's list.
func (l *launch) shadowBlock(b *Buffer, p *page, off, bufferOff uint64) *block {
	at := &p.blocks[off>>blockShift]
	if k := at.Load(); k != nil {
		return k
	}
	start := off &^ (blockBytes - 1)
	k := &block{buffer: b, page: p, offset: start, at: bufferOff - (off - start), unit: 2}
	if !at.CompareAndSwap(nil, k) {
		return at.Load()
	}
	l.blocksMu.Lock()
	l.blocks = append(l.blocks, k)
	l.blocksMu.Unlock()
	return k
}

func (k *block) bytes() []byte {
	return k.page.data[k.offset:min(k.offset+blockBytes, uint64(len(k.page.data)))]
}

func (k *block) units() int { return (len(k.bytes()) + 1<<k.unit - 1) >> k.unit }

// split goes from dwords to bytes.
func (k *block) split() {
	if k.unit == 0 {
		return
	}
	k.unit = 0
	n := k.units()
	k.owners = repeat4(k.owners, n)
	k.readers = repeat4(k.readers, n)
	if k.conflicts == nil {
		return
	}
	conflicts := make(map[int][]claim, 4*len(k.conflicts))
	for u, claims := range k.conflicts {
		for i := range min(4, n-4*u) {
			bytes := make([]claim, len(claims))
			for j, c := range claims {
				bytes[j] = claim{c.site, c.value >> (8 * i) & 0xff}
			}
			conflicts[4*u+i] = bytes
		}
	}
	k.conflicts = conflicts
}

func repeat4[T any](s []T, n int) []T {
	if s == nil {
		return nil
	}
	out := make([]T, n)
	for i := range out {
		out[i] = s[i/4]
	}
	return out
}

// own makes the block ready for stores.
func (k *block) own() {
	if k.owners == nil {
		k.owners = make([]site, k.units())
		k.old = append([]byte(nil), k.bytes()...)
		w := k.offset / 64
		k.oldWritten = append([]uint64(nil), k.page.written[w:min(w+blockBytes/64, uint64(len(k.page.written)))]...)
	}
}

// granular makes units fit an access of n bytes at offset off of the block.
func (k *block) granular(off uint64, n int) {
	if n != 4 || off&3 != 0 {
		k.split()
	}
}

// load reads the n (1, 2 or 4) bytes at offset off of the block for s, and
// reports whether they are defined. The lock is held.
func (k *block) load(off uint64, n int, s site) (value uint32, defined bool) {
	k.granular(off, n)
	if k.unit == 2 {
		return k.loadUnit(int(off>>2), off, 4, s)
	}
	defined = true
	for i := range uint64(n) {
		v, ok := k.loadUnit(int(off+i), off+i, 1, s)
		value |= v << (8 * i)
		defined = defined && ok
	}
	return value, defined
}

// loadDwords is load for whole, aligned dwords.
func (k *block) loadDwords(off uint64, out []uint32, s site) (defined bool) {
	defined = true
	if k.unit == 2 && k.readers == nil {
		k.readers = make([][2]site, k.units())
	}
	data := k.bytes()
	for i := range out {
		at := off + uint64(4*i)
		u := int(at >> 2)
		var ok bool
		switch {
		case k.unit == 2 && (k.owners == nil || k.owners[u] == ownerNone):
			out[i], ok = binary.LittleEndian.Uint32(data[at:]), hasBits(k.page.init, k.offset+at, 4)
			if r := &k.readers[u]; r[0] == 0 {
				r[0] = s
			} else {
				k.read(u, s)
			}
		default:
			out[i], ok = k.load(at, 4, s)
		}
		defined = defined && ok
	}
	return defined
}

// storeDwords is store for whole, aligned dwords.
func (k *block) storeDwords(off uint64, in []uint32, s site) {
	k.own()
	if k.unit != 2 {
		for i, v := range in {
			k.store(off+uint64(4*i), 4, v, s)
		}
		return
	}
	data := k.bytes()
	for i, v := range in {
		at := off + uint64(4*i)
		u := int(at >> 2)
		if o := k.owners[u]; o == ownerNone || o.sameGroup(s) {
			k.owners[u] = s
			binary.LittleEndian.PutUint32(data[at:], v)
		} else {
			k.storeUnit(u, at, 4, v, s)
		}
	}
	setFew(k.page.written, k.offset+off, uint64(4*len(in)))
}

func (k *block) loadUnit(u int, off uint64, n uint64, s site) (uint32, bool) {
	var owner site
	if k.owners != nil {
		owner = k.owners[u]
	}
	from := k.bytes()
	switch {
	case owner == ownerNone:
	case owner == ownerAtomic, owner.sameGroup(s):
		return little(from[off:], n), true
	case owner == ownerConflict:
		for _, c := range k.conflicts[u] {
			if c.site.sameGroup(s) {
				return c.value, true
			}
		}
		from = k.old
	default:
		from = k.old
	}
	k.read(u, s)
	return little(from[off:], n), hasBits(k.page.init, k.offset+off, n)
}

// read notes that s loaded unit u. Of all that do, the two lowest workgroups
// are kept, each with its lowest site, whatever the order of the calls.
func (k *block) read(u int, s site) {
	if k.readers == nil {
		k.readers = make([][2]site, k.units())
	}
	r := &k.readers[u]
	switch {
	case r[0] == 0:
		r[0] = s
	case s.sameGroup(r[0]):
		r[0] = min(r[0], s)
	case s < r[0]:
		r[0], r[1] = s, r[0]
	case r[1] == 0 || s.sameGroup(r[1]) && s < r[1] || s>>32 < r[1]>>32:
		r[1] = s
	}
}

// store writes the low n (1, 2 or 4) bytes of value at offset off of the block
// for s. The lock is held.
func (k *block) store(off uint64, n int, value uint32, s site) {
	k.granular(off, n)
	k.own()
	if k.unit == 2 {
		k.storeUnit(int(off>>2), off, 4, value, s)
	} else {
		for i := range uint64(n) {
			k.storeUnit(int(off+i), off+i, 1, value>>(8*i)&0xff, s)
		}
	}
	setBits(k.page.written, k.offset+off, uint64(n))
}

func (k *block) storeUnit(u int, off, n uint64, value uint32, s site) {
	data := k.bytes()[off:]
	switch owner := k.owners[u]; {
	case owner == ownerNone, owner.sameGroup(s):
		k.owners[u] = s
	case owner == ownerAtomic:
	case owner == ownerConflict:
		claims := k.conflicts[u]
		for i := range claims {
			if claims[i].site.sameGroup(s) {
				claims[i] = claim{s, value}
				return
			}
		}
		k.conflicts[u] = append(claims, claim{s, value})
		return
	default:
		if k.conflicts == nil {
			k.conflicts = map[int][]claim{}
		}
		k.conflicts[u] = []claim{{owner, little(data, n)}, {s, value}}
		k.owners[u] = ownerConflict
		return
	}
	putLittle(data, n, value)
}

// atomic changes the dwords at offset off of the block by f, which gets the
// old value and gives the new one; n is 4 or 8. It returns the old value and
// whether it was defined. The lock is held.
func (k *block) atomic(off uint64, n int, f func(old uint64) uint64) (old uint64, defined bool) {
	k.own()
	data := k.bytes()[off:]
	defined = true
	for i := uint64(0); i < uint64(n); i++ {
		if at := k.offset + off + i; !hasBit(k.page.init, at) && !hasBit(k.page.written, at) {
			defined = false
		}
	}
	if n == 8 {
		old = binary.LittleEndian.Uint64(data)
		binary.LittleEndian.PutUint64(data, f(old))
	} else {
		old = uint64(binary.LittleEndian.Uint32(data))
		binary.LittleEndian.PutUint32(data, uint32(f(old)))
	}
	for u := int(off >> k.unit); u < int((off+uint64(n))>>k.unit); u++ {
		k.owners[u] = ownerAtomic
		delete(k.conflicts, u)
	}
	setBits(k.page.written, k.offset+off, uint64(n))
	return old, defined
}

func little(b []byte, n uint64) uint32 {
	switch n {
	case 4:
		return binary.LittleEndian.Uint32(b)
	case 2:
		return uint32(binary.LittleEndian.Uint16(b))
	}
	return uint32(b[0])
}

func putLittle(b []byte, n uint64, v uint32) {
	switch n {
	case 4:
		binary.LittleEndian.PutUint32(b, v)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(v))
	default:
		b[0] = byte(v)
	}
}
