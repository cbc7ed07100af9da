package profile

import (
	"fmt"
	"math"

	"mqaproof/model/fp8"
	"mqaproof/model/matrixcore"
)

// unit is the unit roundoff of float32 to nearest, u = 2^-24.
const unit = 0x1p-24

// gamma is Higham's bound on n roundings in a row, n*u/(1-n*u): a product of n
// factors (1+d), |d| <= u, differs from 1 by no more (Accuracy and Stability of
// Numerical Algorithms, lemma 3.1).
func gamma(n int) float64 { return float64(n) * unit / (1 - float64(n)*unit) }

// maxOps keeps n*u below 2^-7.
const maxOps = 1 << 16

// Bound is a rigorous bound on |kernel - exact| for one logit of a kernel whose
// order of operations is not known. It is a bound of the analysis, computed
// from the data before the kernel runs, and no tuned tolerance.
//
// What is assumed of the kernel:
//   - each dot is made by float32 additions in any order, fused or not, or by
//     the matrix core with the given rule (nil: there is none) whose groups
//     take the dims in any assignment, ceil(dim/Group) groups in all, chained
//     in one accumulator or in several that are then added in float32;
//   - relu, the multiplication by weight and by scale, and the sum over heads
//     are float32 operations to nearest in any order, fused or not: scale
//     before or after the sum or multiplied into the weight. Subnormal results
//     and inputs may be flushed to zero.
//
// The scale must not be negative, because then the place of the scale changes
// the exact value too. Inputs must be finite.
//
// The bound is +Inf where an intermediate result may overflow float32: such a
// kernel may give anything.
//
// # Derivation
//
// With dot' the computed dot, |dot' - dot| <= D (dotBound). relu is a
// contraction, so x' = relu(dot') is within D of x = relu(dot), and both are 0
// when dot + D <= 0. A head's term then meets one rounding in each of two
// multiplications and in at most as many additions as there are heads (H - 1
// between terms and one from a zero start), so its contribution becomes
// scale*weight*x'*(1+t), |t| <= g = gamma(H+2), and
//
//	|kernel - exact| <= sum over heads of scale*|weight| * ((1+g)*|x'-x| + g*x)  +  underflow
//
// Every operation that underflows adds at most 2^-126 (flushed) and what it
// adds is scaled by what follows, at most the product of (1+|weight|),
// (1+scale) and (1+x'); four such amounts a head cover two multiplications and
// two flushed inputs, and one for each addition is scaled by (1+scale).
func Bound(rule *matrixcore.Rule, f fp8.Format, dim int, sizes []Size, weights []float32, scale float32) (float64, error) {
	heads := len(weights)
	switch {
	case len(sizes) != heads || heads == 0:
		return 0, fmt.Errorf("profile: bound of %d dots and %d weights, want as many and at least one", len(sizes), heads)
	case !f.Valid():
		return 0, fmt.Errorf("profile: %v is no fp8 format", f)
	case dim < 1 || dim > maxOps || heads > maxOps:
		return 0, fmt.Errorf("profile: bound for head_dim %d and %d heads, want 1 to %d", dim, heads, maxOps)
	case !finite(scale) || scale < 0:
		return 0, fmt.Errorf("profile: no bound for a scale of %v, want a finite one that is not negative", scale)
	}
	g := gamma(heads + 2)
	s := float64(scale)
	var errors, underflow, total float64
	overflow := false
	for h, size := range sizes {
		if !finite(weights[h]) {
			return 0, fmt.Errorf("profile: no bound for weight %v of head %d", weights[h], h)
		}
		w := math.Abs(float64(weights[h]))
		d := dotBound(rule, f, dim, size)
		x := max(size.Dot, 0)
		most := max(size.Dot+d, 0) // of x'
		if most == 0 {
			d = 0
		}
		errors += s * w * ((1+g)*d + g*x)
		underflow += 4 * 0x1p-126 * (1 + w) * (1 + s) * (1 + most)
		total += w * most
		overflow = overflow || tooBig(most*s) || tooBig(w*s)
	}
	underflow += 0x1p-126 * float64(heads+1) * (1 + s)
	if overflow || tooBig(total*max(s, 1)) {
		return math.Inf(1), nil
	}
	// This sum itself is made of non-negative float64s with fewer than 2^12
	// roundings a head on any path; 2^-30 covers 2^22 of them.
	return (errors + underflow) * (1 + 0x1p-30), nil
}

