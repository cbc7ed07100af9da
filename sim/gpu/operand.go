package gpu

import (
	"math"

	"mqaproof/sim/isa"
)

// scalarSource is a source of a scalar instruction: a register or a constant,
// one dword or two.
type scalarSource struct {
	reg   int // -1 for a constant
	value uint64
}

// scalar resolves a source of a scalar instruction. Constants become what
// constant64 says.
func scalar(o isa.Operand) (scalarSource, error) {
	switch o.Kind {
	case isa.SReg:
		if int(o.Reg)+max(int(o.Width), 1) > 128 {
			return scalarSource{}, unsupported("scalar register %d is out of range", o.Reg)
		}
		return scalarSource{reg: int(o.Reg)}, nil
	case isa.Const:
		return scalarSource{reg: -1, value: constant64(o)}, nil
	case isa.Special:
		switch o.Reg {
		case 251:
			return scalarSource{reg: specialVCCZ}, nil
		case 252:
			return scalarSource{reg: specialEXECZ}, nil
		case 253:
			return scalarSource{reg: specialSCC}, nil
		case 235, 237: // SRC_SHARED_BASE, SRC_PRIVATE_BASE
			// As 32-bit sources their value is not documented.
			if o.Width == 2 {
				return scalarSource{reg: -1, value: map[uint16]uint64{235: sharedAperture, 237: privateAperture}[o.Reg]}, nil
			}
		}
		return scalarSource{}, unsupported("source %d (apertures, LDS and the like) is not implemented", o.Reg)
	}
	return scalarSource{}, unsupported("operand kind %d as a scalar source", o.Kind)
}

// Registers of scalarSource that are not in the register file.
const (
	specialVCCZ  = 1000 + iota // 1 when VCC is zero
	specialEXECZ               // 1 when EXEC is zero
	specialSCC                 // the scalar condition code
)

// constant64 is a constant as an operand of 64 bits that is no float64 sees it;
// its low dword is what a 32-bit operand sees. Inline integers are
// sign-extended for every type. Literals are for signed operands alone, and
// zero-extended for unsigned ones and bits (llvm-project pull request 70274;
// rocm-systems pull request 9575). An inline float is a float64.
func constant64(o isa.Operand) uint64 {
	switch {
	case o.Float && o.Width >= 2:
		return inlineFloat64(o.Value)
	case o.Literal && !o.Signed:
		return uint64(o.Value)
	}
	return uint64(int64(int32(o.Value)))
}

// inlineFloat64 is an inline float constant, given as a float32, as a float64.
// All of them are exact but 1/(2 pi), which the hardware has with all its bits
// (llvm AMDGPUUsage, "Inline constants").
func inlineFloat64(b uint32) uint64 {
	if b == inverseTwoPi32 {
		return inverseTwoPi64
	}
	return math.Float64bits(float64(math.Float32frombits(b)))
}

// 1/(2 pi) as the inline constant 248 gives it.
const (
	inverseTwoPi32 = 0x3e22f983
	inverseTwoPi64 = 0x3fc45f306dc9c882
)

func (s scalarSource) u32(w *Wave) uint32 {
	if s.reg < 0 {
		return uint32(s.value)
	}
	if s.reg < regVCC {
		return w.S[s.reg]
	}
	if s.reg >= specialVCCZ {
		return w.special(s.reg)
	}
	return w.readS(s.reg)
}

func (s scalarSource) u64(w *Wave) uint64 {
	if s.reg < 0 {
		return s.value
	}
	if s.reg >= specialVCCZ {
		return uint64(w.special(s.reg))
	}
	return w.readS64(s.reg)
}

func (w *Wave) special(reg int) uint32 {
	var on bool
	switch reg {
	case specialVCCZ:
		on = w.VCC == 0
	case specialEXECZ:
		on = w.EXEC == 0
	case specialSCC:
		on = w.SCC
	}
	if on {
		return 1
	}
	return 0
}

// scalarDest is the register of a scalar destination of so many dwords.
func scalarDest(o isa.Operand, dwords int) (int, error) {
	if o.Kind != isa.SReg || int(o.Reg)+dwords > 128 {
		return 0, unsupported("operand kind %d register %d as a scalar destination of %d dwords", o.Kind, o.Reg, dwords)
	}
	return int(o.Reg), nil
}

// sourceKind says where a dword of a vector source comes from.
type sourceKind uint8

const (
	fromVGPR sourceKind = iota
	fromConst
	fromScalar
	fromNothing
)

// vectorSource is one dword of a source of a vector instruction, as a register
// of 64 lanes whatever it is: constants are spread over the lanes once, at
// compile time, scalars when they are read.
type vectorSource struct {
	kind   sourceKind
	vgpr   int
	slot   int // of Wave.scratch
	konst  *vreg
	scalar scalarSource
}

