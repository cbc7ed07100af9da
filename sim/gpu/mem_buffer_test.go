package gpu

import (
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mqaproof/sim/isa"
)

// TestBufferRange: one lane loads from a tensor of 256 bytes, whose resource
// says that it has so many records.
func TestBufferRange(t *testing.T) {
	const none = -1
	for _, c := range []struct {
		line    string
		records uint32
		stride  uint32
		offset  uint32 // v2
		index   uint32 // v1
		soffset uint32 // s8
		at      int    // where the first dword comes from; none: out of range
		want    []string
	}{
		{"buffer_load_dword v8, v2, s[4:7], 0 offen", 256, 0, 12, 0, 0, 12, nil},
		{"buffer_load_dword v8, off, s[4:7], 0 offset:20", 256, 0, 0, 0, 0, 20, nil},
		{"buffer_load_dword v8, v2, s[4:7], s8 offen offset:4", 256, 0, 12, 0, 100, 116, nil},
		{"buffer_load_dword v8, v2, s[4:7], 64 offen", 256, 0, 12, 0, 0, 76, nil},
		{"buffer_load_dword v8, v2, s[4:7], 0 offen", 256, 0, 252, 0, 0, 252, nil},
		// Out of the V#'s range and of the tensor: reported.
		{"buffer_load_dword v8, v2, s[4:7], 0 offen", 256, 0, 256, 0, 0, none, []string{"out-of-bounds read x 1"}},
		{"buffer_load_dword v8, v2, s[4:7], s8 offen", 256, 0, 200, 0, 100, none, []string{"out-of-bounds read x 1"}},
		// Out of the V#'s range, yet in the tensor: the kernel's own limit.
		{"buffer_load_dword v8, v2, s[4:7], 0 offen", 128, 0, 128, 0, 0, none, nil},
		// How compilers switch lanes off.
		{"buffer_load_dword v8, v2, s[4:7], 0 offen", 0x7ffffffe, 0, 0x80000000, 0, 0, none, nil},
		{"buffer_load_dword v8, v2, s[4:7], 0 offen", 256, 0, 0x80000000, 0, 0, none, nil},
		{"buffer_load_dword v8, v2, s[4:7], 0 offen", 0xffffffff, 0, 0xffffffff, 0, 0, none, nil},
		{"buffer_load_dword v8, v2, s[4:7], 0 offen", 0x7ffffffe, 0, 0x7ffffffe, 0, 0, none, nil},
		// In the V#'s range and outside the tensor: a fault like any other.
		{"buffer_load_dword v8, v2, s[4:7], 0 offen", 0x7ffffffe, 0, 256, 0, 0, none, []string{"out-of-bounds read x 1"}},
		{"buffer_load_dword v8, v2, s[4:7], 0 offen", 0x7ffffffe, 0, 0x40000000, 0, 0, none, []string{"out-of-bounds read x 1"}},
		// Offsets add without wrapping.
		{"buffer_load_dword v8, v2, s[4:7], 0 offen offset:16", 256, 0, 0xfffffff8, 0, 0, none, nil},
		// Strided: the index is checked, not the bytes.
		{"buffer_load_dword v8, v1, s[4:7], 0 idxen", 16, 16, 0, 5, 0, 80, nil},
		{"buffer_load_dword v8, v[14:15], s[4:7], 0 idxen offen offset:4", 16, 16, 4, 5, 0, 88, nil},
		{"buffer_load_dword v8, v1, s[4:7], 0 idxen", 16, 16, 0, 16, 0, none, []string{"out-of-bounds read x 1"}},
		// A stride without an index, as with the cache's swizzle: bytes.
		{"buffer_load_dword v8, v2, s[4:7], 0 offen", 256, 64 | 1<<14, 12, 0, 0, 12, nil},
	} {
		b := newMemoryBench()
		x := alloc(t, b.m, Spec{Name: "x", Size: 256, Data: patternBytes(256), ReadOnly: true})
		w := memoryLines(t, b, isa.GFX942, 0, 0, func(w *Wave) {
			w.S[4], w.S[5], w.S[6], w.S[7] = uint32(x.Addr()), uint32(x.Addr()>>32)|c.stride<<16, c.records, 0x27000
			w.S[8] = c.soffset
			w.V[1][0], w.V[2][0], w.V[14][0], w.V[15][0] = c.index, c.offset, c.index, c.offset
			w.EXEC = 1
		}, c.line)
		if w.trap != nil {
			t.Errorf("%s: %v", c.line, w.trap)
			continue
		}
		want := uint32(0)
		if c.at != none {
			want = binary.LittleEndian.Uint32(patternBytes(256)[c.at:])
		}
		if w.V[8][0] != want {
			t.Errorf("%s, offset %#x of %#x: loaded %#x, want %#x", c.line, c.offset, c.records, w.V[8][0], want)
		}
		if diff := cmp.Diff(c.want, b.faults()); diff != "" {
			t.Errorf("%s, offset %#x of %#x: %s", c.line, c.offset, c.records, diff)
		}
	}
}

