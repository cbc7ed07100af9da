package profile

import (
	"fmt"
	"math"
	"math/bits"

	"mqaproof/model/fp8"
)

// Size is what Bound needs to know of one dot, all of it exact.
type Size struct {
	Dot float64 // sum of q[d]*k[d]
	Sum float64 // sum of |q[d]*k[d]|
	Top float64 // 2^E, E the largest exponent of a product (package matrixcore); 0 when all are zero
}

// maxDim keeps the sums of Measure exact: a product is an integer below 2^36
// in units of the smallest product, and float64 holds 53 bits.
const maxDim = 1 << 17

// Measure is the size of the dot of two fp8 vectors of equal length. A NaN
// among them, or more than 2^17 dims, is an error.
func Measure(f fp8.Format, q, k []byte) (Size, error) {
	if len(q) != len(k) || len(q) > maxDim {
		return Size{}, fmt.Errorf("profile: a dot of %d and %d dims, want as many, up to %d", len(q), len(k), maxDim)
	}
	if !f.Valid() {
		return Size{}, fmt.Errorf("profile: %v is no fp8 format", f)
	}
	var dot, sum int64
	top := math.MinInt
	for d := range q {
		if f.IsNaN(q[d]) || f.IsNaN(k[d]) {
			return Size{}, fmt.Errorf("profile: dim %d is NaN, which has no size", d)
		}
		p := int64(f.Fixed(q[d])) * int64(f.Fixed(k[d]))
		if p == 0 {
			continue
		}
		dot += p
		sum += max(p, -p)
		_, eq := f.Split(q[d])
		_, ek := f.Split(k[d])
		top = max(top, eq+ek)
	}
	unit := float64(f.MinSubnormal()) * float64(f.MinSubnormal())
	s := Size{Dot: float64(dot) * unit, Sum: float64(sum) * unit}
	if sum != 0 {
		s.Top = math.Ldexp(1, top)
	}
	return s, nil
}

// MeasureRow is the sizes of a row's dots with one token, a head each.
func MeasureRow(f fp8.Format, row Row, k []byte) ([]Size, error) {
	heads, dim, err := row.shape()
	if err != nil {
		return nil, err
	}
	sizes := make([]Size, heads)
	for h := range sizes {
		if sizes[h], err = Measure(f, row.Q[h*dim:(h+1)*dim], k); err != nil {
			return nil, fmt.Errorf("head %d: %w", h, err)
		}
	}
	return sizes, nil
}

// log2 is the exponent of a power of two or the next lower one.
func log2(x float64) int {
	b := math.Float64bits(x)
	if e := int(b >> 52 & 0x7ff); e > 0 {
		return e - 1023
	}
	return bits.Len64(b&(1<<52-1)) - 1075
}
