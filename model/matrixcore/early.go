package matrixcore

import (
	"math"
	"math/bits"

	"mqaproof/model/fp8"
)

// early is the fast path of rules like Hopper's: one sum a group, in which the
// accumulator, of few bits, is one more term; the chain starts from zero, so
// the accumulator stays an integer of the products' unit.
type early struct {
	rule *Rule
	base int // exponents are counted from here
}

// fitsEarly reports whether early computes the rule for k products. The bound
// on k keeps the accumulator below 2^63: a product is below 2^36 units.
func (r *Rule) fitsEarly(k int) bool {
	return r.known() && r.Join == JoinEarly && r.SubSums == 1 && r.AddC && r.ResultBits > 0 &&
		r.Group%blockK == 0 && panelK*blockK%r.Group == 0 &&
		r.Product.Rounding == Trunc && r.Product.Bits <= 24 && k <= 1<<24
}

// notANumber stands for a NaN among accumulators.
const notANumber = math.MinInt64

func (r *Rule) mulAddEarly(fa, fb fp8.Format, m, n, k int, a, bt []byte, c, d []float32) {
	e := early{rule: r, base: fa.MinExp() + fb.MinExp()}
	unit := exp2(e.base - productFrac)
	var x, y panel
	var sums [panelRows][panelRows]int64
	for i0 := 0; i0 < m; i0 += panelRows {
		rows := min(panelRows, m-i0)
		for j0 := 0; j0 < n; j0 += panelRows {
			cols := min(panelRows, n-j0)
			sums = [panelRows][panelRows]int64{}
			for k0 := 0; k0 < k; k0 += panelK * blockK {
				blocks := x.load(fa, a[i0*k:], rows, k, k0, 1, r.Group/blockK)
				y.load(fb, bt[j0*k:], cols, k, k0, 1, r.Group/blockK)
				for i := range rows {
					e.row(&x, i, &y, blocks, sums[i][:cols])
				}
			}
			for i := range rows {
				at := (i0+i)*n + j0
				for j, sum := range sums[i][:cols] {
					if sum == notANumber {
						d[at+j] = nan32
						continue
					}
					d[at+j] = finish(c[at+j] + float32(float64(sum)*unit))
				}
			}
		}
	}
}

func (e *early) row(x *panel, i int, y *panel, blocks int, sums []int64) {
	per := e.rule.Group / blockK
	for j := range sums {
		if sums[j] == notANumber || x.nan[i] || y.nan[j] {
			sums[j] = notANumber
			continue
		}
		for g := 0; g < blocks; g += per {
			sums[j] = e.group(x.blocks[i][g:g+per], y.blocks[j][g:g+per], sums[j])
		}
	}
}

// group is one group on top of the accumulator acc, in units.
func (e *early) group(x, y []block, acc int64) int64 {
	y = y[:len(x)]
	var most uint64
	lo := 2 * noBits
	for g := range x {
		p, q := &x[g], &y[g]
		most = max8(most, max8(exponents(p.exp[:8], q.exp[:8]), exponents(p.exp[8:], q.exp[8:])))
		lo = min(lo, int(p.lo)+int(q.lo))
	}
	at := top(most) - 2*nonZero
	if acc != 0 {
		at = max(at, length(acc)-1-productFrac)
	}
	drop := at - e.rule.Product.Bits + productFrac // bits lost below the largest exponent
	var s int64
	if drop <= lo {
		for g := range x {
			s += dot16(&x[g].fixed, &y[g].fixed)
		}
	} else {
		for g := range x {
			p, q := &x[g].fixed, &y[g].fixed
			s += dotCut8((*[8]int32)(p[:8]), (*[8]int32)(q[:8]), drop)
			s += dotCut8((*[8]int32)(p[8:]), (*[8]int32)(q[8:]), drop)
		}
	}
	s += cutTrunc(acc, drop)
	return cutTrunc(s, length(s)-1-e.rule.ResultBits)
}

// length is the number of bits of |x|.
func length(x int64) int { return bits.Len64(uint64(max(x, -x))) }

// cutTrunc is x cut toward zero to a multiple of 2^drop.
func cutTrunc(x int64, drop int) int64 {
	low := lowMask(drop)
	return (x + x>>63&low) &^ low
}
