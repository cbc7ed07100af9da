package matrixcore

import (
	"math"
	"math/bits"

	"mqaproof/model/fp8"
)

// number is sig * 2^(exp-frac): a significand of frac fraction bits.
type number struct {
	sig  int64
	frac int
	exp  int
}

// zeroExp is the exponent of a zero, by definition of the rules.
const zeroExp = -126

// cut is the integer nearest to x in units of 2^(at-c.Bits), by c's rounding.
// The exponent x.exp is at most at, so the shift to the left is bounded by
// c.Bits.
func (x number) cut(c Cut, at int) int64 {
	left := c.Bits - x.frac + x.exp - at
	if left >= 0 {
		return x.sig << left
	}
	right := min(-left, 63)
	if c.Rounding == Trunc && x.sig < 0 {
		return -(-x.sig >> right)
	}
	return x.sig >> right
}

// value is x rounded once to the nearest even float32. The significand must be
// below 2^53.
func (x number) value() float32 {
	return float32(math.Ldexp(float64(x.sig), x.exp-x.frac))
}

// split8 is a finite fp8 code as a number.
func split8(f fp8.Format, b byte) number {
	sig, exp := f.Split(b)
	if sig == 0 {
		exp = zeroExp
	}
	return number{int64(sig), fp8.MantissaBits, exp}
}

// split32 is a finite float32 as a number.
func split32(x float32) number {
	b := math.Float32bits(x)
	sig, exp := int64(b&(1<<23-1)), int(b>>23&0xff)
	switch {
	case exp > 0:
		sig |= 1 << 23
		exp -= 127
	case sig != 0:
		exp = -126
	default:
		exp = zeroExp
	}
	if b>>31 == 1 {
		sig = -sig
	}
	return number{sig, 23, exp}
}

// mulAddReference is MulAdd, one output and one group at a time, as the rule
// says it.
func (r *Rule) mulAddReference(fa, fb fp8.Format, m, n, k int, a, bt []byte, c, d []float32) {
	for i := range m {
		for j := range n {
			d[i*n+j] = r.dot(fa, fb, a[i*k:(i+1)*k], bt[j*k:(j+1)*k], c[i*n+j])
		}
	}
}

var nan32 = math.Float32frombits(0x7fc00000)

func isNaN(x float32) bool { return x != x }
func isInf(x float32) bool { return x > math.MaxFloat32 || x < -math.MaxFloat32 }

// dot is one output: c plus the products of a and b.
func (r *Rule) dot(fa, fb fp8.Format, a, b []byte, c float32) float32 {
	for k := range a {
		if fa.IsNaN(a[k]) || fb.IsNaN(b[k]) {
			return nan32
		}
	}
	if isNaN(c) {
		return nan32
	}
	acc := number{0, 23, zeroExp}
	if !r.AddC {
		if isInf(c) {
			return c
		}
		acc = split32(c)
	}
	var products [256]number
	for k := 0; k < len(a); k += r.Group {
		group := min(r.Group, len(a)-k) // the rest of a last, partial group is zeros
		for g := range group {
			x, y := split8(fa, a[k+g]), split8(fb, b[k+g])
			products[g] = number{x.sig * y.sig, x.frac + y.frac, x.exp + y.exp}
		}
		sum := r.sumGroup(products[:group], acc)
		if r.ResultBits > 0 {
			acc = normalise(sum, r.ResultBits)
			continue
		}
		v := sum.value()
		if isInf(v) {
			if r.AddC {
				return finish(c + v)
			}
			return v
		}
		acc = split32(v)
	}
	if r.AddC {
		return finish(c + acc.value())
	}
	return acc.value()
}

// sumGroup is the unrounded result of one group.
func (r *Rule) sumGroup(products []number, acc number) number {
	var sums [256]number
	top := math.MinInt
	for s := range min(r.SubSums, len(products)) {
		at := math.MinInt
		for k := s; k < len(products); k += r.SubSums {
			at = max(at, products[k].exp)
		}
		if r.Join == JoinEarly {
			at = max(at, acc.exp)
		}
		var sum int64
		for k := s; k < len(products); k += r.SubSums {
			sum += products[k].cut(r.Product, at)
		}
		if r.Join == JoinEarly {
			sum += acc.cut(r.Product, at)
		}
		sums[s] = number{sum, r.Product.Bits, at}
		top = max(top, at)
	}
	sum := sums[0]
	if r.SubSums > 1 {
		sum = number{0, r.SubSum.Bits, top}
		for s := range min(r.SubSums, len(products)) {
			sum.sig += sums[s].cut(r.SubSum, top)
		}
	}
	if r.Join == JoinEarly {
		return sum
	}
	at := max(sum.exp, acc.exp)
	frac := max(r.Sum.Bits, r.Acc.Bits)
	total := sum.cut(r.Sum, at) << (frac - r.Sum.Bits)
	if acc.exp >= at-r.AccReach {
		total += acc.cut(r.Acc, at) << (frac - r.Acc.Bits)
	}
	return number{total, frac, at}
}

// normalise is x with a significand of keep fraction bits, 1 <= |s| < 2, cut
// toward zero; or zero.
func normalise(x number, keep int) number {
	if x.sig == 0 {
		return number{0, keep, zeroExp}
	}
	length := bits.Len64(uint64(max(x.sig, -x.sig)))
	exp := x.exp - x.frac + length - 1
	return number{number{x.sig, length - 1, exp}.cut(Cut{keep, Trunc}, exp), keep, exp}
}

// finish gives every NaN the one form that this package uses.
func finish(x float32) float32 {
	if isNaN(x) {
		return nan32
	}
	return x
}
