// Package quant is the quantizer of the indexer's key cache: a token's key of
// head_dim values becomes as many fp8 codes and one float32 scale.
//
// # Order of operations
//
// All operations are float32 and rounded to nearest even; nothing is fused.
//
//  1. amax = the largest |x|; a NaN counts as nothing, so that it makes only
//     its own code NaN.
//  2. s = max(amax, 1e-4) / Divisor, 1e-4 being the nearest float32.
//  3. With a power-of-two scale (ue8m0: it has an exponent and nothing else),
//     s becomes a power of two: see ScaleKind.
//  4. code = the fp8 nearest to x / s; with Reciprocal, to x * r where r is
//     1 / s rounded.
//
// The largest quotient rounds to Divisor or to its neighbour, so that no finite
// x is out of range and it does not matter whether the conversion saturates. An
// infinite x makes s infinite: the codes are 0 or -0 for the finite values and
// NaN for the infinite ones.
//
// Sources: vLLM 0.33.0, vllm/v1/attention/ops/rocm_aiter_mla_sparse.py
// (_indexer_k_quant_and_cache_kernel), which divides by 224 where the format is
// e4m3fnuz; AITER's csrc/kernels/cache_kernels.cu
// (indexer_k_quant_and_cache_kernel), which divides by the format's largest
// value and multiplies by the reciprocal. Both were read, neither was measured:
// a compiler that uses an approximate division or logarithm gives other bits.
package quant

import (
	"fmt"
	"math"

	"mqaproof/model/fp8"
)

// ScaleKind is what becomes of the scale.
type ScaleKind uint8

const (
	// Float32 leaves it as it is.
	Float32 ScaleKind = iota
	// PowerOfTwo takes the smallest power of two that is not below it.
	PowerOfTwo
	// PowerOfTwoByLog is PowerOfTwo as exp2(ceil(log2(s))) in float32, the way
	// the kernels compute it, with each function rounded correctly. A scale a few
	// units in the last place above a power of two has that power's logarithm in
	// float32, and becomes that power instead of the next: the codes then reach
	// a little past Divisor, and round to it.
	PowerOfTwoByLog
)

func (k ScaleKind) String() string {
	switch k {
	case Float32:
		return "float32"
	case PowerOfTwo:
		return "ue8m0"
	case PowerOfTwoByLog:
		return "ue8m0-by-log"
	}
	return fmt.Sprintf("ScaleKind(%d)", uint8(k))
}

// Quantizer is one way to quantize, as data.
type Quantizer struct {
	Format     fp8.Format
	Divisor    float32 // what the largest magnitude becomes
	Scale      ScaleKind
	Reciprocal bool // multiply by the scale's reciprocal instead of dividing
}

// VLLM is vLLM's Triton kernel for ROCm; ue8m0 is its scale_fmt of that name.
func VLLM(f fp8.Format, ue8m0 bool) Quantizer {
	q := Quantizer{Format: f, Divisor: 448, Scale: kind(ue8m0)}
	if f == fp8.E4M3FNUZ {
		q.Divisor = 224
	}
	return q
}

// AITER is AITER's HIP kernel.
func AITER(f fp8.Format, ue8m0 bool) Quantizer {
	return Quantizer{Format: f, Divisor: f.Max(), Scale: kind(ue8m0), Reciprocal: true}
}

func kind(ue8m0 bool) ScaleKind {
	if ue8m0 {
		return PowerOfTwoByLog
	}
	return Float32
}

// Check reports what makes the quantizer meaningless.
func (q Quantizer) Check() error {
	switch {
	case !q.Format.Valid():
		return fmt.Errorf("quant: no fp8 format: want e4m3fn or e4m3fnuz")
	case !(q.Divisor > 0 && q.Divisor <= q.Format.Max()):
		return fmt.Errorf("quant: divisor is %v, want above 0 and at most %v, the largest %v", q.Divisor, q.Format.Max(), q.Format)
	case q.Scale > PowerOfTwoByLog:
		return fmt.Errorf("quant: scale is %v, want float32, ue8m0 or ue8m0-by-log", q.Scale)
	}
	return nil
}

// least keeps the scale of a token of zeros away from zero.
const least float32 = 1e-4

// Token quantizes one token's key: x[i] is about Decode(codes[i]) * scale.
// Keys are bfloat16 or float16 in practice; both are exact in float32. The two
// slices must have one length, and the quantizer must pass Check; anything else
// is a mistake in the calling code and panics.
func (q Quantizer) Token(x []float32, codes []byte) (scale float32) {
	if len(codes) != len(x) {
		panic(fmt.Sprintf("quant: %d codes for %d values", len(codes), len(x)))
	}
	if err := q.Check(); err != nil {
		panic(err.Error())
	}
	scale = q.ScaleOf(x)
	factor := 1 / scale
	for i, v := range x {
		if q.Reciprocal {
			v *= factor
		} else {
			v /= scale
		}
		codes[i] = q.Format.Encode(v)
	}
	return scale
}

// ScaleOf is the scale of a token.
func (q Quantizer) ScaleOf(x []float32) float32 {
	amax := least
	for _, v := range x {
		v = math.Float32frombits(math.Float32bits(v) &^ (1 << 31))
		if v > amax { // not for NaN
			amax = v
		}
	}
	s := amax / q.Divisor
	switch q.Scale {
	case PowerOfTwo:
		return powerOfTwo(s)
	case PowerOfTwoByLog:
		return powerOfTwoByLog(s)
	}
	return s
}

// powerOfTwo is the smallest power of two not below s, which is positive and
// normal, or infinite.
func powerOfTwo(s float32) float32 {
	const fraction = 1<<23 - 1
	b := math.Float32bits(s)
	if b&fraction != 0 {
		b = b&^fraction + 1<<23
	}
	return math.Float32frombits(b)
}

// powerOfTwoByLog is exp2(ceil(log2(s))). The float64 logarithm is rounded to
// float32 once more, which for no s is another value than rounding the exact
// one: see the test.
func powerOfTwoByLog(s float32) float32 {
	log := float32(math.Log2(float64(s)))
	return float32(math.Exp2(math.Ceil(float64(log))))
}
