package gpu

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mqaproof/sim/isa"
)

// pointers puts addr + 16*lane into v[0:1], 16*lane into v2 and addr into s[2:3].
func pointers(w *Wave, addr uint64) {
	for l := range Lanes {
		at := addr + uint64(16*l)
		w.V[0][l], w.V[1][l], w.V[2][l] = uint32(at), uint32(at>>32), uint32(16*l)
	}
	w.writeS64(2, addr)
}

func TestGlobalLoad(t *testing.T) {
	const size = 8192
	at := func(add int) func(l int) int { return func(l int) int { return 4096 + 16*l + add } }
	type row struct {
		line  string
		parts []part
	}
	rows := []row{
		{"global_load_dword v8, v[0:1], off", dwords(1, at(0))},
		{"global_load_dword v8, v[0:1], off offset:-3", dwords(1, at(-3))}, // unaligned access mode
		{"global_load_dword v8, v2, s[2:3] offset:3001", dwords(1, at(3001))},
		{"global_load_dwordx2 v[8:9], v[0:1], off offset:8", dwords(2, at(8))},
		{"global_load_dwordx3 v[8:10], v[0:1], off offset:-4096", dwords(3, at(-4096))},
		{"global_load_dwordx4 v[8:11], v2, s[2:3] offset:32", dwords(4, at(32))},
		{"flat_load_dword v8, v[0:1] offset:16", dwords(1, at(16))},
		{"flat_load_dwordx4 v[8:11], v[0:1]", dwords(4, at(0))},
		{"global_load_dwordx2 v[0:1], v[0:1], off", []part{{0, dwordAt(at(0))}, {1, dwordAt(at(4))}}},
	}
	for _, f := range narrowFormats {
		rows = append(rows,
			row{"global_load_" + f.other + " v8, v[0:1], off offset:7", narrow(at(7), f.f)},
			row{"flat_load_" + f.other + " v8, v[0:1] offset:7", narrow(at(7), f.f)})
	}
	// The same bytes through each way that a load can take.
	for _, kind := range []struct {
		name  string
		total uint64
		spec  Spec
	}{
		{"initialised", 1, Spec{Size: size}},
		{"partly initialised", 1, Spec{Size: size + 64}},
		{"tracked", 2, Spec{Size: size}},
		{"sparse", 1, Spec{Size: contiguousLimit + 1}},
		{"sparse, tracked", 2, Spec{Size: contiguousLimit + 1}},
	} {
		for _, exec := range []uint64{allLanes, someLanes} {
			for _, r := range rows {
				b := newMemoryBench()
				kind.spec.Name, kind.spec.Data = "x", patternBytes(size)
				x := alloc(t, b.m, kind.spec)
				w := b.start(testProgram(t, isa.GFX942, r.line, "s_endpgm"), 0, 0, kind.total)
				for i := range w.V {
					for l := range w.V[i] {
						w.V[i][l] = uint32(i)<<16 | uint32(l)<<8 | 0x5a
					}
				}
				pointers(w, x.Addr()+4096)
				w.EXEC = exec
				before := append([]vreg(nil), w.V...)
				w.run(10)
				checkParts(t, kind.name+": "+r.line, w, before, patternBytes(size+64), r.parts)
				if f := b.faults(); f != nil {
					t.Errorf("%s: %s: %v", kind.name, r.line, f)
				}
			}
		}
	}
}

