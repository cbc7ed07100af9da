package gpu

import (
	"math"
	"strings"
	"testing"

	"mqaproof/sim/isa"
)

// TestEveryFloat16 runs the operations of one float16 over all 65536 of them and
// compares with the same operation in float64, rounded once.
func TestEveryFloat16(t *testing.T) {
	cut := func(low, high float64) func(x float64) uint32 {
		return func(x float64) uint32 {
			if x != x {
				return 0
			}
			return uint32(uint16(int64(min(max(math.Trunc(x), low), high))))
		}
	}
	round := func(f func(x float64) float64) func(x float64) uint32 {
		return func(x float64) uint32 { return uint32(f64ToF16(f(x), true)) }
	}
	for _, c := range []struct {
		line string
		want func(x float64) uint32
		nan  bool // the result is a float, of which any NaN will do
	}{
		{"v_sqrt_f16 v0, v1", round(math.Sqrt), true},
		{"v_rcp_f16 v0, v1", round(func(x float64) float64 { return 1 / x }), true},
		{"v_rsq_f16 v0, v1", round(func(x float64) float64 { return 1 / math.Sqrt(x) }), true},
		{"v_floor_f16 v0, v1", round(math.Floor), true},
		{"v_ceil_f16 v0, v1", round(math.Ceil), true},
		{"v_trunc_f16 v0, v1", round(math.Trunc), true},
		{"v_rndne_f16 v0, v1", round(math.RoundToEven), true},
		{"v_fract_f16 v0, v1", func(x float64) uint32 {
			if x != x || math.IsInf(x, 0) {
				return 0x7e00
			}
			return min(uint32(f64ToF16(x-math.Floor(x), true)), 0x3bff) // below 1
		}, true},
		{"v_frexp_mant_f16 v0, v1", round(func(x float64) float64 { m, _ := math.Frexp(x); return m }), true},
		{"v_frexp_exp_i16_f16 v0, v1", func(x float64) uint32 {
			if x != x || math.IsInf(x, 0) {
				return 0
			}
			_, e := math.Frexp(x)
			return uint32(uint16(e))
		}, false},
		{"v_ldexp_f16 v0, v1, -9", round(func(x float64) float64 { return math.Ldexp(x, -9) }), true},
		{"v_ldexp_f16 v0, v1, 12", round(func(x float64) float64 { return math.Ldexp(x, 12) }), true},
		{"v_cvt_i16_f16 v0, v1", cut(-1<<15, 1<<15-1), false},
		{"v_cvt_u16_f16 v0, v1", cut(0, 1<<16-1), false},
		{"v_max_f16 v0, v1, v1", round(func(x float64) float64 { return x }), true},
		{"v_max_f16 v0, v1, v1 clamp", round(func(x float64) float64 {
			if x != x || x <= 0 {
				return 0 // DX10_CLAMP
			}
			return min(x, 1)
		}), false},
	} {
		p := testProgram(t, isa.GFX942, c.line, "s_endpgm")
		w := newWave(p)
		for first := 0; first < 1<<16; first += Lanes {
			w.pc, w.done = 0, false
			for l := range Lanes {
				w.V[1][l] = 0x12340000 | uint32(first+l)
			}
			w.run(2)
			if w.trap != nil {
				t.Fatal(w.trap)
			}
			for l := range Lanes {
				got, want := w.V[0][l], c.want(float64(f16ToF32(uint16(first+l))))
				bothNaN := c.nan && got&0x7fff > 0x7c00 && want&0x7fff > 0x7c00 && got>>16 == 0
				if got != want && !bothNaN {
					t.Fatalf("%s of %#x = %#x, want %#x", c.line, first+l, got, want)
				}
			}
		}
	}
}

// TestInteger16ToFloat16 converts all 16-bit integers.
func TestInteger16ToFloat16(t *testing.T) {
	p := testProgram(t, isa.GFX942, "v_cvt_f16_i16 v0, v1", "v_cvt_f16_u16 v2, v1", "s_endpgm")
	w := newWave(p)
	for first := 0; first < 1<<16; first += Lanes {
		w.pc, w.done = 0, false
		for l := range Lanes {
			w.V[1][l] = 0xabcd0000 | uint32(first+l)
		}
		w.run(3)
		for l := range Lanes {
			i := uint16(first + l)
			if got, want := w.V[0][l], uint32(f64ToF16(float64(int16(i)), true)); got != want {
				t.Fatalf("v_cvt_f16_i16 of %#x = %#x, want %#x", i, got, want)
			}
			if got, want := w.V[2][l], uint32(f64ToF16(float64(i), true)); got != want {
				t.Fatalf("v_cvt_f16_u16 of %#x = %#x, want %#x", i, got, want)
			}
		}
	}
}

