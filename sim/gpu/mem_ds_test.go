package gpu

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mqaproof/sim/isa"
)

// patternByte is what test memory holds at offset i.
func patternByte(i int) byte { return byte(i*37 + i>>8*11 + 3) }

func patternBytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = patternByte(i)
	}
	return b
}

// part is a dword of a result: what a register of lane l should hold, given
// the bytes of memory and the register before.
type part struct {
	reg  int
	want func(mem []byte, l int, old uint32) uint32
}

func dwordAt(off func(l int) int) func([]byte, int, uint32) uint32 {
	return func(mem []byte, l int, _ uint32) uint32 { return binary.LittleEndian.Uint32(mem[off(l):]) }
}

// dwords are registers 8 and up holding consecutive dwords from off on.
func dwords(n int, off func(l int) int) []part {
	var p []part
	for i := range n {
		p = append(p, part{8 + i, dwordAt(func(l int) int { return off(l) + 4*i })})
	}
	return p
}

func narrow(off func(l int) int, f func(lo, both uint32, old uint32) uint32) []part {
	return []part{{8, func(mem []byte, l int, old uint32) uint32 {
		return f(uint32(mem[off(l)]), uint32(binary.LittleEndian.Uint16(mem[off(l):])), old)
	}}}
}

// narrowFormats are the loads of less than a dword, by the part of the name
// that says so, as "u8" for LDS and as "ubyte" elsewhere.
var narrowFormats = []struct {
	ds, other string
	f         func(lo, both, old uint32) uint32
}{
	{"u8", "ubyte", func(lo, _, _ uint32) uint32 { return lo }},
	{"i8", "sbyte", func(lo, _, _ uint32) uint32 { return uint32(int32(int8(lo))) }},
	{"u16", "ushort", func(_, both, _ uint32) uint32 { return both }},
	{"i16", "sshort", func(_, both, _ uint32) uint32 { return uint32(int32(int16(both))) }},
	{"u8_d16", "ubyte_d16", func(lo, _, old uint32) uint32 { return old&0xffff0000 | lo }},
	{"u8_d16_hi", "ubyte_d16_hi", func(lo, _, old uint32) uint32 { return old&0xffff | lo<<16 }},
	{"i8_d16", "sbyte_d16", func(lo, _, old uint32) uint32 { return old&0xffff0000 | uint32(int32(int8(lo)))&0xffff }},
	{"i8_d16_hi", "sbyte_d16_hi", func(lo, _, old uint32) uint32 { return old&0xffff | uint32(int32(int8(lo)))<<16 }},
	{"u16_d16", "short_d16", func(_, both, old uint32) uint32 { return old&0xffff0000 | both }},
	{"u16_d16_hi", "short_d16_hi", func(_, both, old uint32) uint32 { return old&0xffff | both<<16 }},
}

// checkParts compares registers of the lanes that are on with want, and of the
// others with what they held before.
func checkParts(t *testing.T, line string, w *Wave, before []vreg, mem []byte, parts []part) {
	t.Helper()
	for _, p := range parts {
		for l := range Lanes {
			old := before[p.reg][l]
			want := old
			if w.EXEC>>l&1 != 0 {
				want = p.want(mem, l, old)
			}
			if got := w.V[p.reg][l]; got != want {
				t.Errorf("%s: lane %d of v%d is %#x, want %#x", line, l, p.reg, got, want)
				return
			}
		}
	}
}

// someLanes is an EXEC with lanes on and off in every byte.
const someLanes = uint64(0xf5a3_0ff1_8421_7e9d)

