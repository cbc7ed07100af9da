package gpu

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAlloc(t *testing.T) {
	m := NewMemory()
	var buffers []*Buffer
	for _, s := range []Spec{
		{Name: "a", Size: 100},
		{Name: "b", Size: 0},
		{Name: "c", Size: 5 << 30},
		{Name: "d", Size: 1, Base: 1 << 40},
		{Name: "e", Size: 100},
		{Name: "f", Size: 1 << 20, Base: buffersBase},
		{Name: "g", Size: 100},
	} {
		buffers = append(buffers, alloc(t, m, s))
	}
	for i, a := range buffers {
		if a.Addr()%256 != 0 || a.Addr() == 0 || a.Addr() >= 1<<47 {
			t.Errorf("%s lies at %#x", a.Name(), a.Addr())
		}
		for _, b := range buffers[i+1:] {
			lo, hi := a, b
			if b.Addr() < a.Addr() {
				lo, hi = b, a
			}
			if gap := int64(hi.Addr() - lo.Addr() - lo.Size()); gap < 4<<30 && b.Name() != "f" && a.Name() != "f" {
				t.Errorf("%d bytes between %s and %s", gap, lo.Name(), hi.Name())
			}
		}
	}
	again := NewMemory()
	if a, b := buffers[0].Addr(), alloc(t, again, Spec{Name: "a", Size: 100}).Addr(); a != b {
		t.Errorf("the first buffer lies at %#x and at %#x", a, b)
	}
}

const buffersBase = 3 << 40

func TestAllocErrors(t *testing.T) {
	m := NewMemory()
	alloc(t, m, Spec{Name: "a", Size: 1000, Base: 1 << 40})
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{Name: "x", Size: 1 << 40}, "more than the"},
		{Spec{Name: "x", Size: 3, Data: make([]byte, 4)}, "4 bytes of data do not fit into 3"},
		{Spec{Name: "x", Size: 3, Base: 1<<40 + 4096 + 4}, "not a multiple of 256"},
		{Spec{Name: "x", Size: 300, Base: 1<<40 - 256}, "overlap buffer a"},
		{Spec{Name: "x", Size: 1, Base: 1<<40 + 768}, "overlap buffer a"},
		{Spec{Name: "x", Size: 1, Base: 1 << 46}, "do not end below"},
		{Spec{Name: "x", Size: 1, Base: codeBase}, "do not end below"},
	} {
		if _, err := m.Alloc(c.spec); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v lacks %q", c.spec, err, c.want)
		}
	}
	b := alloc(t, m, Spec{Name: "x", Size: 10})
	if err := b.Write(8, make([]byte, 3)); err == nil || !strings.Contains(err.Error(), "3 bytes at 8 do not fit") {
		t.Errorf("write past the end: %v", err)
	}
	if _, err := b.Read(11, 0); err == nil {
		t.Error("a read past the end works")
	}
	if _, err := b.Written(1<<63, 1<<63); err == nil {
		t.Error("a query far past the end works")
	}
	if err := b.MarkInitialised(0, 11); err == nil {
		t.Error("marking past the end works")
	}
}

func TestNearest(t *testing.T) {
	m := NewMemory()
	a := alloc(t, m, Spec{Name: "a", Size: 1000, Base: 1 << 40})
	b := alloc(t, m, Spec{Name: "b", Size: 1000, Base: 2 << 40})
	s := space(m.buffers)
	for _, c := range []struct {
		addr          uint64
		holds, nearby *Buffer
	}{
		{0, nil, a}, {1<<40 - 1, nil, a}, {1 << 40, a, a}, {1<<40 + 999, a, a}, {1<<40 + 1000, nil, a},
		{3<<39 - 1, nil, a}, {3<<39 + 1000, nil, b}, {2<<40 - 1, nil, b}, {2<<40 + 999, b, b}, {1 << 63, nil, b},
	} {
		if got := s.find(c.addr); got != c.holds {
			t.Errorf("%#x is found in %v", c.addr, got)
		}
		if got := s.nearest(c.addr); got != c.nearby {
			t.Errorf("%#x is nearest to %v", c.addr, got)
		}
	}
	if got := space(nil).nearest(5); got != nil {
		t.Errorf("nothing is near, got %v", got)
	}
}

// modelBuffer is a buffer as plain slices.
type modelBuffer struct {
	data          []byte
	init, written []bool
}

