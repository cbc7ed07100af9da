package gpu

import (
	"testing"

	"mqaproof/sim/isa"
)

func TestScalar(t *testing.T) {
	const set, clear = 1, 0
	for _, c := range []struct {
		line   string
		s0, s1 uint64 // s[0:1], s[2:3]; d is s[4:5], before: all ones
		scc    int    // before
		want   uint64 // s[4:5], or s4 when below 2^32 and wide is not set
		after  int    // SCC
		wide   bool
	}{
		{"s_mov_b32 s4, s0", 7, 0, 1, 7, 1, false},
		{"s_mov_b32 s4, 0xdeadbeef", 0, 0, 0, 0xdeadbeef, 0, false},
		{"s_mov_b64 s[4:5], -3", 0, 0, 0, ^uint64(2), 0, true},
		{"s_mov_b64 s[4:5], 1.0", 0, 0, 0, 0x3ff0000000000000, 0, true},
		{"s_mov_b32 s4, 1.0", 0, 0, 0, 0x3f800000, 0, false},
		{"s_not_b32 s4, s0", 0xffffffff, 0, 1, 0, 0, false},
		{"s_not_b64 s[4:5], s[0:1]", 0xffffffff, 0, 0, 0xffffffff00000000, 1, true},
		{"s_brev_b32 s4, s0", 1, 0, 1, 0x80000000, 1, false},
		{"s_wqm_b32 s4, s0", 0x00100800, 0, 0, 0x00f00f00, 1, false},
		{"s_wqm_b64 s[4:5], s[0:1]", 0x8000000000000001, 0, 0, 0xf00000000000000f, 1, true},
		{"s_quadmask_b32 s4, s0", 0x80010010, 0, 0, 0x92, 1, false},
		{"s_quadmask_b64 s[4:5], s[0:1]", 0x8000000000000001, 0, 0, 0x8001, 1, true},
		{"s_bcnt0_i32_b32 s4, s0", 0xffff0000, 0, 0, 16, 1, false},
		{"s_bcnt1_i32_b64 s4, s[0:1]", 0, 0, 1, 0, 0, false},
		{"s_bcnt1_i32_b64 s4, s[0:1]", 0xf00000000000000f, 0, 0, 8, 1, false},
		{"s_ff1_i32_b32 s4, s0", 0, 0, 1, 0xffffffff, 1, false},
		{"s_ff1_i32_b64 s4, s[0:1]", 1 << 40, 0, 0, 40, 0, false},
		{"s_ff0_i32_b32 s4, s0", 7, 0, 0, 3, 0, false},
		{"s_flbit_i32_b32 s4, s0", 0x00010000, 0, 0, 15, 0, false},
		{"s_flbit_i32_b64 s4, s[0:1]", 1, 0, 0, 63, 0, false},
		{"s_flbit_i32 s4, s0", 0xffff0000, 0, 0, 16, 0, false},
		{"s_flbit_i32 s4, s0", 0xffffffff, 0, 0, 0xffffffff, 0, false},
		{"s_flbit_i32_i64 s4, s[0:1]", 0x0000ffff00000000, 0, 0, 16, 0, false},
		{"s_sext_i32_i8 s4, s0", 0x180, 0, 0, 0xffffff80, 0, false},
		{"s_sext_i32_i16 s4, s0", 0x8000, 0, 0, 0xffff8000, 0, false},
		{"s_abs_i32 s4, s0", 0xfffffffb, 0, 0, 5, 1, false},
		{"s_abs_i32 s4, s0", 0x80000000, 0, 0, 0x80000000, 1, false},
		{"s_bitreplicate_b64_b32 s[4:5], s0", 0x80000005, 0, 0, 0xc000000000000033, 0, true},
		{"s_bitset0_b32 s4, s0", 36, 0, 0, 0xffffffef, 0, false},
		{"s_bitset1_b64 s[4:5], s0", 36, 0, 0, ^uint64(0), 0, true},
		{"s_cmov_b32 s4, s0", 9, 0, set, 9, set, false},
		{"s_cmov_b32 s4, s0", 9, 0, clear, 0xffffffff, clear, false},

		{"s_add_u32 s4, s0, s2", 0xffffffff, 1, 0, 0, 1, false},
		{"s_addc_u32 s4, s0, s2", 0xffffffff, 0, 1, 0, 1, false},
		{"s_addc_u32 s4, s0, s2", 1, 2, 1, 4, 0, false},
		{"s_sub_u32 s4, s0, s2", 1, 2, 0, 0xffffffff, 1, false},
		{"s_subb_u32 s4, s0, s2", 2, 2, 1, 0xffffffff, 1, false},
		{"s_subb_u32 s4, s0, s2", 3, 2, 1, 0, 0, false},
		{"s_add_i32 s4, s0, s2", 0x7fffffff, 1, 0, 0x80000000, 1, false},
		{"s_add_i32 s4, s0, s2", 0xffffffff, 1, 1, 0, 0, false},
		{"s_sub_i32 s4, s0, s2", 0x80000000, 1, 0, 0x7fffffff, 1, false},
		{"s_min_i32 s4, s0, s2", 0xffffffff, 1, 0, 0xffffffff, 1, false},
		{"s_min_u32 s4, s0, s2", 0xffffffff, 1, 1, 1, 0, false},
		{"s_max_i32 s4, s0, s2", 5, 5, 0, 5, 1, false},
		{"s_max_u32 s4, s0, s2", 4, 5, 1, 5, 0, false},
		{"s_cselect_b32 s4, s0, s2", 4, 5, 1, 4, 1, false},
		{"s_cselect_b64 s[4:5], s[0:1], s[2:3]", 1 << 40, 1 << 50, 0, 1 << 50, 0, true},
		{"s_and_b32 s4, s0, s2", 12, 10, 0, 8, 1, false},
		{"s_andn2_b64 s[4:5], s[0:1], s[2:3]", 0xff00000000000001, 1, 0, 0xff00000000000000, 1, true},
		{"s_orn2_b32 s4, s0, s2", 0, 0xfffffff0, 0, 15, 1, false},
		{"s_nand_b32 s4, s0, s2", 0xffffffff, 0xffffffff, 1, 0, 0, false},
		{"s_nor_b64 s[4:5], s[0:1], s[2:3]", 1, 2, 0, ^uint64(3), 1, true},
		{"s_xnor_b32 s4, s0, s2", 1, 1, 0, 0xffffffff, 1, false},
		{"s_lshl_b32 s4, s0, s2", 1, 33, 0, 2, 1, false},
		{"s_lshr_b64 s[4:5], s[0:1], s2", 1 << 63, 63 + 64, 0, 1, 1, true},
		{"s_lshl_b64 s[4:5], s[0:1], s2", 1, 40, 0, 1 << 40, 1, true},
		{"s_ashr_i32 s4, s0, s2", 0x80000000, 31, 0, 0xffffffff, 1, false},
		{"s_ashr_i64 s[4:5], s[0:1], s2", 1 << 63, 62, 0, ^uint64(1), 1, true},
		{"s_bfm_b32 s4, s0, s2", 4, 8, 0, 0xf00, 0, false},
		{"s_bfm_b64 s[4:5], s0, s2", 4, 40, 0, 0xf << 40, 0, true},
		{"s_mul_i32 s4, s0, s2", 0xffffffff, 5, 1, 0xfffffffb, 1, false},
		{"s_mul_hi_u32 s4, s0, s2", 0xffffffff, 5, 0, 4, 0, false},
		{"s_mul_hi_i32 s4, s0, s2", 0xffffffff, 5, 0, 0xffffffff, 0, false},
		{"s_bfe_u32 s4, s0, s2", 0x12345678, 8 | 12<<16, 0, 0x456, 1, false},
		{"s_bfe_i32 s4, s0, s2", 0x00000f00, 8 | 4<<16, 0, 0xffffffff, 1, false},
		{"s_bfe_i32 s4, s0, s2", 0x80000000, 28 | 8<<16, 0, 0xfffffff8, 1, false},
		{"s_bfe_u32 s4, s0, s2", 0x80000000, 4, 1, 0, 0, false},
		{"s_bfe_u64 s[4:5], s[0:1], s2", 0xabcd << 40, 40 | 16<<16, 0, 0xabcd, 1, true},
		{"s_bfe_i64 s[4:5], s[0:1], s2", 0xabcd << 40, 40 | 16<<16, 0, 0xffffffffffffabcd, 1, true},
		{"s_absdiff_i32 s4, s0, s2", 3, 8, 0, 5, 1, false},
		{"s_lshl2_add_u32 s4, s0, s2", 0x40000001, 3, 0, 7, 1, false},
		{"s_lshl4_add_u32 s4, s0, s2", 1, 3, 1, 19, 0, false},
		{"s_pack_ll_b32_b16 s4, s0, s2", 0x11112222, 0x33334444, 0, 0x44442222, 0, false},
		{"s_pack_lh_b32_b16 s4, s0, s2", 0x11112222, 0x33334444, 0, 0x33332222, 0, false},
		{"s_pack_hh_b32_b16 s4, s0, s2", 0x11112222, 0x33334444, 0, 0x33331111, 0, false},

		{"s_cmp_lt_i32 s0, s2", 0xffffffff, 1, 0, 0xffffffff, 1, false},
		{"s_cmp_lt_u32 s0, s2", 0xffffffff, 1, 1, 0xffffffff, 0, false},
		{"s_cmp_ge_i32 s0, s2", 1, 1, 0, 0xffffffff, 1, false},
		{"s_cmp_eq_u64 s[0:1], s[2:3]", 1 << 40, 1 << 41, 1, 0xffffffff, 0, false},
		{"s_cmp_lg_u64 s[0:1], s[2:3]", 1 << 40, 1 << 41, 0, 0xffffffff, 1, false},
		{"s_bitcmp1_b32 s0, s2", 4, 34, 0, 0xffffffff, 1, false},
		{"s_bitcmp0_b64 s[0:1], s2", 1 << 40, 40, 1, 0xffffffff, 0, false},
		{"s_cmpk_gt_i32 s0, -5", 0xfffffffc, 0, 0, 0xffffffff, 1, false},
		{"s_cmpk_lt_u32 s0, 0xfff0", 0xffef, 0, 0, 0xffffffff, 1, false},
		{"s_cmpk_gt_u32 s0, 0xfff0", 0xfffffff0, 0, 0, 0xffffffff, 1, false},
		{"s_movk_i32 s4, -2", 0, 0, 0, 0xfffffffe, 0, false},
		{"s_addk_i32 s4, 1", 0, 0, 1, 0, 0, false},
		{"s_mulk_i32 s4, -7", 0, 0, 0, 7, 0, false},
		{"s_cmovk_i32 s4, 3", 0, 0, 1, 3, 1, false},
		{"s_getpc_b64 s[4:5]", 0, 0, 0, testBase + 4, 0, true},
		{"s_getreg_b32 s4, hwreg(HW_REG_MODE, 4, 4)", 0, 0, 0, 15, 0, false},
	} {
		w := runLines(t, isa.GFX942, func(w *Wave) {
			w.writeS64(0, c.s0)
			w.writeS64(2, c.s1)
			w.writeS64(4, ^uint64(0))
			w.SCC = c.scc != 0
		}, c.line)
		got := uint64(w.S[4])
		if c.wide {
			got = w.readS64(4)
		} else if w.S[5] != 0xffffffff {
			t.Errorf("%s: wrote a second dword", c.line)
		}
		if got != c.want || w.SCC != (c.after != 0) {
			t.Errorf("%s on %#x, %#x: got %#x and SCC %v, want %#x and %v", c.line, c.s0, c.s1, got, w.SCC, c.want, c.after != 0)
		}
	}
}