// TestSmallOperations is float16 and 16-bit operations of more sources, dot
// products, and what else works on parts of a dword.
func TestSmallOperations(t *testing.T) {
	const nan, signalling, inf = 0x7e01, 0x7c01, 0x7c00
	for _, c := range []struct {
		line          string
		x, y, z, want uint32
	}{
		{"v_min_f16 v0, v1, v2", 0x3c00, 0xc000, 0, 0xc000},
		{"v_max_f16 v0, v1, v2", 0x3c00, nan, 0, 0x3c00},
		{"v_max_f16 v0, v1, v2", 0x3c00, signalling, 0, 0x7e01}, // IEEE mode
		{"v_max_f16 v0, v1, -v2", 0x3c00, 0xc000, 0, 0x4000},
		{"v_min_f16 v0, v1, v2", 0x8000, 0, 0, 0x8000},
		{"v_min3_f16 v0, v1, v2, v3", 0x3c00, 0x4000, 0xbc00, 0xbc00},
		{"v_max3_f16 v0, v1, v2, v3", 0x3c00, 0x4000, 0xbc00, 0x4000},
		{"v_med3_f16 v0, v1, v2, v3", 0x3c00, 0x4000, 0xbc00, 0x3c00},
		{"v_min3_i16 v0, v1, v2, v3", 5, 0x1ffff, 7, 0xffff},
		{"v_max3_i16 v0, v1, v2, v3", 5, 0x1ffff, 7, 7},
		{"v_med3_i16 v0, v1, v2, v3", 5, 0x1ffff, 7, 5},
		{"v_min3_u16 v0, v1, v2, v3", 5, 0x1ffff, 7, 5},
		{"v_max3_u16 v0, v1, v2, v3", 5, 0x1ffff, 7, 0xffff},
		{"v_med3_u16 v0, v1, v2, v3", 5, 0x1ffff, 7, 7},
		{"v_add_i16 v0, v1, v2", 0x7fff, 0x10001, 0, 0x8000},
		{"v_add_i16 v0, v1, v2 clamp", 0x7fff, 0x10001, 0, 0x7fff},
		{"v_add_i16 v0, v1, v2 clamp", 0x8000, 0xffff, 0, 0x8000},
		{"v_add_i16 v0, v1, v2 clamp", 0x8000, 5, 0, 0x8005},
		{"v_sub_i16 v0, v1, v2", 3, 5, 0, 0xfffe},
		{"v_sub_i16 v0, v1, v2 clamp", 0x8000, 1, 0, 0x8000},
		{"v_sub_i16 v0, v1, v2 clamp", 0x7000, 0x9000, 0, 0x7fff},
		{"v_div_fixup_f16 v0, v1, v2, v3", 0x4000, 0x3c00, 0xc000, 0xc000},
		{"v_div_fixup_f16 v0, v1, v2, v3", nan, 0, 0x3c00, inf},
		{"v_div_fixup_f16 v0, v1, v2, v3", nan, 0x8000, 0x3c00, 0xfc00},
		{"v_div_fixup_f16 v0, v1, v2, v3", nan, 0, 0, 0xfe00},
		{"v_div_fixup_f16 v0, v1, v2, v3", nan, inf, 0xfc00, 0xfe00},
		{"v_div_fixup_f16 v0, v1, v2, v3", nan, inf, 0xbc00, 0x8000},
		{"v_div_fixup_f16 v0, v1, v2, v3", 1, signalling, 0x3c00, 0x7e01},
		{"v_cvt_off_f32_i4 v0, v1", 0xf8, 0, 0, b32(-0.5)},
		{"v_cvt_off_f32_i4 v0, v1", 0xf7, 0, 0, b32(0.4375)},
		{"v_cvt_off_f32_i4 v0, v1", 0x1f, 0, 0, b32(-0.0625)},

		{"v_dot4_i32_i8 v0, v1, v2, v3 clamp", 0x7f7f7f7f, 0x7f7f7f7f, 0x7fffff00, 0x7fffffff},
		{"v_dot4_i32_i8 v0, v1, v2, v3 clamp", 0x80808080, 0x7f7f7f7f, 0x80000001, 0x80000000},
		{"v_dot4_i32_i8 v0, v1, v2, v3", 0x7f7f7f7f, 0x7f7f7f7f, 0x7fffff00, 0x8000fb04},
		// Clamped is the whole sum, not what it is made of.
		{"v_dot4_i32_i8 v0, v1, v2, v3 clamp", 0x00007f7f, 0x0000817f, 0x7fffffff, 0x7fffffff},
		{"v_dot4_u32_u8 v0, v1, v2, v3 clamp", 0xffffffff, 0xffffffff, 0xffff0000, 0xffffffff},
		{"v_dot4_u32_u8 v0, v1, v2, v3 clamp", 0x00ff0001, 0x00010002, 10, 267},
		{"v_dot8_i32_i4 v0, v1, v2, v3", 0x1f000002, 0x17000003, 100, 100},
		{"v_dot8_i32_i4 v0, v1, v2, v3 clamp", 0x88888888, 0x88888888, 0x7fffffff, 0x7fffffff},
		{"v_dot8_u32_u4 v0, v1, v2, v3", 0x1f000002, 0x17000003, 100, 212},
		{"v_dot8_u32_u4 v0, v1, v2, v3 clamp", 0xffffffff, 0xffffffff, 0xfffffff0, 0xffffffff},
		{"v_dot2_i32_i16 v0, v1, v2, v3 clamp", 0x80008000, 0x80008000, 5, 0x7fffffff},
		{"v_dot2_u32_u16 v0, v1, v2, v3", 0x00020003, 0x00040005, 1, 24},
		{"v_dot4c_i32_i8 v3, v1, v2", 0x01ff0203, 0x01010101, 10, 15},
		{"v_dot8c_i32_i4 v3, v1, v2", 0x1f000002, 0x17000003, 100, 100},
		{"v_dot2c_i32_i16 v3, v1, v2", 0xffff0003, 0x00020004, 10, 20},

		{"v_fma_mix_f32 v0, v1, v2, v3 clamp", b32(2), b32(3), 0, b32(1)},
		{"v_fma_mix_f32 v0, v1, v2, v3 clamp", b32(-2), b32(3), 0, 0},
		{"v_fma_mixlo_f16 v0, v1, v2, v3 clamp", b32(2), b32(3), 0, 0x3c00},
		{"v_fma_mixlo_f16 v0, v1, v2, v3 clamp", b32(0.5), b32(0.5), 0, 0x3400},

		{"v_pk_add_u16 v0, v1, v2 clamp", 0xffff0001, 0x00020001, 0, 0xffff0002},
		{"v_pk_sub_u16 v0, v1, v2 clamp", 0x00010005, 0x00020003, 0, 2},
		{"v_pk_add_i16 v0, v1, v2 clamp", 0x7fff8000, 0x0001ffff, 0, 0x7fff8000},
		{"v_pk_sub_i16 v0, v1, v2 clamp", 0x80000005, 0x00010007, 0, 0x8000fffe},
		{"v_pk_max_f16 v0, v1, v2", 0x3c00bc00, 0x7e014000, 0, 0x3c004000},
		{"v_pk_min_f16 v0, v1, v2 neg_lo:[0,1]", 0x3c00bc00, 0x7c014000, 0, 0x7e01c000},

		// A constant in both halves.
		{"v_pk_add_u16 v0, v1, -1 op_sel_hi:[1,0]", 0x00030004, 0, 0, 0x00020003},
		{"v_pk_lshlrev_b16 v0, 4, v1 op_sel_hi:[0,1]", 0x00030004, 0, 0, 0x00300040},
		{"v_pk_mul_f16 v0, v1, 2.0 op_sel_hi:[1,0]", 0x3c004000, 0, 0, 0x40004400},
	} {
		w := runLines(t, isa.GFX942, func(w *Wave) {
			w.V[0] = vreg{}
			fill(&w.V[1], c.x)
			fill(&w.V[2], c.y)
			fill(&w.V[3], c.z)
		}, c.line)
		got := w.V[0][5]
		if strings.HasPrefix(c.line[len("v_dot4"):], "c_") {
			got = w.V[3][5]
		}
		if got != c.want {
			t.Errorf("%s of %#x, %#x, %#x = %#x, want %#x", c.line, c.x, c.y, c.z, got, c.want)
		}
	}
	// Without IEEE mode a signalling NaN is a number missing, as a quiet one is.
	w := runLines(t, isa.GFX942, func(w *Wave) {
		w.mode &^= modeIEEE
		fill(&w.V[1], 0x3c00)
		fill(&w.V[2], signalling)
	}, "v_max_f16 v0, v1, v2")
	if w.V[0][0] != 0x3c00 {
		t.Errorf("v_max_f16 of 1 and a signalling NaN outside IEEE mode = %#x", w.V[0][0])
	}
}
