package matrixcore

import "mqaproof/model/fp8"

// MulAdd is D = C + A*B for one tile, or for a whole matrix whose k dimension
// runs through the rule's groups in order.
//
//	a   [m][k] codes of fa, row-major
//	bt  [n][k] codes of fb: row j is column j of B
//	c   [m][n] float32
//	d   [m][n] float32; it may be c itself
//
// A last group of fewer than Group products is filled up with zeros. Shorter
// slices than the shape needs are a mistake of the caller and panic. Nothing is
// allocated.
func (r *Rule) MulAdd(fa, fb fp8.Format, m, n, k int, a, bt []byte, c, d []float32) {
	r.mulAddReference(fa, fb, m, n, k, a, bt, c, d)
}