func TestDSRead(t *testing.T) {
	const size = 4096
	at := func(add int) func(l int) int { return func(l int) int { return 16*l + add } }
	type row struct {
		line  string
		parts []part
	}
	rows := []row{
		{"ds_read_b32 v8, v0 offset:4", dwords(1, at(4))},
		{"ds_read_b32 v8, v0 offset:5", dwords(1, at(5))}, // unaligned access mode
		{"ds_read_b64 v[8:9], v0 offset:8", dwords(2, at(8))},
		{"ds_read_b96 v[8:10], v0 offset:16", dwords(3, at(16))},
		{"ds_read_b128 v[8:11], v0 offset:32", dwords(4, at(32))},
		{"ds_read2_b32 v[8:9], v0 offset0:1 offset1:9", []part{{8, dwordAt(at(4))}, {9, dwordAt(at(36))}}},
		{"ds_read2_b64 v[8:11], v0 offset0:2 offset1:5", append(dwords(2, at(16)), part{10, dwordAt(at(40))}, part{11, dwordAt(at(44))})},
		{"ds_read2st64_b32 v[8:9], v0 offset0:1 offset1:3", []part{{8, dwordAt(at(256))}, {9, dwordAt(at(768))}}},
		{"ds_read2st64_b64 v[8:11], v0 offset0:1 offset1:2", append(dwords(2, at(512)), part{10, dwordAt(at(1024))}, part{11, dwordAt(at(1028))})},
		{"ds_read_b32 v0, v0 offset:4", []part{{0, dwordAt(at(4))}}},
		{"ds_read_b64 v[0:1], v0 offset:4", []part{{0, dwordAt(at(4))}, {1, dwordAt(at(8))}}},
		{"ds_read2_b32 v[0:1], v0 offset0:1 offset1:2", []part{{0, dwordAt(at(4))}, {1, dwordAt(at(8))}}},
	}
	for _, f := range narrowFormats {
		rows = append(rows, row{"ds_read_" + f.ds + " v8, v0 offset:7", narrow(at(7), f.f)})
	}
	for _, exec := range []uint64{allLanes, someLanes} {
		for _, r := range rows {
			b := newMemoryBench()
			var before []vreg
			w := memoryLines(t, b, isa.GFX942, size, 0, func(w *Wave) {
				copy(w.wg.lds.data, patternBytes(size))
				setBits(w.wg.lds.init, 0, size)
				for l := range Lanes {
					w.V[0][l] = uint32(16 * l)
				}
				w.EXEC = exec
				before = append(before, w.V...)
			}, r.line)
			checkParts(t, r.line, w, before, w.wg.lds.data, r.parts)
			if f := b.faults(); f != nil {
				t.Errorf("%s: %v", r.line, f)
			}
		}
	}
}

func TestDSWrite(t *testing.T) {
	const size = 4096
	// Each row says which bytes of which registers go where, relative to 16*l.
	type piece struct{ off, reg, shift, n int }
	for _, r := range []struct {
		line   string
		pieces []piece
	}{
		{"ds_write_b8 v0, v8 offset:3", []piece{{3, 8, 0, 1}}},
		{"ds_write_b8_d16_hi v0, v8 offset:3", []piece{{3, 8, 16, 1}}},
		{"ds_write_b16 v0, v8 offset:5", []piece{{5, 8, 0, 2}}},
		{"ds_write_b16_d16_hi v0, v8 offset:6", []piece{{6, 8, 16, 2}}},
		{"ds_write_b32 v0, v8", []piece{{0, 8, 0, 4}}},
		{"ds_write_b64 v0, v[8:9] offset:8", []piece{{8, 8, 0, 4}, {12, 9, 0, 4}}},
		{"ds_write_b96 v0, v[8:10]", []piece{{0, 8, 0, 4}, {4, 9, 0, 4}, {8, 10, 0, 4}}},
		{"ds_write_b128 v0, v[8:11] offset:16", []piece{{16, 8, 0, 4}, {20, 9, 0, 4}, {24, 10, 0, 4}, {28, 11, 0, 4}}},
		{"ds_write2_b32 v0, v8, v10 offset0:1 offset1:3", []piece{{4, 8, 0, 4}, {12, 10, 0, 4}}},
		{"ds_write2_b64 v0, v[8:9], v[12:13] offset0:0 offset1:1", []piece{{0, 8, 0, 4}, {4, 9, 0, 4}, {8, 12, 0, 4}, {12, 13, 0, 4}}},
		{"ds_write2st64_b32 v0, v8, v10 offset0:0 offset1:4", []piece{{0, 8, 0, 4}, {1024, 10, 0, 4}}},
		{"ds_write2st64_b64 v0, v[8:9], v[12:13] offset0:0 offset1:2", []piece{{0, 8, 0, 4}, {4, 9, 0, 4}, {1024, 12, 0, 4}, {1028, 13, 0, 4}}},
	} {
		for _, exec := range []uint64{allLanes, someLanes} {
			b := newMemoryBench()
			w := memoryLines(t, b, isa.GFX942, size, 0, func(w *Wave) {
				for l := range Lanes {
					w.V[0][l] = uint32(16 * l)
				}
				w.EXEC = exec
			}, r.line)
			want, init := make([]byte, size), make([]uint64, size/64)
			for l := range Lanes {
				if exec>>l&1 == 0 {
					continue
				}
				for _, p := range r.pieces {
					for i := range p.n {
						at := 16*l + p.off + i
						want[at] = byte(w.V[p.reg][l] >> (p.shift + 8*i))
						setBits(init, uint64(at), 1)
					}
				}
			}
			if string(want) != string(w.wg.lds.data) {
				t.Errorf("%s: LDS holds other bytes than expected", r.line)
			}
			if diff := cmp.Diff(init, w.wg.lds.init); diff != "" {
				t.Errorf("%s: initialised bytes: %s", r.line, diff)
			}
			if f := b.faults(); f != nil {
				t.Errorf("%s: %v", r.line, f)
			}
		}
	}
}