func TestGlobalStore(t *testing.T) {
	const size = 8192
	type piece struct{ off, reg, shift, n int }
	for _, r := range []struct {
		line   string
		pieces []piece
	}{
		{"global_store_byte v[0:1], v8, off offset:3", []piece{{3, 8, 0, 1}}},
		{"global_store_byte_d16_hi v[0:1], v8, off", []piece{{0, 8, 16, 1}}},
		{"global_store_short v[0:1], v8, off offset:-5", []piece{{-5, 8, 0, 2}}},
		{"global_store_short_d16_hi v2, v8, s[2:3]", []piece{{0, 8, 16, 2}}},
		{"global_store_dword v[0:1], v8, off", []piece{{0, 8, 0, 4}}},
		{"global_store_dword v2, v8, s[2:3] offset:6", []piece{{6, 8, 0, 4}}},
		{"global_store_dwordx2 v[0:1], v[8:9], off", []piece{{0, 8, 0, 4}, {4, 9, 0, 4}}},
		{"global_store_dwordx3 v[0:1], v[8:10], off", []piece{{0, 8, 0, 4}, {4, 9, 0, 4}, {8, 10, 0, 4}}},
		{"global_store_dwordx4 v[0:1], v[8:11], off", []piece{{0, 8, 0, 4}, {4, 9, 0, 4}, {8, 10, 0, 4}, {12, 11, 0, 4}}},
		{"flat_store_dwordx2 v[0:1], v[8:9] offset:4", []piece{{4, 8, 0, 4}, {8, 9, 0, 4}}},
	} {
		for _, kind := range []struct {
			name  string
			total uint64
			size  uint64
		}{{"plain", 1, size}, {"tracked", 2, size}, {"sparse", 1, contiguousLimit + 1}, {"sparse, tracked", 2, contiguousLimit + 1}} {
			b := newMemoryBench()
			x := alloc(t, b.m, Spec{Name: "x", Size: kind.size})
			w := b.start(testProgram(t, isa.GFX942, r.line, "s_endpgm"), 0, 0, kind.total)
			for i := range w.V {
				for l := range w.V[i] {
					w.V[i][l] = uint32(i)<<16 | uint32(l)<<8 | 0x5a
				}
			}
			pointers(w, x.Addr()+4096)
			w.EXEC = someLanes
			w.run(10)
			b.l.settle(b.l.total)
			want, stored := make([]byte, size), make([]bool, size)
			for l := range Lanes {
				if someLanes>>l&1 == 0 {
					continue
				}
				for _, p := range r.pieces {
					for i := range p.n {
						at := 4096 + 16*l + p.off + i
						want[at], stored[at] = byte(w.V[p.reg][l]>>(p.shift+8*i)), true
					}
				}
			}
			got, err := x.Read(0, size)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s: %s", kind.name, r.line, diff)
			}
			for what, query := range map[string]func(off, n uint64) ([]bool, error){"written": x.Written, "initialised": x.Initialised} {
				bits, err := query(0, size)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(stored, bits); diff != "" {
					t.Errorf("%s: %s: %s: %s", kind.name, r.line, what, diff)
				}
			}
			if f := b.faults(); f != nil {
				t.Errorf("%s: %s: %v", kind.name, r.line, f)
			}
		}
	}
}

func TestGlobalFaults(t *testing.T) {
	for _, c := range []struct {
		line string
		at   int64 // of lane 0, from the buffer's start; other lanes are off
		init int   // bytes that are
		ro   bool
		want []string
	}{
		{"global_load_dword v8, v[0:1], off", 252, 256, false, nil},
		{"global_load_dword v8, v[0:1], off", 253, 256, false, []string{"out-of-bounds read x 1"}},
		{"global_load_dwordx4 v[8:11], v[0:1], off", 244, 256, false, []string{"out-of-bounds read x 1"}},
		{"global_load_dword v8, v[0:1], off", -1, 256, false, []string{"out-of-bounds read x 1"}},
		{"global_load_dword v8, v[0:1], off", -1 << 31, 256, false, []string{"out-of-bounds read x 1"}},
		{"global_load_dword v8, v[0:1], off", 1 << 31, 256, false, []string{"out-of-bounds read x 1"}},
		{"global_load_ubyte v8, v[0:1], off", 100, 100, false, []string{"read of uninitialised memory x 1"}},
		{"global_load_dwordx4 v[8:11], v[0:1], off", 244, 250, false, []string{"read of uninitialised memory x 1", "out-of-bounds read x 1"}},
		{"global_store_dword v[0:1], v8, off", 253, 0, false, []string{"out-of-bounds write x 1"}},
		{"global_store_byte v[0:1], v8, off", 256, 0, false, []string{"out-of-bounds write x 1"}},
		{"global_store_dwordx4 v[0:1], v[8:11], off", 0, 256, true, []string{"write to read-only memory x 1"}},
		{"global_atomic_add v[0:1], v8, off", 256, 256, false, []string{"out-of-bounds write x 1"}},
		{"global_atomic_add v[0:1], v8, off", 6, 256, false, []string{"misaligned access x 1"}},
		{"global_atomic_add_x2 v[0:1], v[8:9], off", 4, 256, false, []string{"misaligned access x 1"}},
		{"global_atomic_add v[0:1], v8, off", 8, 256, true, []string{"write to read-only memory x 1"}},
		{"global_atomic_add v[0:1], v8, off", 8, 8, false, []string{"read of uninitialised memory x 1"}},
	} {
		for _, total := range []uint64{1, 2} {
			b := newMemoryBench()
			x := alloc(t, b.m, Spec{Name: "x", Size: 256, Data: patternBytes(c.init), ReadOnly: c.ro})
			w := b.start(testProgram(t, isa.GFX942, c.line, "s_endpgm"), 0, 0, total)
			pointers(w, x.Addr()+uint64(c.at))
			w.EXEC = 1
			w.run(10)
			got := b.faults()
			if len(c.want) == 2 && len(got) == 2 && got[0] != c.want[0] {
				got[0], got[1] = got[1], got[0]
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s at %d: %s", c.line, c.at, diff)
			}
		}
	}
}

