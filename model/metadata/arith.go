package metadata

// Arith is integer arithmetic over T, as far as the lengths need it. All
// methods must be pure.
type Arith[T any] interface {
	Int(v int) T       // the constant v
	Add(a, b T) T      //
	Sub(a, b T) T      //
	Mul(a, b T) T      //
	FloorDiv(a, b T) T // a/b rounded down; b > 0
	Min(a, b T) T      //
	Max(a, b T) T      //
}

// Int32 is the arithmetic of the device: 32-bit two's complement, wrapping.
type Int32 struct{}

func (Int32) Int(v int) int32      { return int32(v) }
func (Int32) Add(a, b int32) int32 { return a + b }
func (Int32) Sub(a, b int32) int32 { return a - b }
func (Int32) Mul(a, b int32) int32 { return a * b }
func (Int32) Min(a, b int32) int32 { return min(a, b) }
func (Int32) Max(a, b int32) int32 { return max(a, b) }

func (Int32) FloorDiv(a, b int32) int32 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}