func f32bits(x float32) uint64 { return uint64(math.Float32bits(x)) }
func f64bits(x float64) uint64 { return math.Float64bits(x) }

// TestDSAtomic runs each operation on one lane. Data 0 is v[4:5], data 1 is
// v[6:7].
func TestDSAtomic(t *testing.T) {
	const minus1 = 0xffffffff
	for _, c := range []struct {
		op                    string
		old, data, data1, new uint64
		wide                  bool
	}{
		{"add_rtn_u32 v8, v0, v4", 0xfffffff0, 0x20, 0, 0x10, false},
		{"sub_rtn_u32 v8, v0, v4", 5, 7, 0, minus1 - 1, false},
		{"rsub_rtn_u32 v8, v0, v4", 5, 7, 0, 2, false},
		{"inc_rtn_u32 v8, v0, v4", 5, 7, 0, 6, false},
		{"inc_rtn_u32 v8, v0, v4", 7, 7, 0, 0, false},
		{"dec_rtn_u32 v8, v0, v4", 5, 7, 0, 4, false},
		{"dec_rtn_u32 v8, v0, v4", 0, 7, 0, 7, false},
		{"dec_rtn_u32 v8, v0, v4", 9, 7, 0, 7, false},
		{"min_rtn_i32 v8, v0, v4", 5, minus1, 0, minus1, false},
		{"max_rtn_i32 v8, v0, v4", 5, minus1, 0, 5, false},
		{"min_rtn_u32 v8, v0, v4", 5, minus1, 0, 5, false},
		{"max_rtn_u32 v8, v0, v4", 5, minus1, 0, minus1, false},
		{"and_rtn_b32 v8, v0, v4", 0xf0f0, 0xff00, 0, 0xf000, false},
		{"or_rtn_b32 v8, v0, v4", 0xf0f0, 0xff00, 0, 0xfff0, false},
		{"xor_rtn_b32 v8, v0, v4", 0xf0f0, 0xff00, 0, 0x0ff0, false},
		{"mskor_rtn_b32 v8, v0, v4, v6", 0xffff, 0xff0, 0x1a0, 0xf1af, false},
		{"wrxchg_rtn_b32 v8, v0, v4", 1, 2, 0, 2, false},
		{"cmpst_rtn_b32 v8, v0, v4, v6", 5, 5, 9, 9, false},
		{"cmpst_rtn_b32 v8, v0, v4, v6", 4, 5, 9, 4, false},
		{"cmpst_rtn_f32 v8, v0, v4, v6", f32bits(0), f32bits(float32(math.Copysign(0, -1))), 9, 9, false},
		{"wrap_rtn_b32 v8, v0, v4, v6", 9, 5, 100, 4, false},
		{"wrap_rtn_b32 v8, v0, v4, v6", 3, 5, 100, 103, false},
		{"add_rtn_f32 v8, v0, v4", f32bits(1.5), f32bits(2.25), 0, f32bits(3.75), false},
		{"min_rtn_f32 v8, v0, v4", f32bits(1.5), f32bits(-2), 0, f32bits(-2), false},
		{"max_rtn_f32 v8, v0, v4", f32bits(1.5), f32bits(-2), 0, f32bits(1.5), false},
		{"pk_add_rtn_f16 v8, v0, v4", 0x3c00_4000, 0x3c00_3c00, 0, 0x4000_4200, false},
		{"pk_add_rtn_bf16 v8, v0, v4", 0x3f80_4000, 0x3f80_3f80, 0, 0x4000_4040, false},
		{"add_rtn_u64 v[8:9], v0, v[4:5]", 0xffffffff, 1, 0, 1 << 32, true},
		{"sub_rtn_u64 v[8:9], v0, v[4:5]", 1 << 32, 1, 0, 0xffffffff, true},
		{"min_rtn_i64 v[8:9], v0, v[4:5]", 5, 1 << 63, 0, 1 << 63, true},
		{"max_rtn_u64 v[8:9], v0, v[4:5]", 5, 1 << 63, 0, 1 << 63, true},
		{"cmpst_rtn_b64 v[8:9], v0, v[4:5], v[6:7]", 1 << 40, 1 << 40, 1 << 50, 1 << 50, true},
		{"wrxchg_rtn_b64 v[8:9], v0, v[4:5]", 1 << 40, 1 << 50, 0, 1 << 50, true},
		{"add_rtn_f64 v[8:9], v0, v[4:5]", f64bits(1.5), f64bits(2.25), 0, f64bits(3.75), true},
		{"min_rtn_f64 v[8:9], v0, v[4:5]", f64bits(1.5), f64bits(-2), 0, f64bits(-2), true},
	} {
		b := newMemoryBench()
		w := memoryLines(t, b, isa.GFX942, 64, 0, func(w *Wave) {
			binary.LittleEndian.PutUint64(w.wg.lds.data[16:], c.old)
			setBits(w.wg.lds.init, 0, 64)
			w.V[0][0] = 8
			for i, x := range []uint64{c.data, c.data1} {
				w.V[4+2*i][0], w.V[5+2*i][0] = uint32(x), uint32(x>>32)
			}
			w.EXEC = 1
		}, "ds_"+c.op+" offset:8")
		if w.trap != nil {
			t.Errorf("%s: %v", c.op, w.trap)
			continue
		}
		got := binary.LittleEndian.Uint64(w.wg.lds.data[16:])
		old := uint64(w.V[8][0])
		if c.wide {
			old |= uint64(w.V[9][0]) << 32
		}
		if got != c.new || old != c.old {
			t.Errorf("%s on %#x with %#x, %#x: memory %#x, want %#x; returned %#x", c.op, c.old, c.data, c.data1, got, c.new, old)
		}
		if f := b.faults(); f != nil {
			t.Errorf("%s: %v", c.op, f)
		}
	}
}