// get is the source's 64 lanes. The result is not to be written to.
func (s *vectorSource) get(w *Wave) *vreg {
	switch s.kind {
	case fromVGPR:
		return &w.V[s.vgpr]
	case fromConst:
		return s.konst
	case fromNothing:
		return nil
	}
	return w.spread(s.slot, s.scalar.u32(w))
}

// spread gives a register of the wave's scratch with x in all lanes.
func (w *Wave) spread(slot int, x uint32) *vreg {
	v := &w.scratch.bcast[slot]
	if w.scratch.value[slot] == x && w.scratch.valid[slot] {
		return v
	}
	w.scratch.value[slot], w.scratch.valid[slot] = x, true
	fill(v, x)
	return v
}

// fill puts x into all lanes.
var fill = func(v *vreg, x uint32) {
	q := quads(v)
	for i := range q {
		q[i] = [4]uint32{x, x, x, x}
	}
}

// vectorReg is the index in Wave.V of a vector register operand.
func vectorReg(o isa.Operand) (int, error) {
	switch o.Kind {
	case isa.VReg:
		return int(o.Reg), nil
	case isa.AReg:
		return firstAcc + int(o.Reg), nil
	}
	return 0, unsupported("operand kind %d as a vector register", o.Kind)
}

// operandType is how an instruction reads or writes an operand.
type operandType byte

const (
	typeB32 operandType = 'i' // 32 bits, no float modifiers
	typeF32 operandType = 'f'
	typeB16 operandType = 'w' // low 16 bits
	typeF16 operandType = 'h'
	typeB64 operandType = 'l'
	typeF64 operandType = 'd'

	// typeSigned is 32 bits that may be negated and made positive like a
	// float32, but are moved, not computed with: subnormals stay.
	typeSigned operandType = 's'
)

func (t operandType) dwords() int {
	if t == typeB64 || t == typeF64 {
		return 2
	}
	return 1
}

// float reports whether neg and abs apply.
func (t operandType) float() bool {
	return t == typeF32 || t == typeF16 || t == typeF64 || t == typeSigned
}

// constantBits is a constant as an operand of type t sees it, two dwords.
func constantBits(o isa.Operand, t operandType) (lo, hi uint32) {
	x := math.Float32frombits(o.Value)
	switch {
	case t == typeF64 && o.Literal:
		return 0, o.Value // a literal is the high half of a double
	case t == typeF64 && !o.Float:
		// An inline integer is its bits, not a number, also in a float64.
		return o.Value, uint32(int32(o.Value) >> 31)
	case t.dwords() == 2:
		o.Width = 2
		b := constant64(o)
		return uint32(b), uint32(b >> 32)
	case (t == typeF16 || t == typeB16) && o.Float:
		return uint32(f32ToF16(x)), 0
	}
	return o.Value, 0
}

// vector resolves source number n (0..2) of type t into one or two dwords.
// Slots 2n and 2n+1 of the wave's scratch are its own.
func vector(o isa.Operand, t operandType, n int) ([2]vectorSource, error) {
	s := [2]vectorSource{{kind: fromNothing}, {kind: fromNothing}}
	dwords := t.dwords()
	switch o.Kind {
	case isa.VReg, isa.AReg:
		r, err := vectorReg(o)
		if err != nil {
			return s, err
		}
		for i := range dwords {
			s[i] = vectorSource{kind: fromVGPR, vgpr: r + i}
		}
	case isa.Const:
		lo, hi := constantBits(o, t)
		for i := range dwords {
			k := new(vreg)
			fill(k, [2]uint32{lo, hi}[i])
			s[i] = vectorSource{kind: fromConst, konst: k}
		}
	case isa.SReg, isa.Special:
		sc, err := scalar(o)
		if err != nil {
			return s, err
		}
		if o.Kind == isa.Special && (dwords == 2 || sc.reg < 0) {
			return s, unsupported("special register %d as a vector source", o.Reg)
		}
		for i := range dwords {
			s[i] = vectorSource{kind: fromScalar, scalar: scalarSource{reg: sc.reg + i}, slot: 2*n + i}
		}
	default:
		return s, unsupported("source %d is missing", n)
	}
	return s, nil
}

// checkRegisters refuses an instruction that names vector registers beyond
// those that the kernel's waves have.
func checkRegisters(in *isa.Inst, p *Program) error {
	check := func(o isa.Operand) error {
		if o.Kind != isa.VReg && o.Kind != isa.AReg {
			return nil
		}
		last := int(o.Reg) + max(int(o.Width), 1) - 1
		if last > 255 {
			return unsupported("vector register %d is out of range", last)
		}
		if o.Kind == isa.AReg {
			last += firstAcc
		}
		if n := p.vectorRegisters(); last >= n {
			return unsupported("register %d is beyond the %d that the kernel declares", last, n)
		}
		return nil
	}
	for _, o := range in.Src {
		if err := check(o); err != nil {
			return err
		}
	}
	if err := check(in.Dst); err != nil {
		return err
	}
	return check(in.SDst)
}
