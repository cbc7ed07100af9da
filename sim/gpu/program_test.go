package gpu

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"mqaproof/sim/codeobject"
	"mqaproof/sim/isa"
)

// patched is testdata/guard.hip with words of a kernel's code replaced, from
// so many instructions after its entry on.
func patched(t *testing.T, kernel string, after int, words ...uint32) (*codeobject.File, uint64) {
	t.Helper()
	f := guardFile(t, "gfx942")
	k, err := f.Kernel(kernel)
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Segments {
		s := &f.Segments[i]
		if !s.Executable {
			continue
		}
		s.Data = slices.Clone(s.Data)
		at := k.Entry - s.Addr
		for range after {
			in, err := isa.Decode(isa.GFX942, s.Data[at:], at)
			if err != nil {
				t.Fatal(err)
			}
			at += uint64(in.Size)
		}
		for j, w := range words {
			binary.LittleEndian.PutUint32(s.Data[int(at)+4*j:], w)
		}
		return f, s.Addr + at
	}
	t.Fatal("no code")
	return nil, 0
}

func TestBadCode(t *testing.T) {
	const endpgm = 0xbf810000
	for _, c := range []struct {
		name        string
		after       int
		words       []uint32
		kind        TrapKind // "" for none
		inst, about string
		offset      int64 // of the trap from the patch
	}{
		{"no instruction", 1, []uint32{0xffffffff, 0x12345678}, TrapUnknownOpcode, "ffffffff 12345678", "unknown encoding", 0},
		{"unknown opcode", 0, []uint32{0xbfff0000}, TrapUnknownOpcode, "bfff0000", "opcode", 0},
		{"not reached", 0, []uint32{endpgm, 0xffffffff}, "", "", "", 0},
		{"jump far out", 0, []uint32{0xbf827fff}, TrapBadPC, "s_branch 32767", "which is no instruction", 0},
		{"jump into an instruction", 0, []uint32{0xbf850001, 0xbe8000ff, endpgm, endpgm}, TrapUnknownOpcode, "be8000ff bf810000", "middle", 4},
		{"not implemented", 0, []uint32{0xbf920003}, TrapFault, "s_trap 3", "trap 3", 0},
		{"refused", 0, []uint32{0xe0000000, 0x80000000}, TrapUnknownOpcode, "buffer_load_format_x v0, off, s[0:3], 0", "does not implement", 0},
	} {
		f, pc := patched(t, "constants", c.after, c.words...)
		p, err := Load(f, "constants")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		m := NewMemory()
		_, err = m.Run(context.Background(), p, Launch{Grid: one(2), Block: one(64), Kernarg: pack(output(t, m, "out", 256))})
		var trap *Trap
		switch {
		case c.kind == "":
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		case !errors.As(err, &trap):
			t.Errorf("%s: error is %v, want a trap", c.name, err)
		case trap.Kind != c.kind || !strings.HasPrefix(trap.Inst, c.inst) || !strings.Contains(trap.Reason, c.about) || trap.PC != pc+uint64(c.offset):
			t.Errorf("%s: trap is %+v at %#x, want %s of %q about %q at %#x", c.name, trap, trap.PC, c.kind, c.inst, c.about, pc)
		}
	}
}

// TestRunsOff: a kernel without an end traps behind its last instruction.
func TestRunsOff(t *testing.T) {
	f := guardFile(t, "gfx942")
	k, err := f.Kernel("constants")
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Segments {
		if s := &f.Segments[i]; s.Executable {
			s.Data = slices.Clone(s.Data[:k.Entry-s.Addr+8])
			copy(s.Data[k.Entry-s.Addr:], []byte{0, 0, 0x80, 0xbf, 0, 0, 0x80, 0xbf}) // s_nop 0
		}
	}
	p, err := Load(f, "constants")
	if err != nil {
		t.Fatal(err)
	}
	m := NewMemory()
	_, err = m.Run(context.Background(), p, Launch{Grid: one(), Block: one(64), Kernarg: pack(output(t, m, "out", 256))})
	var trap *Trap
	if !errors.As(err, &trap) || trap.Kind != TrapBadPC || trap.PC != k.Entry+8 {
		t.Errorf("error is %v", err)
	}
}

// TestWholeSegment: with computed jumps every instruction of the code object
// is there.
func TestWholeSegment(t *testing.T) {
	f, _ := patched(t, "constants", 0, 0xbe801d02) // s_setpc_b64 s[2:3]
	p, err := Load(f, "constants")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range f.Kernels {
		if _, ok := p.stepAt(codeBase + k.Entry); !ok {
			t.Errorf("kernel %s is not decoded", k.Name)
		}
	}
	q, err := Load(guardFile(t, "gfx942"), "constants")
	if err != nil {
		t.Fatal(err)
	}
	if len(q.steps) >= len(p.steps) {
		t.Errorf("%d steps without computed jumps, %d with", len(q.steps), len(p.steps))
	}
	for i := range p.insts[:len(p.insts)-1] {
		if a, b := &p.insts[i], &p.insts[i+1]; b.Addr < a.Addr+uint64(a.Size) {
			t.Errorf("%v at %#x overlaps what lies at %#x", a, a.Addr, b.Addr)
		}
	}
}

func TestVectorRegisters(t *testing.T) {
	for _, c := range []struct {
		rsrc1, rsrc3 uint32
		want         int
	}{
		{0, 0, firstAcc + 4}, // 8 registers, 4 of them VGPRs
		{0, 1, 8},
		{31, 63, 256},
		{63, 63, 512},
		{63, 31, 512}, // 128 VGPRs, 384 others of which 256 can be named
		{15, 15, firstAcc + 64},
	} {
		if got := vectorRegisters(codeobject.Descriptor{Rsrc1: c.rsrc1, Rsrc3: c.rsrc3}); got != c.want {
			t.Errorf("rsrc1 %d, rsrc3 %d: %d registers, want %d", c.rsrc1, c.rsrc3, got, c.want)
		}
	}
}
