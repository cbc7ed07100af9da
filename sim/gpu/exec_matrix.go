package gpu

import (
	"encoding/binary"
	"math"
	"unsafe"

	"mqaproof/model/fp8"
	"mqaproof/model/matrixcore"
	"mqaproof/sim/isa"
)

// mfmaScratch holds the tiles of one matrix instruction in the order that
// matrixcore wants: A row by row, B column by column, C and D row by row.
type mfmaScratch struct {
	a, b [32 * 128]byte
	c, d [32 * 32]float32
}

func (w *Wave) mfmaTiles() *mfmaScratch {
	if w.scratch.mfma == nil {
		w.scratch.mfma = new(mfmaScratch)
	}
	return w.scratch.mfma
}

// tile is the shape of a matrix instruction: D and C are n x n, A is n x k.
type tile struct{ n, k int }

// row is the row of D that lane l holds in register i; its column is l % n.
// With n = 16 a register holds 4 rows of 16 columns, lane by lane; with n = 32
// blocks of 4 registers cover 8 rows, of which the upper lanes hold the last 4.
func (t tile) row(l, i int) int {
	if t.n == 16 {
		return 4*(l/16) + i
	}
	return 8*(i/4) + 4*(l/32) + i%4
}

func (t tile) registers() int { return t.n * t.n / Lanes }

// matrixArgs are the resolved operands of a matrix instruction.
type matrixArgs struct {
	tile
	a, b, c, d int // first registers in Wave.V; c is -1 for a constant
	cBits      uint32
}

func matrixOperands(in *isa.Inst, t tile) (x matrixArgs, err error) {
	x.tile = t
	if in.Clamp || in.OMod != 0 || in.Abs != 0 || in.NegHi != 0 || in.OpSel != 0 {
		return x, unsupported("a modifier of a matrix instruction")
	}
	if x.d, err = vectorReg(in.Dst); err != nil {
		return x, err
	}
	if x.a, err = vectorReg(in.Src[0]); err != nil {
		return x, err
	}
	if x.b, err = vectorReg(in.Src[1]); err != nil {
		return x, err
	}
	if in.Src[2].Kind == isa.Const {
		x.c, x.cBits = -1, in.Src[2].Value
		if !in.Src[2].Float && x.cBits != 0 {
			return x, unsupported("an integer constant as a matrix accumulator")
		}
		return x, nil
	}
	x.c, err = vectorReg(in.Src[2])
	return x, err
}

// floats views a register as float32.
func floats(v *vreg) *[Lanes]float32 { return (*[Lanes]float32)(unsafe.Pointer(v)) }

// load puts C into row-major order. A register holds whole rows, one after the
// other, of which row tells the number.
func (x *matrixArgs) load(w *Wave, c *[32 * 32]float32) {
	n := x.n
	if x.c < 0 {
		v := f32(x.cBits)
		for i := range n * n {
			c[i] = v
		}
		return
	}
	for i := range x.registers() {
		v := floats(&w.V[x.c+i])
		for l := 0; l < Lanes; l += 16 {
			*sixteen(c, x.row(l, i)*n+l%n) = *(*[16]float32)(v[l:])
		}
	}
}

// sixteen is 16 elements of a row.
func sixteen(c *[32 * 32]float32, at int) *[16]float32 { return (*[16]float32)(c[at:]) }

// store takes D from row-major order. EXEC is ignored by the matrix core.
func (x *matrixArgs) store(w *Wave, d *[32 * 32]float32) {
	n := x.n
	for i := range x.registers() {
		v := floats(&w.V[x.d+i])
		for l := 0; l < Lanes; l += 16 {
			*(*[16]float32)(v[l:]) = *sixteen(d, x.row(l, i)*n+l%n)
		}
	}
}

// bytes gathers an operand of 8-bit elements: lane l holds row (A) or column
// (B) l % n, and as many elements as its registers take from l/n times that
// number on.
func (x *matrixArgs) bytes(w *Wave, reg int, out []byte) {
	n, k := x.n, x.k
	dwords := n * k / Lanes / 4 // an even number
	for i := 0; i < dwords; i += 2 {
		v, next := &w.V[reg+i], &w.V[reg+i+1]
		for l := 0; l < Lanes; l += n {
			at := l/n*dwords*4 + 4*i
			high := next[l : l+n]
			for j, u := range v[l : l+n] {
				binary.LittleEndian.PutUint64(out[at:], uint64(u)|uint64(high[j])<<32)
				at += k
			}
		}
	}
}

