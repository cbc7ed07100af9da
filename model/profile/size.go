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
	t := &views[f]
	var dot, sum int64
	top := 2 * noExp
	k = k[:len(q)]
	for d, b := range q {
		x, y := &t[b], &t[k[d]]
		if x.nan || y.nan {
			return Size{}, fmt.Errorf("profile: dim %d is NaN, which has no size", d)
		}
		p := int64(x.fixed) * int64(y.fixed)
		dot += p
		sum += max(p, -p)
		top = max(top, int(x.exp)+int(y.exp))
	}
	unit := float64(f.MinSubnormal()) * float64(f.MinSubnormal())
	s := Size{Dot: float64(dot) * unit, Sum: float64(sum) * unit}
	if sum != 0 {
		s.Top = math.Ldexp(1, top)
	}
	return s, nil
}

// view is what Measure looks up of one code: its value in smallest subnormals
// and its exponent, noExp for a zero.
type view struct {
	fixed int32
	exp   int16
	nan   bool
}

// noExp is so low that a product with a zero never has the largest exponent.
const noExp = -1000

var views = [...][256]view{fp8.E4M3FN: buildViews(fp8.E4M3FN), fp8.E4M3FNUZ: buildViews(fp8.E4M3FNUZ)}

func buildViews(f fp8.Format) (t [256]view) {
	for i := range t {
		b := byte(i)
		sig, exp := f.Split(b)
		if sig == 0 {
			exp = noExp
		}
		t[i] = view{fixed: f.Fixed(b), exp: int16(exp), nan: f.IsNaN(b)}
	}
	return t
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
