package profile

import (
	"fmt"
	"math"
	"math/bits"

	"mqaproof/model/fp8"
)

// Size is what Bound needs to know of one dot, all of it exact; see Measure.
type Size struct {
	Dot float64 // sum of q[d]*k[d]
	Sum float64 // sum of |q[d]*k[d]|
	Top float64 // 2^E, E the largest exponent of a product (package matrixcore); 0 when all are zero

	Pos, Neg float64 // sums of the products above zero, and of the magnitudes of those below

	Low      float64 // the largest power of two that all products are multiples of; 0 when all are zero
	Products int     // how many are not zero

	// The vectors themselves, for what cuts of the products lose.
	format fp8.Format
	q, k   []byte
}

// cut is what cutting the products to multiples of unit, a power of two, drops:
// the sums over those above zero and those below of |product| modulo unit, and
// how many lose something. The lower the unit, the less.
func (s *Size) cut(unit float64) (pos, neg float64, lossy int) {
	if unit <= s.Low {
		return 0, 0, 0
	}
	// Beyond 2^61 smallest products, a unit is larger than any sum of them.
	smallest := 2 * (s.format.MinExp() - fp8.MantissaBits)
	low := int64(1)<<min(log2(unit)-smallest, 61) - 1
	t := &views[s.format]
	var sums [2]int64
	for d, b := range s.q {
		p := int64(t[b].fixed) * int64(t[s.k[d]].fixed)
		if rest := max(p, -p) & low; rest != 0 {
			sums[uint64(p)>>63] += rest
			lossy++
		}
	}
	return math.Ldexp(float64(sums[0]), smallest), math.Ldexp(float64(sums[1]), smallest), lossy
}

// maxDim keeps the sums of Measure exact: a product is an integer below 2^36
// in units of the smallest product, and float64 holds 53 bits.
const maxDim = 1 << 17

// Measure is the size of the dot of two fp8 vectors of equal length, which it
// refers to: they must not change while it is in use. A NaN among them, or more
// than 2^17 dims, is an error.
func Measure(f fp8.Format, q, k []byte) (Size, error) {
	if len(q) != len(k) || len(q) > maxDim {
		return Size{}, fmt.Errorf("profile: a dot of %d and %d dims, want as many, up to %d", len(q), len(k), maxDim)
	}
	if !f.Valid() {
		return Size{}, fmt.Errorf("profile: %v is no fp8 format", f)
	}
	t := &views[f]
	var dot, sum, all int64
	nonzero := 0
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
		all |= p
		if p != 0 {
			nonzero++
		}
	}
	unit := float64(f.MinSubnormal()) * float64(f.MinSubnormal())
	s := Size{
		Dot: float64(dot) * unit, Sum: float64(sum) * unit, Pos: float64((sum+dot)/2) * unit, Neg: float64((sum-dot)/2) * unit,
		Products: nonzero, format: f, q: q, k: k,
	}
	if sum != 0 {
		s.Top = math.Ldexp(1, top)
		s.Low = float64(all&-all) * unit
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