func registerMatrix(add func(isa.Op, compiler)) {
	for op, t := range map[isa.Op]tile{
		isa.V_MFMA_F32_16X16X32_FP8_FP8: {16, 32},
		isa.V_MFMA_F32_32X32X16_FP8_FP8: {32, 16},
	} {
		add(op, func(in *isa.Inst, p *Program) (execFn, error) {
			if in.CBSZ != 0 || in.ABID != 0 || in.BLGP != 0 {
				return nil, unsupported("cbsz, abid or blgp of %s", in.Op)
			}
			return fp8Matrix(in, p, t)
		})
	}
	for op, t := range map[isa.Op]tile{
		isa.V_MFMA_F32_16X16X128_F8F6F4: {16, 128},
		isa.V_MFMA_F32_32X32X64_F8F6F4:  {32, 64},
	} {
		add(op, func(in *isa.Inst, p *Program) (execFn, error) {
			if in.CBSZ != 0 || in.BLGP != 0 || in.ABID != 0 {
				return nil, unsupported("matrix formats other than fp8 (cbsz %d, blgp %d)", in.CBSZ, in.BLGP)
			}
			return fp8Matrix(in, p, t)
		})
	}
	add(isa.V_MFMA_F32_16X16X4_F32, f32Matrix(tile{16, 4}))
	add(isa.V_MFMA_F32_32X32X2_F32, f32Matrix(tile{32, 2}))
	for op, t := range map[isa.Op]tile{
		isa.V_MFMA_I32_16X16X32_I8: {16, 32},
		isa.V_MFMA_I32_32X32X16_I8: {32, 16},
		isa.V_MFMA_I32_16X16X64_I8: {16, 64},
		isa.V_MFMA_I32_32X32X32_I8: {32, 32},
	} {
		add(op, int8Matrix(t))
	}
	for _, op := range []isa.Op{
		isa.V_MFMA_F32_16X16X32_BF8_BF8, isa.V_MFMA_F32_16X16X32_BF8_FP8, isa.V_MFMA_F32_16X16X32_FP8_BF8,
		isa.V_MFMA_F32_32X32X16_BF8_BF8, isa.V_MFMA_F32_32X32X16_BF8_FP8, isa.V_MFMA_F32_32X32X16_FP8_BF8,
	} {
		add(op, func(*isa.Inst, *Program) (execFn, error) {
			return nil, unsupported("bf8 in the matrix core: its arithmetic is not modelled")
		})
	}
}

// matrixRules is the arithmetic of each target's fp8 matrix core.
var matrixRules = map[isa.Target]*matrixcore.Rule{
	isa.GFX942: matrixcore.CDNA3,
	isa.GFX950: matrixcore.CDNA4Assumed,
}

func fp8Matrix(in *isa.Inst, p *Program, t tile) (execFn, error) {
	rule, e := matrixRules[p.target], eightBits[p.target]
	if rule == nil || e == nil {
		return nil, unsupported("the matrix core of target %v", p.target)
	}
	x, err := matrixOperands(in, t)
	if err != nil {
		return nil, err
	}
	return x.fp8Step(rule, e.matrixFP8), nil
}

func (x matrixArgs) fp8Step(rule *matrixcore.Rule, f fp8.Format) execFn {
	n, k := x.n, x.k
	return func(w *Wave) {
		s := w.mfmaTiles()
		a, b := s.a[:n*k], s.b[:n*k]
		x.bytes(w, x.a, a)
		x.bytes(w, x.b, b)
		x.load(w, &s.c)
		rule.MulAdd(f, f, n, n, k, a, b, s.c[:n*n], s.d[:n*n])
		x.store(w, &s.d)
	}
}

// f32Matrix is a float32 matrix instruction: a chain of fused multiply-adds
// in the order of k (arXiv 2511.10909 on CDNA's float32 instructions). Lane l
// holds row or column l % n at k = l / n.
func f32Matrix(t tile) compiler {
	return func(in *isa.Inst, _ *Program) (execFn, error) {
		if in.CBSZ != 0 || in.ABID != 0 || in.BLGP != 0 {
			return nil, unsupported("cbsz, abid or blgp of %s", in.Op)
		}
		x, err := matrixOperands(in, t)
		if err != nil {
			return nil, err
		}
		return func(w *Wave) {
			s := w.mfmaTiles()
			x.load(w, &s.c)
			a, b := w.V[x.a], w.V[x.b]
			for i := range x.n {
				for j := range x.n {
					acc := s.c[i*x.n+j]
					for k := range x.k {
						acc = math.Float32frombits(fmaF32(f32(a[k*x.n+i]), f32(b[k*x.n+j]), acc))
					}
					s.d[i*x.n+j] = acc
				}
			}
			x.store(w, &s.d)
		}, nil
	}
}

// int8Matrix is an 8-bit integer matrix instruction: exact products, added in
// 32 bits that wrap.
func int8Matrix(t tile) compiler {
	return func(in *isa.Inst, _ *Program) (execFn, error) {
		if in.CBSZ != 0 || in.ABID != 0 || in.BLGP != 0 {
			return nil, unsupported("cbsz, abid or blgp of %s", in.Op)
		}
		if in.Src[2].Kind == isa.Const && in.Src[2].Value != 0 {
			return nil, unsupported("a constant other than 0 as an integer accumulator")
		}
		x, err := matrixOperands(in, t)
		if err != nil {
			return nil, err
		}
		n, k := t.n, t.k
		return func(w *Wave) {
			s := w.mfmaTiles()
			x.bytes(w, x.a, s.a[:n*k])
			x.bytes(w, x.b, s.b[:n*k])
			x.load(w, &s.c)
			for i := range n {
				a := s.a[i*k:][:k]
				for j := range n {
					b := s.b[j*k:][:k]
					sum := int32(b32(s.c[i*n+j]))
					for l, v := range a {
						sum += int32(int8(v)) * int32(int8(b[l]))
					}
					s.d[i*n+j] = f32(uint32(sum))
				}
			}
			x.store(w, &s.d)
		}, nil
	}
}
