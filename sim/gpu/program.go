package gpu

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"mqaproof/sim/codeobject"
	"mqaproof/sim/isa"
)

// Program is one kernel, decoded and compiled once. It is not changed by
// running, so that many launches may share it.
//
// Its instructions have addresses in the emulated address space: codeBase more
// than in the code object.
type Program struct {
	file   *codeobject.File
	kernel *codeobject.Kernel
	target isa.Target

	steps    []execFn
	insts    []isa.Inst
	isVector []bool // vector ALU and matrix core
	entry    int    // first step
	index    map[uint64]int32
	vregs    int
	used     [2][2]int // ranges of Wave.V that instructions can reach
	idle     sync.Pool // of *worker
}

// Load decodes and compiles a kernel of a code object. An instruction that
// cannot be decoded or executed is no error here: it traps when a wave gets to
// it.
func Load(f *codeobject.File, kernel string) (*Program, error) {
	k, err := f.Kernel(kernel)
	if err != nil {
		return nil, err
	}
	target, err := isa.ParseTarget(f.Target)
	if err != nil {
		return nil, err
	}
	p := &Program{file: f, kernel: k, target: target, vregs: vectorRegisters(k.Descriptor)}
	code := p.decode()
	if len(code) > maxSteps {
		return nil, fmt.Errorf("kernel %s has %d instructions; at most %d are supported", kernel, len(code), maxSteps)
	}
	p.insts = make([]isa.Inst, len(code))
	p.index = make(map[uint64]int32, len(code))
	for i, d := range code {
		p.insts[i] = d.inst
		p.index[d.inst.Addr] = int32(i)
	}
	p.steps = make([]execFn, len(code))
	p.isVector = make([]bool, len(code))
	for i, d := range code {
		p.isVector[i] = d.inst.Enc >= isa.VOP1 && d.inst.Enc <= isa.VOP3PX2
		if d.err != nil {
			p.steps[i] = undecodable(d.inst.Addr-codeBase, d.err)
			continue
		}
		step, err := compile(&p.insts[i], p)
		if err != nil {
			step = trapStep(err)
		}
		p.steps[i] = step
	}
	p.entry = int(p.index[codeBase+k.Entry])
	p.used = p.usedRegisters()
	return p, nil
}

// Kernel describes the kernel.
func (p *Program) Kernel() *codeobject.Kernel { return p.kernel }

// stepAt is the step of the instruction at addr.
func (p *Program) stepAt(addr uint64) (step int, ok bool) {
	i, ok := p.index[addr]
	return int(i), ok
}

// vectorRegisters is the length of Wave.V: all VGPRs, and all accumulation
// VGPRs when the kernel has some.
func (p *Program) vectorRegisters() int { return p.vregs }

// vectorRegisters reads the split of the unified register file from the
// descriptor (llvm AMDGPUUsage: GRANULATED_WORKITEM_VGPR_COUNT in units of 8
// registers, ACCUM_OFFSET in units of 4).
func vectorRegisters(d codeobject.Descriptor) int {
	total := int(d.Rsrc1&0x3f+1) * 8
	vgprs := min(int(d.Rsrc3&0x3f+1)*4, 256)
	if acc := min(total-vgprs, 256); acc > 0 {
		return firstAcc + acc
	}
	return vgprs
}

// usedRegisters is the ranges of Wave.V, VGPRs and accumulation VGPRs, that the
// kernel's instructions name. A wave starts with 0 in them.
func (p *Program) usedRegisters() [2][2]int {
	vgprs, acc := 1, 0 // VGPR 0 holds the work-item's position
	for i := range p.insts {
		in := &p.insts[i]
		for _, o := range [...]isa.Operand{in.Dst, in.SDst, in.Src[0], in.Src[1], in.Src[2], in.Src[3]} {
			// An operand may be read or written together with registers that
			// its width does not count: none takes more than 32.
			end := int(o.Reg) + max(int(o.Width), 32)
			switch o.Kind {
			case isa.VReg:
				vgprs = max(vgprs, end)
			case isa.AReg:
				acc = max(acc, end)
			}
		}
	}
	return [2][2]int{{0, min(vgprs, p.vregs)}, {min(firstAcc, p.vregs), min(firstAcc+acc, p.vregs)}}
}

// decoded is one instruction, or why there is none at its address.
type decoded struct {
	inst isa.Inst
	err  error
}

// undecodable is the step of bytes that are no instruction. It places its trap
// itself, since there is no instruction to print.
func undecodable(pc uint64, err error) execFn {
	kind, raw, reason := TrapUnknownOpcode, "", err.Error()
	var d *isa.DecodeError
	if errors.As(err, &d) {
		reason = d.Reason
		for i, word := range d.Words {
			if i > 0 {
				raw += " "
			}
			raw += fmt.Sprintf("%08x", word)
		}
	} else {
		kind, raw = TrapBadPC, "end of the code"
	}
	return func(w *Wave) {
		w.stopWith(kind, reason)
		w.trap.PC, w.trap.Inst = codeBase+pc, raw
	}
}

