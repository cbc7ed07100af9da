package order

import (
	"fmt"
	"math"

	"mqaproof/model/profile"
)

// positions is how many tokens a probe shows, all of them the same in probes of
// heads: most of a tile of 64, so that lanes and waves that score other
// positions are probed as well, and the probe is one tile.
const positions = 56

// large absorbs what is added to it: the sums of ones, of up to 2^24, are far
// below its last bit.
const large = 0x1p60

// headTree is the tree in which heads are summed, with no fused terms yet.
func (b *bench) headTree() (*profile.Tree, error) {
	heads := b.shape.Heads
	measure := func(i int, others []int) ([]int, error) {
		rows := make([]row, len(others))
		for n, j := range others {
			w := b.weights(1)
			w[i], w[j] = large, -large
			rows[n] = b.row(w)
		}
		bits, err := b.same(rows, b.token(1, 1))
		if err != nil {
			return nil, err
		}
		sizes := make([]int, len(others))
		for n, x := range bits {
			outside := float64(math.Float32frombits(x))
			if outside != math.Trunc(outside) || outside < 0 || outside > float64(heads-2) {
				return nil, fmt.Errorf("heads %d and %d have weights +2^60 and -2^60, the other %d terms are 1, and the logit is %v: not a count of terms", i, others[n], heads-2, outside)
			}
			sizes[n] = heads - int(outside)
		}
		return sizes, nil
	}
	n, err := reveal(count(heads), measure)
	if err != nil {
		return nil, fmt.Errorf("the tree of %d heads: %w", heads, err)
	}
	t := n.binary()
	if t == nil {
		return nil, fmt.Errorf("the tree of %d heads: more than two partial sums are added at once, which no float32 addition does", heads)
	}
	return t, nil
}

// same runs rows on one token in many positions, which must not differ.
func (b *bench) same(rows []row, t token) ([]uint32, error) {
	tokens := make([]token, positions)
	for i := range tokens {
		tokens[i] = t
	}
	bits, err := b.run(rows, tokens)
	if err != nil {
		return nil, err
	}
	out := make([]uint32, len(rows))
	for i, at := range bits {
		out[i] = at[0]
		for pos, x := range at {
			if !profile.Same(x, at[0]) {
				return nil, fmt.Errorf("equal tokens give %v at position 0 and %v at position %d: the order of operations depends on the position, which no profile describes, or the kernel reads something else there",
					math.Float32frombits(at[0]), math.Float32frombits(x), pos)
			}
		}
	}
	return out, nil
}

// fuse finds the terms that are fused and marks them. The term of head h is
// x*w with a product that float32 cannot hold, and a head of its sibling brings
// the negative of the rounded product:
//
//	fma(3, 1+2^-23, -r) = -2^-23    with r = round(3*(1+2^-23)) = 3+2^-21
//	round(3*(1+2^-23)) - r = 0
//
// The inexact product must be the one that may be fused, the last of the term:
// x*weight, or (x*weight)*scale when that is where the scale is. There both
// heads have the same scale, and the sibling is -3 times it: seen from a
// sibling that is the fused one, the difference is +2^-23.
func (b *bench) fuse(t *profile.Tree, scale profile.Scale) error {
	var pairs [][2]*profile.Tree // a leaf and its sibling
	var walk func(n *profile.Tree)
	walk = func(n *profile.Tree) {
		if n.IsLeaf() {
			return
		}
		for _, p := range [][2]*profile.Tree{{n.A, n.B}, {n.B, n.A}} {
			if p[0].IsLeaf() {
				pairs = append(pairs, p)
			}
			walk(p[0])
		}
	}
	walk(t)
	const inexact, rounded, left = 1 + 0x1p-23, 3 + 0x1p-21, -0x1p-23
	rows := make([]row, len(pairs))
	tokenScale := float32(1)
	for i, p := range pairs {
		w := b.weights(0)
		h, other := p[0].Term, p[1].Terms()[0]
		r := b.row(w)
		r.q[h*b.shape.HeadDim] = b.code(3)
		if scale == profile.ScaleAfterWeight {
			w[h], w[other], tokenScale = 1, -3, inexact
		} else {
			w[h], w[other] = inexact, -rounded
		}
		rows[i] = r
	}
	bits, err := b.same(rows, b.token(1, tokenScale))
	if err != nil {
		return fmt.Errorf("fused terms: %w", err)
	}
	for i, p := range pairs {
		switch x := math.Float32frombits(bits[i]); {
		case x == left:
			p[0].Fused = true
		case x == 0 || x == -left && scale == profile.ScaleAfterWeight && p[1].IsLeaf():
		default:
			return fmt.Errorf("fused terms: head %d's term is 3*(1+2^-23), its sibling -(3+2^-21), and the logit is %v: %v would be a fused term, 0 one that is rounded", p[0].Term, x, left)
		}
	}
	for _, p := range pairs {
		if p[1].IsLeaf() && p[0].Fused && p[1].Fused {
			return fmt.Errorf("fused terms: neither the product of head %d nor that of head %d is rounded, though they are added to each other: terms are kept in more than float32", p[0].Term, p[1].Term)
		}
	}
	return nil
}

// neverMinusZero finds whether a sum of terms that are all -0 is +0.
func (b *bench) neverMinusZero() (bool, error) {
	bits, err := b.same([]row{b.row(b.weights(-1))}, b.token(0, 1))
	if err != nil {
		return false, fmt.Errorf("signed zeros: %w", err)
	}
	if x := bits[0]; x&0x7fffffff != 0 {
		return false, fmt.Errorf("signed zeros: all terms are 0*(-1), and the logit is %v", math.Float32frombits(x))
	}
	return bits[0] == 0, nil
}