// TestPartlyOutOfBounds: the dwords that are in bounds are loaded and stored.
func TestPartlyOutOfBounds(t *testing.T) {
	b := newMemoryBench()
	x := alloc(t, b.m, Spec{Name: "x", Size: 256, Data: patternBytes(256)})
	w := b.start(testProgram(t, isa.GFX942, "global_load_dwordx4 v[8:11], v[0:1], off", "global_store_dwordx4 v[0:1], v[12:15], off", "s_endpgm"), 0, 0, 1)
	pointers(w, x.Addr()+248)
	w.EXEC = 1
	w.V[12][0], w.V[13][0] = 0x11111111, 0x22222222
	w.run(10)
	le := binary.LittleEndian
	got := [4]uint32{w.V[8][0], w.V[9][0], w.V[10][0], w.V[11][0]}
	if want := [4]uint32{le.Uint32(patternBytes(256)[248:]), le.Uint32(patternBytes(256)[252:])}; got != want {
		t.Errorf("loaded %#x, want %#x", got, want)
	}
	data, err := x.Read(248, 8)
	if err != nil {
		t.Fatal(err)
	}
	if le.Uint64(data) != 0x2222222211111111 {
		t.Errorf("stored %x", data)
	}
}

func TestGlobalAtomic(t *testing.T) {
	const minus1 = 0xffffffff
	for _, c := range []struct {
		op                  string
		old, data, cmp, new uint64 // cmp lies in the registers after data
		wide                bool
	}{
		{"swap", 1, 2, 0, 2, false},
		{"cmpswap", 5, 9, 5, 9, false},
		{"cmpswap", 4, 9, 5, 4, false},
		{"add", minus1, 2, 0, 1, false},
		{"sub", 1, 2, 0, minus1, false},
		{"smin", 5, minus1, 0, minus1, false},
		{"umin", 5, minus1, 0, 5, false},
		{"smax", 5, minus1, 0, 5, false},
		{"umax", 5, minus1, 0, minus1, false},
		{"and", 0xf0, 0x3c, 0, 0x30, false},
		{"or", 0xf0, 0x3c, 0, 0xfc, false},
		{"xor", 0xf0, 0x3c, 0, 0xcc, false},
		{"inc", 7, 7, 0, 0, false},
		{"dec", 0, 7, 0, 7, false},
		{"add_f32", f32bits(1.5), f32bits(2), 0, f32bits(3.5), false},
		{"pk_add_f16", 0x3c00_4000, 0x3c00_3c00, 0, 0x4000_4200, false},
		{"pk_add_bf16", 0x3f80_4000, 0x3f80_3f80, 0, 0x4000_4040, false},
		{"swap_x2", 1, 1 << 40, 0, 1 << 40, true},
		{"cmpswap_x2", 1 << 40, 3, 1 << 40, 3, true},
		{"add_x2", minus1, 1, 0, 1 << 32, true},
		{"smin_x2", 5, 1 << 63, 0, 1 << 63, true},
		{"umin_x2", 5, 1 << 63, 0, 5, true},
		{"add_f64", f64bits(1.5), f64bits(2), 0, f64bits(3.5), true},
		{"max_f64", f64bits(1.5), f64bits(2), 0, f64bits(2), true},
	} {
		data, dst := "v4", "v8"
		switch {
		case c.wide && c.op == "cmpswap_x2":
			data, dst = "v[4:7]", "v[8:9]"
		case c.wide:
			data, dst = "v[4:5]", "v[8:9]"
		case c.op == "cmpswap":
			data = "v[4:5]"
		}
		for _, enc := range []string{
			// gfx942 has no buffer_atomic_pk_add_bf16.
			"global_atomic_" + c.op + " " + dst + ", v[0:1], " + data + ", off sc0",
			"flat_atomic_" + c.op + " " + dst + ", v[0:1], " + data + " sc0",
			"global_atomic_" + c.op + " v2, " + data + ", s[2:3]",
			"buffer_atomic_" + c.op + " " + data + ", v2, s[4:7], 0 offen sc0",
		} {
			if strings.HasPrefix(enc, "buffer_atomic_pk_add_bf16") {
				continue
			}
			b := newMemoryBench()
			x := alloc(t, b.m, Spec{Name: "x", Size: 16, Data: le64(c.old)})
			w := b.start(testProgram(t, isa.GFX942, enc, "s_endpgm"), 0, 0, 1)
			pointers(w, x.Addr())
			w.writeS64(4, x.Addr())
			w.S[6], w.S[7] = 16, 0x27000
			at := 5
			w.V[4][0] = uint32(c.data)
			if c.wide {
				w.V[5][0], at = uint32(c.data>>32), 6
			}
			if c.cmp != 0 {
				w.V[at][0], w.V[at+1][0] = uint32(c.cmp), uint32(c.cmp>>32)
			}
			w.EXEC = 1
			w.run(10)
			if w.trap != nil {
				t.Errorf("%s: %v", enc, w.trap)
				continue
			}
			got, err := x.Read(0, 8)
			if err != nil {
				t.Fatal(err)
			}
			if binary.LittleEndian.Uint64(got) != c.new {
				t.Errorf("%s on %#x with %#x, %#x: %x, want %#x", enc, c.old, c.data, c.cmp, got, c.new)
			}
			if r := w.V[8][0]; enc[:6] != "buffer" && enc[len(enc)-3:] == "sc0" && r != uint32(c.old) {
				t.Errorf("%s returned %#x, want %#x", enc, r, c.old)
			}
			if enc[:6] == "buffer" && w.V[4][0] != uint32(c.old) {
				t.Errorf("%s returned %#x, want %#x", enc, w.V[4][0], c.old)
			}
		}
	}
}

