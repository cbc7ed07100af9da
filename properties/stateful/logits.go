package stateful

import (
	"math"

	"mqaproof/model/fp8"
	"mqaproof/sim/serving"
)

// Shape of the model's logits: enough that states' logits mostly differ.
const (
	modelHeads   = 4
	modelHeadDim = 16
)

var negInf = float32(math.Inf(-1))

var logits = Property{
	Name: "logits",
	Sentence: "the logits that each rank's lengths and pages give, gathered over the ranks, are those of a single rank, bit for bit on " +
		"exact data",
	check: func(ch *Checker, rec *serving.Record) *Violation {
		token := 0
		for i := range rec.Batch {
			if i >= rec.Counts.NumDecodes || len(rec.Ranks[0].Reads) == 0 {
				return nil // prefills come last; other kernels make their logits
			}
			q := &rec.Batch[i]
			own, err := ch.values.request(ch.cfg, q.ID, modelHeads, modelHeadDim)
			if err != nil {
				return ch.fails(err)
			}
			for j := range q.Query {
				back := q.Query - 1 - j
				if back >= ch.cfg.NextN {
					continue // a prompt's: values have NextN query tokens
				}
				if v := ch.gather(rec, q, own, i, token+j, j, back); v != nil {
					return v
				}
			}
			token += q.Query
		}
		return nil
	},
}

// gather compares one row. Each rank computes the logits of its own states, by
// local number; the gathered row has them by the request's.
func (ch *Checker) gather(rec *serving.Record, q *serving.Scheduled, own *requestValues, i, token, j, back int) *Violation {
	pos := q.Start + j
	n := ch.single(own, pos, back)
	for s := range ch.gathered {
		ch.gathered[s] = negInf
	}
	layer := serving.Layers - 1
	states := int32(ch.cfg.PageStates())
	row := token
	for rank := range rec.Ranks {
		rr := &rec.Ranks[rank]
		r := &rr.Reads[layer]
		table := i
		if r.Columns > 1 {
			row = i*r.Columns + j
		} else {
			table = token
		}
		for k := range r.Lengths[row] {
			cell, v := cellAt(rr, r.BlockTable[table], k, states)
			if v == nil && int(k) >= len(ch.owned[rank]) {
				v = nowhere("local state %d; the rank can own %d", k, len(ch.owned[rank]))
			}
			if v != nil {
				return v.at(rank, layer, row)
			}
			l, err := ch.logit(own, q, cell, back)
			if err != nil {
				return ch.fails(err)
			}
			ch.gathered[ch.owned[rank][k]] = l
		}
	}
	for s, want := range ch.expected {
		if got := ch.gathered[s]; math.Float32bits(got) != math.Float32bits(want) {
			return nowhere("the logit of position %d of request %d for state %d; it sees %d", pos, q.ID, s, n).at(-1, layer, row).want(want, got)
		}
	}
	return nil
}

// single fills expected with the row as a single rank has it, and gives the
// number of states it sees, by walking.
func (ch *Checker) single(own *requestValues, pos, back int) int {
	n := 0
	for p := 0; p <= pos; p++ {
		if (p+1)%ch.cfg.Ratio == 0 {
			ch.expected[n] = own.logits[back][n]
			n++
		}
	}
	for s := n; s < len(ch.expected); s++ {
		ch.expected[s] = negInf
	}
	return n
}

// logit is that of a query token for the state that a cell names.
func (ch *Checker) logit(own *requestValues, q *serving.Scheduled, c serving.Cell, back int) (float32, error) {
	if c.Owner == q.ID+1 && int(c.State) < len(own.logits[back]) {
		return own.logits[back][c.State], nil
	}
	if c.Owner == 0 || c.Token == 0 {
		return float32(math.NaN()), nil // nothing that has a value
	}
	other, err := ch.values.request(ch.cfg, c.Owner-1, modelHeads, modelHeadDim)
	if err != nil || int(c.State) >= len(other.in.Scales(0)) {
		return float32(math.NaN()), err
	}
	return cross(own, other, own.row(back), int(c.State)), nil
}

// cross is the logit of a row of one request for a state of another. On exact
// data no sum is ever rounded.
func cross(own, other *requestValues, row, state int) float32 {
	f := fp8.E4M3FNUZ
	codes, key := own.in.QCodes(row), other.in.KCodes(0)[state*modelHeadDim:]
	sum := float32(0)
	for h, w := range own.in.WeightRow(row) {
		dot := float32(0)
		for d, k := range key[:modelHeadDim] {
			dot += f.Decode(codes[h*modelHeadDim+d]) * f.Decode(k)
		}
		sum += w * max(dot, 0)
	}
	return sum * other.in.Scales(0)[state]
}
