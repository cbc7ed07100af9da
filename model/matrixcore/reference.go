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
	right := min(-left, 62) // |sig| < 2^53
	switch {
	case c.Rounding == Trunc && x.sig < 0:
		return -(-x.sig >> right)
	case c.Rounding == Nearest:
		q := x.sig >> right
		rest, half := x.sig-q<<right, int64(1)<<(right-1)
		if rest > half || rest == half && q&1 == 1 {
			q++
		}
		return q
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
	c = r.flush(c)
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
			products[g] = r.product(split8(fa, a[k+g]), split8(fb, b[k+g]))
		}
		sum := r.sumGroup(products[:group], acc)
		if r.ResultBits > 0 {
			acc = r.round(sum)
			continue
		}
		v := r.flush(sum.value())
		if isInf(v) {
			if r.AddC {
				return finish(c + v)
			}
			return v
		}
		acc = split32(v)
	}
	if r.AddC {
		return r.flush(finish(c + acc.value()))
	}
	return acc.value()
}

// product is x*y, or with a flushed factor zero.
func (r *Rule) product(x, y number) number {
	if r.FlushFP8 {
		x, y = flush8(x), flush8(y)
	}
	p := number{x.sig * y.sig, x.frac + y.frac, x.exp + y.exp}
	if r.Normalise && p.sig != 0 {
		frac := bits.Len64(uint64(max(p.sig, -p.sig))) - 1
		p.frac, p.exp = frac, p.exp-p.frac+frac
	}
	return p
}

// flush8 is zero for a subnormal fp8 value.
func flush8(x number) number {
	if max(x.sig, -x.sig) < 1<<fp8.MantissaBits {
		return number{0, x.frac, zeroExp}
	}
	return x
}

// flush is zero for a subnormal, where the rule says so.
func (r *Rule) flush(x float32) float32 {
	if r.FlushFloat32 && max(x, -x) < 0x1p-126 {
		return 0
	}
	return x
}

// sumGroup is the unrounded result of one group.
func (r *Rule) sumGroup(products []number, acc number) number {
	var sums [256]number
	top, lanes := math.MinInt, 0
	for s := range r.SubSums {
		at := math.MinInt
		from, end, step := r.lane(s, len(products))
		if from >= end {
			break // a partial group does not reach this lane
		}
		for k := from; k < end; k += step {
			at = max(at, products[k].exp)
		}
		if r.Join == JoinEarly {
			at = max(at, acc.exp)
		}
		var sum int64
		for k := from; k < end; k += step {
			sum += products[k].cut(r.Product, at)
		}
		if r.Join == JoinEarly {
			sum += acc.cut(r.Product, at)
		}
		sums[s] = number{sum, r.Product.Bits, at}
		top, lanes = max(top, at), s+1
	}
	sum := sums[0]
	if r.SubSums > 1 {
		sum = number{0, r.SubSum.Bits, top}
		for s := range lanes {
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

// lane is the products of sub-sum s of n: those from one index up to another,
// by steps.
func (r *Rule) lane(s, n int) (from, end, step int) {
	if r.Lanes == Interleaved {
		return s, n, r.SubSums
	}
	size := r.Group / r.SubSums
	return s * size, min((s+1)*size, n), 1
}

// round is x as an accumulator of ResultBits fraction bits: a significand with
// 1 <= |s| < 2, or zero. An accumulator that is a float32 has no exponent below
// -126, so that its significand may be smaller.
func (r *Rule) round(x number) number {
	keep := r.ResultBits
	if x.sig == 0 {
		return number{0, keep, zeroExp}
	}
	length := bits.Len64(uint64(max(x.sig, -x.sig)))
	exp := x.exp - x.frac + length - 1
	if !r.AddC {
		exp = max(exp, minExp32)
	}
	x = number{x.sig, x.frac - x.exp + exp, exp}
	sig := x.cut(Cut{keep, r.ResultRounding}, exp)
	size := max(sig, -sig)
	switch {
	case sig == 0:
		return number{0, keep, zeroExp}
	case r.FlushFloat32 && !r.AddC && exp == minExp32 && size < 1<<keep:
		return number{0, keep, zeroExp}
	case size == 2<<keep: // carried into the next binade
		return number{sig / 2, keep, exp + 1}
	}
	return number{sig, keep, exp}
}

// minExp32 is the exponent of the smallest normal float32.
const minExp32 = -126

// finish gives every NaN the one form that this package uses.
func finish(x float32) float32 {
	if isNaN(x) {
		return nan32
	}
	return x
}
