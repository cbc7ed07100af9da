package gpu

import (
	"math"
	"testing"

	"mqaproof/sim/isa"
)

// byDefinition is the value of an 8-bit float from its fields.
func byDefinition(code, mantissaBits int, fnuz bool) float64 {
	bias := 1<<(6-mantissaBits) - 1
	top := 1<<(7-mantissaBits) - 1 // all ones in the exponent
	exp, man := code>>mantissaBits&top, code&(1<<mantissaBits-1)
	switch {
	case fnuz && code == 0x80:
		return math.NaN()
	case fnuz:
		bias++
	case mantissaBits == 2 && exp == top && man == 0:
		return math.Copysign(math.Inf(1), float64(1-code>>7*2))
	case exp == top && (mantissaBits == 2 || man == 7):
		return math.NaN()
	}
	v := math.Ldexp(float64(man), 1-bias-mantissaBits)
	if exp > 0 {
		v = math.Ldexp(float64(1<<mantissaBits+man), exp-bias-mantissaBits)
	}
	if code >= 0x80 {
		v = -v
	}
	return v
}

func same64(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

// TestFromEightBits converts every code of the four formats: on gfx942 fp8 is
// e4m3fnuz and bf8 e5m2fnuz.
func TestFromEightBits(t *testing.T) {
	for _, target := range []isa.Target{isa.GFX942, isa.GFX950} {
		for mantissaBits, name := range map[int]string{3: "fp8", 2: "bf8"} {
			w := runLines(t, target, func(w *Wave) {
				for l := range Lanes {
					w.V[1][l] = uint32(4*l) | uint32(4*l+1)<<8 | uint32(4*l+2)<<16 | uint32(4*l+3)<<24
				}
			}, "v_cvt_f32_"+name+" v2, v1", "v_cvt_f32_"+name+"_sdwa v3, v1 src0_sel:BYTE_1",
				"v_cvt_f32_"+name+"_sdwa v4, v1 src0_sel:BYTE_2", "v_cvt_f32_"+name+"_sdwa v5, v1 src0_sel:BYTE_3",
				"v_cvt_pk_f32_"+name+" v[6:7], v1", "v_cvt_pk_f32_"+name+"_sdwa v[8:9], v1 src0_sel:WORD_1")
			for code := range 256 {
				want := byDefinition(code, mantissaBits, target == isa.GFX942)
				for _, base := range []int{2, 6} {
					if got := float64(f32(w.V[base+code%4][code/4])); !same64(got, want) {
						t.Errorf("%s %s code %#x gives %v, want %v", target, name, code, got, want)
					}
				}
			}
		}
	}
}

// TestToEightBits converts the value of each code, and values around the
// middle between it and the next.
func TestToEightBits(t *testing.T) {
	for _, target := range []isa.Target{isa.GFX942, isa.GFX950} {
		for mantissaBits, name := range map[int]string{3: "fp8", 2: "bf8"} {
			fnuz := target == isa.GFX942
			lo, hi := testProgram(t, target, "v_cvt_pk_"+name+"_f32 v0, v1, -v2", "s_endpgm"), testProgram(t, target, "v_cvt_pk_"+name+"_f32 v0, v1, -v2 op_sel:[0,0,1]", "s_endpgm")
			check := func(x float64, want int) {
				t.Helper()
				minus := want | 0x80
				switch {
				case fnuz && (want == 0 || want == 0x80):
					minus = want
				case x != x:
					return
				}
				for i, p := range []*Program{lo, hi} {
					w := newWave(p)
					w.V[0][3] = 0xaabbccdd
					w.V[1][3], w.V[2][3] = b32(float32(x)), b32(float32(x))
					w.run(10)
					code := uint32(want) | uint32(minus)<<8
					full := 0xaabb0000 | code
					if i == 1 {
						full = 0xccdd | code<<16
					}
					if w.V[0][3] != full {
						t.Errorf("%s %s of %v gives %#x, want %#x", target, name, x, w.V[0][3], full)
					}
				}
			}
			last := 0
			for code := 0; code < 0x7f; code++ {
				v, next := byDefinition(code, mantissaBits, fnuz), byDefinition(code+1, mantissaBits, fnuz)
				if math.IsInf(v, 0) || v != v {
					break
				}
				last = code
				check(v, code)
				if math.IsInf(next, 0) || next != next {
					break
				}
				mid := (v + next) / 2
				check(mid, code+code&1)
				check(float64(math.Nextafter32(float32(mid), 1e9)), code+1)
				check(float64(math.Nextafter32(float32(mid), 0)), code)
				last = code + 1
			}
			over := map[bool]int{true: 0x80, false: 0x7f}[fnuz]
			if !fnuz && mantissaBits == 2 {
				over = 0x7c
			}
			top := byDefinition(last, mantissaBits, fnuz)
			check(top*1.5, over)
			check(math.Inf(1), over)
		}
	}
}

func TestConversions(t *testing.T) {
	f := func(x float32) uint32 { return b32(x) }
	for _, c := range []struct {
		line    string
		x, y    uint32 // v1, v2
		want    uint32 // v0
		target  isa.Target
		wantTop uint32 // v1 after, for wide results in v[0:1]
	}{
		{"v_cvt_f32_i32 v0, v1", 0xfffffffe, 0, f(-2), isa.GFX942, 0},
		{"v_cvt_f32_u32 v0, v1", 0xffffffff, 0, f(4294967296), isa.GFX942, 0},
		{"v_cvt_f32_u32 v0, v1", 0x01000001, 0, f(16777216), isa.GFX942, 0},
		{"v_cvt_f32_u32 v0, v1", 0x01000003, 0, f(16777220), isa.GFX942, 0},
		{"v_cvt_i32_f32 v0, v1", f(-1.9), 0, 0xffffffff, isa.GFX942, 0},
		{"v_cvt_u32_f32 v0, v1", f(3e9), 0, 3000000000, isa.GFX942, 0},
		{"v_cvt_u32_f32 v0, -v1", f(3), 0, 0, isa.GFX942, 0},
		{"v_cvt_rpi_i32_f32 v0, v1", f(2.5), 0, 3, isa.GFX942, 0},
		{"v_cvt_flr_i32_f32 v0, v1", f(-2.5), 0, 0xfffffffd, isa.GFX942, 0},
		{"v_cvt_f32_ubyte0 v0, v1", 0x04030201, 0, f(1), isa.GFX942, 0},
		{"v_cvt_f32_ubyte3 v0, v1", 0xf4030201, 0, f(244), isa.GFX942, 0},
		{"v_cvt_f16_f32 v0, v1", f(-1.5), 0, 0xbe00, isa.GFX942, 0},
		{"v_cvt_f32_f16 v0, v1", 0xffffbe00, 0, f(-1.5), isa.GFX942, 0},
		{"v_cvt_pkrtz_f16_f32 v0, v1, v2", f(1.9999), f(70000), 0x7bff3fff, isa.GFX942, 0},
		{"v_cvt_pk_f16_f32 v0, v1, v2", f(1.9999), f(70000), 0x7c004000, isa.GFX950, 0},
		{"v_cvt_pk_bf16_f32 v0, v1, v2", f(1), f(-2), 0xc0003f80, isa.GFX950, 0},
		{"v_cvt_f32_bf16 v0, v1", 0x3f80, 0, f(1), isa.GFX950, 0},
		{"v_floor_f32 v0, v1", f(-0.5), 0, f(-1), isa.GFX942, 0},
		{"v_ceil_f32 v0, v1", f(-0.5), 0, signBit32, isa.GFX942, 0},
		{"v_trunc_f32 v0, v1", f(-1.5), 0, f(-1), isa.GFX942, 0},
		{"v_rndne_f32 v0, v1", f(2.5), 0, f(2), isa.GFX942, 0},
		{"v_fract_f32 v0, v1", f(-1.25), 0, f(0.75), isa.GFX942, 0},
		{"v_fract_f32 v0, v1", f(-1e-10), 0, 0x3f7fffff, isa.GFX942, 0},
		{"v_ldexp_f32 v0, v1, v2", f(1.5), ^uint32(129), 0x000c0000, isa.GFX942, 0},
		{"v_ldexp_f32 v0, v1, v2", f(1.5), 1000, inf32, isa.GFX942, 0},
		{"v_frexp_exp_i32_f32 v0, v1", f(8), 0, 4, isa.GFX942, 0},
		{"v_frexp_mant_f32 v0, v1", f(-12), 0, f(-0.75), isa.GFX942, 0},
		{"v_rcp_iflag_f32 v0, v1", f(4), 0, f(0.25), isa.GFX942, 0},
		{"v_add_f32 v0, v1, v2 clamp", f(3), f(-1), f(1), isa.GFX942, 0},
		{"v_add_f32 v0, v1, v2 clamp", f(-3), f(1), 0, isa.GFX942, 0},
		{"v_sub_f32 v0, |v1|, -v2", f(-3), f(1), f(4), isa.GFX942, 0},
		{"v_subrev_f32 v0, v1, v2", f(3), f(1), f(-2), isa.GFX942, 0},
		{"v_mul_legacy_f32 v0, v1, v2", inf32, 0, 0, isa.GFX942, 0},
		{"v_fmamk_f32 v0, v1, 0x41000000, v2", f(2), f(3), f(19), isa.GFX942, 0},
		{"v_fmaak_f32 v0, v1, v2, 0x41000000", f(2), f(3), f(14), isa.GFX942, 0},
		{"v_fma_f32 v0, -v1, v2, |v2|", f(2), f(-3), f(9), isa.GFX942, 0},
		{"v_med3_f32 v0, v1, v2, 1.0", f(2), f(-3), f(1), isa.GFX942, 0},
		{"v_max3_f32 v0, v1, v2, 1.0", f(2), f(-3), f(2), isa.GFX942, 0},
		{"v_min3_f32 v0, v1, v2, 1.0", f(2), 0x7fc00000, f(1), isa.GFX942, 0},
		{"v_minimum3_f32 v0, v1, v2, 1.0", f(2), 0x7fc00000, 0x7fc00000, isa.GFX950, 0},
		{"v_pack_b32_f16 v0, v1, -v2", 0xffff3c00, 0xffff4000, 0xc0003c00, isa.GFX942, 0},
		{"v_add_f16 v0, v1, v2", 0x3c00, 0x4000, 0x4200, isa.GFX942, 0},
		{"v_mul_f16 v0, -v1, v2", 0x4000, 0x4000, 0xc400, isa.GFX942, 0},
		{"v_add_f16 v0, 1.0, v2", 0, 0x4000, 0x4200, isa.GFX942, 0},
		{"v_add_u32 v0, v1, v2 clamp", 0xfffffff0, 0x20, 0xffffffff, isa.GFX942, 0},
		{"v_add_u32 v0, v1, v2 clamp", 0xfffffff0, 0x0f, 0xffffffff, isa.GFX942, 0},
		{"v_sub_u32 v0, v1, v2 clamp", 5, 6, 0, isa.GFX942, 0},
		{"v_subrev_u32 v0, v1, v2 clamp", 5, 6, 1, isa.GFX942, 0},
		{"v_add_i32 v0, v1, v2 clamp", 0x7fffffff, 1, 0x7fffffff, isa.GFX942, 0},
		{"v_sub_i32 v0, v1, v2 clamp", 0x80000000, 1, 0x80000000, isa.GFX942, 0},
		{"v_add_u16 v0, v1, v2 clamp", 0xffff, 2, 0xffff, isa.GFX942, 0},
		{"v_sub_u16 v0, v1, v2 clamp", 0x10001, 2, 0, isa.GFX942, 0},
		{"v_cvt_f64_i32 v[0:1], v1", 0xfffffffd, 0, 0, isa.GFX942, 0xc0080000},
		{"v_cvt_f64_u32 v[0:1], v1", 3, 0, 0, isa.GFX942, 0x40080000},
		{"v_cvt_f64_f32 v[0:1], v1", f(0.1), 0, 0xa0000000, isa.GFX942, 0x3fb99999},
	} {
		w := runLines(t, c.target, func(w *Wave) {
			fill(&w.V[1], c.x)
			fill(&w.V[2], c.y)
		}, c.line)
		if w.V[0][33] != c.want || c.wantTop != 0 && w.V[1][33] != c.wantTop {
			t.Errorf("%s of %#x and %#x = %#x (%#x), want %#x (%#x)", c.line, c.x, c.y, w.V[0][33], w.V[1][33], c.want, c.wantTop)
		}
	}
}

func TestFloat64(t *testing.T) {
	for _, c := range []struct {
		line string
		x, y float64 // v[2:3], v[4:5]
		want float64 // v[0:1]
	}{
		{"v_add_f64 v[0:1], v[2:3], v[4:5]", 0.1, 0.2, 0.1 + 0.2*1},
		{"v_add_f64 v[0:1], v[2:3], -v[4:5]", 3, 1, 2},
		{"v_mul_f64 v[0:1], |v[2:3]|, v[4:5]", -3, 7, 21},
		{"v_fma_f64 v[0:1], v[2:3], v[4:5], 1.0", 3, 7, 22},
		{"v_fma_f64 v[0:1], v[2:3], v[4:5], 0.5", 3, 7, 21.5},
		{"v_min_f64 v[0:1], v[2:3], v[4:5]", 0, math.Copysign(0, -1), math.Copysign(0, -1)},
		{"v_max_f64 v[0:1], v[2:3], v[4:5]", math.NaN(), 4, 4},
		{"v_ldexp_f64 v[0:1], v[2:3], -3", 12, 0, 1.5},
		{"v_floor_f64 v[0:1], v[2:3]", -1.5, 0, -2},
		{"v_rndne_f64 v[0:1], v[2:3]", 3.5, 0, 4},
		{"v_trunc_f64 v[0:1], v[2:3]", -3.5, 0, -3},
		{"v_ceil_f64 v[0:1], v[2:3]", 3.25, 0, 4},
		{"v_fract_f64 v[0:1], v[2:3]", 3.25, 0, 0.25},
		{"v_frexp_mant_f64 v[0:1], v[2:3]", 12, 0, 0.75},
		{"v_rcp_f64 v[0:1], v[2:3]", 8, 0, 0.125},
		{"v_rsq_f64 v[0:1], v[2:3]", 16, 0, 0.25},
		{"v_sqrt_f64 v[0:1], v[2:3]", 2, 0, math.Sqrt2},
	} {
		w := runLines(t, isa.GFX942, func(w *Wave) {
			for i, v := range []float64{c.x, c.y} {
				b := math.Float64bits(v)
				fill(&w.V[2+2*i], uint32(b))
				fill(&w.V[3+2*i], uint32(b>>32))
			}
		}, c.line)
		if got := double(&w.V[0], &w.V[1], 9); !same64(got, c.want) && !(c.x == 0.1 && got == math.Nextafter(0.3, 1)) {
			t.Errorf("%s of %v and %v = %v, want %v", c.line, c.x, c.y, got, c.want)
		}
	}
	w := runLines(t, isa.GFX942, func(w *Wave) {
		b := math.Float64bits(-2.75e9)
		fill(&w.V[2], uint32(b))
		fill(&w.V[3], uint32(b>>32))
	}, "v_cvt_i32_f64 v4, v[2:3]", "v_cvt_u32_f64 v5, -v[2:3]", "v_cvt_f32_f64 v6, v[2:3]", "v_frexp_exp_i32_f64 v7, v[2:3]")
	if w.V[4][0] != 1<<31 || w.V[5][0] != 2750000000 || f32(w.V[6][0]) != -2.75e9 || w.V[7][0] != 32 {
		t.Errorf("from float64: %#x %d %v %d", w.V[4][0], w.V[5][0], f32(w.V[6][0]), w.V[7][0])
	}
}

func TestPacked(t *testing.T) {
	setup := func(w *Wave) {
		for i := range 8 {
			fill(&w.V[i], b32(float32(i+1)))
		}
		w.S[4], w.S[5] = b32(10), b32(20)
	}
	for _, c := range []struct {
		line     string
		low, top float32 // v[0:1]
	}{
		{"v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]", 3*5 + 7, 4*6 + 8},
		{"v_pk_mul_f32 v[0:1], v[2:3], v[4:5]", 15, 24},
		{"v_pk_add_f32 v[0:1], v[2:3], v[4:5] neg_lo:[1,0] neg_hi:[0,1]", 2, -2},
		{"v_pk_mul_f32 v[0:1], v[2:3], v[4:5] op_sel:[0,1] op_sel_hi:[1,0]", 18, 20},
		{"v_pk_mul_f32 v[0:1], v[0:1], v[0:1] op_sel:[1,1] op_sel_hi:[0,1]", 4, 2},
		{"v_pk_mul_f32 v[0:1], v[2:3], s[4:5]", 30, 80},
		{"v_pk_mul_f32 v[0:1], v[2:3], s[4:5] op_sel_hi:[1,0]", 30, 40},
		{"v_pk_add_f32 v[0:1], v[2:3], 1.0 op_sel_hi:[1,0]", 4, 5},
		{"v_pk_mov_b32 v[0:1], v[2:3], v[4:5] op_sel:[1,0]", 4, 5},
		{"v_pk_mov_b32 v[0:1], v[0:1], v[0:1] op_sel:[1,0]", 2, 1},
	} {
		for _, exec := range []uint64{allLanes, 1 << 7} {
			w := runLines(t, isa.GFX942, func(w *Wave) { setup(w); w.EXEC = exec }, c.line)
			if f32(w.V[0][7]) != c.low || f32(w.V[1][7]) != c.top {
				t.Errorf("%s = %v, %v, want %v, %v", c.line, f32(w.V[0][7]), f32(w.V[1][7]), c.low, c.top)
			}
			if exec != allLanes && f32(w.V[0][6]) != 1 {
				t.Errorf("%s wrote a lane that is off", c.line)
			}
		}
	}
	for _, c := range []struct {
		line          string
		x, y, z, want uint32
	}{
		{"v_fma_mix_f32 v0, v1, v2, v3", 0x40000000, 0x40400000, 0x3f800000, 0x40e00000},
		{"v_fma_mix_f32 v0, v1, -v2, |v3| op_sel:[1,0,0] op_sel_hi:[1,1,0]", 0x40003c00, 0x42004400, 0xbf800000, 0xc0e00000},
		{"v_fma_mixlo_f16 v0, v1, v2, v3 op_sel_hi:[0,0,1]", 0x40000000, 0x40400000, 0x77773c00, 0x00004700},
		{"v_fma_mixhi_f16 v0, v1, v2, v3 op_sel_hi:[0,0,1]", 0x40000000, 0x40400000, 0x77773c00, 0x4700055a},
		{"v_pk_add_u16 v0, v1, v2", 0x0001ffff, 0x00020001, 0, 0x00030000},
		{"v_pk_sub_i16 v0, v1, v2 op_sel:[1,0] op_sel_hi:[0,1]", 0x00050009, 0x00010002, 0, 0x00080003},
		{"v_pk_mul_lo_u16 v0, v1, v2", 0x01000003, 0x01000004, 0, 12},
		{"v_pk_mad_u16 v0, v1, v2, v3", 0x00020003, 0x00040005, 0x00010001, 0x00090010},
		{"v_pk_lshlrev_b16 v0, v1, v2", 0x00010004, 0x40010003, 0, 0x80020030},
		{"v_pk_ashrrev_i16 v0, v1, v2", 0x00010004, 0x80008000, 0, 0xc000f800},
		{"v_pk_max_i16 v0, v1, v2", 0xffff0001, 0x0000ffff, 0, 1},
		{"v_pk_min_u16 v0, v1, v2", 0xffff0001, 0x0000ffff, 0, 1},
		{"v_pk_add_f16 v0, v1, v2 neg_lo:[0,1]", 0x3c004000, 0x3c003c00, 0, 0x40003c00},
		{"v_pk_fma_f16 v0, v1, v2, v3", 0x3c004000, 0x40004000, 0x3c003c00, 0x42004500},
		{"v_dot4_i32_i8 v0, v1, v2, v3", 0x01ff0203, 0x01010101, 10, 15},
		{"v_dot4_u32_u8 v0, v1, v2, v3", 0x01ff0203, 0x01010101, 10, 271},
		{"v_dot2_i32_i16 v0, v1, v2, v3", 0xffff0003, 0x00020004, 10, 20},
	} {
		w := runLines(t, isa.GFX942, func(w *Wave) {
			fill(&w.V[1], c.x)
			fill(&w.V[2], c.y)
			fill(&w.V[3], c.z)
		}, c.line)
		if w.V[0][5] != c.want {
			t.Errorf("%s of %#x, %#x, %#x = %#x, want %#x", c.line, c.x, c.y, c.z, w.V[0][5], c.want)
		}
	}
}

// TestRefusals: what is not implemented stops the wave by name.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		target isa.Target
		line   string
		kind   TrapKind
	}{
		{isa.GFX942, "v_add_f32 v0, v1, v2 mul:2", TrapUnsupported},
		{isa.GFX942, "v_mad_u32_u24 v0, v1, v2, v3 clamp", TrapUnsupported},
		{isa.GFX942, "v_add_f64 v[0:1], v[2:3], v[4:5] clamp", TrapUnsupported},
		{isa.GFX942, "v_sin_f32 v0, v1", TrapUnknownOpcode},
		{isa.GFX942, "v_mfma_f32_16x16x32_bf8_fp8 v[0:3], v[4:5], v[6:7], v[0:3]", TrapUnsupported},
		{isa.GFX942, "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]", TrapUnknownOpcode},
		{isa.GFX950, "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[16:21], v[24:29], v[0:15] cbsz:2 blgp:2", TrapUnsupported},
		{isa.GFX950, "v_mfma_scale_f32_32x32x64_f8f6f4 v[0:15], v[16:23], v[24:31], v[0:15], v32, v33 op_sel_hi:[0,0,0]", TrapUnknownOpcode},
		{isa.GFX942, "v_mov_b64_dpp v[0:1], v[2:3] row_newbcast:3 row_mask:0xf bank_mask:0xf", TrapUnsupported},
		{isa.GFX942, "v_pk_mul_f32 v[0:1], v[2:3], 2.0", TrapUnsupported},
		{isa.GFX942, "s_cbranch_g_fork s[0:1], s[2:3]", TrapUnknownOpcode},
	} {
		tr := trapOf(t, c.target, nil, c.line)
		if tr.Kind != c.kind || tr.PC != testBase || tr.Inst == "" || tr.Reason == "" {
			t.Errorf("%s: %+v, want %q", c.line, tr, c.kind)
		}
	}
	// Registers that the kernel does not declare.
	p := testProgram(t, isa.GFX942, "v_mov_b32 v9, v1")
	p.vregs = 8
	if _, err := compile(&p.insts[0], p); err == nil {
		t.Error("v9 of a kernel with 8 registers is accepted")
	}
}