func TestDSExchangeTwo(t *testing.T) {
	b := newMemoryBench()
	w := memoryLines(t, b, isa.GFX942, 64, 0, func(w *Wave) {
		copy(w.wg.lds.data, patternBytes(64))
		setBits(w.wg.lds.init, 0, 64)
		w.V[0][0], w.V[4][0], w.V[5][0] = 4, 111, 222
		w.EXEC = 1
	}, "ds_wrxchg2_rtn_b32 v[8:9], v0, v4, v5 offset0:1 offset1:3")
	le := binary.LittleEndian
	p := patternBytes(64)
	if w.V[8][0] != le.Uint32(p[8:]) || w.V[9][0] != le.Uint32(p[16:]) || le.Uint32(w.wg.lds.data[8:]) != 111 || le.Uint32(w.wg.lds.data[16:]) != 222 {
		t.Errorf("returned %#x %#x, LDS %x", w.V[8][0], w.V[9][0], w.wg.lds.data)
	}
}

// TestDSAtomicLanes: lanes act one after the other, the lowest first.
func TestDSAtomicLanes(t *testing.T) {
	b := newMemoryBench()
	w := memoryLines(t, b, isa.GFX942, 64, 0, func(w *Wave) {
		setBits(w.wg.lds.init, 0, 64)
		w.V[0] = vreg{}
		for l := range Lanes {
			w.V[4][l] = 1
		}
	}, "ds_add_rtn_u32 v8, v0, v4", "ds_add_u32 v0, v4")
	for l := range Lanes {
		if w.V[8][l] != uint32(l) {
			t.Errorf("lane %d got %d", l, w.V[8][l])
		}
	}
	if got := binary.LittleEndian.Uint32(w.wg.lds.data); got != 128 {
		t.Errorf("sum is %d", got)
	}
}