func TestScratch(t *testing.T) {
	for _, c := range []struct {
		lines []string
		want  func(l int) uint32 // v16
		fault []string
	}{
		{[]string{"scratch_store_dword off, v8, off offset:4", "scratch_load_dword v16, off, off offset:4"}, func(l int) uint32 { return 8<<16 | uint32(l)<<8 | 0x5a }, nil},
		{[]string{"scratch_store_dword v2, v8, off", "scratch_load_dword v16, v2, off"}, func(l int) uint32 { return 8<<16 | uint32(l)<<8 | 0x5a }, nil},
		{[]string{"scratch_store_dwordx4 off, v[8:11], s9", "scratch_load_dword v16, off, off offset:28"}, func(l int) uint32 { return 11<<16 | uint32(l)<<8 | 0x5a }, nil},
		{[]string{"scratch_store_dwordx2 off, v[8:9], off", "scratch_load_ushort v16, off, off offset:3"}, func(l int) uint32 { return 0x5a00 }, nil},
		{[]string{"scratch_store_byte off, v8, off offset:1", "scratch_load_ubyte v16, off, off offset:1"}, func(int) uint32 { return 0x5a }, nil},
		{[]string{"scratch_load_dword v16, off, off"}, func(int) uint32 { return 0 }, []string{"read of uninitialised memory scratch 64"}},
		{[]string{"scratch_store_short off, v8, off", "scratch_load_dword v16, off, off"}, func(l int) uint32 { return uint32(l)<<8 | 0x5a }, []string{"read of uninitialised memory scratch 64"}},
		{[]string{"scratch_load_dword v16, off, off offset:64"}, func(int) uint32 { return 0 }, []string{"out-of-bounds read scratch 64"}},
		{[]string{"scratch_store_dword off, v8, off offset:-4", "v_mov_b32 v16, 7"}, func(int) uint32 { return 7 }, []string{"out-of-bounds write scratch 64"}},
		// Through the aperture of flat addresses.
		{[]string{"scratch_store_dword off, v8, off offset:8", "flat_load_dword v16, v[4:5] offset:8"}, func(l int) uint32 { return 8<<16 | uint32(l)<<8 | 0x5a }, nil},
		{[]string{"flat_store_dword v[4:5], v8", "flat_atomic_add v16, v[4:5], v9 sc0", "scratch_load_dword v16, off, off"}, func(l int) uint32 { return 17<<16 + uint32(l)<<9 + 0xb4 }, nil},
		{[]string{"flat_load_dword v16, v[4:5] offset:64"}, func(int) uint32 { return 0 }, []string{"out-of-bounds read scratch 64"}},
	} {
		b := newMemoryBench()
		w := memoryLines(t, b, isa.GFX942, 0, 64, func(w *Wave) {
			for l := range Lanes {
				w.V[2][l] = uint32(l % 16 * 4)
				w.V[4][l], w.V[5][l] = 0, uint32(privateAperture>>32)
			}
			w.S[9] = 16
		}, c.lines...)
		if w.trap != nil {
			t.Errorf("%v: %v", c.lines, w.trap)
			continue
		}
		for l := range Lanes {
			if w.V[16][l] != c.want(l) {
				t.Errorf("%v: lane %d is %#x, want %#x", c.lines, l, w.V[16][l], c.want(l))
				break
			}
		}
		if diff := cmp.Diff(c.fault, b.faults()); diff != "" {
			t.Errorf("%v: %s", c.lines, diff)
		}
	}
}

