package gpu

import "mqaproof/sim/isa"

// registerMix adds the fused multiply-adds whose sources are float32 or a half
// of a dword as float16: op_sel_hi says which, op_sel picks the half. The result
// is a float32, or a float16 in one half of the destination; the other stays.
func registerMix(add func(isa.Op, compiler)) {
	add(isa.V_FMA_MIX_F32, mixStep(fmaF32, clamp01, func(_, r uint32) uint32 { return r }))
	add(isa.V_FMA_MIXLO_F16, mixHalf(0))
	add(isa.V_FMA_MIXHI_F16, mixHalf(16))
}

// mixHalf rounds the exact sum once, to float16.
func mixHalf(up uint) compiler {
	return mixStep(func(x, y, z float32) uint32 {
		p := float64(x) * float64(y)
		s := p + float64(z)
		if s != s {
			return uint32(f32ToF16(f32(nan32(x, y, z))))
		}
		if s != 0 {
			s = roundToOdd(s, p, float64(z))
		}
		return uint32(f64ToF16(s, true))
	}, clamp01F16, func(old, r uint32) uint32 { return old&^(0xffff<<up) | r<<up })
}

// mixStep compiles a mixed multiply-add f; clamp is what its result gets on
// request.
func mixStep(f func(x, y, z float32) uint32, clamp func(b uint32, dx10 bool) uint32, place func(old, r uint32) uint32) compiler {
	return func(in *isa.Inst, _ *Program) (execFn, error) {
		if in.OMod != 0 {
			return nil, unsupported("omod of a mixed multiply-add")
		}
		d, err := vectorReg(in.Dst)
		if err != nil {
			return nil, err
		}
		var src [3]vectorSource
		for i := range src {
			if in.Src[i].Kind == isa.Const && in.OpSelHi>>i&1 != 0 && in.Src[i].Value != 0 {
				return nil, unsupported("a float16 constant of a mixed multiply-add")
			}
			s, err := vector(in.Src[i], typeB32, i)
			if err != nil {
				return nil, err
			}
			src[i] = s[0]
		}
		sel, half, neg, abs, clamped := in.OpSel, in.OpSelHi, in.Neg, in.Abs, in.Clamp
		value := func(b uint32, i int) float32 {
			x := f32(b)
			if half>>i&1 != 0 {
				x = f16ToF32(uint16(b >> (uint(sel>>i&1) * 16)))
			}
			m := sign(neg>>i&1 != 0, abs>>i&1 != 0, signBit32)
			return f32(b32(x)&m.keep ^ m.flip)
		}
		return func(w *Wave) {
			if w.mode&modeDenorm32 != modeDenorm32 {
				w.stopWith(TrapUnsupported, "flushing of subnormals in a mixed multiply-add")
				return
			}
			a, b, c := src[0].get(w), src[1].get(w), src[2].get(w)
			out, old := &w.scratch.out[0], &w.V[d]
			for i := range out {
				r := f(value(a[i], 0), value(b[i], 1), value(c[i], 2))
				if clamped {
					r = clamp(r, w.mode&modeDX10 != 0)
				}
				out[i] = place(old[i], r)
			}
			merge(old, out, w.EXEC)
		}, nil
	}
}
