package gpu

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync/atomic"
)

// Backing of buffers. A small buffer is one page; a large one is pages that
// come into being when they are touched.
const (
	contiguousLimit = 16 << 20
	pageShift       = 16
	pageBytes       = 1 << pageShift
)

// Buffer is one allocation. Its host side (all exported methods) must not be
// used while a launch runs.
type Buffer struct {
	name     string
	spaceTag string // Fault.Space
	base     uint64
	size     uint64
	readOnly bool

	shift uint // an offset's page is offset >> shift
	pages []atomicPage

	fill     [4]byte // what bytes that were never written hold, by offset modulo 4
	fillInit bool    // whether those count as initialised

	// For the running launch.
	tracked bool  // stores and loads go through blocks
	plain   *page // the only page, when untracked loads may read it directly
	full    bool  // every byte of plain is initialised
	dirty   bool  // full must be found out again
}

// page is a range of a buffer that is backed. All bit sets have one bit a byte.
type page struct {
	data    []byte
	init    []uint64                // defined for a load: written by the host, or by the device in an earlier launch
	written []uint64                // stored by the device since the host last wrote the byte
	blocks  []atomic.Pointer[block] // shadow of the running launch
}

// atomicPage is a page that comes into being once.
type atomicPage = atomic.Pointer[page]

func newBuffer(name, spaceTag string, base, size uint64, readOnly bool) *Buffer {
	b := &Buffer{name: name, spaceTag: spaceTag, base: base, size: size, readOnly: readOnly, shift: pageShift, dirty: true}
	n := (size + pageBytes - 1) >> pageShift
	if size <= contiguousLimit {
		b.shift, n = 63, 1
	}
	b.pages = make([]atomicPage, n)
	if b.contiguous() {
		b.pages[0].Store(b.newPage(size))
	}
	return b
}

func (b *Buffer) contiguous() bool { return b.shift == 63 }

// newPage is a page of n bytes in the state of bytes never written.
func (b *Buffer) newPage(n uint64) *page {
	p := &page{
		data:    make([]byte, n),
		init:    make([]uint64, (n+63)/64),
		written: make([]uint64, (n+63)/64),
		blocks:  make([]atomic.Pointer[block], (n+blockBytes-1)/blockBytes),
	}
	if b.fill != [4]byte{} {
		fillBytes(p.data, b.fill)
	}
	if b.fillInit {
		setBits(p.init, 0, n)
	}
	return p
}

func fillBytes(data []byte, pattern [4]byte) {
	n := copy(data, pattern[:])
	for n < len(data) {
		n += copy(data[n:], data[:n])
	}
}

// page is the backed page of offset off, and the offset within it. It is nil
// where nothing was touched.
func (b *Buffer) page(off uint64) (*page, uint64) {
	return b.pages[off>>b.shift].Load(), off & (1<<b.shift - 1)
}

// touch is page, backing it first where needed. Several goroutines may call it.
func (b *Buffer) touch(off uint64) (*page, uint64) {
	at := &b.pages[off>>b.shift]
	p := at.Load()
	if p == nil {
		p = b.newPage(min(pageBytes, b.size-off>>b.shift<<b.shift))
		if !at.CompareAndSwap(nil, p) {
			p = at.Load()
		}
	}
	return p, off & (1<<b.shift - 1)
}

// each calls f for the pieces of [off, off+n) that lie in one page each.
func (b *Buffer) each(off, n uint64, f func(at, from, to uint64)) {
	for end := off + n; off < end; {
		in := off & (1<<b.shift - 1)
		step := end - off
		if !b.contiguous() {
			step = min(step, pageBytes-in)
		}
		f(off, in, in+step)
		off += step
	}
}

func (b *Buffer) check(off, n uint64) error {
	if off > b.size || n > b.size-off {
		return fmt.Errorf("buffer %s has %d bytes: %d bytes at %d do not fit", b.name, b.size, n, off)
	}
	return nil
}

// Name is the buffer's name in faults.
func (b *Buffer) Name() string { return b.name }

// Addr is the buffer's address on the device.
func (b *Buffer) Addr() uint64 { return b.base }

// Size is the buffer's length in bytes.
func (b *Buffer) Size() uint64 { return b.size }

// Write copies data to offset off as the host does: the bytes count as
// initialised and not as stored by the device.
func (b *Buffer) Write(off uint64, data []byte) error {
	if err := b.check(off, uint64(len(data))); err != nil {
		return err
	}
	b.dirty = true
	b.each(off, uint64(len(data)), func(at, from, to uint64) {
		p, _ := b.touch(at)
		copy(p.data[from:to], data[at-off:])
		setBits(p.init, from, to-from)
		clearBits(p.written, from, to-from)
	})
	return nil
}

// Fill sets every dword of the buffer to word, a sentinel: the bytes count
// neither as initialised nor as stored by the device. It costs nothing for what
// a large buffer never touches.
func (b *Buffer) Fill(word uint32) {
	binary.LittleEndian.PutUint32(b.fill[:], word)
	b.fillInit, b.dirty = false, true
	for i := range b.pages {
		b.pages[i].Store(nil)
	}
	if b.contiguous() {
		b.pages[0].Store(b.newPage(b.size))
	}
}

