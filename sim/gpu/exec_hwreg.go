package gpu

import "mqaproof/sim/isa"

// The MODE register (CDNA3 ISA, "MODE register"): rounding in bits 3:0,
// denormals in 7:4, DX10_CLAMP in 8, IEEE in 9.
const (
	hwregMode = 1

	modeRound    = 0xf
	modeDenorm32 = 0x30 // both bits set: subnormals are kept; bit 4: inputs, bit 5: results
	modeDenorm64 = 0xc0 // the same for 16- and 64-bit floats
	modeDX10     = 1 << 8
	modeIEEE     = 1 << 9
	modeKnown    = modeRound | modeDenorm32 | modeDenorm64 | modeDX10 | modeIEEE
)

// checkMode says what of a MODE value is not implemented, "" when all of it is.
func checkMode(mode uint32) string {
	switch {
	case mode&modeRound != 0:
		return "a rounding mode other than round to nearest even"
	case mode&modeDenorm64 != modeDenorm64:
		return "flushing of 16- and 64-bit subnormals"
	case mode&^modeKnown != 0:
		return "MODE bits for exceptions, debugging or register indexing"
	}
	return ""
}

// hwreg splits the immediate of S_GETREG and S_SETREG and refuses registers
// other than MODE.
func hwreg(in *isa.Inst) (offset, size uint, err error) {
	imm := uint16(in.Simm16)
	if id := imm & 63; id != hwregMode {
		return 0, 0, unsupported("hardware register %d: only MODE (1) is implemented", id)
	}
	offset, size = uint(imm>>6&31), uint(imm>>11)+1
	if offset+size > 32 {
		return 0, 0, unsupported("bits %d to %d of a hardware register", offset, offset+size-1)
	}
	return offset, size, nil
}

func registerHardwareRegisters(add func(isa.Op, compiler)) {
	add(isa.S_GETREG_B32, func(in *isa.Inst, _ *Program) (execFn, error) {
		offset, size, err := hwreg(in)
		if err != nil {
			return nil, err
		}
		d, err := scalarDest(in.Dst, 1)
		return func(w *Wave) { w.writeS(d, uint32(uint64(w.mode)>>offset&(1<<size-1))) }, err
	})
	set := func(w *Wave, offset, size uint, x uint32) {
		mask := uint32((uint64(1)<<size - 1) << offset)
		mode := w.mode&^mask | x<<offset&mask
		if what := checkMode(mode); what != "" {
			w.stopWith(TrapUnsupported, what)
			return
		}
		w.mode = mode
	}
	add(isa.S_SETREG_B32, func(in *isa.Inst, _ *Program) (execFn, error) {
		offset, size, err := hwreg(in)
		if err != nil {
			return nil, err
		}
		o := in.Src[0]
		if o.Kind == isa.None {
			o = in.Dst
		}
		s, err := scalar(o)
		return func(w *Wave) { set(w, offset, size, s.u32(w)) }, err
	})
	add(isa.S_SETREG_IMM32_B32, func(in *isa.Inst, _ *Program) (execFn, error) {
		offset, size, err := hwreg(in)
		if err != nil {
			return nil, err
		}
		for _, o := range in.Src {
			if o.Kind == isa.Const {
				return func(w *Wave) { set(w, offset, size, o.Value) }, nil
			}
		}
		return nil, unsupported("s_setreg_imm32 without an immediate")
	})
}
