package profile

import (
	"math"

	"mqaproof/model/matrixcore"
)

// reach is how far a computed value may lie below and above the exact one.
type reach struct{ down, up float64 }

func (x reach) or(y reach) reach { return reach{max(x.down, y.down), max(x.up, y.up)} }

// binade is the power of two at or below x, 0 for 0.
func binade(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return math.Ldexp(1, log2(x))
}

// halfUlp is the most that rounding to the nearest float32 changes a number
// whose binade is b: half of its last place.
func halfUlp(b float64) float64 { return b * unit }

// settle finds the error of sums that stay below m plus that error, from what
// the error is while they stay in the binade b or below.
func settle(m float64, errorIn func(b float64) float64) float64 {
	for b := binade(m); ; b *= 2 {
		if e := errorIn(b); m+e < 2*b || m+e == 0 {
			return e
		}
		if b == 0 || b > 0x1p200 {
			return math.Inf(1)
		}
	}
}

// dotBound bounds the distance of one computed dot from the exact one.
func dotBound(rule *matrixcore.Rule, dim int, s *Size) reach {
	if s.Sum == 0 {
		return reach{}
	}
	scalar := scalarBound(s)
	if rule == nil {
		return scalar
	}
	return scalar.or(matrixBound(rule, (dim+rule.Group-1)/rule.Group, s))
}

// scalarBound is for float32 additions in any order. The products are exact.
// Additions to zero are exact too, so that as many may round as there are
// products other than zero, less one. Each partial sum is a multiple of the
// lowest bit of any product and the sum of some of them, so its magnitude is at
// most the sum of all of one sign: if 24 bits hold that, nothing is ever
// rounded, and if not each addition loses half a last place.
func scalarBound(s *Size) reach {
	most := max(s.Pos, s.Neg)
	if most <= s.Low*0x1p24 {
		return reach{}
	}
	e := settle(most, func(b float64) float64 { return float64(s.Products-1) * halfUlp(b) })
	return reach{e, e}
}

// matrixBound is for so many groups on a matrix core, in one chain from zero or
// in several that are added in float32 at the end.
//
// # Derivation
//
// Cutting a number to b bits at exponent E makes it a multiple of the unit
// 2^(E-b). It loses less than the unit, and nothing if it was such a multiple;
// a number that is a multiple of 2^l for a smaller 2^l loses at most unit-2^l.
// Everything in the chain is a multiple of the lowest bit of any product. Toward
// zero, what a product loses is its magnitude modulo the unit, which is known,
// and no more when it is cut at a lower exponent. Top
// is 2^E for the largest exponent of a product, and A the binade of the largest
// accumulator: a partial sum of products is between -Neg and Pos, so that an
// accumulator is between -Neg-down and Pos+up, where down and up are this very
// bound (settled as in settle). Toward zero, positive numbers only go down and
// negative ones only up; floor only goes down.
//
//	products     each is cut once, with a late accumulator at an exponent of at
//	             most Top's, with an early one at most Top's or, in groups but
//	             the first, A's
//	sub-sums     cut at most at Top, those but the largest of a group, which
//	             kept as many bits before (all when SubSum has fewer bits)
//	joins        G groups are joined G-1 times. An early accumulator is cut at
//	             a product's exponent or at its own, where it loses nothing if
//	             it has no more bits than are kept. A late one likewise, except
//	             that out of reach it loses itself, less than 2^-AccReach*Top;
//	             and the sum loses when it meets a larger accumulator. Or the
//	             join is a float32 addition and costs half a last place
//	results      G times: half a last place of A for float32, else A's unit
func matrixBound(r *matrixcore.Rule, groups int, s *Size) reach {
	if s.Sum == 0 {
		return reach{}
	}
	if r.FlushFP8 {
		return reach{math.Inf(1), math.Inf(1)} // Size does not tell what subnormals contribute
	}
	c := groupChain{rule: r, size: s, low: s.Low, top: s.Top, groups: float64(groups)}
	if r.Normalise {
		c.top *= 2 // a significand below 4 counts as one below 2
	} else if groups == 1 && r.Join == matrixcore.JoinEarly {
		c.low = max(c.low, math.Ldexp(c.top, -r.Product.Bits)) // all products are cut at Top
	}
	pos, neg := binade(s.Pos), binade(s.Neg)
	for range 1000 {
		x := c.reach(pos, neg)
		fits := true
		for _, side := range []struct {
			b    *float64
			size float64
		}{{&pos, s.Pos + x.up}, {&neg, s.Neg + x.down}} {
			if side.size > 0 && side.size >= 2**side.b {
				*side.b = max(2**side.b, binade(side.size))
				fits = false
			}
		}
		if fits {
			return x
		}
		if max(pos, neg) > 0x1p200 {
			break
		}
	}
	return reach{math.Inf(1), math.Inf(1)} // the rule keeps too few bits for so many groups
}