// MarkInitialised says that the n bytes at off are defined whatever they hold,
// so that loading them is no fault.
func (b *Buffer) MarkInitialised(off, n uint64) error {
	if err := b.check(off, n); err != nil {
		return err
	}
	b.dirty = true
	if off == 0 && n == b.size {
		b.fillInit = true
		for i := range b.pages {
			if p := b.pages[i].Load(); p != nil {
				setBits(p.init, 0, uint64(len(p.data)))
			}
		}
		return nil
	}
	b.each(off, n, func(at, from, to uint64) {
		p, _ := b.touch(at)
		setBits(p.init, from, to-from)
	})
	return nil
}

// Read is a copy of the n bytes at off.
func (b *Buffer) Read(off, n uint64) ([]byte, error) {
	if err := b.check(off, n); err != nil {
		return nil, err
	}
	out := make([]byte, n)
	b.each(off, n, func(at, from, to uint64) {
		piece := out[at-off:][:to-from]
		if p, _ := b.page(at); p != nil {
			copy(piece, p.data[from:to])
			return
		}
		for i := range piece {
			piece[i] = b.fill[(from+uint64(i))&3]
		}
	})
	return out, nil
}

// Initialised tells for each of the n bytes at off whether it is defined:
// written by the host or stored by the device.
func (b *Buffer) Initialised(off, n uint64) ([]bool, error) {
	return b.flags(off, n, b.fillInit, func(p *page) []uint64 { return p.init })
}

// Written tells for each of the n bytes at off whether the device stored it,
// and the host did not overwrite it since.
func (b *Buffer) Written(off, n uint64) ([]bool, error) {
	return b.flags(off, n, false, func(p *page) []uint64 { return p.written })
}

func (b *Buffer) flags(off, n uint64, untouched bool, set func(*page) []uint64) ([]bool, error) {
	if err := b.check(off, n); err != nil {
		return nil, err
	}
	out := make([]bool, n)
	b.each(off, n, func(at, from, to uint64) {
		piece := out[at-off:][:to-from]
		p, _ := b.page(at)
		for i := range piece {
			if p == nil {
				piece[i] = untouched
			} else {
				piece[i] = hasBit(set(p), from+uint64(i))
			}
		}
	})
	return out, nil
}

// Words is the whole buffer as dwords, and for each whether the device stored
// all four of its bytes. Bytes of an incomplete last dword are left out.
func (b *Buffer) Words() (words []uint32, written []bool) {
	n := b.size / 4
	words, written = make([]uint32, n), make([]bool, n)
	fill := binary.LittleEndian.Uint32(b.fill[:])
	b.each(0, n*4, func(at, from, to uint64) {
		p, _ := b.page(at)
		i := at / 4
		for o := from; o < to; o += 4 {
			if p == nil {
				words[i] = fill
			} else {
				words[i] = binary.LittleEndian.Uint32(p.data[o:])
				written[i] = p.written[o/64]>>(o%64)&0xf == 0xf
			}
			i++
		}
	})
	return words, written
}

// prepare readies the buffer for a launch whose stores are tracked or not.
func (b *Buffer) prepare(tracked bool) {
	b.tracked = tracked && !b.readOnly
	b.plain = nil
	if b.tracked || !b.contiguous() {
		return
	}
	b.plain = b.pages[0].Load()
	if b.dirty {
		n := 0
		for _, w := range b.plain.init {
			n += bits.OnesCount64(w)
		}
		b.full, b.dirty = uint64(n) == b.size, false
	}
}

// Bit sets.

func hasBit(set []uint64, i uint64) bool { return set[i/64]>>(i%64)&1 != 0 }

// hasBits reports whether all of the n (1 to 16) bits at i are set.
func hasBits(set []uint64, i, n uint64) bool {
	mask := uint64(1)<<n - 1
	w, s := i/64, i%64
	return set[w]>>s&mask == mask || s+n > 64 && hasBitsAcross(set, i, n)
}

// hasBitsAcross is hasBits for bits in two words.
func hasBitsAcross(set []uint64, i, n uint64) bool {
	w, s := i/64, i%64
	low, high := 64-s, s+n-64
	return set[w]>>s == 1<<low-1 && set[w+1]&(1<<high-1) == 1<<high-1
}

func setBits(set []uint64, i, n uint64)   { eachWord(i, n, func(w, mask uint64) { set[w] |= mask }) }
func clearBits(set []uint64, i, n uint64) { eachWord(i, n, func(w, mask uint64) { set[w] &^= mask }) }

func eachWord(i, n uint64, f func(w, mask uint64)) {
	for n > 0 {
		s := i % 64
		k := min(64-s, n)
		f(i/64, ^uint64(0)>>(64-k)<<s)
		i, n = i+k, n-k
	}
}