func TestDSFaults(t *testing.T) {
	for _, c := range []struct {
		line string
		addr uint32
		init uint64 // bytes that are
		want []string
	}{
		{"ds_read_b32 v8, v0", 60, 64, nil},
		{"ds_read_b32 v8, v0", 64, 64, []string{"out-of-bounds read lds 1"}},
		{"ds_read_b32 v8, v0", 62, 64, []string{"out-of-bounds read lds 1"}},
		{"ds_read_b128 v[8:11], v0", 56, 64, []string{"out-of-bounds read lds 1"}},
		{"ds_read_b32 v8, v0 offset:16", 0xfffffff4, 64, nil}, // addresses wrap at 32 bits
		{"ds_read_b32 v8, v0", 0xfffffff4, 64, []string{"out-of-bounds read lds 1"}},
		{"ds_read_b64 v[8:9], v0", 24, 28, []string{"read of uninitialised memory lds 1"}},
		{"ds_read2_b32 v[8:9], v0 offset0:0 offset1:20", 0, 64, []string{"out-of-bounds read lds 1"}},
		{"ds_read_u8 v8, v0", 28, 28, []string{"read of uninitialised memory lds 1"}},
		{"ds_write_b32 v0, v8", 62, 64, []string{"out-of-bounds write lds 1"}},
		{"ds_write_b8 v0, v8", 64, 64, []string{"out-of-bounds write lds 1"}},
		{"ds_add_u32 v0, v8", 64, 64, []string{"out-of-bounds write lds 1"}},
		{"ds_add_u32 v0, v8", 6, 64, []string{"misaligned access lds 1"}},
		{"ds_add_u64 v0, v[8:9]", 4, 64, []string{"misaligned access lds 1"}},
		{"ds_add_u32 v0, v8", 28, 28, []string{"read of uninitialised memory lds 1"}},
	} {
		b := newMemoryBench()
		memoryLines(t, b, isa.GFX942, 64, 0, func(w *Wave) {
			setBits(w.wg.lds.init, 0, c.init)
			w.V[0][3] = c.addr
			w.EXEC = 1 << 3
		}, c.line)
		if diff := cmp.Diff(c.want, b.faults()); diff != "" {
			t.Errorf("%s at %d: %s", c.line, c.addr, diff)
		}
	}
}

