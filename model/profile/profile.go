// Package profile is numeric profiles: the order of floating-point operations
// of a whole MQA-logits kernel, as data. A profile turns one query row and one
// cached token into the float32 that the kernel must give, to the bit; Bound
// says how far from the exact value a kernel of no known order may be.
//
// The logit of a row and a token, before the mask, is
//
//	scale * sum over heads h of  weight[h] * relu( sum over d of q[h][d] * k[d] )
//
// All arithmetic outside the matrix core is IEEE float32, to nearest even, with
// subnormals. relu is max(x, 0) as v_max_f32 has it: a NaN (see Relu) and a -0
// give +0.
// A NaN logit has no payload that could be relied on: see Same.
package profile

import (
	"fmt"

	"mqaproof/model/fp8"
	"mqaproof/model/matrixcore"
)

// Profile is one kernel's order of operations on one target.
type Profile struct {
	Name   string // as manifests name it
	Target string // gfx942, gfx950
	About  string // one sentence

	Format fp8.Format // of q and k

	// Rule is the matrix core that makes the dots, in instructions of Step dims
	// one after the other from a zero accumulator. Its groups divide Step, so
	// that the instructions' width does not show in the result. With a nil Rule
	// a dot is a chain of float32 fused multiply-adds over d = 0, 1, ... from +0;
	// the product of two fp8 values is exact in float32, so separate
	// multiplications and additions give the same.
	Rule *matrixcore.Rule
	Step int

	// Dims is, by head_dim, the chains of the matrix core, each from a zero
	// accumulator, and in a chain the order in which the matrix core takes the
	// dims: the k-th factor of chain c is dim Dims[head_dim][c][k]. Loads that
	// give each lane more bytes than one instruction takes permute them. Nil: one
	// chain of 0, 1, 2, ... for any head_dim.
	Dims map[int][][]int

	// Dots is, by head_dim, the tree of float32 additions in a dot. With a matrix
	// core its terms are the chains, and one chain needs no tree. Without one its
	// terms are the products; nil: the chain above for any head_dim.
	Dots map[int]*Tree

	Scale Scale
	Relu  Relu
	Sum   HeadSum

	// Heads is, by the number of heads, the tree in which the heads' terms are
	// added, for kernels whose order is no HeadSum. When it is not nil, it takes
	// the place of Sum, of which only FromZero counts.
	Heads map[int]*Tree
}

// Scale says where the token's scale comes in. The last multiplication of a
// head's term is the one that may be fused into the sum.
type Scale uint8

const (
	ScaleLast        Scale = iota // logit = round(sum * scale)
	ScaleBeforeRelu               // term = relu(round(dot * scale)) * weight
	ScaleAfterRelu                // term = round(relu(dot) * scale) * weight
	ScaleIntoWeight               // term = relu(dot) * round(weight * scale)
	ScaleAfterWeight              // term = round(relu(dot) * weight) * scale
	scales
)

// Relu says what relu gives for a NaN.
type Relu uint8

const (
	ReluZero Relu = iota // +0, as v_max_f32 does
	ReluNaN              // NaN, as `x < 0 ? 0 : x` and maxima that propagate it do
	relus
)

// HeadSum is how the heads' terms relu(...) * weight are added up. Head h goes
// to the partial sum h % Partials, in the order of h. The partial sums are
// then folded, fold after fold, until one is left.
type HeadSum struct {
	Partials int
	// Fused: a partial sum takes a term by one fused multiply-add; else the
	// product is rounded first.
	Fused bool
	// FromZero: a partial sum starts as +0, so that no partial sum is ever -0,
	// and there are always Partials of them; else it starts as its first
	// head's product, and partial sums without a head do not exist.
	FromZero bool
	Folds    []Fold
}

// Fold adds partial sums that lie Stride apart, Count of them, from the lowest
// up: the result takes the lowest one's place. An exchange between lanes (xor
// of the lane id, a butterfly) is a fold of two, because addition commutes.
type Fold struct {
	Stride, Count int
}

// Verified reports whether the profile rests on nothing but IEEE arithmetic
// and matrix-core rules that were compared with hardware.
func (p *Profile) Verified() bool { return p.Rule == nil || p.Rule.Verified }

// Caveat is what a result that was judged by this profile must say beside it;
// it is empty for a verified profile and holds the word "unverified" otherwise.
func (p *Profile) Caveat() string {
	if p.Verified() {
		return ""
	}
	return fmt.Sprintf("unverified: rests on matrix-core rule %s (%s)", p.Rule.Name, p.Rule.Source)
}

func (p *Profile) String() string {
	s := p.Name + " on " + p.Target
	if c := p.Caveat(); c != "" {
		s += " (" + c + ")"
	}
	return s
}

// Check reports what makes the profile meaningless.
func (p *Profile) Check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("profile %s on %s: %s", p.Name, p.Target, fmt.Sprintf(format, args...))
	}
	if !p.Format.Valid() {
		return bad("fp8 format is not set")
	}
	if p.Rule != nil {
		if err := p.Rule.Check(); err != nil {
			return bad("%v", err)
		}
		if p.Step < 1 || p.Step%p.Rule.Group != 0 {
			return bad("a step of %d dims is not made of whole groups of %d", p.Step, p.Rule.Group)
		}
	}
	if p.Scale >= scales {
		return bad("unknown place of the scale %d", p.Scale)
	}
	if p.Relu >= relus {
		return bad("unknown relu %d", p.Relu)
	}
	if err := p.checkDims(); err != nil {
		return bad("%v", err)
	}
	if p.Heads != nil {
		for n, t := range p.Heads {
			if err := t.check(n); err != nil {
				return bad("%d heads: %v", n, err)
			}
		}
		return nil
	}
	if p.Sum.Partials < 1 {
		return bad("%d partial sums, want at least 1", p.Sum.Partials)
	}
	if p.Sum.Fused && !p.Sum.FromZero {
		return bad("a fused sum needs something to add to: set FromZero")
	}
	// The strides and counts must be the digits of a partial sum's number, each
	// digit folded once.
	left := map[int]int{}
	product := 1
	for _, f := range p.Sum.Folds {
		if f.Stride < 1 || f.Count < 2 || left[f.Stride] != 0 {
			return bad("fold of %d at stride %d is empty or repeated", f.Count, f.Stride)
		}
		left[f.Stride] = f.Count
		product *= f.Count
	}
	for stride := 1; stride < product; stride *= left[stride] {
		if left[stride] == 0 {
			return bad("no fold at stride %d", stride)
		}
	}
	if product != p.Sum.Partials {
		return bad("folds make one of %d partial sums, want %d", product, p.Sum.Partials)
	}
	return nil
}
