package isa

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"sort"
	"strings"
	"testing"

	"mqaproof/internal/needtool"
)

// samples are random encodings of every opcode of every table, and of opcodes
// that no table has.
func samples(target Target) [][]uint32 {
	r := rand.New(rand.NewPCG(1, uint64(target)))
	var out [][]uint32
	// A dword follows each sample, so that a literal it asks for is there: llvm-mc
	// crashes where one is cut off.
	add := func(words ...uint32) { out = append(out, append(words, 0xbf800000)) }
	// reg is mostly small and even, so that most tuples are aligned.
	reg := func() uint32 {
		if r.IntN(8) == 0 {
			return r.Uint32N(256)
		}
		return r.Uint32N(60) * 4
	}
	sreg := func() uint32 {
		switch r.IntN(10) {
		case 0:
			return r.Uint32N(128)
		case 1:
			return regVCC
		}
		return r.Uint32N(24) * 4
	}
	src := func() uint32 {
		switch r.IntN(6) {
		case 0:
			return sreg()
		case 1:
			return 128 + r.Uint32N(81)
		case 2:
			return 240 + r.Uint32N(9)
		case 3:
			return r.Uint32N(512)
		}
		return 256 + reg()
	}
	ssrc := func() uint32 {
		if r.IntN(3) > 0 {
			return sreg()
		}
		return src() & 0xff
	}
	// rarely is v one time in five, so that most modifiers are absent.
	rarely := func(v uint32) uint32 {
		if r.IntN(5) == 0 {
			return v
		}
		return 0
	}
	literal := func() uint32 {
		if r.IntN(2) == 0 {
			return inlineFloats[r.IntN(9)] >> (r.IntN(2) * 16)
		}
		return r.Uint32() >> r.IntN(32)
	}
	const each = 8
	for range each {
		for op := range uint32(256) {
			add(0xbe800000|sreg()<<16|op<<8|ssrc(), literal())
			w1 := r.Uint32N(64) | rarely(r.Uint32())
			add(0xc0000000|op<<18|r.Uint32N(32)<<1|sreg()<<6|1<<17|rarely(1<<16)|rarely(1<<17|1<<14), w1)
			// LDS: fields that an opcode does not have must be zero for LLVM.
			s := &shapes[dsTable[op].shape]
			var d uint32
			for i, sl := range [4]slot{s.a, s.b, s.c, s.dst} {
				if sl.in != inNone {
					d |= reg() << (8 * i)
				}
			}
			add(0xd8000000|op<<17|rarely(1<<25)|rarely(1<<16)|rarely(r.Uint32N(1<<16)), d)
		}
		for op := range uint32(128) {
			if op < 0x60 {
				add(0x80000000|op<<23|sreg()<<16|ssrc()<<8|ssrc(), literal())
			}
			add(0xbf000000|op<<16|ssrc()<<8|ssrc(), literal())
			add(0xbf800000 | op<<16 | r.Uint32N(1<<16)>>r.IntN(16))
			mods := rarely(1<<16) | rarely(1<<17) | rarely(1<<25)
			data := reg()<<8 | rarely(1<<23)
			dst := reg() << 24
			add(0xdc000000|op<<18|r.Uint32N(4096)|mods, reg()|data|dst)
			add(0xdc008000|op<<18|r.Uint32N(8192)|mods, reg()|data|dst|0x7f<<16)
			add(0xdc008000|op<<18|r.Uint32N(8192)|mods, reg()|data|dst|sreg()<<16)
			add(0xdc004000|op<<18|r.Uint32N(8192)|mods, data|dst|sreg()<<16)
			add(0xdc006000|op<<18|r.Uint32N(8192)|mods, reg()|data|dst|0x7f<<16)
			soffset := sreg()
			if r.IntN(2) == 0 {
				soffset = 128 + r.Uint32N(80)
			}
			add(0xe0000000|op<<18|r.Uint32N(4096)|r.Uint32N(4)<<12|rarely(1<<14)|rarely(1<<15)|rarely(1<<16)|rarely(1<<17),
				reg()|data|r.Uint32N(25)<<16|soffset<<24)
			add(0xe8000000|(op&15)<<15|r.Uint32N(4096)|r.Uint32N(4)<<12|rarely(1<<14)|r.Uint32N(128)<<19,
				reg()|data|r.Uint32N(25)<<16|soffset<<24|rarely(1<<21)|rarely(1<<22))
			// Packed math and the matrix core.
			sources := src() | src()<<9 | src()<<18
			add(0xd3800000|op<<16|0x4000|reg()|rarely(r.Uint32N(8)<<8)|rarely(r.Uint32N(8)<<11)|rarely(1<<15), sources|3<<27|rarely(r.Uint32N(8)<<29)|rarely(1<<27))
			vectors := (256 + reg()) | (256+reg())<<9 | (256+reg())<<18
			add(0xd3800000|op<<16|reg()|rarely(1<<15)|rarely(r.Uint32N(8)<<8)|rarely(r.Uint32N(16)<<11), vectors|rarely(r.Uint32N(4)<<27)|rarely(r.Uint32N(8)<<29))
			add(0xd3800000|op<<16|reg()|rarely(1<<15), vectors&^(0x1ff<<18)|(128+r.Uint32N(81))<<18)
		}
		for op := range uint32(32) {
			if op < 29 {
				add(0xb0000000|op<<23|sreg()<<16|r.Uint32N(1<<16)>>r.IntN(16), literal())
			}
		}
		for op := range uint32(256) {
			forms := []uint32{0x7e000000 | reg()<<17 | op<<9, 0x7c000000 | op<<17 | reg()<<9}
			if op < 62 {
				forms = append(forms, op<<25|reg()<<17|reg()<<9)
			}
			for _, w := range forms {
				add(w|src(), literal())
				add(w|srcLiteral, literal())
				add(w|srcSDWA, reg()|r.Uint32N(7)<<8|rarely(r.Uint32N(3)<<11)|rarely(r.Uint32N(8)<<13)|
					r.Uint32N(7)<<16|rarely(r.Uint32N(16)<<19)|r.Uint32N(7)<<24|rarely(r.Uint32N(8)<<27))
				add(w|srcDPP, reg()|uint32([]int{r.IntN(512), r.IntN(256), 0x101 + r.IntN(15), 0x150 + r.IntN(16)}[r.IntN(4)])<<8|rarely(1<<19)|rarely(r.Uint32N(16)<<20)|r.Uint32N(256)<<24)
			}
		}
		for op := range uint32(0x380) {
			sources := src() | src()<<9 | src()<<18
			if r.IntN(2) == 0 {
				sources = (256 + reg()) | (256+reg())<<9 | (256+reg())<<18
			}
			s := &shapes[vop3Table[op].shape]
			for i, sl := range [3]slot{s.a, s.b, s.c} {
				if sl.in == inNone {
					sources &^= 0x1ff << (9 * i)
				} else if sl.in == inSGPR || sl.in == inLaneSelect || sl.in == inSSrc {
					sources = sources&^(0x1ff<<(9*i)) | sreg()<<(9*i)
				}
			}
			dst := reg()
			if s.dst.in == inSGPR {
				dst = sreg()
			}
			w, w1 := 0xd0000000|op<<16|dst, sources
			switch r.IntN(4) {
			case 0:
				w |= r.Uint32N(8) << 8
				w1 |= r.Uint32N(8) << 29
			case 1:
				w |= rarely(1 << 15)
				w1 |= rarely(r.Uint32N(4) << 27)
			case 2:
				w |= r.Uint32N(16) << 11
			}
			if vop3Table[op].enc == VOP3SD {
				w = w&^(0x7f<<8) | sreg()<<8
			}
			add(w, w1)
		}
	}
	for op := range uint32(256) { // without operands
		add(0xbf800000 | op&0x7f<<16)
		add(0xc0000000|op<<18, 0)
		add(0xc0000000|op<<18|sreg()<<6, 0)
		add(0xe0000000|op&0x7f<<18|rarely(1<<15), 0)
		add(0xd8010000|op<<17, 0)
		add(0x7e000000 | op<<9)
	}
	for range each * 8 { // block-scaled matrix instructions
		op := uint32(opMFMA16x128 + r.IntN(2))
		add(0xd3ac0000|0x4000, src()|src()<<9|r.Uint32N(4)<<27, 0xbf800000)
		add(0xd3ac0000|r.Uint32N(4)<<11, src()|src()<<9|r.Uint32N(4)<<27,
			0xd3800800|op<<16|reg()|rarely(1<<15)|r.Uint32N(5)<<8, (256+reg())|(256+reg())<<9|(256+reg())<<18|rarely(r.Uint32N(4)<<27)|r.Uint32N(5)<<29)
	}
	return out
}