func TestDSLanes(t *testing.T) {
	for _, c := range []struct {
		line string
		from func(l int) int // the lane that lane l reads; -1: gets 0
		exec uint64
	}{
		{"ds_swizzle_b32 v8, v1 offset:swizzle(QUAD_PERM,3,0,2,1)", func(l int) int { return l&^3 | []int{3, 0, 2, 1}[l&3] }, allLanes},
		{"ds_swizzle_b32 v8, v1 offset:swizzle(SWAP,16)", func(l int) int { return l ^ 16 }, allLanes},
		{"ds_swizzle_b32 v8, v1 offset:swizzle(REVERSE,8)", func(l int) int { return l ^ 7 }, allLanes},
		{"ds_swizzle_b32 v8, v1 offset:swizzle(BROADCAST,4,2)", func(l int) int { return l&^3 | 2 }, allLanes},
		{"ds_swizzle_b32 v8, v1 offset:swizzle(SWAP,1)", func(l int) int { return l ^ 1 }, someLanes},
		{"ds_bpermute_b32 v8, v0, v1", func(l int) int { return (l*5 + 3) & 63 }, allLanes},
		{"ds_bpermute_b32 v8, v0, v1", func(l int) int { return (l*5 + 3) & 63 }, someLanes},
		{"ds_bpermute_b32 v8, v0, v1 offset:8", func(l int) int { return (l*5 + 5) & 63 }, allLanes},
	} {
		b := newMemoryBench()
		var before []vreg
		w := memoryLines(t, b, isa.GFX942, 0, 0, func(w *Wave) {
			for l := range Lanes {
				w.V[0][l] = uint32(l*5+3)*4 + 256*uint32(l&1) + 1
			}
			w.EXEC = c.exec
			before = append(before, w.V...)
		}, c.line)
		for l := range Lanes {
			want := before[8][l]
			if c.exec>>l&1 != 0 {
				if from := c.from(l); c.exec>>from&1 != 0 {
					want = before[1][from]
				} else {
					want = 0
				}
			}
			if w.V[8][l] != want {
				t.Errorf("%s, EXEC %#x: lane %d is %#x, want %#x", c.line, c.exec, l, w.V[8][l], want)
				break
			}
		}
	}
}

// TestDSPermute: lanes push; of several that push to one lane the highest wins,
// and a lane that none pushes to gets 0.
func TestDSPermute(t *testing.T) {
	for _, exec := range []uint64{allLanes, someLanes} {
		b := newMemoryBench()
		var before []vreg
		w := memoryLines(t, b, isa.GFX942, 0, 0, func(w *Wave) {
			for l := range Lanes {
				w.V[0][l] = uint32(l/2*3%64) * 4
			}
			w.EXEC = exec
			before = append(before, w.V...)
		}, "ds_permute_b32 v8, v0, v1")
		want := before[8]
		for l := range Lanes {
			if exec>>l&1 == 0 {
				continue
			}
			want[l] = 0
			for from := range Lanes {
				if exec>>from&1 != 0 && from/2*3%64 == l {
					want[l] = before[1][from]
				}
			}
		}
		if diff := cmp.Diff(want, w.V[8]); diff != "" {
			t.Errorf("EXEC %#x: %s", exec, diff)
		}
	}
}

func TestDSAddTID(t *testing.T) {
	b := newMemoryBench()
	w := memoryLines(t, b, isa.GFX942, 1024, 0, func(w *Wave) { w.S[regM0] = 256 },
		"ds_write_addtid_b32 v8 offset:16", "ds_read_addtid_b32 v9 offset:20")
	for l := range Lanes - 1 {
		if got := binary.LittleEndian.Uint32(w.wg.lds.data[272+4*l:]); got != w.V[8][l] || w.V[9][l] != w.V[8][l+1] {
			t.Errorf("lane %d: LDS %#x, read %#x", l, got, w.V[9][l])
		}
	}
	if diff := cmp.Diff([]string{"read of uninitialised memory lds 1"}, b.faults()); diff != "" {
		t.Error(diff)
	}
}

func TestDSRefused(t *testing.T) {
	for _, line := range []string{
		"ds_swizzle_b32 v8, v1 offset:swizzle(FFT,0)",
		"ds_append v8",
	} {
		if w := memoryLines(t, newMemoryBench(), isa.GFX942, 64, 0, nil, line); w.trap == nil || w.trap.KernelsFault() {
			t.Errorf("%s: trap is %v", line, w.trap)
		}
	}
	if w := memoryLines(t, newMemoryBench(), isa.GFX950, 64, 0, nil, "ds_read_b64_tr_b8 v[8:9], v0"); w.trap == nil || w.trap.Kind != TrapUnknownOpcode {
		t.Errorf("ds_read_b64_tr_b8: trap is %v", w.trap)
	}
}