// errEndOfCode is what follows the last instruction of a segment.
var errEndOfCode = errors.New("the program runs past the end of its code")

// decode is the kernel's instructions in address order: those that are
// reachable from its entry or, if one of them jumps to a computed address, all
// of the code object's.
func (p *Program) decode() []decoded {
	found := map[uint64]decoded{}
	indirect := p.follow(codeBase+p.kernel.Entry, found)
	if indirect {
		for _, k := range p.file.Kernels {
			p.follow(codeBase+k.Entry, found)
		}
		for i := range p.file.Segments {
			if p.file.Segments[i].Executable {
				p.sweep(&p.file.Segments[i], found)
			}
		}
	}
	list := make([]decoded, 0, len(found))
	for _, d := range found {
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b decoded) int { return cmp.Compare(a.inst.Addr, b.inst.Addr) })
	// Steps follow each other as their addresses do. Where an instruction lies
	// inside another one that falls through to it this would not hold: such
	// code, which no compiler makes, stops at the outer one.
	for i := range list {
		in := &list[i].inst
		if list[i].err == nil && i+1 < len(list) && list[i+1].inst.Addr < in.Addr+uint64(in.Size) {
			list[i].err = &isa.DecodeError{Addr: in.Addr, Words: in.Raw[:in.Size/4], Target: p.target, Reason: "a jump leads into the middle of this instruction"}
		}
	}
	return list
}

// at decodes the instruction at addr of the emulated address space.
func (p *Program) at(addr uint64) decoded {
	for i := range p.file.Segments {
		s := &p.file.Segments[i]
		off := addr - codeBase - s.Addr
		if !s.Executable || off >= uint64(len(s.Data)) {
			continue
		}
		in, err := isa.Decode(p.target, s.Data[off:], addr)
		if err != nil {
			in = isa.Inst{Addr: addr, Size: 4}
		}
		return decoded{in, err}
	}
	return decoded{isa.Inst{Addr: addr, Size: 4}, errEndOfCode}
}

// follow decodes what can be reached from addr without computed jumps, and
// reports whether there is one.
func (p *Program) follow(addr uint64, found map[uint64]decoded) (indirect bool) {
	todo := []uint64{addr}
	for len(todo) > 0 {
		addr := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		jumped := true
		for {
			if _, ok := found[addr]; ok {
				break
			}
			d := p.at(addr)
			if d.err == errEndOfCode && jumped {
				break // the branch traps when it is taken
			}
			jumped = false
			found[addr] = d
			if d.err != nil {
				break
			}
			in := &d.inst
			next := addr + uint64(in.Size)
			target := next + uint64(int64(in.Simm16)*4)
			ends := false
			switch in.Op {
			case isa.S_ENDPGM, isa.S_ENDPGM_SAVED:
				ends = true
			case isa.S_SETPC_B64, isa.S_RFE_B64:
				indirect, ends = true, true
			case isa.S_SWAPPC_B64, isa.S_CBRANCH_G_FORK, isa.S_CBRANCH_JOIN:
				indirect = true
			case isa.S_CALL_B64:
				indirect = true // it returns by a computed jump
				todo = append(todo, target)
			case isa.S_BRANCH:
				ends = true
				todo = append(todo, target)
			default:
				if in.Enc == isa.SOPP && isConditionalBranch(in.Op) {
					todo = append(todo, target)
				}
			}
			if ends {
				break
			}
			addr = next
		}
	}
	return indirect
}

func isConditionalBranch(op isa.Op) bool {
	switch op {
	case isa.S_CBRANCH_SCC0, isa.S_CBRANCH_SCC1, isa.S_CBRANCH_VCCZ, isa.S_CBRANCH_VCCNZ,
		isa.S_CBRANCH_EXECZ, isa.S_CBRANCH_EXECNZ, isa.S_CBRANCH_CDBGSYS, isa.S_CBRANCH_CDBGUSER,
		isa.S_CBRANCH_CDBGSYS_OR_USER, isa.S_CBRANCH_CDBGSYS_AND_USER:
		return true
	}
	return false
}

// sweep decodes a whole segment in order, around what was found already.
func (p *Program) sweep(s *codeobject.Segment, found map[uint64]decoded) {
	end := codeBase + s.Addr + uint64(len(s.Data))
	for addr := codeBase + s.Addr; addr < end; {
		d, ok := found[addr]
		if !ok {
			d = p.at(addr)
			for inside := addr + 4; inside < addr+uint64(d.inst.Size); inside += 4 {
				if _, ok := found[inside]; ok { // data before an instruction
					d = decoded{isa.Inst{Addr: addr, Size: 4}, &isa.DecodeError{Addr: addr, Words: d.inst.Raw[:1], Target: p.target, Reason: "data between instructions"}}
					break
				}
			}
			found[addr] = d
		}
		addr += uint64(d.inst.Size)
	}
	if _, ok := found[end]; !ok {
		found[end] = decoded{isa.Inst{Addr: end, Size: 4}, errEndOfCode}
	}
}
