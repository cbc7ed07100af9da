package isa

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func code(words ...uint32) (b []byte) {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func v(r uint16, width uint8) Operand { return Operand{Kind: VReg, Width: width, Reg: r} }
func a(r uint16, width uint8) Operand { return Operand{Kind: AReg, Width: width, Reg: r} }
func s(r uint16, width uint8) Operand { return Operand{Kind: SReg, Width: width, Reg: r} }

func inline(value int32, width uint8) Operand {
	return Operand{Kind: Const, Width: width, Value: uint32(value)}
}

// TestDecode fixes operands, not only text: the emulator is built on them.
func TestDecode(t *testing.T) {
	for _, c := range []struct {
		words []uint32
		on    targetSet // where it decodes; elsewhere it is an error
		text  string
		want  Inst // Addr, Size, Raw are filled in
	}{
		{[]uint32{0x7e020302}, onBoth, "v_mov_b32_e32 v1, v2",
			Inst{Op: V_MOV_B32, Enc: VOP1, Dst: v(1, 1), Src: [4]Operand{v(2, 1)}}},
		{[]uint32{0x0a0202ff, 0x4f7ffffe}, onBoth, "v_mul_f32_e32 v1, 0x4f7ffffe, v1",
			Inst{Op: V_MUL_F32, Enc: VOP2, Dst: v(1, 1), Src: [4]Operand{{Kind: Const, Width: 1, Value: 0x4f7ffffe, Literal: true}, v(1, 1)}}},
		{[]uint32{0x020202f2}, onBoth, "v_add_f32_e32 v1, 1.0, v1",
			Inst{Op: V_ADD_F32, Enc: VOP2, Dst: v(1, 1), Src: [4]Operand{{Kind: Const, Width: 1, Value: 0x3f800000, Float: true}, v(1, 1)}}},
		{[]uint32{0x2e020304, 0x12345678}, onBoth, "v_fmamk_f32 v1, v4, 0x12345678, v1",
			Inst{Op: V_FMAMK_F32, Enc: VOP2, Dst: v(1, 1), Src: [4]Operand{v(4, 1), {Kind: Const, Width: 1, Value: 0x12345678, Literal: true}, v(1, 1)}}},
		{[]uint32{0x30020304, 0x12345678}, onBoth, "v_fmaak_f32 v1, v4, v1, 0x12345678",
			Inst{Op: V_FMAAK_F32, Enc: VOP2, Dst: v(1, 1), Src: [4]Operand{v(4, 1), v(1, 1), {Kind: Const, Width: 1, Value: 0x12345678, Literal: true}}}},
		// Implicit carries and masks.
		{[]uint32{0x00020702}, onBoth, "v_cndmask_b32_e32 v1, v2, v3, vcc",
			Inst{Op: V_CNDMASK_B32, Enc: VOP2, Dst: v(1, 1), Src: [4]Operand{v(2, 1), v(3, 1), vcc}}},
		{[]uint32{0x32020702}, onBoth, "v_add_co_u32_e32 v1, vcc, v2, v3",
			Inst{Op: V_ADD_CO_U32, Enc: VOP2, Dst: v(1, 1), SDst: vcc, Src: [4]Operand{v(2, 1), v(3, 1)}}},
		{[]uint32{0x38020702}, onBoth, "v_addc_co_u32_e32 v1, vcc, v2, v3, vcc",
			Inst{Op: V_ADDC_CO_U32, Enc: VOP2, Dst: v(1, 1), SDst: vcc, Src: [4]Operand{v(2, 1), v(3, 1), vcc}}},
		{[]uint32{0x7d940702}, onBoth, "v_cmp_eq_u32_e32 vcc, v2, v3",
			Inst{Op: V_CMP_EQ_U32, Enc: VOPC, SDst: vcc, Src: [4]Operand{v(2, 1), v(3, 1)}}},
		{[]uint32{0xd0ca0004, 0x00020602}, onBoth, "v_cmp_eq_u32_e64 s[4:5], s2, v3",
			Inst{Op: V_CMP_EQ_U32, Enc: VOP3, SDst: s(4, 2), Src: [4]Operand{s(2, 1), v(3, 1)}}},
		{[]uint32{0xd1e80402, 0x04110a0a}, onBoth, "v_mad_u64_u32 v[2:3], s[4:5], s10, 5, v[4:5]",
			Inst{Op: V_MAD_U64_U32, Enc: VOP3SD, Dst: v(2, 2), SDst: s(4, 2), Src: [4]Operand{s(10, 1), inline(5, 1), v(4, 2)}}},
		{[]uint32{0x7e040404}, 0, "v_readfirstlane_b32 reads no scalar register", Inst{}},
		{[]uint32{0x7e040504}, onBoth, "v_readfirstlane_b32 s2, v4",
			Inst{Op: V_READFIRSTLANE_B32, Enc: VOP1, SDst: s(2, 1), Src: [4]Operand{v(4, 1)}}},
		// Sub-dword and data-parallel forms.
		{[]uint32{0x680204f9, 0x06050400}, onBoth, "v_add_u32_sdwa v1, v0, v2 dst_sel:WORD_0 dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:DWORD",
			Inst{Op: V_ADD_U32, Enc: VOP2, Dst: v(1, 1), Src: [4]Operand{v(0, 1), v(2, 1)}, IsSDWA: true, SDWA: SDWA{DstSel: 4, Src0Sel: 5, Src1Sel: 6}}},
		{[]uint32{0x7d9404f9, 0x06058202}, onBoth, "v_cmp_eq_u32_sdwa s[2:3], v2, v2 src0_sel:WORD_1 src1_sel:DWORD",
			Inst{Op: V_CMP_EQ_U32, Enc: VOPC, SDst: s(2, 2), Src: [4]Operand{v(2, 1), v(2, 1)}, IsSDWA: true, SDWA: SDWA{Src0Sel: 5, Src1Sel: 6}}},
		{[]uint32{0x7e0202fa, 0xab081b01}, onBoth, "v_mov_b32_dpp v1, v1 quad_perm:[3,2,1,0] row_mask:0xa bank_mask:0xb bound_ctrl:1",
			Inst{Op: V_MOV_B32, Enc: VOP1, Dst: v(1, 1), Src: [4]Operand{v(1, 1)}, IsDPP: true, DPP: DPP{Ctrl: 0x1b, RowMask: 10, BankMask: 11, BoundCtrl: true}}},
		// 16-bit instructions name whole registers above v127 too.
		{[]uint32{0x3f8307c8}, onBoth, "v_add_f16_e32 v193, v200, v131",
			Inst{Op: V_ADD_F16, Enc: VOP2, Dst: v(193, 1), Src: [4]Operand{v(200, 1), v(131, 1)}}},
		// The matrix core, with accumulation VGPRs and without.
		{[]uint32{0xd3f38000, 0x1c421128}, onBoth, "v_mfma_f32_16x16x32_fp8_fp8 a[0:3], a[40:41], a[8:9], a[16:19]",
			Inst{Op: V_MFMA_F32_16X16X32_FP8_FP8, Enc: MFMA, Dst: a(0, 4), Src: [4]Operand{a(40, 2), a(8, 2), a(16, 4)}}},
		{[]uint32{0xd3f70000, 0x02021104}, onBoth, "v_mfma_f32_32x32x16_fp8_fp8 v[0:15], v[4:5], v[8:9], 0",
			Inst{Op: V_MFMA_F32_32X32X16_FP8_FP8, Enc: MFMA, Dst: v(0, 16), Src: [4]Operand{v(4, 2), v(8, 2), inline(0, 16)}}},
		// Unscaled it takes 8 bytes; the prefix alone makes it 16.
		{[]uint32{0xd3ae0200, 0x84421104}, on950, "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[4:9], v[8:11], v[16:31] cbsz:2 blgp:4",
			Inst{Op: V_MFMA_F32_32X32X64_F8F6F4, Enc: MFMA, Dst: v(0, 16), Src: [4]Operand{v(4, 6), v(8, 4), v(16, 16)}, CBSZ: 2, BLGP: 4}},
		{[]uint32{0xd3ac0800, 0x00024520, 0xd3ae0800, 0x04421104}, on950,
			"v_mfma_scale_f32_32x32x64_f8f6f4 v[0:15], v[4:11], v[8:15], v[16:31], v32, v34 op_sel:[1,0,0] op_sel_hi:[0,0,0]",
			Inst{Op: V_MFMA_SCALE_F32_32X32X64_F8F6F4, Enc: VOP3PX2, Dst: v(0, 16), Src: [4]Operand{v(4, 8), v(8, 8), v(16, 16)},
				Scale: [2]Operand{v(32, 1), v(34, 1)}, OpSel: 1, ABID: 1}},
		{[]uint32{0xd3be0000, 0x04421104}, on942, "v_mfma_f32_16x16x8_xf32 v[0:3], v[4:5], v[8:9], v[16:19]",
			Inst{Op: V_MFMA_F32_16X16X8_XF32, Enc: MFMA, Dst: v(0, 4), Src: [4]Operand{v(4, 2), v(8, 2), v(16, 4)}}},
		{[]uint32{0xd3d84004, 0x18000128}, onBoth, "v_accvgpr_read_b32 v4, a40",
			Inst{Op: V_ACCVGPR_READ_B32, Enc: MFMA, Dst: v(4, 1), Src: [4]Operand{a(40, 1)}}},
		// Both of its registers are written.
		{[]uint32{0x7e04b304}, on950, "v_permlane16_swap_b32_e32 v2, v4",
			Inst{Op: V_PERMLANE16_SWAP_B32, Enc: VOP1, Dst: v(2, 1), Src: [4]Operand{v(4, 1)}}},
		{[]uint32{0xd3b04002, 0x1c220d04}, onBoth, "v_pk_fma_f32 v[2:3], v[4:5], v[6:7], v[8:9]",
			Inst{Op: V_PK_FMA_F32, Enc: VOP3P, Dst: v(2, 2), Src: [4]Operand{v(4, 2), v(6, 2), v(8, 2)}, OpSelHi: 7}},
		// Scalar.
		{[]uint32{0xbe8201ff, 0xfffffff0}, onBoth, "s_mov_b64 s[2:3], 0xfffffff0",
			Inst{Op: S_MOV_B64, Enc: SOP1, Dst: s(2, 2), Src: [4]Operand{{Kind: Const, Width: 2, Value: 0xfffffff0, Literal: true}}}},
		{[]uint32{0xb4820005}, onBoth, "s_cmpk_lg_u32 s2, 0x5",
			Inst{Op: S_CMPK_LG_U32, Enc: SOPK, Src: [4]Operand{s(2, 1)}, Simm16: 5}},
		{[]uint32{0xbf8cc07f}, onBoth, "s_waitcnt lgkmcnt(0)",
			Inst{Op: S_WAITCNT, Enc: SOPP, Simm16: -16257}},
		{[]uint32{0xba000801, 5}, onBoth, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 5",
			Inst{Op: S_SETREG_IMM32_B32, Enc: SOPK, Src: [4]Operand{{Kind: Const, Width: 1, Value: 5, Literal: true}}, Simm16: 0x801}},
		{[]uint32{0xbf85ffff}, onBoth, "s_cbranch_scc1 65535",
			Inst{Op: S_CBRANCH_SCC1, Enc: SOPP, Simm16: -1}},
		// Memory.
		{[]uint32{0xc0034042, 0x0c1ffff6}, onBoth, "s_load_dword s1, s[4:5], s6 offset:-0xa glc",
			Inst{Op: S_LOAD_DWORD, Enc: SMEM, Dst: s(1, 1), Src: [4]Operand{s(4, 2), s(6, 1)}, Offset: -10, SC0: true}},
		{[]uint32{0xdc509fff, 0x047f0002}, onBoth, "global_load_dword v4, v[2:3], off offset:-1",
			Inst{Op: GLOBAL_LOAD_DWORD, Enc: GLOBAL, Dst: v(4, 1), Src: [4]Operand{v(2, 2)}, Offset: -1}},
		{[]uint32{0xdc708000, 0x00840402}, onBoth, "global_store_dword v2, a4, s[4:5]",
			Inst{Op: GLOBAL_STORE_DWORD, Enc: GLOBAL, Src: [4]Operand{v(2, 1), a(4, 1), s(4, 2)}}},
		{[]uint32{0xdd098000, 0x06040402}, onBoth, "global_atomic_add v6, v2, v4, s[4:5] sc0",
			Inst{Op: GLOBAL_ATOMIC_ADD, Enc: GLOBAL, Dst: v(6, 1), Src: [4]Operand{v(2, 1), v(4, 1), s(4, 2)}, SC0: true}},
		{[]uint32{0xdc505ff0, 0x04040000}, onBoth, "scratch_load_dword v4, off, s4 offset:-16",
			Inst{Op: SCRATCH_LOAD_DWORD, Enc: SCRATCH, Dst: v(4, 1), Src: [4]Operand{{}, s(4, 1)}, Offset: -16}},
		{[]uint32{0xe07c1010, 0x80810402}, onBoth, "buffer_store_dwordx4 a[4:7], v2, s[4:7], 0 offen offset:16",
			Inst{Op: BUFFER_STORE_DWORDX4, Enc: MUBUF, Src: [4]Operand{a(4, 4), v(2, 1), s(4, 4), inline(0, 1)}, Offset: 16, OffEn: true}},
		{[]uint32{0xe0511000, 0x80010002}, onBoth, "buffer_load_dword v2, s[4:7], 0 offen lds",
			Inst{Op: BUFFER_LOAD_DWORD, Enc: MUBUF, Src: [4]Operand{v(2, 1), s(4, 4), inline(0, 1)}, OffEn: true, LDS: true}},
		{[]uint32{0xd8ee0201, 0x04000002}, onBoth, "ds_read2_b64 v[4:7], v2 offset0:1 offset1:2",
			Inst{Op: DS_READ2_B64, Enc: DS, Dst: v(4, 4), Src: [4]Operand{v(2, 1)}, Offset: 0x201, Offset0: 1, Offset1: 2}},
		{[]uint32{0xd87a80e4, 0x04000002}, onBoth, "ds_swizzle_b32 v4, v2 offset:swizzle(QUAD_PERM,0,1,2,3)",
			Inst{Op: DS_SWIZZLE_B32, Enc: DS, Dst: v(4, 1), Src: [4]Operand{v(2, 1)}, Offset: 0x80e4, Offset0: 0xe4, Offset1: 0x80}},
	} {
		for _, target := range []Target{GFX942, GFX950} {
			got, err := Decode(target, code(append(c.words, 0xbf810000)...), 0x1000)
			if !c.on.has(target) {
				if err == nil {
					t.Errorf("%s %08x: got %q, want an error", target, c.words, got.String())
				}
				continue
			}
			if err != nil {
				t.Errorf("%s %08x: %v, want %q", target, c.words, err, c.text)
				continue
			}
			want := c.want
			want.Addr, want.Size = 0x1000, uint8(4*len(c.words))
			copy(want.Raw[:], c.words)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s %08x %q:\n%s", target, c.words, c.text, d)
			}
			if got.String() != c.text {
				t.Errorf("%s %08x: got %q, want %q", target, c.words, got.String(), c.text)
			}
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		target Target
		code   []byte
		want   []string
	}{
		{"empty", GFX942, nil, []string{"0x2000", "truncated", "4 bytes and 0 are left"}},
		{"half a dword", GFX942, []byte{1, 2}, []string{"truncated"}},
		{"half of 8 bytes", GFX942, code(0xd3f38000), []string{"(d3f38000)", "takes 8 bytes and 4 are left"}},
		{"no literal", GFX942, code(0xbe8200ff), []string{"takes 8 bytes and 4 are left"}},
		{"VOP3 opcode", GFX942, code(0xd2f10000, 0), []string{"unknown opcode: encoding VOP3 opcode 0x2f1"}},
		{"CDNA4 on CDNA3", GFX942, code(0x7e04b304), []string{"encoding VOP1 opcode 0x59 is v_permlane16_swap_b32, which gfx942 lacks"}},
		{"CDNA3 on CDNA4", GFX950, code(0xd3be0000, 0x04421104), []string{"v_mfma_f32_16x16x8_xf32, which gfx950 lacks"}},
		{"encoding", GFX942, code(0xf0000000, 0), []string{"unknown encoding: leading bits 111100"}},
		{"tuple", GFX942, code(0xbe820103), []string{"scalar register 3 is not aligned for 2 dwords"}},
		{"beyond the file", GFX942, code(0xd3f70000, 0x07fa1104), []string{"no VGPR 254 of 16 dwords"}},
		{"reserved source", GFX942, code(0x7e0202e9), []string{"source operand 233 is reserved"}},
		{"literal in VOP3", GFX942, code(0xd1ff0001, 0x040202ff), []string{"encoding VOP3 has no literal constant"}},
		{"DPP control", GFX942, code(0x7e0202fa, 0xff010002), []string{"DPP control 0x100 is reserved"}},
		{"DPP of 64 bits", GFX942, code(0x7e0470fa, 0xff000002), []string{"64-bit v_mov_b64 takes only row_newbcast"}},
		{"no target", 0, code(0xbf810000), []string{"Target(0) is not a target"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, err := Decode(c.target, c.code, 0x2000)
			var de *DecodeError
			if !errors.As(err, &de) {
				t.Fatalf("got %q, %v", in.String(), err)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q lacks %q", err, w)
				}
			}
		})
	}
}

