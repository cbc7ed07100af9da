package gpu

import (
	"math/bits"
	"math/rand/v2"
	"strconv"
	"testing"

	"mqaproof/sim/isa"
)

func TestReadAndWriteLane(t *testing.T) {
	w := runLines(t, isa.GFX942, func(w *Wave) { w.EXEC = 0xf0; w.S[3] = 70 },
		"v_readfirstlane_b32 s0, v5", "v_readlane_b32 s1, v5, s3", "v_readlane_b32 s2, v5, 63",
		"v_writelane_b32 v6, s3, 2", "v_writelane_b32 v6, -1, s3")
	if w.S[0] != 0x0005045a || w.S[1] != 0x0005065a || w.S[2] != 0x00053f5a {
		t.Errorf("read %#x, %#x, %#x", w.S[0], w.S[1], w.S[2])
	}
	if w.V[6][2] != 70 || w.V[6][6] != 0xffffffff || w.V[6][3] != 0x0006035a {
		t.Errorf("written %#x, %#x, beside them %#x", w.V[6][2], w.V[6][6], w.V[6][3])
	}
	w = runLines(t, isa.GFX942, func(w *Wave) { w.EXEC = 0 }, "v_readfirstlane_b32 s0, v5")
	if w.S[0] != 0x0005005a {
		t.Errorf("the first lane when all are off reads %#x, want lane 0's", w.S[0])
	}
}

func TestMbcnt(t *testing.T) {
	const mask = 0xf0f00ff0_1234abcd
	w := runLines(t, isa.GFX942, func(w *Wave) { w.writeS64(0, mask) }, "v_mbcnt_lo_u32_b32 v0, s0, 0", "v_mbcnt_hi_u32_b32 v0, s1, v0")
	for l := range Lanes {
		if want := uint32(bits.OnesCount64(mask & (1<<l - 1))); w.V[0][l] != want {
			t.Errorf("lane %d counts %d set bits below it, want %d", l, w.V[0][l], want)
		}
	}
}

// dppSource says where lane l reads under a control, -1 for nowhere; written
// from the ISA document's table.
var dppSource = map[string]func(l int) int{
	"quad_perm:[1,0,3,2]": func(l int) int { return l ^ 1 },
	"quad_perm:[0,0,0,3]": func(l int) int { return l/4*4 + []int{0, 0, 0, 3}[l%4] },
	"row_shl:3":           func(l int) int { return within(l, l+3) },
	"row_shr:1":           func(l int) int { return within(l, l-1) },
	"row_ror:4":           func(l int) int { return l/16*16 + (l%16+12)%16 },
	"wave_shl:1":          func(l int) int { return l + 1 - (l+1)/64*65 },
	"wave_rol:1":          func(l int) int { return (l + 1) % 64 },
	"wave_shr:1":          func(l int) int { return l - 1 },
	"wave_ror:1":          func(l int) int { return (l + 63) % 64 },
	"row_mirror":          func(l int) int { return l ^ 15 },
	"row_half_mirror":     func(l int) int { return l ^ 7 },
	"row_bcast:15":        func(l int) int { return l/16*16 - 1 },
	"row_bcast:31": func(l int) int {
		if l < 32 {
			return -1
		}
		return 31
	},
	"row_newbcast:9": func(l int) int { return l/16*16 + 9 },
}

func within(l, from int) int {
	if from < 0 || from/16 != l/16 {
		return -1
	}
	return from
}