func TestExecMasks(t *testing.T) {
	const s, exec = 0xff00ff00ff00ff00, 0x00ffffffffffff0f
	for _, c := range []struct {
		line string
		want uint64
	}{
		{"s_and_saveexec_b64 s[4:5], s[0:1]", s & exec},
		{"s_or_saveexec_b64 s[4:5], s[0:1]", s | exec},
		{"s_xor_saveexec_b64 s[4:5], s[0:1]", s ^ exec},
		{"s_andn2_saveexec_b64 s[4:5], s[0:1]", s &^ exec},
		{"s_orn2_saveexec_b64 s[4:5], s[0:1]", s | ^uint64(exec)},
		{"s_nand_saveexec_b64 s[4:5], s[0:1]", ^uint64(s & exec)},
		{"s_nor_saveexec_b64 s[4:5], s[0:1]", ^uint64(s | exec)},
		{"s_xnor_saveexec_b64 s[4:5], s[0:1]", ^uint64(s ^ exec)},
		{"s_andn1_saveexec_b64 s[4:5], s[0:1]", ^uint64(s) & exec},
		{"s_orn1_saveexec_b64 s[4:5], s[0:1]", ^uint64(s) | exec},
	} {
		w := runLines(t, isa.GFX942, func(w *Wave) { w.writeS64(0, s); w.EXEC = exec }, c.line)
		if w.EXEC != c.want || w.readS64(4) != exec || w.SCC != (c.want != 0) {
			t.Errorf("%s: EXEC %#x, saved %#x, SCC %v; want EXEC %#x", c.line, w.EXEC, w.readS64(4), w.SCC, c.want)
		}
	}
	w := runLines(t, isa.GFX942, func(w *Wave) { w.writeS64(0, s); w.EXEC = exec }, "s_andn2_wrexec_b64 s[4:5], s[0:1]")
	if w.EXEC != s&^uint64(exec) || w.readS64(4) != w.EXEC {
		t.Errorf("s_andn2_wrexec_b64: EXEC %#x, result %#x", w.EXEC, w.readS64(4))
	}
	// Halves of EXEC and VCC are registers like any other.
	w = runLines(t, isa.GFX942, nil, "s_mov_b32 exec_hi, 5", "s_mov_b32 vcc_lo, 7", "s_mov_b32 vcc_hi, exec_hi", "s_mov_b32 m0, 9")
	if w.EXEC != 5<<32|0xffffffff || w.VCC != 5<<32|7 || w.S[regM0] != 9 {
		t.Errorf("EXEC %#x, VCC %#x, M0 %d", w.EXEC, w.VCC, w.S[regM0])
	}
}