// groupChain is the groups that make one dot.
type groupChain struct {
	rule   *matrixcore.Rule
	size   *Size
	low    float64 // everything is a multiple of it
	top    float64 // 2^E of the largest product
	groups float64
}

// reach is what is lost while accumulators' binades are at most pos above zero
// and neg below.
func (c *groupChain) reach(pos, neg float64) reach {
	r := c.rule
	acc := max(pos, neg)
	var total, join reach
	add := func(x *reach, times float64, lost reach) {
		x.down += times * lost.down
		x.up += times * lost.up
	}
	if r.Join == matrixcore.JoinEarly {
		at := c.top
		if c.groups > 1 {
			at = max(at, acc)
		}
		add(&total, 1, c.products(at))
		// Toward zero, an accumulator above zero goes down and one below goes up.
		own := reach{c.top, c.top}
		if r.Product.Bits < c.resultBits() {
			own = reach{max(c.top, pos), max(c.top, neg)}
		}
		if pos == 0 {
			own.down = 0
		}
		if neg == 0 {
			own.up = 0
		}
		join = c.cut(r.Product, own)
	} else {
		add(&total, 1, c.products(c.top))
		if r.SubSums > 1 {
			lossy := r.SubSums
			if r.SubSum.Bits >= r.Product.Bits {
				lossy--
			}
			add(&total, c.groups*float64(lossy), c.cut(r.SubSum, reach{c.top, c.top}))
		}
		kept := r.Product.Bits // by the sum of all products
		if r.SubSums > 1 {
			kept = r.SubSum.Bits
		}
		if r.Sum.Bits < kept {
			add(&total, c.groups, c.cut(r.Sum, reach{c.top, c.top}))
		}
		add(&join, 1, c.cut(r.Sum, reach{acc, acc}))
		own := c.top
		if r.Acc.Bits < c.resultBits() {
			own = max(own, acc)
		}
		lost := c.cut(r.Acc, reach{own, own})
		if far := math.Ldexp(c.top, -r.AccReach); far > c.low {
			lost = lost.or(reach{far, far})
		}
		add(&join, 1, lost)
	}
	round := reach{}
	if half := halfUlp(acc); 2*half > c.low {
		round = reach{half, half}
	}
	add(&total, c.groups-1, join.or(round))
	if r.ResultBits == 0 {
		add(&total, c.groups, round)
	} else {
		add(&total, c.groups, c.cut(matrixcore.Cut{Bits: r.ResultBits, Rounding: r.ResultRounding}, reach{pos, neg}))
	}
	return total
}

// resultBits is the fraction bits of an accumulator.
func (c *groupChain) resultBits() int {
	if c.rule.ResultBits > 0 {
		return c.rule.ResultBits
	}
	return 23
}

// cut is what one number loses. It is cut at exponents up to at.down if it is
// above zero and up to at.up if it is below.
func (c *groupChain) cut(cut matrixcore.Cut, at reach) reach {
	lost := func(at float64) float64 { return max(math.Ldexp(at, -cut.Bits)-c.low, 0) }
	above, below := lost(at.down), lost(at.up)
	switch cut.Rounding {
	case matrixcore.Trunc:
		return reach{above, below}
	case matrixcore.Floor:
		return reach{down: max(above, below)}
	}
	return reach{max(above, below), max(above, below)}
}

// products is what all products together lose when cut at exponents up to at.
func (c *groupChain) products(at float64) reach {
	unit := math.Ldexp(at, -c.rule.Product.Bits)
	pos, neg, lossy := c.size.cut(unit)
	if c.rule.Product.Rounding == matrixcore.Trunc {
		return reach{pos, neg}
	}
	all := float64(lossy) * unit
	if c.rule.Product.Rounding == matrixcore.Floor {
		return reach{down: all}
	}
	return reach{all, all}
}
