package gpu

import (
	"testing"

	"mqaproof/sim/isa"
)

// TestConstants64 reads constants as 64-bit operands: a literal is the low half
// of bits and unsigned integers, a sign-extended signed integer, or the high
// half of a float64, by the operand's type and nothing else (llvm-project pull
// request 70274). Inline integers are sign-extended for all types, also where
// the type is unsigned, and inline floats are float64s.
func TestConstants64(t *testing.T) {
	const lit = uint64(0x90000000)
	const ext = uint64(0xffffffff_90000000)
	for line, want := range map[string]uint64{
		// Bits and unsigned integers.
		"s_mov_b64 s[10:11], 0x90000000":                 lit,
		"s_mov_b64 s[10:11], 0xffffffff":                 0xffffffff,
		"s_not_b64 s[10:11], 0x90000000":                 ^lit,
		"s_and_b64 s[10:11], -1, 0x90000000":             lit,
		"s_or_b64 s[10:11], 0x90000000, 0":               lit,
		"s_xor_b64 s[10:11], 0x90000000, -1":             ^lit,
		"s_xnor_b64 s[10:11], 0x90000000, 0":             ^lit,
		"s_nand_b64 s[10:11], 0x90000000, -1":            ^lit,
		"s_nor_b64 s[10:11], 0x90000000, 0":              ^lit,
		"s_andn2_b64 s[10:11], 0x90000000, 0":            lit,
		"s_orn2_b64 s[10:11], 0, 0x90000000":             ^lit,
		"s_brev_b64 s[10:11], 0x90000000":                0x9_00000000,
		"s_cselect_b64 s[10:11], 0x90000000, 0x90000000": lit,
		"s_cmov_b64 s[10:11], 0x90000000":                lit,
		"s_lshl_b64 s[10:11], 0x90000000, 4":             lit << 4,
		"s_lshr_b64 s[10:11], 0x90000000, 4":             lit >> 4,
		"s_bfe_u64 s[10:11], 0x90000000, s12":            lit,
		"s_wqm_b64 s[10:11], 0x90000000":                 0xf0000000,
		"v_mov_b64 v[10:11], 0x90000000":                 lit,
		"v_mov_b64 v[10:11], 0xffffff00":                 0xffffff00,
		// Signed integers.
		"s_ashr_i64 s[10:11], 0x90000000, 4":  0xfffffffff9000000,
		"s_bfe_i64 s[10:11], 0x90000000, s12": ext,
		// Inline constants.
		"s_mov_b64 s[10:11], -1":                  ^uint64(0),
		"s_mov_b64 s[10:11], -16":                 ^uint64(15),
		"s_mov_b64 s[10:11], 64":                  64,
		"s_lshr_b64 s[10:11], -16, 4":             ^uint64(15) >> 4,
		"v_mov_b64 v[10:11], -16":                 ^uint64(15),
		"v_lshl_add_u64 v[10:11], -16, 1, 0":      ^uint64(31),
		"v_lshrrev_b64 v[10:11], 4, -16":          ^uint64(15) >> 4,
		"s_mov_b64 s[10:11], -4.0":                0xc010000000000000,
		"v_mov_b64 v[10:11], 0.5":                 0x3fe0000000000000,
		"s_mov_b64 s[10:11], 0.15915494309189532": 0x3fc45f306dc9c882,
		"v_mov_b64 v[10:11], 0.15915494309189532": 0x3fc45f306dc9c882,
		// Float64.
		"v_trunc_f64 v[10:11], 0xc1f00000":           0xc1f0000000000000,
		"v_fmac_f64 v[10:11], 0xc1f00000, v[12:13]":  0xc1f0000000000000, // v[10:11] + x * 1.0
		"v_add_f64 v[10:11], 0.15915494309189532, 0": 0x3fc45f306dc9c882,
		"v_add_f64 v[10:11], -4.0, 0":                0xc010000000000000,
		"v_frexp_mant_f64 v[10:11], 0x7ff00000":      0x7ff0000000000000,
	} {
		w := runLines(t, isa.GFX942, func(w *Wave) {
			w.SCC, w.S[12] = true, 0x280000
			w.V[10], w.V[11] = vreg{}, vreg{}
			for l := range Lanes {
				w.V[12][l], w.V[13][l] = 0, 0x3ff00000
			}
		}, line)
		got := w.readS64(10)
		if line[0] == 'v' {
			got = uint64(w.V[10][5]) | uint64(w.V[11][5])<<32
		}
		if got != want {
			t.Errorf("%s gives %#x, want %#x", line, got, want)
		}
	}
}

// TestLiteralsCompared reads literals in 64-bit comparisons and in
// instructions whose result is narrower than their source.
func TestLiteralsCompared(t *testing.T) {
	narrow := func(x uint64) func(w *Wave) {
		return func(w *Wave) {
			w.writeS64(8, x)
			for l := range Lanes {
				w.V[2][l], w.V[3][l] = uint32(x), uint32(x>>32)
			}
		}
	}
	const low, extended = 0x90000000, 0xffffffff_90000000
	for _, c := range []struct {
		line string
		x    uint64
		want bool
	}{
		{"s_cmp_eq_u64 s[8:9], 0x90000000", low, true},
		{"s_cmp_eq_u64 s[8:9], 0x90000000", extended, false},
		{"s_cmp_lg_u64 0x90000000, s[8:9]", low, false},
		{"s_cmp_eq_u64 s[8:9], -16", ^uint64(15), true},
		{"s_bitcmp1_b64 0x90000000, 40", 0, false},
		{"v_cmp_eq_u64 vcc, 0x90000000, v[2:3]", low, true},
		{"v_cmp_eq_u64 vcc, 0x90000000, v[2:3]", extended, false},
		{"v_cmp_gt_u64 vcc, 0x90000000, v[2:3]", 1 << 32, false},
		{"v_cmp_eq_i64 vcc, 0x90000000, v[2:3]", low, false},
		{"v_cmp_eq_i64 vcc, 0x90000000, v[2:3]", extended, true},
		{"v_cmp_lt_i64 vcc, 0x90000000, v[2:3]", 0, true},
		{"v_cmp_eq_u64 vcc, -16, v[2:3]", ^uint64(15), true},
		{"v_cmp_eq_f64 vcc, 0xc1f00000, v[2:3]", 0xc1f0000000000000, true},
	} {
		w := runLines(t, isa.GFX942, narrow(c.x), c.line)
		got := w.SCC
		if c.line[0] == 'v' {
			if got = w.VCC != 0; got && w.VCC != allLanes {
				t.Errorf("%s with %#x: lanes differ: %#x", c.line, c.x, w.VCC)
			}
		}
		if got != c.want {
			t.Errorf("%s with %#x gives %v", c.line, c.x, got)
		}
	}
	for line, want := range map[string]uint32{
		"s_bcnt1_i32_b64 s10, 0x90000000": 2,
		"s_bcnt0_i32_b64 s10, 0x90000000": 62,
		"s_ff0_i32_b64 s10, 0xffffffff":   32,
		"s_flbit_i32_b64 s10, 0x90000000": 32,
		"s_flbit_i32_i64 s10, 0x90000000": 33,
	} {
		if got := runLines(t, isa.GFX942, nil, line).S[10]; got != want {
			t.Errorf("%s gives %d, want %d", line, got, want)
		}
	}
}
