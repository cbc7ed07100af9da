package order

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"mqaproof/model/profile"
)

// candidate is what one head's term may be.
type candidate struct {
	scale profile.Scale
	relu  profile.Relu
}

func (c candidate) String() string { return fmt.Sprintf("scale %v, relu where %v", c.scale, c.relu) }

var candidates = func() (all []candidate) {
	for _, s := range []profile.Scale{profile.ScaleBeforeRelu, profile.ScaleLast, profile.ScaleAfterRelu, profile.ScaleIntoWeight, profile.ScaleAfterWeight} {
		for _, r := range []profile.Relu{profile.ReluZero, profile.ReluNaN} {
			all = append(all, candidate{s, r})
		}
	}
	return all
}()

// term finds where the scale is multiplied in and what relu makes of a NaN.
//
// In most probes only one head has a weight, so that no sum rounds and the
// products' roundings show: with 24-bit weights and scales the three products
// (x*s)*w, x*(w*s) and (x*w)*s differ. Overflow tells a scale of the sum from
// one of each term. Negative and infinite scales, NaNs and infinities tell the
// rest. A dot here is one product, exact whatever makes the dots. That leaves
// only operations that the rules of the candidates describe completely.
func (b *bench) term(tree *profile.Tree, fromZero bool) (candidate, error) {
	nearest, least := "", math.MaxInt
	fit := slices.Clone(candidates)
	for _, probe := range []termProbe{b.singleTerms(), b.twoTerms()} {
		bits, err := b.run(probe.rows, probe.tokens)
		if err != nil {
			return candidate{}, fmt.Errorf("place of the scale: %w", err)
		}
		var left []candidate
		for _, c := range fit {
			p := &profile.Profile{
				Name: "candidate", Target: b.s.Target, Format: b.format, Scale: c.scale, Relu: c.relu,
				Heads: map[int]*profile.Tree{b.shape.Heads: tree}, Sum: profile.HeadSum{FromZero: fromZero},
			}
			wrong, first, err := probe.compare(p, bits)
			if err != nil {
				return candidate{}, err
			}
			if wrong == 0 {
				left = append(left, c)
			} else if wrong < least {
				least = wrong
				nearest = fmt.Sprintf("with %v, %d of %d differ, the first of them %s", c, wrong, len(probe.rows)*len(probe.tokens), first)
			}
		}
		fit = left
	}
	if len(fit) == 0 {
		return candidate{}, fmt.Errorf("place of the scale: nothing known gives the bits of all probes: nearest, %s", nearest)
	}
	if len(fit) > 1 && b.shape.Heads > 1 {
		return candidate{}, fmt.Errorf("place of the scale: the probes do not tell %v apart", fit)
	}
	return fit[0], nil // with one head, a scale of the sum is a scale of the term
}

// termProbe is rows that all see all tokens.
type termProbe struct {
	rows   []row
	tokens []token
	// mayOverflow: whether terms are fused is not known yet and decides between
	// NaN and infinity after an overflow.
	mayOverflow bool
}

// compare counts the logits for which the profile gives other bits, and shows
// the first.
func (probe *termProbe) compare(p *profile.Profile, bits [][]uint32) (wrong int, first string, err error) {
	for i, r := range probe.rows {
		want, err := predict(p, r, probe.tokens)
		if err != nil {
			return 0, "", err
		}
		for t, got := range bits[i] {
			if profile.Same(want[t], got) || probe.mayOverflow && notFinite(want[t]) && notFinite(got) {
				continue
			}
			if wrong++; wrong == 1 {
				first = fmt.Sprintf("in row %d for a token with scale %v: %s instead of %s", i, probe.tokens[t].scale, word(got), word(want[t]))
			}
		}
	}
	return wrong, first, nil
}

func notFinite(bits uint32) bool { return bits&0x7f800000 == 0x7f800000 }

// singleTerms has one head with a weight in each row. Rows and tokens hold
// every special value.
func (b *bench) singleTerms() termProbe {
	rng := rand.New(rand.NewPCG(1, 2))
	mantissa := func() float32 { return 1 + float32(rng.IntN(1<<23))/(1<<23) }
	heads, dim := b.shape.Heads, b.shape.HeadDim
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	var probe termProbe
	for i := range 24 {
		w := b.weights(0)
		r := b.oneHead()
		r.weights = w
		h := i % heads
		w[h] = mantissa()
		r.q[h*dim] = b.code(1 + float32(rng.IntN(8))/8)
		switch i {
		case 1:
			w[h] = -w[h]
		case 2:
			w[h] = inf
		case 3:
			w[h] = nan
		case 4:
			r.q[h*dim] = b.format.NaN()
		case 5:
			w[h] = 0x1.8p-140 // a subnormal weight keeps few bits
		case 6:
			w[h] *= 0x1p120
		}
		probe.rows = append(probe.rows, r)
	}
	for range 24 {
		probe.tokens = append(probe.tokens, b.token(1+float32(rng.IntN(8))/8, mantissa()*float32(math.Ldexp(1, rng.IntN(8)-4))))
	}
	for _, scale := range []float32{1, -1, 0, -0x1p-3, inf, -inf, nan, 0x1p30, 0x1.234567p-20, 0x1.fffffep-126, 0x1.8p-130, 0x1p100} {
		probe.tokens = append(probe.tokens, b.token(1, scale), b.token(-1.5, scale))
	}
	bad := b.token(1, 1.5)
	bad.k[0] = b.format.NaN()
	probe.tokens = append(probe.tokens, bad)
	return probe
}

// twoTerms has 2^100 and -(2^100 - 2^80): with a scale of 2^30 the sum is
// finite, and so is the logit when the sum is scaled, but not when the terms
// are. No product is rounded.
func (b *bench) twoTerms() termProbe {
	probe := termProbe{mayOverflow: true, tokens: []token{b.token(1, 0x1p30), b.token(1, 0x1p-10), b.token(1, 1)}}
	for h := range b.shape.Heads {
		w := b.weights(0)
		w[h] = 0x1p100
		if other := (h + 1) % b.shape.Heads; other != h {
			w[other] = -0x1p100 + 0x1p80
		} else {
			w[h] = 0x1p80
		}
		probe.rows = append(probe.rows, b.row(w))
	}
	return probe
}

// predict is the profile's logits of a row, [tokens].
func predict(p *profile.Profile, r row, tokens []token) ([]uint32, error) {
	var k []byte
	scales := make([]float32, len(tokens))
	for i, t := range tokens {
		k = append(k, t.k...)
		scales[i] = t.scale
	}
	out := make([]uint32, len(tokens))
	return out, p.Logits(profile.Row{Q: r.q, Weights: slices.Clone(r.weights)}, k, scales, out)
}

// word is a logit for people.
func word(bits uint32) string { return fmt.Sprintf("%v (%#08x)", math.Float32frombits(bits), bits) }