func TestBranches(t *testing.T) {
	// s0 counts down from 5; s1 counts turns.
	w := runLines(t, isa.GFX942, nil,
		"s_mov_b32 s0, 5", "s_mov_b32 s1, 0", "s_add_i32 s1, s1, 1", "s_sub_i32 s0, s0, 1", "s_cmp_lg_u32 s0, 0", "s_cbranch_scc1 65532")
	if w.S[1] != 5 {
		t.Errorf("%d turns of a loop, want 5", w.S[1])
	}
	for _, c := range []struct {
		line      string
		scc       bool
		vcc, exec uint64
		taken     bool
	}{
		{"s_cbranch_scc0 1", false, 0, 1, true}, {"s_cbranch_scc0 1", true, 0, 1, false},
		{"s_cbranch_vccz 1", false, 0, 1, true}, {"s_cbranch_vccz 1", false, 1 << 40, 1, false},
		{"s_cbranch_vccnz 1", false, 1 << 40, 1, true}, {"s_cbranch_vccnz 1", false, 0, 1, false},
		{"s_cbranch_execz 1", false, 0, 0, true}, {"s_cbranch_execz 1", false, 0, 1 << 40, false},
		{"s_cbranch_execnz 1", false, 0, 1 << 40, true}, {"s_branch 1", false, 0, 0, true},
	} {
		w := runLines(t, isa.GFX942, func(w *Wave) { w.SCC, w.VCC, w.EXEC, w.S[0] = c.scc, c.vcc, c.exec, 0 }, c.line, "s_mov_b32 s0, 1")
		if taken := w.S[0] == 0; taken != c.taken {
			t.Errorf("%s with SCC %v, VCC %#x, EXEC %#x: taken %v", c.line, c.scc, c.vcc, c.exec, taken)
		}
	}
	// A call and its return.
	w = runLines(t, isa.GFX942, nil,
		"s_getpc_b64 s[2:3]", "s_add_u32 s2, s2, 16", "s_swappc_b64 s[4:5], s[2:3]", "s_branch 3", "s_nop 0", "s_mov_b32 s7, 42", "s_setpc_b64 s[4:5]")
	if w.S[7] != 42 {
		t.Errorf("s7 is %d after the call, want 42", w.S[7])
	}
	if tr := trapOf(t, isa.GFX942, func(w *Wave) { w.writeS64(0, 0x1234) }, "s_setpc_b64 s[0:1]"); tr.Kind != TrapBadPC || tr.PC != testBase {
		t.Errorf("a jump nowhere: %v", tr)
	}
	if tr := trapOf(t, isa.GFX942, nil, "s_branch 100"); tr.Kind != TrapBadPC {
		t.Errorf("a branch out of the code: %v", tr)
	}
	if tr := trapOf(t, isa.GFX942, nil, "s_trap 2"); tr.Kind != TrapFault || tr.Inst == "" {
		t.Errorf("s_trap: %v", tr)
	}
}