// tooBig leaves room for the roundings on the way to x.
func tooBig(x float64) bool { return x > math.MaxFloat32*(1-0x1p-4) }

func finite(x float32) bool { return x-x == 0 }

// dotBound bounds |dot' - dot| for one dot.
//
// Float32: products of fp8 are exact, and each meets at most dim additions of
// multiples of the smallest product, which do not underflow:
//
//	|dot' - dot| <= gamma(dim) * Sum
//
// Matrix core: matrixBound, and on top of it one float32 addition for each
// group, for kernels that chain fewer groups than there are.
func dotBound(rule *matrixcore.Rule, f fp8.Format, dim int, s Size) float64 {
	scalar := gamma(dim) * s.Sum
	if rule == nil {
		return scalar
	}
	groups := (dim + rule.Group - 1) / rule.Group
	m := matrixBound(rule, f, groups, s)
	return max(scalar, m+gamma(groups)*(s.Sum+m))
}

// matrixBound bounds the error of so many groups in a chain from zero.
//
// Cutting a number to b bits at exponent E loses less than 2^(E-b), whatever
// the rounding, and nothing when its last bit is no lower. In one group let 2^E
// be at most Top for the products, and A the largest magnitude of an
// accumulator. The group then loses
//
//	products     Group * 2^-Product.Bits * Top
//	sub-sums     SubSums * 2^-SubSum.Bits * Top, when there are several
//	sum          2^-Sum.Bits * max(Top, A)          late accumulator
//	accumulator  2^-min(Acc.Bits, AccReach) * max(Top, A)   late: one out of reach has e < M-AccReach, so |acc| < 2^(M-AccReach)
//	result       2^-24 * A to nearest float32, or 2^-ResultBits * A cut
//
// With an early accumulator, products and accumulator, Group+1 numbers, are cut
// by Product at an exponent of at most max(Top, A). An accumulator's 2^e is at
// most its magnitude: between groups it is zero or a multiple of 2^-60 and so
// never subnormal.
//
// The products lose nothing while Top is no more than 2^lossless: the last bit
// of every product is at least 2^(MinExp+MinExp-6), and so are those of the
// sub-sums.
//
// With G groups, P what the products lose at Top, and q the factor at
// max(Top, A): every partial sum is within the error so far of a partial sum of
// products, so A <= Sum + err, and
//
//	err <= G * (P + q*(max(Top, Sum) + err))  =>  err <= G * (P + q*max(Top, Sum)) / (1 - G*q)
func matrixBound(r *matrixcore.Rule, f fp8.Format, groups int, s Size) float64 {
	if s.Sum == 0 {
		return 0 // all products are zero, and so is every accumulator
	}
	n := float64(groups)
	lost := func(bits int) float64 { return math.Ldexp(1, -bits) }
	lossless := func(bits int) bool { return log2(s.Top) <= bits+2*f.MinExp()-2*fp8.MantissaBits }

	var products, q float64
	if r.Join == matrixcore.JoinEarly {
		q = float64(r.Group+1) * lost(r.Product.Bits)
	} else {
		if !lossless(r.Product.Bits) {
			products += float64(r.Group) * lost(r.Product.Bits) * s.Top
		}
		if r.SubSums > 1 && !lossless(min(r.SubSum.Bits, r.Product.Bits)) {
			products += float64(r.SubSums) * lost(r.SubSum.Bits) * s.Top
		}
		q = lost(r.Sum.Bits) + lost(min(r.Acc.Bits, r.AccReach))
	}
	if r.ResultBits > 0 {
		q += lost(r.ResultBits)
	} else {
		q += unit
	}
	if n*q >= 1 {
		return math.Inf(1) // the rule keeps too few bits for so many groups
	}
	return n * (products + q*max(s.Top, s.Sum)) / (1 - n*q)
}