// TestBufferAgainstModel does random host operations and device accesses to
// contiguous and sparse buffers and to plain slices, and compares.
func TestBufferAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{1, 7, 256, 5000, pageBytes + 100, 3*pageBytes + 5}).Draw(t, "size")
		tracked := rapid.Bool().Draw(t, "tracked")
		b := newBuffer("x", "global", 1<<40, uint64(size), false)
		if rapid.Bool().Draw(t, "sparse") {
			b.shift = pageShift
			b.pages = make([]atomicPage, (size+pageBytes-1)>>pageShift)
		}
		model := modelBuffer{make([]byte, size), make([]bool, size), make([]bool, size)}
		var l *launch
		var x *worker
		begin := func() {
			b.prepare(tracked)
			l = &launch{prog: &Program{}, space: space{b}, total: 2, Launch: Launch{Grid: one(2)}}
			x = &worker{l: l, last: make([]*Buffer, 1)}
			x.group.worker = x
			x.group.result = &workgroupResult{}
		}
		end := func() {
			x.leave()
			l.settle(l.total)
		}
		begin()
		w := func() *Wave { return &Wave{wg: &x.group} }
		rng := func(max int) (int, int) {
			off := rapid.IntRange(0, size-1).Draw(t, "off")
			return off, rapid.IntRange(0, min(max, size-off)).Draw(t, "n")
		}
		t.Repeat(map[string]func(*rapid.T){
			"host write": func(t *rapid.T) {
				end()
				off, n := rng(100)
				data := rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "data")
				if err := b.Write(uint64(off), data); err != nil {
					t.Fatal(err)
				}
				copy(model.data[off:], data)
				for i := off; i < off+n; i++ {
					model.init[i], model.written[i] = true, false
				}
				begin()
			},
			"mark": func(t *rapid.T) {
				end()
				off, n := rng(size)
				if err := b.MarkInitialised(uint64(off), uint64(n)); err != nil {
					t.Fatal(err)
				}
				for i := off; i < off+n; i++ {
					model.init[i] = true
				}
				begin()
			},
			"fill": func(t *rapid.T) {
				end()
				b.Fill(0x44332211)
				for i := range model.data {
					model.data[i], model.init[i], model.written[i] = byte(0x11*(i&3+1)), false, false
				}
				begin()
			},
			"store": func(t *rapid.T) {
				off := rapid.IntRange(0, size-1).Draw(t, "off")
				n := rapid.SampledFrom([]int{1, 2, 4, 8, 12, 16}).Draw(t, "n")
				if off+n > size {
					return
				}
				var in [4]uint32
				for i := range in {
					in[i] = rapid.Uint32().Draw(t, "value")
				}
				w().storeLane(0, 0, b.base+uint64(off), n, in[:])
				x.leave()
				for i := range n {
					model.data[off+i], model.init[off+i], model.written[off+i] = byte(in[i/4]>>(8*(i&3))), true, true
				}
			},
			"load": func(t *rapid.T) {
				off := rapid.IntRange(0, size-1).Draw(t, "off")
				n := rapid.SampledFrom([]int{1, 2, 4, 8, 12, 16}).Draw(t, "n")
				if off+n > size {
					return
				}
				var out [4]uint32
				x.group.result = &workgroupResult{}
				w().loadLane(0, 0, b.base+uint64(off), n, out[:])
				x.leave()
				defined := true
				for i := range n {
					defined = defined && model.init[off+i]
					if got := byte(out[i/4] >> (8 * (i & 3))); got != model.data[off+i] {
						t.Fatalf("byte %d loads as %#x, want %#x", off+i, got, model.data[off+i])
					}
				}
				if faulty := len(x.group.result.faults.list) > 0; faulty == defined {
					t.Fatalf("%d bytes at %d: fault is %v, defined %v", n, off, faulty, defined)
				}
			},
			"": func(t *rapid.T) {
				end()
				data, err := b.Read(0, uint64(size))
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(data, model.data) {
					t.Fatal(cmp.Diff(model.data, data))
				}
				init, err := b.Initialised(0, uint64(size))
				if err != nil {
					t.Fatal(err)
				}
				written, err := b.Written(0, uint64(size))
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(init, model.init) || !slices.Equal(written, model.written) {
					t.Fatalf("initialised or written bytes differ")
				}
				words, wordsWritten := b.Words()
				for i, word := range words {
					if word != uint32(data[4*i])|uint32(data[4*i+1])<<8|uint32(data[4*i+2])<<16|uint32(data[4*i+3])<<24 {
						t.Fatalf("word %d is %#x", i, word)
					}
					if want := written[4*i] && written[4*i+1] && written[4*i+2] && written[4*i+3]; wordsWritten[i] != want {
						t.Fatalf("word %d: written is %v", i, wordsWritten[i])
					}
				}
				begin()
			},
		})
	})
}

// TestSparseCost: a tensor of many GiB costs what is touched.
func TestSparseCost(t *testing.T) {
	m := NewMemory()
	b := alloc(t, m, Spec{Name: "huge", Size: 60 << 30})
	b.Fill(0x7fc00000)
	if err := b.Write(40<<30, []byte{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	if err := b.MarkInitialised(0, b.Size()); err != nil {
		t.Fatal(err)
	}
	backed := 0
	for i := range b.pages {
		if b.pages[i].Load() != nil {
			backed++
		}
	}
	if backed != 1 {
		t.Errorf("%d pages are backed, want 1", backed)
	}
	data, err := b.Read(40<<30-1, 5)
	if err != nil {
		t.Fatal(err)
	}
	if want := []byte{0x7f, 1, 2, 3, 0x7f}; !bytes.Equal(data, want) {
		t.Errorf("read %x, want %x", data, want)
	}
	init, err := b.Initialised(59<<30, 2)
	if err != nil || !init[0] {
		t.Errorf("an untouched byte is not initialised (%v)", err)
	}
}
