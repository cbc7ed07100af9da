package order

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"mqaproof/model/profile"
)

// Dots that are compared for each head_dim: rows and tokens of one run, and runs.
const (
	dotRows   = 32
	dotTokens = positions
	dotRuns   = 4
)

// checkDots compares many dots of one head with the profile's. The factors are
// such that every clause of a matrix core's rule decides bits: few of them are
// large, and those are powers of two that often cancel; the others have one of
// many magnitudes a run of dims, so that accumulators lie at every distance
// below the products that come after them.
func (b *bench) checkDots(p *profile.Profile) error {
	rng := rand.New(rand.NewPCG(7, uint64(b.shape.HeadDim)))
	dim := b.shape.HeadDim
	order := slices.Concat(p.Dims[dim]...)
	if order == nil {
		order = count(dim)
	}
	wrong, total, first := 0, 0, ""
	for run := range dotRuns {
		rows, tokens := make([]row, dotRows), make([]token, dotTokens)
		var at *edge
		if run%2 == 1 && p.Rule != nil && dim >= 2*p.Rule.Group {
			at = newEdge(rng, order, p.Rule.Group)
		}
		for i := range rows {
			rows[i] = b.oneHead()
			if at != nil {
				at.drawQ(rng, b.format, rows[i].q)
			} else {
				b.draw(rng, order, rows[i].q[:dim])
			}
		}
		for i := range tokens {
			tokens[i] = token{k: make([]byte, dim), scale: 1}
			if at != nil {
				at.drawK(rng, b.format, tokens[i].k)
			} else {
				b.draw(rng, order, tokens[i].k)
			}
		}
		bits, err := b.run(rows, tokens)
		if err != nil {
			return err
		}
		for i, r := range rows {
			want, err := predict(p, r, tokens)
			if err != nil {
				return err
			}
			for t, got := range bits[i] {
				total++
				if profile.Same(want[t], got) {
					continue
				}
				wrong++
				if first == "" {
					first = fmt.Sprintf("should give %s and gives %s", word(want[t]), word(got))
				}
			}
		}
	}
	if wrong == 0 {
		return nil
	}
	how := "float32 in the order that was found"
	if p.Rule != nil {
		how = "matrix-core rule " + p.Rule.Name + " in the order that was found"
	}
	return fmt.Errorf("%d of %d dots of %d dims are not those of %s: the first of them %s", wrong, total, dim, how, first)
}

// draw fills codes in the order in which they are added, runs of eight having a
// magnitude of their own: in a loud run some are a large power of two, in the
// others all stay below a limit. A quarter is zero.
func (b *bench) draw(rng *rand.Rand, order []int, codes []byte) {
	top := int(b.code(largestPower(b.format)))
	limits := []int{2, 4, 8, 16, 32, top / 2, top, top}
	limit, loud := 0, false
	for i, d := range order {
		if i%8 == 0 {
			limit = limits[rng.IntN(len(limits))]
			loud = rng.IntN(4) == 0
		}
		sign := byte(rng.IntN(2)) << 7
		switch {
		case loud && rng.IntN(6) == 0:
			codes[d] = byte(top) | sign
		case rng.IntN(4) == 0:
			codes[d] = 0
		default:
			codes[d] = byte(1+rng.IntN(limit-1)) | sign
		}
	}
}
