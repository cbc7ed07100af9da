package gpu

import (
	"fmt"
	"slices"
	"sort"
	"sync"

	"mqaproof/sim/codeobject"
)

// Address space. Tensors lie in the lower half of a 47-bit space; what a launch
// itself needs lies above, out of reach of any 32-bit offset from a tensor.
const (
	addressBits = 47
	baseAlign   = 256
	tensorGap   = 4 << 30         // at least this much lies between two buffers that the allocator places
	tensorStart = 16 << 30        // the allocator's first address
	tensorEnd   = uint64(1) << 46 // tensors end here
	codeBase    = uint64(0x7000_0000_0000)
	kernargBase = uint64(0x7100_0000_0000)
	packetBase  = uint64(0x7200_0000_0000)
	queueBase   = uint64(0x7300_0000_0000) // nothing is mapped here

	maxBufferSize = 64 << 30
)

// Memory is a sparse 64-bit address space that holds buffers, each with guard
// space around it and shadow state for every byte. It may be used by several
// goroutines, one call at a time being executed.
type Memory struct {
	mu      sync.Mutex
	buffers []*Buffer                      // by address
	next    uint64                         // where the allocator looks next
	images  map[*codeobject.File][]*Buffer // loaded segments
}

// NewMemory is an empty address space.
func NewMemory() *Memory {
	return &Memory{next: tensorStart, images: map[*codeobject.File][]*Buffer{}}
}

// Spec describes a buffer to allocate.
type Spec struct {
	Name string // for faults
	Size uint64 // bytes; 0 is allowed and no access to it is in bounds
	// Base is the buffer's address, a multiple of 256; 0 lets the allocator
	// choose one, far from all others and the same in every run.
	Base     uint64
	Data     []byte // the first bytes, initialised; the rest is not
	ReadOnly bool   // a store by the device is a fault and is dropped
}

// Alloc makes a buffer.
func (m *Memory) Alloc(s Spec) (*Buffer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case s.Size > maxBufferSize:
		return nil, fmt.Errorf("buffer %s: %d bytes are more than the %d that a buffer may have", s.Name, s.Size, uint64(maxBufferSize))
	case uint64(len(s.Data)) > s.Size:
		return nil, fmt.Errorf("buffer %s: %d bytes of data do not fit into %d", s.Name, len(s.Data), s.Size)
	case s.Base%baseAlign != 0:
		return nil, fmt.Errorf("buffer %s: address %#x is not a multiple of %d", s.Name, s.Base, baseAlign)
	case s.Base > tensorEnd-s.Size:
		return nil, fmt.Errorf("buffer %s: %d bytes at %#x do not end below %#x", s.Name, s.Size, s.Base, tensorEnd)
	}
	base := s.Base
	if base == 0 {
		base = m.place(s.Size)
		if base > tensorEnd-s.Size {
			return nil, fmt.Errorf("buffer %s: no address space is left for %d bytes", s.Name, s.Size)
		}
		m.next = roundUp(base+s.Size, tensorGap) + tensorGap
	}
	for _, o := range m.buffers {
		// An empty buffer takes up one byte, so that its address is its own.
		if base < o.base+max(o.size, 1) && o.base < base+max(s.Size, 1) {
			return nil, fmt.Errorf("buffer %s: %d bytes at %#x overlap buffer %s, %d bytes at %#x", s.Name, s.Size, base, o.name, o.size, o.base)
		}
	}
	b := newBuffer(s.Name, "global", base, s.Size, s.ReadOnly)
	if err := b.Write(0, s.Data); err != nil {
		return nil, err
	}
	m.buffers = insertByBase(m.buffers, b)
	return b, nil
}

// place finds an address for size bytes with tensorGap on either side.
func (m *Memory) place(size uint64) uint64 {
	base := m.next
	for again := true; again; {
		again = false
		for _, o := range m.buffers {
			if base < o.base+o.size+tensorGap && o.base < base+size+tensorGap {
				base = roundUp(o.base+o.size, tensorGap) + tensorGap
				again = true
			}
		}
	}
	return base
}

func roundUp(n, to uint64) uint64 { return (n + to - 1) / to * to }

func insertByBase(list []*Buffer, b *Buffer) []*Buffer {
	i := sort.Search(len(list), func(i int) bool { return list[i].base > b.base })
	return slices.Insert(list, i, b)
}

// space is the buffers that one launch can reach, by address.
type space []*Buffer

// find is the buffer that holds the byte at addr, or nil.
func (s space) find(addr uint64) *Buffer {
	i := sort.Search(len(s), func(i int) bool { return s[i].base > addr }) - 1
	if i >= 0 && addr-s[i].base < s[i].size {
		return s[i]
	}
	return nil
}

// nearest is the buffer that is closest to addr, or nil when there is none.
// The gaps between buffers are so large that it is the one whose pointer went
// astray. Of two equally close the lower one is taken.
func (s space) nearest(addr uint64) *Buffer {
	i := sort.Search(len(s), func(i int) bool { return s[i].base > addr })
	switch {
	case len(s) == 0:
		return nil
	case i == 0:
		return s[0]
	}
	below := s[i-1]
	if addr-below.base < below.size || i == len(s) {
		return below
	}
	if above := s[i]; above.base-addr < addr-(below.base+below.size)+1 {
		return above
	}
	return below
}
