package stateful

import (
	"fmt"
	"sync"

	"mqaproof/model"
	"mqaproof/model/fp8"
	"mqaproof/sim/serving"
)

// kinds is how many sorts of requests there are by their values: those of
// request id are the values of id % kinds. More run at once only with more
// requests than that; a slot of a wrong request is told by its cell anyway.
const kinds = 16

// maxValues bounds the requests whose values are kept.
const maxValues = 1 << 12

// values makes the exact data of requests: q of their last query tokens, keys
// and scales of their states, and the logits that a single rank has of them.
// It may be used by several goroutines.
type values struct {
	mu sync.Mutex
	of map[valuesKey]*requestValues
}

type valuesKey struct {
	nextN, ratio, context, heads, headDim, kind int
}

// requestValues are of one request whose context is as long as any.
type requestValues struct {
	in     *model.Inputs // of a single rank
	logits [][]float32   // by query token counted from the last, by state; not masked
}

func newValues() *values { return &values{of: map[valuesKey]*requestValues{}} }

// request gives the values of a request for a kernel of the given heads.
func (v *values) request(c serving.Config, id uint32, heads, headDim int) (*requestValues, error) {
	k := valuesKey{c.NextN, c.Ratio, roundUp(c.MaxModelLen), heads, headDim, int(id % kinds)}
	v.mu.Lock()
	defer v.mu.Unlock()
	if r := v.of[k]; r != nil {
		return r, nil
	}
	in, err := model.Build(model.Case{
		Seed: 1, Data: model.Exact, NextN: c.NextN, Heads: heads, HeadDim: headDim, Page: 1, Layout: model.BlockFlat,
		MaxModelLen: k.context, Ratio: c.Ratio, Requests: []model.Request{{ID: uint32(k.kind), Context: k.context}},
	}, fp8.E4M3FNUZ)
	if err != nil {
		return nil, fmt.Errorf("values of request %d: %w", id, err)
	}
	r := &requestValues{in: in, logits: make([][]float32, c.NextN)}
	for back := range r.logits {
		if r.logits[back], err = in.ExactRow(c.NextN - 1 - back); err != nil {
			return nil, fmt.Errorf("values of request %d: %w", id, err)
		}
	}
	if len(v.of) >= maxValues {
		clear(v.of)
	}
	v.of[k] = r
	return r, nil
}

// roundUp gives engines of about the same max_model_len the same context: a
// value does not depend on how many follow.
func roundUp(n int) int {
	context := 128
	for context < n {
		context *= 2
	}
	return context
}

// row is the row of in that holds the query token so many before the last.
func (r *requestValues) row(back int) int { return r.in.Case.NextN - 1 - back }