// TestDPP also has the destination equal to the source: all lanes read the old
// values.
func TestDPP(t *testing.T) {
	for ctrl, source := range dppSource {
		for _, c := range []struct {
			masks     string
			row, bank int
			zero      bool
			exec      uint64
		}{
			{" row_mask:0xf bank_mask:0xf", 15, 15, false, allLanes},
			{" row_mask:0xf bank_mask:0xf bound_ctrl:1", 15, 15, true, allLanes},
			{" row_mask:0xa bank_mask:0x6", 10, 6, false, allLanes},
			{" row_mask:0xf bank_mask:0xf", 15, 15, false, 0x0f0ff0f0_fffe7fff},
			{" row_mask:0xf bank_mask:0xf bound_ctrl:1", 15, 15, true, 0x0f0ff0f0_fffe7fff},
		} {
			line := "v_mov_b32_dpp v3, v3 " + ctrl + c.masks
			w := runLines(t, isa.GFX942, func(w *Wave) { w.EXEC = c.exec }, line)
			for l := range Lanes {
				old := func(l int) uint32 { return 0x00030000 | uint32(l)<<8 | 0x5a }
				want := old(l)
				from := source(l)
				lost := from < 0 || c.exec>>from&1 == 0
				switch {
				case c.exec>>l&1 == 0 || c.row>>(l/16)&1 == 0 || c.bank>>(l/4%4)&1 == 0:
				case !lost:
					want = old(from)
				case c.zero:
					want = 0
				}
				if w.V[3][l] != want {
					t.Fatalf("%s, EXEC %#x: lane %d holds %#x, want %#x", line, c.exec, l, w.V[3][l], want)
				}
			}
		}
	}
	// Another operation, the destination being source 0.
	w := runLines(t, isa.GFX942, nil, "v_add_u32_dpp v3, v3, v4 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1")
	for l := range Lanes {
		var moved uint32
		if l%16 != 0 {
			moved = 0x00030000 | uint32(l-1)<<8 | 0x5a
		}
		if want := moved + (0x00040000 | uint32(l)<<8 | 0x5a); w.V[3][l] != want {
			t.Fatalf("lane %d of a sum holds %#x, want %#x", l, w.V[3][l], want)
		}
	}
}

func TestSDWA(t *testing.T) {
	const x, y, old = 0x80fe7f01, 0x11f2e384, 0xaabbccdd
	for _, c := range []struct {
		line string
		want uint32
	}{
		{"v_mov_b32_sdwa v0, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2", 0xfe},
		{"v_mov_b32_sdwa v0, sext(v1) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2", 0xfffffffe},
		{"v_mov_b32_sdwa v0, sext(v1) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1", 0xffff80fe},
		{"v_mov_b32_sdwa v0, v1 dst_sel:BYTE_1 dst_unused:UNUSED_PAD src0_sel:BYTE_3", 0x8000},
		{"v_mov_b32_sdwa v0, v1 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:BYTE_3", 0xffff8000},
		{"v_mov_b32_sdwa v0, v1 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_3", 0xaabb80dd},
		{"v_mov_b32_sdwa v0, v1 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0", 0x7f01ccdd},
		{"v_add_u32_sdwa v0, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:WORD_1", 0x11f3},
		{"v_add_u32_sdwa v0, v1, sext(v2) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:BYTE_0", 0xffffff85},
		{"v_or_b32_sdwa v0, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:DWORD", 0x11f2e3fe},
		{"v_lshlrev_b16_sdwa v0, v1, v2 dst_sel:BYTE_1 dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:BYTE_2", 0xe400},
	} {
		w := runLines(t, isa.GFX942, func(w *Wave) {
			fill(&w.V[0], old)
			fill(&w.V[1], x)
			fill(&w.V[2], y)
			w.EXEC = 1<<17 | 1
		}, c.line)
		if w.V[0][17] != c.want || w.V[0][16] != old {
			t.Errorf("%s: got %#x, want %#x (a lane that is off: %#x)", c.line, w.V[0][17], c.want, w.V[0][16])
		}
	}
	w := runLines(t, isa.GFX942, func(w *Wave) { fill(&w.V[1], x); fill(&w.V[2], 0x7f0000fe) }, "v_cmp_eq_u32_sdwa s[4:5], v1, v2 src0_sel:BYTE_2 src1_sel:BYTE_0")
	if w.readS64(4) != allLanes {
		t.Errorf("comparison of bytes: %#x", w.readS64(4))
	}
}

func TestPermlaneSwap(t *testing.T) {
	for n, line := range map[int]string{16: "v_permlane16_swap_b32 v0, v1", 32: "v_permlane32_swap_b32 v0, v1"} {
		w := runLines(t, isa.GFX950, nil, line)
		for l := range Lanes {
			// Rows of n lanes: d0 s1 | d1 s0 -> (d0 s0), (d1 s1).
			d, s := 0x0000005a|uint32(l)<<8, 0x0001005a|uint32(l)<<8
			if l/n%2 == 1 {
				d = 0x0001005a | uint32(l-n)<<8
			} else {
				s = 0x0000005a | uint32(l+n)<<8
			}
			if w.V[0][l] != d || w.V[1][l] != s {
				t.Errorf("%s lane %d: %#x and %#x, want %#x and %#x", line, l, w.V[0][l], w.V[1][l], d, s)
			}
		}
	}
	tr := trapOf(t, isa.GFX950, func(w *Wave) { w.EXEC = 1 }, "v_permlane32_swap_b32 v0, v1")
	if tr.Kind != TrapUnsupported {
		t.Errorf("with lanes off: %v", tr)
	}
}

