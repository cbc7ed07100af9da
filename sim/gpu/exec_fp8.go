package gpu

import (
	"math"

	"mqaproof/model/fp8"
	"mqaproof/sim/isa"
)

// The 8-bit floats are e4m3fnuz and e5m2fnuz on gfx942, e4m3fn and e5m2 on
// gfx950 (LLVM AMDGPUUsage, "fp8 conversion").

// eightBit is the two 8-bit formats of a target: decode gives float32 bits of
// each code, encode rounds to nearest even. What overflows becomes a NaN (or
// the infinity of e5m2): MODE.FP16_OVFL, which would saturate, is refused.
type eightBit struct {
	fp8, bf8  *[256]uint32
	toFP8     func(x float32) byte
	toBF8     func(x float32) byte
	matrixFP8 fp8.Format
}

var eightBits = map[isa.Target]*eightBit{
	isa.GFX942: {
		fp8: decodeFP8(fp8.E4M3FNUZ), bf8: decodeBF8(true),
		toFP8: fp8.E4M3FNUZ.EncodeNonSaturating, toBF8: func(x float32) byte { return encodeBF8(x, true) },
		matrixFP8: fp8.E4M3FNUZ,
	},
	isa.GFX950: {
		fp8: decodeFP8(fp8.E4M3FN), bf8: decodeBF8(false),
		toFP8: fp8.E4M3FN.EncodeNonSaturating, toBF8: func(x float32) byte { return encodeBF8(x, false) },
		matrixFP8: fp8.E4M3FN,
	},
}

func decodeFP8(f fp8.Format) *[256]uint32 {
	var t [256]uint32
	for i := range t {
		t[i] = b32(f.Decode(byte(i)))
	}
	return &t
}

// decodeBF8 is e5m2: sign, 5 bits of exponent with bias 15, 2 bits of mantissa,
// infinities and NaNs as in float16. The fnuz kind has bias 16, one NaN (0x80)
// and neither infinities nor -0.
func decodeBF8(fnuz bool) *[256]uint32 {
	var t [256]uint32
	for i := range t {
		exp, man := i>>2&31, i&3
		switch {
		case fnuz && i == 0x80:
			t[i] = 0x7fc00000
			continue
		case !fnuz:
			t[i] = b32(f16ToF32(uint16(i) << 8))
			continue
		}
		v := math.Ldexp(float64(man), -17)
		if exp > 0 {
			v = math.Ldexp(float64(4+man), exp-18)
		}
		if i >= 0x80 {
			v = -v
		}
		t[i] = b32(float32(v))
	}
	return &t
}

// encodeBF8 rounds to the nearest even e5m2 code.
func encodeBF8(x float32, fnuz bool) byte {
	sign := byte(b32(x) >> 24 & 0x80)
	a := math.Abs(float64(x))
	minExp := -14 // of normal numbers
	if fnuz {
		minExp = -15
	}
	switch {
	case x != x && fnuz:
		return 0x80
	case x != x:
		return sign | 0x7e | byte(b32(x)>>21&1)
	case math.IsInf(a, 0) && fnuz:
		return 0x80
	case math.IsInf(a, 0):
		return sign | 0x7c
	}
	var code uint32
	if a != 0 {
		_, e := math.Frexp(a)
		ulp := max(e-3, minExp-2)
		code = uint32(ulp-(minExp-2))<<2 + uint32(math.RoundToEven(math.Ldexp(a, -ulp)))
	}
	switch {
	case fnuz && code > 0x7f:
		return 0x80
	case fnuz && code == 0:
		return 0
	case !fnuz && code > 0x7b:
		return sign | 0x7c
	}
	return sign | byte(code)
}

