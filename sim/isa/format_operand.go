package isa

import (
	"math"
	"strconv"
)

// operand writes a register or constant; s says what a constant means.
func (t *text) operand(o Operand, s slot) {
	switch o.Kind {
	case SReg:
		t.sreg(o)
	case VReg:
		t.reg('v', int(o.Reg), o.Width)
	case AReg:
		t.reg('a', int(o.Reg), o.Width)
	case Special:
		t.str(specialName(o.Reg))
	case Const:
		switch {
		case o.Literal:
			t.literal(o.Value, s)
		case o.Float:
			t.inlineFloat(o.Value, s)
		default:
			t.b = strconv.AppendInt(t.b, int64(int32(o.Value)), 10)
		}
	}
}

func (t *text) reg(file byte, first int, width uint8) {
	t.b = append(t.b, file)
	t.span(first, width)
}

// span writes a register number, or a range in brackets.
func (t *text) span(first int, width uint8) {
	if width <= 1 {
		t.b = strconv.AppendInt(t.b, int64(first), 10)
		return
	}
	t.b = append(t.b, '[')
	t.b = strconv.AppendInt(t.b, int64(first), 10)
	t.b = append(t.b, ':')
	t.b = strconv.AppendInt(t.b, int64(first)+int64(width)-1, 10)
	t.b = append(t.b, ']')
}

func (t *text) sreg(o Operand) {
	r := int(o.Reg)
	switch {
	case r < numSGPRs:
		t.reg('s', r, o.Width)
	case r < regTTMP:
		t.half("flat_scratch", regFlatScratch, o)
		t.half("xnack_mask", regXNACK, o)
		t.half("vcc", regVCC, o)
	case r < regM0:
		t.str("ttmp")
		t.span(r-regTTMP, o.Width)
	case r == regM0:
		t.str("m0")
	default:
		t.half("exec", regEXEC, o)
	}
}

// half writes a register pair that has names for its halves, if o is in it.
func (t *text) half(name string, first uint16, o Operand) {
	if o.Reg != first && o.Reg != first+1 {
		return
	}
	t.str(name)
	switch {
	case o.Reg == first+1:
		t.str("_hi")
	case o.Width == 1:
		t.str("_lo")
	}
}

var specialNames = map[uint16]string{
	235: "src_shared_base", 236: "src_shared_limit", 237: "src_private_base", 238: "src_private_limit",
	239:     "src_pops_exiting_wave_id",
	srcVCCZ: "src_vccz", srcEXECZ: "src_execz", srcSCC: "src_scc", srcLDSDirect: "src_lds_direct",
}

func specialName(r uint16) string { return specialNames[r] }

// literal writes a trailing constant. One that an inline constant would spell
// the same is marked lit(), as LLVM does, so that the text assembles back to
// the same bytes.
func (t *text) literal(v uint32, s slot) {
	bare, show := false, uint64(v)
	switch {
	case s.num == numF64: // the high half of a double
		switch f := math.Float64frombits(uint64(v) << 32); {
		case v == 0:
			t.str("0")
			return
		case isInlineFloat(f):
			t.float(f)
			return
		}
		bare = true
	case s.num == numF16:
		if !isInlineF16(uint16(v)) && !isInlineInt(int32(int16(v))) {
			bare, show = true, uint64(uint16(v))
		}
	case s.num == numBF16:
		bare = !isInlineBF16(uint16(v)) && !isInlineInt(int32(int16(v)))
	case s.num == numPkF16:
		bare = !isInlineInt(int32(v)) && !(v <= 0xffff && isInlineF16(uint16(v)))
	case s.num == numPkBF16:
		bare = !isInlineInt(int32(v)) && !(v <= 0xffff && isInlineBF16(uint16(v)))
	case s.num == numInt16:
		if !isInlineInt(int32(v)) && !isInlineFloat32(v) {
			bare, show = true, uint64(uint16(v))
		}
	case s.dwords == 2:
		bare = v > 64 // zero-extended
	default:
		bare = !isInlineInt(int32(v)) && !isInlineFloat32(v)
	}
	if bare {
		t.hex(show)
		return
	}
	t.str("lit(")
	t.hex(uint64(v))
	t.str(")")
}

// immediate writes 32 bits that are no operand: as a number where an inline
// constant has the value.
func (t *text) immediate(v uint32) {
	switch {
	case isInlineInt(int32(v)):
		t.b = strconv.AppendInt(t.b, int64(int32(v)), 10)
	case isInlineFloat32(v):
		t.inlineFloat(v, slot{})
	default:
		t.hex(uint64(v))
	}
}

// inlineFloat writes one of the inline float constants as the operand's type
// has it.
func (t *text) inlineFloat(v uint32, s slot) {
	f := math.Float32frombits(v)
	switch {
	case s.num == numInt16:
		t.hex(uint64(inlineF16(v)))
	case v == inlineFloats[8] && s.dwords == 2 && (s.num == numF64 || s.num == numInt || s.num == numI64 || s.num == numMask), v == inlineFloats[8] && s.num == numMatrixF64:
		t.str("0.15915494309189532")
	case v == inlineFloats[8]:
		t.str("0.15915494")
	default:
		t.float(float64(f))
	}
}

// float writes a value with at least one digit after the point.
func (t *text) float(f float64) { t.b = strconv.AppendFloat(t.b, f, 'f', 1, 64) }

func isInlineInt(v int32) bool { return v >= -16 && v <= 64 }

func isInlineFloat32(v uint32) bool {
	for _, f := range inlineFloats {
		if f == v {
			return true
		}
	}
	return false
}

// isInlineFloat reports whether f is an inline constant other than 1/(2 pi),
// of which no double is given by its high half alone.
func isInlineFloat(f float64) bool {
	for _, v := range inlineFloats[:8] {
		if float64(math.Float32frombits(v)) == f {
			return true
		}
	}
	return false
}

// inlineF16 is an inline float constant as a half: all of them are exact but
// 1/(2 pi), which the hardware has as 0x3118.
func inlineF16(v uint32) uint16 {
	if v == inlineFloats[8] {
		return 0x3118
	}
	exponent := int(v>>23&0xff) - 127 + 15
	return uint16(v>>16&0x8000) | uint16(exponent)<<10
}

// isInlineBF16 reports whether the upper half of an inline float is v.
func isInlineBF16(v uint16) bool {
	for _, f := range inlineFloats {
		if uint16(f>>16) == v {
			return true
		}
	}
	return false
}

func isInlineF16(v uint16) bool {
	for _, f := range inlineFloats {
		if inlineF16(f) == v {
			return true
		}
	}
	return false
}