func TestSwapAndAccumulationRegisters(t *testing.T) {
	w := runLines(t, isa.GFX942, func(w *Wave) { w.EXEC = 2 }, "v_swap_b32 v0, v1", "v_accvgpr_write_b32 a3, v7", "v_accvgpr_read_b32 v8, a4", "v_accvgpr_mov_b32 a5, a6", "v_accvgpr_write_b32 a7, 1.0")
	if w.V[0][1] != 0x0001015a || w.V[1][1] != 0x0000015a || w.V[0][0] != 0x5a {
		t.Errorf("swapped: %#x %#x, a lane that is off: %#x", w.V[0][1], w.V[1][1], w.V[0][0])
	}
	for _, c := range []struct {
		reg  int
		want uint32
	}{{firstAcc + 3, 0x0007015a}, {8, 0x0104015a}, {firstAcc + 5, 0x0106015a}, {firstAcc + 7, 0x3f800000}, {3, 0x0003015a}} {
		if got := w.V[c.reg][1]; got != c.want {
			t.Errorf("register %d holds %#x, want %#x", c.reg, got, c.want)
		}
	}
}

// TestHighRegisters is for 16-bit instructions on v128 and above, which are
// plain registers here, not the high halves that they are on RDNA.
func TestHighRegisters(t *testing.T) {
	w := runLines(t, isa.GFX942, func(w *Wave) { fill(&w.V[130], 0xffff0003); fill(&w.V[2], 0x77770000) },
		"v_lshlrev_b16 v200, 4, v130", "v_cvt_f16_f32 v201, 1.0", "v_cvt_f32_f16 v202, v201", "v_add_u16 v203, v130, v130")
	for _, c := range []struct {
		reg  int
		want uint32
	}{{200, 0x30}, {201, 0x3c00}, {202, 0x3f800000}, {203, 6}, {2, 0x77770000}, {72, 0x0048055a}, {73, 0x0049055a}} {
		if got := w.V[c.reg][5]; got != c.want {
			t.Errorf("v%d holds %#x, want %#x", c.reg, got, c.want)
		}
	}
}

func TestBitop3(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, table := range []int{0x00, 0xff, 0x80, 0xfe, 0x96, 0x6a, 0xe4, 0x15, 0xc8, 0x40} {
		line := "v_bitop3_b32 v0, v1, s2, v3 bitop3:" + strconv.Itoa(table)
		half := "v_bitop3_b16 v4, v1, v5, v3 bitop3:" + strconv.Itoa(table) + " op_sel:[1,0,0,1]"
		w := newWave(testProgram(t, isa.GFX950, line, half, "s_endpgm"))
		for l := range Lanes {
			w.V[1][l], w.V[3][l], w.V[5][l] = r.Uint32(), r.Uint32(), r.Uint32()
		}
		w.S[2] = r.Uint32()
		x, z, y := w.V[1], w.V[3], w.V[5]
		w.run(10)
		for l := range Lanes {
			bitop := func(x, y, z uint32) (r uint32) {
				for b := range 32 {
					r |= uint32(table) >> (x>>b&1<<2 | y>>b&1<<1 | z>>b&1) & 1 << b
				}
				return r
			}
			if want := bitop(x[l], w.S[2], z[l]); w.V[0][l] != want {
				t.Fatalf("%s of %#x, %#x, %#x = %#x, want %#x", line, x[l], w.S[2], z[l], w.V[0][l], want)
			}
			want := bitop(x[l]>>16, y[l], z[l])<<16 | 0x5a | uint32(l)<<8&0xffff
			if w.V[4][l] != want {
				t.Fatalf("%s = %#x, want %#x", half, w.V[4][l], want)
			}
		}
	}
}