// marker ends each sample's output: s_nop with a value that no sample has.
const (
	markerWord = 0xbf805a5a
	markerText = "s_nop 0x5a5a"
	crashed    = "crash"
)

// llvm is llvm-mc's text of each sample's first instruction, "" where it
// refuses it. Some malformed bytes crash llvm-mc 22: the samples are then
// halved until the one is found.
func llvm(t *testing.T, target Target, all [][]uint32) []string {
	t.Helper()
	mc := needtool.Path(t, "llvm-mc-22")
	var in strings.Builder
	dwords := func(words ...uint32) {
		in.WriteByte('[') // one atomic block: nothing crosses its end
		for _, w := range words {
			for _, b := range binary.LittleEndian.AppendUint32(nil, w) {
				fmt.Fprintf(&in, "0x%02x ", b)
			}
		}
		in.WriteString("]\n")
	}
	for _, s := range all {
		dwords(s...)
		dwords(markerWord)
	}
	cmd := exec.Command(mc, "--disassemble", "-triple=amdgcn-amd-amdhsa", "-mcpu="+target.String())
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output() // it exits 1 when it refuses something
	if exit, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	} else if exited && exit.ExitCode() < 0 {
		if len(all) == 1 {

			return []string{crashed}
		}
		half := len(all) / 2
		return append(llvm(t, target, all[:half]), llvm(t, target, all[half:])...)
	}
	var texts []string
	first := ""
	for l := range strings.Lines(string(out)) {
		l = strings.Join(strings.Fields(l), " ")
		switch {
		case l == "" || strings.HasPrefix(l, "."):
		case l == markerText:
			texts, first = append(texts, first), ""
		case first == "":
			first = l
		}
	}
	if len(texts) != len(all) {
		t.Fatalf("llvm-mc-22 gave %d answers to %d samples: %v", len(texts), len(all), err)
	}
	return texts
}

