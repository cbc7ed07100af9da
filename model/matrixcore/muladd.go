package matrixcore

import (
	"fmt"

	"mqaproof/model/fp8"
)

// MulAdd is D = C + A*B for one tile, or for a whole matrix whose k dimension
// runs through the rule's groups in order.
//
//	a   [m][k] codes of fa, row-major
//	bt  [n][k] codes of fb: row j is column j of B
//	c   [m][n] float32
//	d   [m][n] float32; it may be c itself
//
// A last group of fewer than Group products is filled up with zeros. Nothing is
// allocated. Slices shorter than the shape needs, and a format that is none,
// are mistakes in the calling code and panic.
func (r *Rule) MulAdd(fa, fb fp8.Format, m, n, k int, a, bt []byte, c, d []float32) {
	if len(a) < m*k || len(bt) < n*k || len(c) < m*n || len(d) < m*n {
		panic(fmt.Sprintf("matrixcore: %dx%dx%d needs %d, %d, %d and %d elements of a, bt, c and d, not %d, %d, %d and %d",
			m, n, k, m*k, n*k, m*n, m*n, len(a), len(bt), len(c), len(d)))
	}
	if !fa.Valid() || !fb.Valid() {
		panic(fmt.Sprintf("matrixcore: operands are %v and %v, want e4m3fn or e4m3fnuz", fa, fb))
	}
	switch {
	case r.fitsWideLate(n, k) || r.fitsWideEarly(n, k):
		r.mulAddWide(fa, fb, m, n, k, a, bt, c, d)
	case r.fitsLate(k):
		r.mulAddLate(fa, fb, m, n, k, a, bt, c, d)
	case r.fitsEarly(k):
		r.mulAddEarly(fa, fb, m, n, k, a, bt, c, d)
	default:
		r.mulAddReference(fa, fb, m, n, k, a, bt, c, d)
	}
}