func TestLoopStops(t *testing.T) {
	p := testProgram(t, isa.GFX942, "v_mov_b32 v0, v1", "s_nop 0", "s_barrier", "v_mov_b32 v0, v1", "s_endpgm")
	w := newWave(p)
	w.run(1)
	if w.executed != 1 || w.vector != 1 || w.done || w.atBarrier {
		t.Errorf("after a slice of one: %d executed, %d vector, done %v, barrier %v", w.executed, w.vector, w.done, w.atBarrier)
	}
	w.run(100)
	if w.executed != 3 || !w.atBarrier || w.done {
		t.Errorf("at the barrier: %d executed, barrier %v, done %v", w.executed, w.atBarrier, w.done)
	}
	w.atBarrier = false
	w.run(100)
	if w.executed != 5 || w.vector != 2 || !w.done {
		t.Errorf("at the end: %d executed, %d vector, done %v", w.executed, w.vector, w.done)
	}
	p = testProgram(t, isa.GFX942, "s_nop 0")
	w = newWave(p)
	w.run(100)
	if w.trap == nil || w.trap.Kind != TrapBadPC || w.trap.PC != testBase+4 {
		t.Errorf("running past the end: %v", w.trap)
	}
}

func TestMode(t *testing.T) {
	w := runLines(t, isa.GFX942, nil, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0")
	if w.mode != defaultMode&^modeDenorm32 {
		t.Errorf("MODE %#x", w.mode)
	}
	for _, line := range []string{"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1", "s_getreg_b32 s0, hwreg(HW_REG_HW_ID)", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 6, 2), 0"} {
		if tr := trapOf(t, isa.GFX942, nil, line); tr.Kind != TrapUnsupported {
			t.Errorf("%s: %v", line, tr)
		}
	}
	// Subnormal sources and results, one at a time.
	for _, c := range []struct {
		denorm, x, y, want uint32
	}{
		{3, 0x00400000, 0x3f800000, 0x00400000}, {0, 0x00400000, 0x3f800000, 0}, {0, 0x80400000, 0x3f800000, 0x80000000},
		{1, 0x00400000, 0x3f800000, 0}, {2, 0x00400000, 0x40800000, 0}, {1, 0x00400000, 0x40800000, 0x01000000},
		{2, 0x00800000, 0x3f000000, 0x00400000},
	} {
		w := runLines(t, isa.GFX942, func(w *Wave) {
			w.mode = w.mode&^modeDenorm32 | c.denorm<<4
			fill(&w.V[1], c.x)
			fill(&w.V[2], c.y)
		}, "v_mul_f32 v0, v1, v2", "v_pk_mul_f32 v[4:5], v[0:1], v[2:3] op_sel:[1,0] op_sel_hi:[1,0]")
		if w.V[0][9] != c.want || w.V[4][9] != c.want || w.V[5][9] != c.want {
			t.Errorf("FP_DENORM %d: %#x * %#x = %#x (packed %#x, %#x), want %#x", c.denorm, c.x, c.y, w.V[0][9], w.V[4][9], w.V[5][9], c.want)
		}
	}
}
