package metadata

// Arith is integer arithmetic over T, as far as the builder needs it. All
// methods must be pure. An instance over terms lets a prover run the builder's
// own formulas.
//
// Div is the only operation on which tensors and device kernels differ: see
// Int32 and Int32Device. They agree unless a is negative.
type Arith[T any] interface {
	Int(v int) T  // the constant v
	Add(a, b T) T //
	Sub(a, b T) T //
	Mul(a, b T) T //
	Div(a, b T) T // a/b, b > 0
	Min(a, b T) T //
	Max(a, b T) T //
}

// Int32 is the arithmetic of int32 tensors: two's complement, wrapping, and a
// division that rounds down.
type Int32 struct{}

func (Int32) Int(v int) int32      { return int32(v) }
func (Int32) Add(a, b int32) int32 { return a + b }
func (Int32) Sub(a, b int32) int32 { return a - b }
func (Int32) Mul(a, b int32) int32 { return a * b }
func (Int32) Min(a, b int32) int32 { return min(a, b) }
func (Int32) Max(a, b int32) int32 { return max(a, b) }

// Div rounds down.
func (Int32) Div(a, b int32) int32 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// Int32Device is the arithmetic of a device kernel: as Int32, but division
// rounds toward zero.
type Int32Device struct{ Int32 }

// Div rounds toward zero.
func (Int32Device) Div(a, b int32) int32 { return a / b }

// Mod is what Div leaves: a - (a/b)*b.
func Mod[T any, A Arith[T]](a A, x, m T) T {
	return a.Sub(x, a.Mul(a.Div(x, m), m))
}