// TestAgreesOnEveryOpcode holds text and refusals against llvm-mc on random
// encodings of every opcode.
func TestAgreesOnEveryOpcode(t *testing.T) {
	for _, target := range []Target{GFX942, GFX950} {
		t.Run(target.String(), func(t *testing.T) {
			all := samples(target)
			texts := llvm(t, target, all)
			agreed, bad := 0, map[string][]string{}
			refusals := map[string]int{}
			seen := map[Op]bool{}
			for i, s := range all {
				var code []byte
				for _, w := range s {
					code = binary.LittleEndian.AppendUint32(code, w)
				}
				in, err := Decode(target, code, 0)
				want := texts[i]
				if strings.Contains(want, "/*") || want == crashed {
					want = "" // an operand that LLVM calls invalid
				}
				switch {
				case err != nil && want == "":
					agreed++
				case err != nil:
					reason := err.(*DecodeError).Reason
					if why := stricter(reason, want); why != "" {
						refusals[why]++
						continue
					}
					bad[reason] = append(bad[reason], fmt.Sprintf("%08x: refused; LLVM %q", s, want))
				case want == "":
					if why := looser(&in, texts[i]); why != "" {
						refusals[why]++
						continue
					}
					bad["LLVM refuses "+in.Enc.String()] = append(bad["LLVM refuses "+in.Enc.String()], fmt.Sprintf("%08x: got %q; LLVM refuses (%s)", s, in.String(), texts[i]))
				case in.String() != want && misprints(&in) != "":
					refusals[misprints(&in)]++
				case in.String() != want:
					bad["text "+in.Enc.String()] = append(bad["text "+in.Enc.String()], fmt.Sprintf("%08x:\n\tgot  %q\n\tLLVM %q", s, in.String(), want))
				default:
					agreed++
					seen[in.Op] = true
				}
			}
			for _, k := range sortedKeys(bad) {
				for i, line := range bad[k] {
					if i == 3 {
						break
					}
					t.Errorf("%s (%d): %s", k, len(bad[k]), line)
				}
			}
			t.Logf("%d of %d samples agree; deliberate differences: %v", agreed, len(all), refusals)
			for op := Op(1); op < numOps; op++ {
				if !seen[op] && onTarget(op, target) {
					t.Errorf("no accepted sample of %s", op)
				}
			}
		})
	}
}

