package gpu

import (
	"testing"

	"mqaproof/sim/isa"
)

// benchmarkLines runs a body of instructions again and again and counts the
// vector ones.
func benchmarkLines(b *testing.B, setup func(w *Wave), body ...string) {
	var lines []string
	repeat := max(1, 64/len(body))
	for range repeat {
		lines = append(lines, body...)
	}
	lines = append(lines, "s_endpgm")
	p := testProgram(b, isa.GFX942, lines...)
	w := newWave(p)
	for r := range w.V {
		for l := range w.V[r] {
			w.V[r][l] = b32(1 + float32(l)/64 + float32(r))
		}
	}
	if setup != nil {
		setup(w)
	}
	b.ResetTimer()
	for w.vector < uint64(b.N) {
		w.pc, w.done = 0, false
		w.run(len(lines))
		if w.trap != nil {
			b.Fatal(w.trap)
		}
	}
	b.ReportMetric(float64(w.vector)/b.Elapsed().Seconds(), "vinst/s")
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(w.vector), "ns/vinst")
}

func BenchmarkVALU(b *testing.B) {
	for _, c := range []struct{ name, line string }{
		{"v_mov_b32", "v_mov_b32 v1, v2"},
		{"v_add_u32", "v_add_u32 v1, v2, v3"},
		{"v_add_u32-const", "v_add_u32 v1, 7, v3"},
		{"v_add_u32-sgpr", "v_add_u32 v1, s4, v3"},
		{"v_and_b32", "v_and_b32 v1, v2, v3"},
		{"v_lshlrev_b32", "v_lshlrev_b32 v1, 3, v3"},
		{"v_mul_lo_u32", "v_mul_lo_u32 v1, v2, v3"},
		{"v_mul_hi_u32", "v_mul_hi_u32 v1, v2, v3"},
		{"v_add3_u32", "v_add3_u32 v1, v2, v3, v4"},
		{"v_perm_b32", "v_perm_b32 v1, v2, v3, s1"},
		{"v_add_f32", "v_add_f32 v1, v2, v3"},
		{"v_mul_f32", "v_mul_f32 v1, v2, v3"},
		{"v_max_f32", "v_max_f32 v1, v2, v3"},
		{"v_fma_f32", "v_fma_f32 v1, v2, v3, v4"},
		{"v_fmac_f32", "v_fmac_f32 v1, v2, v3"},
		{"v_pk_fma_f32", "v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]"},
		{"v_pk_mul_f32", "v_pk_mul_f32 v[0:1], v[2:3], v[4:5]"},
		{"v_cndmask_b32", "v_cndmask_b32 v1, v2, v3, vcc"},
		{"v_cmp_gt_i32", "v_cmp_gt_i32 vcc, v2, v3"},
		{"v_cmp_gt_f32", "v_cmp_gt_f32 vcc, v2, v3"},
		{"v_add_co_u32", "v_add_co_u32 v1, vcc, v2, v3"},
		{"v_lshl_add_u64", "v_lshl_add_u64 v[0:1], v[2:3], 2, v[4:5]"},
		{"v_mad_u64_u32", "v_mad_u64_u32 v[0:1], vcc, v2, v3, v[4:5]"},
		{"v_rcp_f32", "v_rcp_f32 v1, v2"},
		{"v_cvt_f32_fp8-sdwa", "v_cvt_f32_fp8_sdwa v1, v2 src0_sel:BYTE_1"},
		{"v_mov_b32-dpp", "v_mov_b32_dpp v1, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf"},
		{"v_mfma_f32_16x16x32_fp8_fp8", "v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[4:5], v[6:7], v[0:3]"},
		{"v_mfma_f32_32x32x16_fp8_fp8", "v_mfma_f32_32x32x16_fp8_fp8 v[0:15], v[16:17], v[18:19], v[0:15]"},
	} {
		b.Run(c.name, func(b *testing.B) {
			benchmarkLines(b, func(w *Wave) { w.S[1] = 0x0c010c00 }, c.line) // selectors of v_perm_b32
		})
	}
	b.Run("v_add_u32-masked", func(b *testing.B) {
		benchmarkLines(b, func(w *Wave) { w.EXEC = 0x00ffff0f0ff0ffff }, "v_add_u32 v1, v2, v3")
	})
}

// BenchmarkKernelMix is a stream like that of an indexer kernel's inner loop
// without its matrix instructions: address arithmetic, comparisons, float32
// sums, and a fifth of scalar instructions.
func BenchmarkKernelMix(b *testing.B) {
	benchmarkLines(b, nil,
		"v_lshl_add_u32 v1, v2, 2, v3", "v_add_u32 v4, s5, v1", "s_add_i32 s5, s5, 64", "v_cmp_gt_i32 vcc, s6, v4",
		"v_cndmask_b32 v5, v6, v7, vcc", "s_cmp_lt_i32 s5, s7", "v_mul_f32 v8, v9, v10", "v_max_f32 v8, 0, v8",
		"v_fmac_f32 v11, v8, v12", "v_pk_mul_f32 v[14:15], v[16:17], v[18:19]", "v_lshlrev_b32 v20, 2, v21",
		"v_ashrrev_i32 v22, 31, v20", "v_lshl_add_u64 v[24:25], v[26:27], 0, v[28:29]", "s_and_b64 s[8:9], vcc, exec",
		"v_add_f32 v30, v31, v32", "v_pk_fma_f32 v[34:35], v[36:37], v[38:39], v[40:41]", "v_mov_b32 v42, v43",
		"s_lshl_b32 s10, s11, 2", "v_and_b32 v44, 15, v45", "v_mul_lo_u32 v46, v47, v48",
	)
}

// BenchmarkGoLoop is the loops alone, without AVX2, as they run on other
// processors.
func BenchmarkGoLoop(b *testing.B) {
	for _, c := range []struct {
		name string
		f    narrowFn
	}{
		{"v_add_u32", laneVAddU32}, {"v_mul_f32", laneVMulF32}, {"v_fma_f32", laneVFmaF32}, {"v_max_f32", laneVMaxF32}, {"v_perm_b32", laneVPermB32},
	} {
		b.Run(c.name, func(b *testing.B) {
			var v [4]vreg
			for i := range v {
				for l := range v[i] {
					v[i][l] = b32(1 + float32(l)/7 + float32(i)/3)
				}
			}
			fill(&v[3], 0x0c010c00)
			if c.name != "v_perm_b32" {
				fill(&v[3], b32(0.1))
			}
			for b.Loop() {
				c.f(&v[0], &v[1], &v[2], &v[3])
			}
		})
	}
}
