package isa

// Scalar register encodings.
const (
	regFlatScratch = 102
	regXNACK       = 104
	regVCC         = 106
	regTTMP        = 108
	regM0          = 124
	regEXEC        = 126
)

// Source operand encodings beyond the scalar registers.
const (
	srcInt0       = 128 // 0..64 up to 192
	srcMinus1     = 193 // -1..-16 down to 208
	srcApertures  = 235 // shared base and limit, private base and limit, POPS wave id
	srcFloats     = 240 // nine inline floats
	srcSDWA       = 249
	srcDPP        = 250
	srcVCCZ       = 251
	srcEXECZ      = 252
	srcSCC        = 253
	srcLDSDirect  = 254
	srcLiteral    = 255
	srcVGPR       = 256
	numSGPRs      = 102
	numVGPRs      = 256
	lastInlineInt = 208
)

// inlineFloats are the float32 bits of the constants 240..248: 0.5, -0.5, 1,
// -1, 2, -2, 4, -4 and 1/(2 pi).
var inlineFloats = [9]uint32{
	0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000, 0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983,
}

var vcc = Operand{Kind: SReg, Width: 2, Reg: regVCC}

// sgpr reads a scalar register field. Pairs start at even registers, longer
// tuples at multiples of four, and none crosses from one kind of register
// into another.
func (d *decoder) sgpr(v uint32, width uint8) Operand {
	align := uint32(1)
	switch {
	case width == 2:
		align = 2
	case width > 2:
		align = 4
	}
	if v%align != 0 {
		d.fail("scalar register %d is not aligned for %d dwords", v, width)
	}
	end := v + uint32(width)
	ok := false
	switch {
	case v < numSGPRs:
		ok = end <= numSGPRs
	case v < regTTMP:
		ok = width <= 2
	case v < regM0:
		ok = end <= regM0
	case v == regM0:
		ok = width == 1
	case v == regEXEC || v == regEXEC+1:
		ok = width <= 2
	}
	if !ok {
		d.fail("no scalar register %d of %d dwords", v, width)
	}
	return Operand{Kind: SReg, Width: width, Reg: uint16(v)}
}

// vgpr reads a vector register field. Tuples start at even registers.
func (d *decoder) vgpr(v uint32, width uint8, acc bool) Operand {
	kind, name := VReg, "VGPR"
	if acc {
		kind, name = AReg, "accumulation VGPR"
	}
	if width > 1 && v%2 != 0 {
		d.fail("%s %d is not aligned for %d dwords", name, v, width)
	}
	if v+uint32(width) > numVGPRs {
		d.fail("no %s %d of %d dwords", name, v, width)
	}
	return Operand{Kind: kind, Width: width, Reg: uint16(v)}
}

// source reads an 8- or 9-bit source field. A literal is taken from the dword
// after the instruction's own, where the encoding has one.
func (d *decoder) source(v uint32, s slot, literalAt int) Operand {
	o := Operand{Kind: Const, Width: s.dwords}
	switch {
	case v >= srcVGPR:
		return d.vgpr(v-srcVGPR, s.dwords, false)
	case v < srcInt0:
		return d.sgpr(v, s.dwords)
	case v < srcMinus1:
		o.Value = v - srcInt0
	case v <= lastInlineInt:
		o.Value = srcMinus1 - 1 - v
	case v >= srcFloats && v < srcSDWA:
		o.Value, o.Float = inlineFloats[v-srcFloats], true
	case v >= srcApertures && v < srcFloats, v >= srcVCCZ && v <= srcLDSDirect:
		o.Kind, o.Reg = Special, uint16(v)
		if v == srcLDSDirect && s.dwords > 1 {
			d.fail("LDS_DIRECT is one dword")
		}
	case v == srcLiteral && literalAt > 0:
		d.literal = true
		if d.take(literalAt + 1) {
			o.Value, o.Literal, o.Signed = d.in.Raw[literalAt], true, s.num == numI64
		}
	case v == srcLiteral:
		d.fail("encoding %s has no literal constant", d.in.Enc)
	default:
		d.fail("source operand %d is reserved", v)
	}
	return o
}

// vectorSource reads a 9-bit field that holds a VGPR, an accumulation VGPR, or
// whatever the slot allows besides.
func (d *decoder) vectorSource(v uint32, s slot, acc bool) Operand {
	switch s.in {
	case inSrcVGPR, inVGPR:
		acc = false
	case inSrcAcc, inAcc:
		acc = true
	case inSrcVGPROrAcc:
	case inSrcVGPROrAccOrConst:
		if v < srcVGPR {
			if v < srcInt0 || v >= srcApertures && v < srcFloats || v > srcSDWA {
				d.fail("source operand %d is neither a vector register nor an inline constant", v)
			}
			return d.source(v, s, 0)
		}
	case inSGPR:
		return d.sgpr(v, s.dwords)
	case inSSrc:
		if v >= srcVGPR || v == srcLDSDirect {
			d.fail("source operand %d is not a scalar", v)
		}
		return d.source(v, s, 0)
	case inLaneSelect:
		return d.laneSelect(v)
	default:
		return d.source(v, s, 0)
	}
	if v < srcVGPR {
		d.fail("source operand %d is not a vector register", v)
	}
	return d.vgpr(v&0xff, s.dwords, acc)
}

// laneSelect reads the lane number of v_readlane_b32 and v_writelane_b32: a
// scalar register or an inline integer.
func (d *decoder) laneSelect(v uint32) Operand {
	if v > lastInlineInt {
		d.fail("source operand %d cannot name a lane", v)
	}
	return d.source(v, slot{inSSrc, 1, numInt}, 0)
}