func onTarget(op Op, target Target) bool {
	for _, table := range allTables() {
		for i := range table {
			if table[i].op == op && table[i].on.has(target) {
				return true
			}
		}
	}
	return false
}

func allTables() [][]row {
	return [][]row{sop1Table[:], sop2Table[:], sopcTable[:], sopkTable[:], soppTable[:], smemTable[:], vop1Table[:], vop2Table[:],
		vopcTable[:], vop3Table[:], vop3pTable[:], vop3px2Table[:], dsTable[:], mubufTable[:], mtbufTable[:], flatTable[:], globalTable[:], scratchTable[:]}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// stricter says why Decode refuses what LLVM accepts, "" when it should not.
// No code that a compiler or assembler writes is among it.
func stricter(reason, llvm string) string {
	for _, r := range []struct{ reason, why string }{
		{`^scalar register \d+ is not aligned`, "LLVM rounds a misaligned scalar tuple down"},
		{`^(accumulation )?VGPR \d+ is not aligned`, "LLVM does not check the alignment of some vector tuples"},
		{`^no (accumulation )?(VGPR|scalar register) \d+( of|$)`, "LLVM reads tuples beyond the register file, or a register kind that the field cannot name"},
		{`^source operand 23[01] is reserved`, "LLVM names registers of gfx12"},
		{`is not a vector register$`, "LLVM reads scalar sources of the matrix core"},
		{`takes no sign or absolute value$`, "LLVM ignores signs of integer sources"},
		{`^matrix format \d is reserved`, "LLVM reads reserved matrix formats as fp8"},
		{`has no operands$|has no data in accumulation VGPRs$`, "LLVM ignores some fields of instructions without operands"},
		{`^SDWA .* selector is reserved`, "LLVM reads reserved SDWA selectors"},
		{`^encoding VOP3(P|SD)? has no literal`, "LLVM reads literals in VOP3 of gfx950, which AMD's ISA excludes"},
		{`^SDWA selects from a second source`, "LLVM ignores the second scalar bit"},
		{`writes whole dwords only$`, "LLVM ignores what becomes of unused bits where there are none"},
		{`^field set that`, "LLVM ignores the data field of cache instructions"},
		{`does not clamp$`, "LLVM lets integer SDWA instructions clamp"},
		{`^v_pk_fmac_f16 has no SDWA form`, "AMD's ISA gives it none"},
		{`^gds must be set`, "LLVM ignores gds"},
		{`^FLAT has no`, "LLVM reads 13 offset bits of FLAT"},
		{`is not a scalar source|^EXEC is not|^M0 and EXEC`, "LLVM accepts some special registers"},
	} {
		if regexp.MustCompile(r.reason).MatchString(reason) {
			return r.why
		}
	}
	if regexp.MustCompile(`\bnull\b`).MatchString(llvm) {
		return "register 125 (null) does not exist before gfx10"
	}
	return ""
}

// looser says why Decode accepts what LLVM refuses, "" when it should not.
func looser(in *Inst, llvm string) string {
	switch {
	case llvm == crashed:
		return "llvm-mc-22 crashes"
	case (in.Op == V_READFIRSTLANE_B32 || in.Op == V_READLANE_B32) && in.SDst.Reg == regM0:
		return "LLVM keeps v_readlane from M0"
	case in.Enc == VOP3PX2 && strings.Contains(llvm, "/*Invalid"):
		return "LLVM wants the scales in VGPRs, AMD's ISA does not"
	case in.Dst.Kind == AReg && isAtomic(in.Op):
		return "LLVM has no accumulation VGPR form"
	}
	return ""
}

// misprints says why LLVM's text is wrong, "" when it is not.
func misprints(in *Inst) string {
	switch in.Op {
	case V_FMAMK_F32, V_FMAAK_F32, V_MADMK_F16, V_MADAK_F16:
		if in.Raw[1] < 256 {
			return "LLVM reads a small constant of v_fmamk as an operand's encoding"
		}
	}
	return ""
}
