package gpu

import (
	"mqaproof/sim/isa"
)

// signMod is neg and abs of a float source.
type signMod struct{ keep, flip uint32 }

func (s signMod) apply(dst, src *vreg) {
	for i := range dst {
		dst[i] = src[i]&s.keep ^ s.flip
	}
}

// sign is the signMod of one source; sign is its sign bit.
func sign(neg, abs bool, bit uint32) signMod {
	s := signMod{keep: ^uint32(0)}
	if abs {
		s.keep = ^bit
	}
	if neg {
		s.flip = bit
	}
	return s
}

// modifiers resolves DPP, SDWA selects, neg and abs.
func (x *laneArgs) modifiers(in *isa.Inst) error {
	for i := range 3 {
		neg, abs := in.Neg>>i&1 != 0, in.Abs>>i&1 != 0
		if !neg && !abs {
			continue
		}
		if i >= x.n || !x.types[i].float() {
			return unsupported("neg or abs on source %d, which is no float", i)
		}
		switch t := x.types[i]; t {
		case typeF64:
			x.mods64[i] = sign(neg, abs, signBit32)
		default:
			s := sign(neg, abs, signBit32)
			if t == typeF16 {
				s = sign(neg, abs, 0x8000)
			}
			x.mods[i] = s.apply
		}
		x.merged = true
	}
	if in.IsSDWA {
		if err := x.selects(in); err != nil {
			return err
		}
	}
	if in.IsDPP {
		if x.types[0].dwords() != 1 {
			return unsupported("DPP on 64-bit operands")
		}
		d, err := dppOf(in)
		if err != nil {
			return err
		}
		x.dpp, x.merged = d, true
	}
	return nil
}

// selects resolves the SDWA selects of the sources.
func (x *laneArgs) selects(in *isa.Inst) error {
	sels := [2]uint8{in.SDWA.Src0Sel, in.SDWA.Src1Sel}
	sexts := [2]bool{in.SDWA.Src0Sext, in.SDWA.Src1Sext}
	for i := range min(x.n, 2) {
		if x.types[i].dwords() != 1 {
			return unsupported("SDWA on 64-bit operands")
		}
		if sels[i] == selDword && !sexts[i] {
			continue
		}
		s, err := selector(sels[i], sexts[i])
		if err != nil {
			return err
		}
		if f := x.mods[i]; f != nil {
			x.mods[i] = func(dst, src *vreg) {
				s(dst, src)
				f(dst, dst)
			}
		} else {
			x.mods[i] = s
		}
		x.merged = true
	}
	return nil
}

// SDWA selects.
const (
	selWord0 = 4
	selWord1 = 5
	selDword = 6

	unusedPad      = 0
	unusedSext     = 1
	unusedPreserve = 2
)

// field is the shift and width in bits of an SDWA select.
func selectedField(sel uint8) (shift, width uint, err error) {
	switch {
	case sel < 4:
		return 8 * uint(sel), 8, nil
	case sel == selWord0:
		return 0, 16, nil
	case sel == selWord1:
		return 16, 16, nil
	case sel == selDword:
		return 0, 32, nil
	}
	return 0, 0, unsupported("SDWA select %d", sel)
}

// selector extracts a byte or word of each lane, zero- or sign-extended.
func selector(sel uint8, sext bool) (func(dst, src *vreg), error) {
	shift, width, err := selectedField(sel)
	if err != nil {
		return nil, err
	}
	up := 32 - width
	if sext {
		return func(dst, src *vreg) {
			for i := range dst {
				dst[i] = uint32(int32(src[i]>>shift<<up) >> up)
			}
		}, nil
	}
	return func(dst, src *vreg) {
		for i := range dst {
			dst[i] = src[i] >> shift << up >> up
		}
	}, nil
}

// outputs resolves clamp, omod and the SDWA destination.
func (x *laneArgs) outputs(in *isa.Inst) error {
	if in.OMod != 0 {
		return unsupported("omod: a result modifier")
	}
	var clamp func(w *Wave, r *vreg)
	if in.Clamp {
		one := clamp01
		switch x.dstType {
		case typeF32:
		case typeF16:
			one = clamp01F16
		default:
			return unsupported("clamp of this result: float32, float16 and additions of integers are implemented")
		}
		clamp = func(w *Wave, r *vreg) {
			dx10 := w.mode&modeDX10 != 0
			for i := range r {
				r[i] = one(r[i], dx10)
			}
		}
		x.finish = func(w *Wave, r, _ *vreg) { clamp(w, r) }
		x.merged = true
	}
	if !in.IsSDWA {
		return nil
	}
	sel, unused := in.SDWA.DstSel, in.SDWA.DstUnused
	if sel == selDword {
		return nil
	}
	if x.dwords != 1 {
		return unsupported("SDWA destination select of a 64-bit result")
	}
	shift, width, err := selectedField(sel)
	if err != nil {
		return err
	}
	mask := (uint32(1)<<width - 1) << shift
	x.merged = true
	x.finish = func(w *Wave, r, old *vreg) {
		if clamp != nil {
			clamp(w, r)
		}
		for i := range r {
			v := r[i] << shift & mask
			switch unused {
			case unusedSext:
				up := 32 - shift - width
				v = uint32(int32(v<<up) >> up) // bits below the field are 0
			case unusedPreserve:
				v |= old[i] &^ mask
			}
			r[i] = v
		}
	}
	return nil
}
