package order

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"mqaproof/kernels"
	"mqaproof/model"
	"mqaproof/model/fp8"
)

// bench runs a subject on chosen numbers.
type bench struct {
	ctx    context.Context
	s      *kernels.Subject
	format fp8.Format
	shape  model.Case // heads, head_dim, page, layout, next_n
}

// row is a query row: q is [heads][head_dim], weights are [heads].
type row struct {
	q       []byte
	weights []float32
}

// token is a cached token: k is [head_dim].
type token struct {
	k     []byte
	scale float32
}

// newBench sets up probes at one shape. The wiring does not matter: all
// requests have equally many tokens, and a few more than are looked at, so that
// a row bound that is wrong by next_n or less does not show.
func newBench(ctx context.Context, s *kernels.Subject, heads, dim int) (*bench, error) {
	b := &bench{ctx: ctx, s: s, format: s.Format()}
	nextN := 1
	if l := s.Manifest.Limits.NextN; len(l) > 0 {
		nextN = slices.Max(l)
	}
	c := model.Case{Seed: 1, Data: model.Normal, NextN: nextN, Heads: heads, HeadDim: dim, Requests: []model.Request{{ID: 0, Context: 64}}}
	for _, width := range []int{256, 1024, 4096} { // the width may have to be whole tiles
		c.MaxModelLen = width
		if fits, err := s.Fit(c); err == nil {
			b.shape = fits
			return b, nil
		} else if width == 4096 {
			return nil, fmt.Errorf("order: no shape to probe %s at: %w", s, err)
		}
	}
	return b, nil
}

// rowsAtOnce bounds the requests of one run.
const rowsAtOnce = 64

// run gives the bits for each row and token. All rows see all tokens.
func (b *bench) run(rows []row, tokens []token) ([][]uint32, error) {
	var out [][]uint32
	n := b.shape.NextN
	for len(rows) > 0 {
		now := rows[:min(len(rows), rowsAtOnce*n)]
		rows = rows[len(now):]
		bits, err := b.batch(now, tokens)
		if err != nil {
			return nil, err
		}
		out = append(out, bits...)
	}
	return out, nil
}

func (b *bench) batch(rows []row, tokens []token) ([][]uint32, error) {
	c := b.shape
	length := (len(tokens) + c.NextN + 1 + 63) / 64 * 64 // whole tiles, for kernels that skip others
	c.MaxModelLen = max(c.MaxModelLen, (length+1023)/1024*1024)
	c.Requests = nil
	for i := range (len(rows) + c.NextN - 1) / c.NextN {
		c.Requests = append(c.Requests, model.Request{ID: uint32(i), Context: length})
	}
	in, err := b.s.Inputs(c)
	if err != nil {
		return nil, err
	}
	each := c.Heads * c.HeadDim
	for i, r := range rows {
		copy(in.Q[i*each:], r.q)
		copy(in.Weights[i*c.Heads:], r.weights)
	}
	for request := range c.Requests {
		for pos, t := range tokens {
			writeToken(in, request, pos, t)
		}
	}
	r, err := b.s.Run(b.ctx, in, kernels.RunOptions{})
	if err != nil {
		return nil, err
	}
	if r.Trap != nil {
		return nil, fmt.Errorf("order: %s does not end on a probe: %w", b.s, r.Trap)
	}
	out := make([][]uint32, len(rows))
	for i := range out {
		out[i] = make([]uint32, len(tokens))
		for pos := range tokens {
			at := i*r.Width + pos
			if !r.Written[at] {
				return nil, fmt.Errorf("order: %s left logit %d of row %d unwritten on a probe of context length %d", b.s, pos, i, length)
			}
			out[i][pos] = r.Logits[at]
		}
	}
	return out, nil
}

// writeToken puts chosen numbers where the cache holds a position.
func writeToken(in *model.Inputs, request, pos int, t token) {
	g := in.Cache.Geometry
	page, slot := in.Slot(request, pos)
	for d, x := range t.k {
		in.Cache.Bytes[g.ValueOffset(page, slot, d)] = x
	}
	binary.LittleEndian.PutUint32(in.Cache.Bytes[g.ScaleOffset(page, slot):], math.Float32bits(t.scale))
}

// code is the code of a value that the format has.
func (b *bench) code(x float32) byte { return b.format.Encode(x) }

// row is a row whose heads have q only at dim 0, there 1, and these weights: on
// a token of k 1 every dot is 1.
func (b *bench) row(weights []float32) row {
	r := row{q: make([]byte, b.shape.Heads*b.shape.HeadDim), weights: weights}
	for h := range b.shape.Heads {
		r.q[h*b.shape.HeadDim] = b.code(1)
	}
	return r
}

// token has k only at dim 0.
func (b *bench) token(k, scale float32) token {
	t := token{k: make([]byte, b.shape.HeadDim), scale: scale}
	t.k[0] = b.code(k)
	return t
}

func (b *bench) weights(all float32) []float32 {
	return slices.Repeat([]float32{all}, b.shape.Heads)
}
