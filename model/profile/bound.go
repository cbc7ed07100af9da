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
// kernel may give anything. So it is for a rule that takes subnormal fp8 values
// for zero.
//
// # Derivation
//
// The computed dot lies within [dot-down, dot+up] (dotBound). relu is monotone,
// so x' = relu(dot') lies between relu(dot-down) and relu(dot+up), and its
// distance from x = relu(dot) counts toward the logit by the sign of the
// weight: what some heads may add and others take away does not add up.
//
// A term scale*weight*x' meets two multiplications, each with a relative error
// of at most u, and in one order of operations or another additions, of which
// n-1 can round if n terms are not zero, because a sum with zero is exact. What
// an addition rounds is the sum of some terms and of errors made before. The
// sum of terms is at most M, the larger of the sums of all terms of one sign,
// so an addition loses at most half the last place of the binade that M and the
// errors reach. The sums may be of scaled terms, or of others that are scaled
// later, whose binades lie elsewhere: the larger of both counts.
//
//	|kernel - exact| <= sum over heads of scale*|weight|*|x'-x|  (signs taken apart)
//	                  + gamma(2) * sum over heads of scale*|weight|*x'
//	                  + (n-1) * halfUlp(M) * (1+u)
//	                  + underflow
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
	s := float64(scale)
	var t terms
	for h := range sizes {
		if !finite(weights[h]) {
			return 0, fmt.Errorf("profile: no bound for weight %v of head %d", weights[h], h)
		}
		if sizes[h].Sum != 0 && sizes[h].Products == 0 {
			return 0, fmt.Errorf("profile: the size of head %d is not one of Measure's", h)
		}
		t.add(&sizes[h], dotBound(rule, dim, &sizes[h]), float64(weights[h]), s)
	}
	if t.overflow || tooBig(t.sum*max(s, 1)) {
		return math.Inf(1), nil
	}
	underflow := t.underflow + 0x1p-126*float64(heads+1)*(1+s)
	// These sums are themselves made of non-negative float64s with fewer than
	// 2^12 roundings a head on any path; 2^-30 covers 2^22 of them.
	return (s*t.dots() + s*gamma(2)*t.sum + t.additions(s) + underflow) * (1 + 0x1p-30), nil
}

// terms is what the bound needs to know of the heads' terms weight*x', before
// they are scaled.
type terms struct {
	n         int     // terms that may not be zero
	sum       float64 // of the largest magnitudes
	pos, neg  float64 // of those above zero, and of those below
	down, up  float64 // what the dots' errors take away and add
	underflow float64
	overflow  bool
}

func (t *terms) add(size *Size, d reach, weight, scale float64) {
	x, up := max(size.Dot, 0), d.up
	if size.Dot < 0 {
		up = max(size.Dot+up, 0)
	}
	down := min(d.down, x)
	w, most := math.Abs(weight), x+up
	t.underflow += 4 * 0x1p-126 * (1 + w) * (1 + scale) * (1 + most)
	t.overflow = t.overflow || tooBig(most*scale) || tooBig(w*scale)
	if w*most == 0 {
		return
	}
	t.n++
	t.sum += w * most
	if weight > 0 {
		t.pos += w * most
		t.down += w * down
		t.up += w * up
	} else {
		t.neg += w * most
		t.down += w * up
		t.up += w * down
	}
}

// dots is what the errors of the dots come to.
func (t *terms) dots() float64 { return max(t.down, t.up) }

// additions is what the additions of terms lose, in the logit.
func (t *terms) additions(scale float64) float64 {
	if t.n < 2 {
		return 0
	}
	most := max(t.pos, t.neg) * (1 + gamma(2))
	each := func(b float64) float64 { return float64(t.n-1) * halfUlp(b) }
	return (1 + unit) * max(scale*settle(most, each), settle(most*scale, each))
}

// tooBig leaves room for the roundings on the way to x.
func tooBig(x float64) bool { return x > math.MaxFloat32*(1-0x1p-4) }

func finite(x float32) bool { return x-x == 0 }
