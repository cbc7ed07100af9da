package profile

import (
	"fmt"
	"math"
)

// Row is one query row.
type Row struct {
	Q       []byte    // fp8 [heads][head_dim]
	Weights []float32 // [heads]
}

// shape is the row's heads and head_dim.
func (r Row) shape() (heads, dim int, err error) {
	heads = len(r.Weights)
	if heads == 0 || len(r.Q) == 0 || len(r.Q)%heads != 0 {
		return 0, 0, fmt.Errorf("profile: %d q values and %d weights make no row [heads][head_dim]", len(r.Q), heads)
	}
	return heads, len(r.Q) / heads, nil
}

// Logit is the bits of the float32 that the profile gives for one token: k is
// its head_dim fp8 values, scale its float32 scale.
func (p *Profile) Logit(row Row, k []byte, scale float32) (uint32, error) {
	var out [1]uint32
	err := p.Logits(row, k, []float32{scale}, out[:])
	return out[0], err
}

// tokensAtOnce is how many tokens' dots are kept at a time.
const tokensAtOnce = 32

// Logits is Logit for many tokens: k is [tokens][head_dim], scales and out are
// [tokens].
func (p *Profile) Logits(row Row, k []byte, scales []float32, out []uint32) error {
	heads, dim, err := row.shape()
	if err != nil {
		return err
	}
	tokens := len(scales)
	if len(k) != tokens*dim || len(out) != tokens {
		return fmt.Errorf("profile: %d tokens of head_dim %d need %d k values and room for %d logits, not %d and %d",
			tokens, dim, tokens*dim, tokens, len(k), len(out))
	}
	if err := p.Covers(heads, dim); err != nil {
		return err
	}
	d := p.newDots(row, heads, dim)
	sum := p.newSum(row.Weights)
	for first := 0; first < tokens; first += tokensAtOnce {
		n := min(tokensAtOnce, tokens-first)
		dots := d.make(k[first*dim:], n)
		for t := range n {
			x := sum.logit(dots[t*heads:(t+1)*heads], scales[first+t])
			out[first+t] = math.Float32bits(x)
			if x != x {
				out[first+t] = nanBits
			}
		}
	}
	return nil
}