func registerConversions(add func(isa.Op, compiler)) {
	fp8Table := func(e *eightBit) *[256]uint32 { return e.fp8 }
	bf8Table := func(e *eightBit) *[256]uint32 { return e.bf8 }
	add(isa.V_CVT_F32_FP8, cvtFromByte(fp8Table))
	add(isa.V_CVT_F32_BF8, cvtFromByte(bf8Table))
	add(isa.V_CVT_PK_F32_FP8, cvtFromPair(fp8Table))
	add(isa.V_CVT_PK_F32_BF8, cvtFromPair(bf8Table))
	add(isa.V_CVT_PK_FP8_F32, cvtToPair(func(e *eightBit) func(float32) byte { return e.toFP8 }))
	add(isa.V_CVT_PK_BF8_F32, cvtToPair(func(e *eightBit) func(float32) byte { return e.toBF8 }))
}

func formats(p *Program) (*eightBit, error) {
	if e := eightBits[p.target]; e != nil {
		return e, nil
	}
	return nil, unsupported("8-bit floats of target %v", p.target)
}

// cvtFromByte converts byte 0, or the byte that SDWA selects.
func cvtFromByte(table func(*eightBit) *[256]uint32) compiler {
	return func(in *isa.Inst, p *Program) (execFn, error) {
		e, err := formats(p)
		if err != nil {
			return nil, err
		}
		if in.IsSDWA && (in.SDWA.Src0Sel == selWord1 || in.SDWA.Src0Sext) {
			return nil, unsupported("a select of other than one byte")
		}
		plain := *in
		var shift uint32 // the loop selects the byte as it goes
		if in.IsSDWA && in.SDWA.Src0Sel < selWord0 {
			shift, plain.SDWA.Src0Sel = 8*uint32(in.SDWA.Src0Sel), selDword
		}
		x, err := resolveLanes(&plain, typeB32, "i", false)
		if err != nil {
			return nil, err
		}
		t := table(e)
		return x.narrowStep(func(d, a, _, _ *vreg) {
			for i := range d {
				d[i] = t[a[i]>>(shift&31)&0xff]
			}
		}, nil), nil
	}
}

// cvtFromPair converts two bytes: those of word 0, or of word 1 by SDWA.
func cvtFromPair(table func(*eightBit) *[256]uint32) compiler {
	return func(in *isa.Inst, p *Program) (execFn, error) {
		e, err := formats(p)
		if err != nil {
			return nil, err
		}
		if in.IsSDWA && (in.SDWA.Src0Sel < selWord0 || in.SDWA.Src0Sext) {
			return nil, unsupported("a select of other than a word")
		}
		x, err := resolveLanes(in, typeB64, "i", false)
		if err != nil {
			return nil, err
		}
		t := table(e)
		return x.wideStep(func(d, e, a, _, _, _, _, _ *vreg) {
			for i := range d {
				v := a[i]
				d[i], e[i] = t[v&0xff], t[v>>8&0xff]
			}
		}, nil), nil
	}
}

// cvtToPair converts two floats to the low half of the destination, or to the
// high half by op_sel; the other half stays.
func cvtToPair(encode func(*eightBit) func(float32) byte) compiler {
	return func(in *isa.Inst, p *Program) (execFn, error) {
		e, err := formats(p)
		if err != nil {
			return nil, err
		}
		if in.OpSel&^8 != 0 {
			return nil, unsupported("op_sel of a source")
		}
		plain := *in
		plain.OpSel = 0
		x, err := resolveLanes(&plain, typeB32, "ff", false)
		if err != nil {
			return nil, err
		}
		f := encode(e)
		up := uint(in.OpSel>>3) * 16
		return func(w *Wave) {
			var v [6]*vreg
			x.sources(w, &v)
			a, b := v[0], v[2]
			out, old := &w.scratch.out[0], &w.V[x.d]
			for i := range out {
				r := uint32(f(f32(a[i]))) | uint32(f(f32(b[i])))<<8
				out[i] = old[i]&^(0xffff<<up) | r<<up
			}
			x.keep(w)
		}, nil
	}
}