// TestFlatSpaces: each lane of a FLAT instruction may go to another space.
func TestFlatSpaces(t *testing.T) {
	b := newMemoryBench()
	x := alloc(t, b.m, Spec{Name: "x", Size: 1024, Data: patternBytes(1024)})
	w := b.start(testProgram(t, isa.GFX942, "flat_store_dword v[0:1], v4", "flat_load_dword v8, v[0:1]", "s_endpgm"), 1024, 64, 1)
	for l := range Lanes {
		addr := []uint64{x.Addr() + uint64(4*l), sharedAperture + uint64(4*l), privateAperture + uint64(l%3*4)}[l%3]
		w.V[0][l], w.V[1][l], w.V[4][l] = uint32(addr), uint32(addr>>32), uint32(100+l)
	}
	w.run(10)
	for l := range Lanes {
		if w.V[8][l] != uint32(100+l) {
			t.Errorf("lane %d loaded %d", l, w.V[8][l])
		}
	}
	data, err := x.Read(12, 4)
	if err != nil {
		t.Fatal(err)
	}
	if got := binary.LittleEndian.Uint32(data); got != 103 {
		t.Errorf("global memory holds %d", got)
	}
	if got := binary.LittleEndian.Uint32(w.wg.lds.data[4:]); got != 101 {
		t.Errorf("LDS holds %d", got)
	}
	if f := b.faults(); f != nil {
		t.Error(f)
	}
}

func TestLoadToLDS(t *testing.T) {
	for _, c := range []struct {
		target isa.Target
		line   string
		size   int // bytes a lane
		off    int // added to both addresses
	}{
		{isa.GFX942, "global_load_lds_dword v[0:1], off", 4, 0},
		{isa.GFX942, "global_load_lds_dword v2, s[2:3] offset:16", 4, 16},
		{isa.GFX942, "buffer_load_dword v2, s[4:7], 0 offen offset:8 lds", 4, 8},
		{isa.GFX950, "global_load_lds_dwordx3 v[0:1], off", 12, 0},
		{isa.GFX950, "global_load_lds_dwordx4 v[0:1], off", 16, 0},
		{isa.GFX950, "buffer_load_dwordx4 v2, s[4:7], 0 offen lds", 16, 0},
	} {
		b := newMemoryBench()
		x := alloc(t, b.m, Spec{Name: "x", Size: 2048, Data: patternBytes(2048)})
		w := b.start(testProgram(t, c.target, c.line, "s_endpgm"), 4096, 0, 1)
		pointers(w, x.Addr())
		w.writeS64(4, x.Addr())
		w.S[6], w.S[7], w.S[regM0] = 2048, 0x27000, 512
		w.run(10)
		if w.trap != nil {
			t.Errorf("%s: %v", c.line, w.trap)
			continue
		}
		want := make([]byte, 4096)
		for l := range Lanes {
			copy(want[512+c.off+l*c.size:], patternBytes(2048)[16*l+c.off:][:c.size])
		}
		if diff := cmp.Diff(want, w.wg.lds.data); diff != "" {
			t.Errorf("%s: %s", c.line, diff)
		}
		if f := b.faults(); f != nil {
			t.Errorf("%s: %v", c.line, f)
		}
	}
}