func TestBufferFormats(t *testing.T) {
	const size = 2048
	at := func(l int) int { return 16*l + 7 }
	type row struct {
		line  string
		parts []part
	}
	rows := []row{
		{"buffer_load_dwordx2 v[8:9], v2, s[4:7], 0 offen offset:7", dwords(2, at)},
		{"buffer_load_dwordx3 v[8:10], v2, s[4:7], 0 offen offset:7", dwords(3, at)},
		{"buffer_load_dwordx4 v[8:11], v2, s[4:7], 0 offen offset:7", dwords(4, at)},
	}
	for _, f := range narrowFormats {
		rows = append(rows, row{"buffer_load_" + f.other + " v8, v2, s[4:7], 0 offen offset:7", narrow(at, f.f)})
	}
	for _, r := range rows {
		b := newMemoryBench()
		x := alloc(t, b.m, Spec{Name: "x", Size: size, Data: patternBytes(size)})
		var before []vreg
		w := memoryLines(t, b, isa.GFX942, 0, 0, func(w *Wave) {
			pointers(w, x.Addr())
			w.writeS64(4, x.Addr())
			w.S[6], w.S[7] = size, 0x27000
			w.EXEC = someLanes
			before = append(before, w.V...)
		}, r.line)
		checkParts(t, r.line, w, before, patternBytes(size), r.parts)
	}
}

// TestBufferPart: of an element that ends out of range the dwords in range are
// loaded and stored.
func TestBufferPart(t *testing.T) {
	b := newMemoryBench()
	x := alloc(t, b.m, Spec{Name: "x", Size: 256, Data: patternBytes(256)})
	w := memoryLines(t, b, isa.GFX942, 0, 0, func(w *Wave) {
		w.writeS64(4, x.Addr())
		w.S[6], w.S[7] = 104, 0x27000
		w.V[2][0], w.EXEC = 96, 1
	}, "buffer_load_dwordx4 v[8:11], v2, s[4:7], 0 offen", "buffer_store_dwordx4 v[12:15], v2, s[4:7], 0 offen")
	le, p := binary.LittleEndian, patternBytes(256)
	if w.V[8][0] != le.Uint32(p[96:]) || w.V[9][0] != le.Uint32(p[100:]) || w.V[10][0] != 0 || w.V[11][0] != 0 {
		t.Errorf("loaded %#x %#x %#x %#x", w.V[8][0], w.V[9][0], w.V[10][0], w.V[11][0])
	}
	data, err := x.Read(96, 16)
	if err != nil {
		t.Fatal(err)
	}
	if le.Uint32(data) != w.V[12][0] || le.Uint32(data[4:]) != w.V[13][0] || string(data[8:]) != string(p[104:112]) {
		t.Errorf("stored %x", data)
	}
	if f := b.faults(); f != nil {
		t.Error(f)
	}
}

func TestBufferStoreDropped(t *testing.T) {
	b := newMemoryBench()
	x := alloc(t, b.m, Spec{Name: "x", Size: 256, Data: make([]byte, 256)})
	memoryLines(t, b, isa.GFX942, 0, 0, func(w *Wave) {
		w.writeS64(4, x.Addr())
		w.S[6], w.S[7] = 256, 0x27000
		for l := range Lanes {
			w.V[2][l] = uint32(8 * l)
			if l%2 == 1 {
				w.V[2][l] = 0x80000000
			}
		}
	}, "buffer_store_dword v8, v2, s[4:7], 0 offen")
	if diff := cmp.Diff([]string{"out-of-bounds write x 16"}, b.faults()); diff != "" {
		t.Error(diff)
	}
	_, written := x.Words()
	for i, got := range written {
		if want := i%4 == 0; got != want {
			t.Errorf("word %d: written is %v", i, got)
		}
	}
}

func TestBufferRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		v    [4]uint32
		line string
	}{
		{"swizzle", [4]uint32{0, 1 << 31, 256, 0x27000}, "buffer_load_dword v8, v2, s[4:7], 0 offen"},
		{"add TID", [4]uint32{0, 0, 256, 0x27000 | 1<<23}, "buffer_load_dword v8, v2, s[4:7], 0 offen"},
		{"not a buffer", [4]uint32{0, 0, 256, 1 << 31}, "s_buffer_load_dword s10, s[4:7], 0x0"},
		{"format", [4]uint32{0, 0, 256, 0x27000}, "buffer_load_format_x v8, v2, s[4:7], 0 offen"},
		{"typed", [4]uint32{0, 0, 256, 0x27000}, "tbuffer_load_format_x v8, off, s[4:7], 0"},
	} {
		w := memoryLines(t, newMemoryBench(), isa.GFX942, 0, 0, func(w *Wave) { copy(w.S[4:], c.v[:]) }, c.line)
		if w.trap == nil || w.trap.KernelsFault() {
			t.Errorf("%s: trap is %v", c.name, w.trap)
		}
	}
}

func TestScalarLoads(t *testing.T) {
	for _, c := range []struct {
		line string
		n    int
		at   int // none: 0 everywhere
		want []string
	}{
		{"s_load_dword s20, s[2:3], 0x10", 1, 16, nil},
		{"s_load_dwordx2 s[20:21], s[2:3], 0x8", 2, 8, nil},
		{"s_load_dwordx4 s[20:23], s[2:3], s9", 4, 100, nil},
		{"s_load_dwordx8 s[20:27], s[2:3], s9 offset:0x4", 8, 104, nil},
		{"s_load_dwordx16 s[20:35], s[2:3], 0x0", 16, 0, nil},
		{"s_load_dword s20, s[2:3], 0x13", 1, 16, nil}, // the low two bits are dropped
		{"s_load_dword s20, s[2:3], 0x100", 1, -1, []string{"out-of-bounds read x 1"}},
		{"s_load_dword s20, s[2:3], -0x4", 1, -1, []string{"out-of-bounds read x 1"}},
		{"s_buffer_load_dword s20, s[4:7], 0x20", 1, 32, nil},
		{"s_buffer_load_dwordx4 s[20:23], s[4:7], s9", 4, 100, nil},
		{"s_buffer_load_dword s20, s[4:7], 0x100", 1, -1, []string{"out-of-bounds read x 1"}},
	} {
		for _, total := range []uint64{1, 2} {
			b := newMemoryBench()
			x := alloc(t, b.m, Spec{Name: "x", Size: 256, Data: patternBytes(256)})
			w := b.start(testProgram(t, isa.GFX942, c.line, "s_endpgm"), 0, 0, total)
			w.writeS64(2, x.Addr())
			w.writeS64(4, x.Addr())
			w.S[6], w.S[7], w.S[9] = 256, 0x27000, 100
			w.run(10)
			for i := range c.n {
				want := uint32(0)
				if c.at >= 0 {
					want = binary.LittleEndian.Uint32(patternBytes(256)[c.at+4*i:])
				}
				if got := w.readS(20 + i); got != want {
					t.Errorf("%s: dword %d is %#x, want %#x", c.line, i, got, want)
				}
			}
			if diff := cmp.Diff(c.want, b.faults()); diff != "" {
				t.Errorf("%s: %s", c.line, diff)
			}
		}
	}
}

func TestScalarClockAndCaches(t *testing.T) {
	w := memoryLines(t, newMemoryBench(), isa.GFX942, 0, 0, nil,
		"s_memtime s[4:5]", "s_dcache_inv", "s_dcache_wb", "s_memtime s[6:7]", "buffer_inv sc1", "buffer_wbl2 sc1")
	if w.trap != nil {
		t.Fatal(w.trap)
	}
	if a, b := w.readS64(4), w.readS64(6); a >= b {
		t.Errorf("the clock goes from %d to %d", a, b)
	}
}

func TestScalarStore(t *testing.T) {
	b := newMemoryBench()
	x := alloc(t, b.m, Spec{Name: "x", Size: 64, Data: make([]byte, 64)})
	w := memoryLines(t, b, isa.GFX942, 0, 0, func(w *Wave) {
		w.writeS64(2, x.Addr())
		w.S[8], w.S[9] = 11, 12
	}, "s_store_dwordx2 s[8:9], s[2:3], 0x10", "s_load_dwordx2 s[12:13], s[2:3], 0x10")
	if w.trap != nil {
		t.Fatal(w.trap)
	}
	if got := [2]uint32{w.S[12], w.S[13]}; got != [2]uint32{11, 12} {
		t.Errorf("loaded %v", got)
	}
}