func TestDisassemble(t *testing.T) {
	var lines []string
	b := append(code(0x7e020302, 0xf0000000, 0xbf810000), 1, 2)
	Disassemble(GFX942, b, 0x100, func(in Inst, err error) bool {
		line := in.String()
		if err != nil {
			line = "error"
		}
		lines = append(lines, line)
		return true
	})
	want := []string{"v_mov_b32_e32 v1, v2", "error", "s_endpgm", "error"}
	if d := cmp.Diff(want, lines); d != "" {
		t.Error(d)
	}
	n := 0
	Disassemble(GFX942, b, 0x100, func(Inst, error) bool { n++; return n < 2 })
	if n != 2 {
		t.Errorf("visited %d instructions after it was told to stop at 2", n)
	}
}

// FuzzDecode holds for any bytes: no panic, a size within the code, text, and
// the same instruction from exactly its own bytes.
func FuzzDecode(f *testing.F) {
	for _, s := range samples(GFX950)[:2000] {
		f.Add(code(s...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, target := range []Target{GFX942, GFX950} {
			in, err := Decode(target, b, 0)
			if err != nil {
				if err.Error() == "" {
					t.Error("an error without text")
				}
				continue
			}
			if int(in.Size) > len(b) || in.Size == 0 || in.Size%4 != 0 || in.Op == InvalidOp || in.String() == "" {
				t.Errorf("%x: %d bytes, %s %q", b, in.Size, in.Op, in.String())
			}
			again, err := Decode(target, b[:in.Size], 0)
			if err != nil {
				// A prefix of two dwords is another instruction than all four.
				t.Fatalf("%x: %v from its own %d bytes", b, err, in.Size)
			}
			if again != in {
				t.Errorf("%x: %q from its own bytes is %q", b, in.String(), again.String())
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	var stream []byte
	for _, s := range samples(GFX942) {
		if in, err := Decode(GFX942, code(s...), 0); err == nil {
			stream = append(stream, code(s...)[:in.Size]...)
		}
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for rest := stream; len(rest) > 0; n++ {
			in, err := Decode(GFX942, rest, 0)
			if err != nil {
				b.Fatal(err)
			}
			rest = rest[in.Size:]
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Minst/s")
}
