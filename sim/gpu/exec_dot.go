package gpu

import (
	"math"

	"mqaproof/sim/isa"
)

// dotProduct is an integer dot product: the exact sum of the products of the
// elements of two dwords, for an addend in 64 bits, which hold every sum.
type dotProduct struct {
	sum    func(x, y uint32) int64
	signed bool
}

// dots have the addend as a source of their own, dotAccumulates in the
// destination. Without clamp they wrap, as the ISA text adds in 32 bits; with it
// the whole sum is brought into the range of the result, which is how LLVM
// defines the intrinsics that give them.
var (
	dots = map[isa.Op]dotProduct{
		isa.V_DOT2_I32_I16: {dotSigned(16), true},
		isa.V_DOT2_U32_U16: {dotUnsigned(16), false},
		isa.V_DOT4_I32_I8:  {dotSigned(8), true},
		isa.V_DOT4_U32_U8:  {dotUnsigned(8), false},
		isa.V_DOT8_I32_I4:  {dotSigned(4), true},
		isa.V_DOT8_U32_U4:  {dotUnsigned(4), false},
	}
	dotAccumulates = map[isa.Op]dotProduct{
		isa.V_DOT2C_I32_I16: {dotSigned(16), true},
		isa.V_DOT4C_I32_I8:  {dotSigned(8), true},
		isa.V_DOT8C_I32_I4:  {dotSigned(4), true},
	}
)

// dotSigned is for signed elements of so many bits.
func dotSigned(bits uint) func(x, y uint32) int64 {
	return func(x, y uint32) (sum int64) {
		for i := uint(0); i < 32; i += bits {
			sum += int64(int32(x<<i)>>(32-bits)) * int64(int32(y<<i)>>(32-bits))
		}
		return sum
	}
}

func dotUnsigned(bits uint) func(x, y uint32) int64 {
	return func(x, y uint32) (sum int64) {
		for i := uint(0); i < 32; i += bits {
			sum += int64(x<<i>>(32-bits)) * int64(y<<i>>(32-bits))
		}
		return sum
	}
}

func registerDots(add func(isa.Op, compiler)) {
	for op, f := range dots {
		add(op, f.compiler(false))
	}
	for op, f := range dotAccumulates {
		add(op, f.compiler(true))
	}
}

func (f dotProduct) compiler(accumulates bool) compiler {
	return func(in *isa.Inst, _ *Program) (execFn, error) {
		halves := in.Op == isa.V_DOT2_I32_I16 || in.Op == isa.V_DOT2_U32_U16
		if in.Neg != 0 || in.NegHi != 0 || in.OpSel != 0 || halves && in.OpSelHi&3 != 3 {
			return nil, unsupported("neg or op_sel of a dot product")
		}
		plain := *in
		plain.Clamp = false
		x, err := resolveLanes(&plain, typeB32, "iii", accumulates)
		if err != nil {
			return nil, err
		}
		return x.narrowStep(f.loop(in.Clamp), nil), nil
	}
}

// loop is the dot product of all lanes; c is the addend.
func (f dotProduct) loop(clamp bool) narrowFn {
	switch {
	case clamp && f.signed:
		return func(d, a, b, c *vreg) {
			for i := range d {
				d[i] = uint32(min(max(f.sum(a[i], b[i])+int64(int32(c[i])), math.MinInt32), math.MaxInt32))
			}
		}
	case clamp:
		return func(d, a, b, c *vreg) {
			for i := range d {
				d[i] = uint32(min(f.sum(a[i], b[i])+int64(c[i]), math.MaxUint32))
			}
		}
	}
	return func(d, a, b, c *vreg) {
		for i := range d {
			d[i] = uint32(f.sum(a[i], b[i])) + c[i]
		}
	}
}
