package matrixcore

import (
	"math"
	"math/bits"

	"mqaproof/model/fp8"
)

// late is the fast path of rules like CDNA3's: groups of 16 products in two
// sub-sums, and a float32 accumulator that joins late.
type late struct {
	rule *Rule
	fa   fp8.Format
	fb   fp8.Format

	base int     // exponents are counted from here
	unit float64 // 2^(base-6), the weight of an integer product's last bit
	bits int     // fraction bits that both cuts of the products keep
}

// fitsLate reports whether late computes the rule. The conditions on the bits
// make a cut that comes later no coarser than an earlier one.
func (r *Rule) fitsLate(k int) bool {
	return k > 0 && r.known() && r.Join == JoinLate && r.Group == blockK && r.SubSums == 2 && r.ResultBits == 0 && !r.AddC &&
		r.Product.Rounding == Trunc && r.SubSum.Rounding == Floor && r.Sum.Rounding == Floor && r.Acc.Rounding == Floor &&
		r.Sum.Bits >= r.SubSum.Bits && r.Sum.Bits >= r.Acc.Bits && r.AccReach >= r.Acc.Bits &&
		max(r.Product.Bits, r.SubSum.Bits, r.Sum.Bits) <= 40
}

func (r *Rule) mulAddLate(fa, fb fp8.Format, m, n, k int, a, bt []byte, c, d []float32) {
	l := late{rule: r, fa: fa, fb: fb, base: fa.MinExp() + fb.MinExp(), bits: min(r.Product.Bits, r.SubSum.Bits)}
	l.unit = exp2(l.base - productFrac)
	var x, y panel
	for k0 := 0; k0 < k; k0 += panelK * blockK {
		for i0 := 0; i0 < m; i0 += panelRows {
			rows := min(panelRows, m-i0)
			blocks := x.load(fa, a[i0*k:], rows, k, k0, 2, 1)
			for j0 := 0; j0 < n; j0 += panelRows {
				cols := min(panelRows, n-j0)
				y.load(fb, bt[j0*k:], cols, k, k0, 2, 1)
				for i := range rows {
					at := (i0+i)*n + j0
					l.row(&x, i, &y, blocks, c[at:][:cols], d[at:][:cols])
				}
			}
		}
		c = d // the next 64 products go on from here
	}
}

// row is one row of x against all of y. A float32 NaN or infinity absorbs what
// comes later, except that a NaN code makes any of them NaN.
func (l *late) row(x *panel, i int, y *panel, blocks int, c, d []float32) {
	xs := &x.blocks[i]
	for j := range d {
		acc := c[j]
		ys := &y.blocks[j]
		switch {
		case x.nan[i] || y.nan[j] || isNaN(acc):
			acc = nan32
		case isInf(acc):
		default:
			for g := range blocks {
				acc = l.group(&xs[g], &ys[g], acc)
				if isInf(acc) {
					break
				}
			}
		}
		d[j] = acc
	}
}

// tiny is the biased exponent of 2^-100. Below it an accumulator could meet the
// exponents of products that are zero (about -126), which this path leaves out.
const tiny = 127 - 100

// group is one group of 16 products on top of the finite accumulator c.
func (l *late) group(x, y *block, c float32) float32 {
	hi, lo := int(x.hi)+int(y.hi), int(x.lo)+int(y.lo)
	if hi-l.bits+productFrac > lo {
		return l.cutGroup(x, y, c)
	}
	// No product can lose a bit, whatever the largest exponent is.
	s := dot16(&x.fixed, &y.fixed)
	if c == 0 {
		return float32(float64(s) * l.unit)
	}
	b := math.Float32bits(c)
	field := int(b >> 23 & 0xff)
	if field < tiny {
		return l.slow(x, y, c)
	}
	exp := field - 127 - l.base
	// at is at least the exponent at which sum and accumulator meet. If neither
	// loses a bit there, the sum is exact, and float64 holds it.
	at := max(hi, exp)
	lowest := exp - 23 + bits.TrailingZeros32(b|1<<23)
	if lowest >= at-l.rule.Acc.Bits && at-l.rule.Sum.Bits+productFrac <= lo {
		return float32(float64(s)*l.unit + float64(c))
	}
	most := top(max8(exponents(x.exp[:8], y.exp[:8]), exponents(x.exp[8:], y.exp[8:]))) - 2*nonZero
	return l.join(s, most, b)
}

// cutGroup is group where products may lose bits.
func (l *late) cutGroup(x, y *block, c float32) float32 {
	even := top(exponents(x.exp[:8], y.exp[:8])) - 2*nonZero
	odd := top(exponents(x.exp[8:], y.exp[8:])) - 2*nonZero
	most := max(even, odd)
	s0 := dotCut8((*[8]int32)(x.fixed[:8]), (*[8]int32)(y.fixed[:8]), even-l.rule.Product.Bits+productFrac)
	s1 := dotCut8((*[8]int32)(x.fixed[8:]), (*[8]int32)(y.fixed[8:]), odd-l.rule.Product.Bits+productFrac)
	low := lowMask(most - l.rule.SubSum.Bits + productFrac)
	s := s0&^low + s1&^low
	if c == 0 {
		return float32(float64(s) * l.unit)
	}
	b := math.Float32bits(c)
	if int(b>>23&0xff) < tiny {
		return l.slow(x, y, c)
	}
	return l.join(s, most, b)
}

// join adds the sum s, whose relative exponent is most (negative when all
// products are zero), and the normal float32 with the bits b.
func (l *late) join(s int64, most int, b uint32) float32 {
	r := l.rule
	exp := int(b>>23&0xff) - 127 - l.base
	at := max(most, exp)
	if most < 0 {
		at = exp // s is 0, and its exponent about -126
	}
	if right := at - r.Sum.Bits + productFrac; right >= 0 {
		s >>= min(right, 63)
	} else {
		s <<= -right
	}
	if exp >= at-r.AccReach {
		sig := int64(b&(1<<23-1) | 1<<23)
		sig = (sig ^ -int64(b>>31)) + int64(b>>31)
		if right := at - exp + 23 - r.Acc.Bits; right >= 0 {
			sig >>= min(right, 63)
		} else {
			sig <<= -right
		}
		s += sig << (r.Sum.Bits - r.Acc.Bits)
	}
	return float32(float64(s) * exp2(at+l.base-r.Sum.Bits))
}

// slow hands the group to the reference.
func (l *late) slow(x, y *block, c float32) float32 {
	var products [blockK]number
	for k := range products {
		at := k&1*(blockK/2) + k>>1
		p, q := x.number(at, l.fa), y.number(at, l.fb)
		products[k] = number{p.sig * q.sig, p.frac + q.frac, p.exp + q.exp}
	}
	return l.rule.sumGroup(products[:], split32(c)).value()
}

// number is element i of the block as the reference has it.
func (b *block) number(i int, f fp8.Format) number {
	if b.exp[i] == 0 {
		return number{0, fp8.MantissaBits, zeroExp}
	}
	above := int(b.exp[i]) - nonZero
	return number{int64(b.fixed[i] >> above), fp8.MantissaBits, above + f.MinExp()}
}

// exp2 is 2^e for e from -1022 to 1023.
func exp2(e int) float64 { return math.Float64frombits(uint64(e+1023) << 52) }
