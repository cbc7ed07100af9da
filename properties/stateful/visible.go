package stateful

import (
	"fmt"

	"mqaproof/sim/serving"
)

var visible = Property{
	Name: "visible",
	Sentence: "the cached states that a query token sees are disjoint over the ranks and together are all complete states of its request " +
		"up to its own position, none stale, as counted by walking the ranks' caches",
	check: func(ch *Checker, rec *serving.Record) *Violation {
		token := 0
		for i := range rec.Batch {
			q := &rec.Batch[i]
			if i < rec.Counts.NumDecodes {
				for layer := range rec.Ranks[0].Reads {
					if layer > 0 && sameLengths(rec, layer) {
						continue // walked already
					}
					if v := ch.walk.request(ch, rec, q, i, token, layer); v != nil {
						return v
					}
				}
			} else if v := ch.walk.request(ch, rec, q, i, token, -1); v != nil {
				return v
			}
			token += q.Query
		}
		return nil
	},
}

// sameLengths says whether a layer found what the layer before it found.
func sameLengths(rec *serving.Record, layer int) bool {
	for rank := range rec.Ranks {
		a, b := rec.Ranks[rank].Reads[layer-1].Lengths, rec.Ranks[rank].Reads[layer].Lengths
		if len(a) != len(b) {
			return false
		}
		for i := range a {
			if a[i] != b[i] {
				return false
			}
		}
	}
	return true
}

// walker is the scratch of walking.
type walker struct {
	seen   []uint32 // by state: the walk that saw it last
	mark   uint32
	last   [][]int32 // by rank: the furthest position among the first states, by their number
	lens   [][]int32 // by rank: what each query token sees
	writes []int     // by token of the step
}

func newWalker(c serving.Config) walker {
	w := walker{seen: make([]uint32, c.MaxModelLen+1), last: make([][]int32, c.World), lens: make([][]int32, c.World)}
	return w
}

// request walks what request i, whose first query token is the given one, sees
// on every rank: in the table of a layer, or for a prefill (layer -1) in its
// chunks.
func (w *walker) request(ch *Checker, rec *serving.Record, q *serving.Scheduled, i, token, layer int) *Violation {
	w.mark++
	for rank := range rec.Ranks {
		rr := &rec.Ranks[rank]
		lens, table, v := w.seenBy(rr, q, i, token, layer, w.lens[rank][:0])
		w.lens[rank] = lens
		if v != nil {
			return v.at(rank, layer, -1)
		}
		if v := w.rank(ch, rr, rank, q, table); v != nil {
			return v.at(rank, layer, -1)
		}
	}
	// Each query token: the number of states, and none past its own position.
	complete, p := 0, 0
	for j := range q.Query {
		pos := q.Start + j
		for ; p <= pos; p++ {
			if (p+1)%ch.cfg.Ratio == 0 {
				complete++
			}
		}
		sum := 0
		for rank := range rec.Ranks {
			n := int(w.lens[rank][j])
			sum += n
			if n > 0 && int(w.last[rank][n-1]) > pos {
				return nowhere("position %d of request %d sees position %d", pos, q.ID, w.last[rank][n-1]).at(rank, layer, -1)
			}
		}
		if sum != complete {
			return nowhere("states that position %d of request %d sees, by rank %s", pos, q.ID, w.column(j)).at(-1, layer, -1).want(complete, sum)
		}
	}
	return nil
}

func (w *walker) column(j int) string {
	var n []int32
	for _, lens := range w.lens {
		n = append(n, lens[j])
	}
	return fmt.Sprint(n)
}

// seenBy appends how many local states each query token sees, and gives the
// block table row through which it sees them.
func (w *walker) seenBy(rr *serving.RankRecord, q *serving.Scheduled, i, token, layer int, lens []int32) ([]int32, []int32, *Violation) {
	if layer < 0 {
		return prefillLens(rr, q, token, lens), rr.Meta.BlockTable[i], nil
	}
	r := &rr.Reads[layer]
	if r.Columns == 1 {
		return append(lens, r.Lengths[token:token+q.Query]...), r.BlockTable[token], nil
	}
	if r.Columns != q.Query {
		return lens, nil, nowhere("request %d has %d query tokens, the table %d columns", q.ID, q.Query, r.Columns)
	}
	return append(lens, r.Lengths[i*r.Columns:(i+1)*r.Columns]...), r.BlockTable[i], nil
}

// prefillLens is seenBy of a prefill. Tokens that no chunk has see nothing.
func prefillLens(rr *serving.RankRecord, q *serving.Scheduled, token int, lens []int32) []int32 {
	for t := token; t < token+q.Query; t++ {
		n := int32(0)
		for c := range rr.Meta.Prefill.Chunks {
			if c := &rr.Meta.Prefill.Chunks[c]; t >= c.TokenStart && t < c.TokenEnd {
				n += c.CuSeqLenKe[t-c.TokenStart] - c.CuSeqLenKs[t-c.TokenStart]
			}
		}
		lens = append(lens, n)
	}
	return lens
}

// rank walks the local states of one rank up to the longest that a query token
// sees, and notes how far the first n of them reach, for all n.
func (w *walker) rank(ch *Checker, rr *serving.RankRecord, rank int, q *serving.Scheduled, table []int32) *Violation {
	longest := int32(0)
	for _, n := range w.lens[rank] {
		if n < 0 {
			return nowhere("a length of request %d", q.ID).want("none below 0", n)
		}
		longest = max(longest, n)
	}
	last, furthest, states := w.last[rank][:0], int32(-1), int32(ch.cfg.PageStates())
	for n := range longest {
		cell, v := cellAt(rr, table, n, states)
		if v != nil {
			return v
		}
		pos := (int(cell.State)+1)*ch.cfg.Ratio - 1
		switch {
		case cell.Owner != q.ID+1:
			return nowhere("local state %d of request %d lies in a slot that holds %s", n, q.ID, holds(cell))
		case pos >= len(q.Tokens) || cell.Token != q.Tokens[pos]:
			return nowhere("local state %d of request %d lies in a slot that holds position %d of it as an earlier step had it", n, q.ID, pos)
		case w.seen[cell.State] == w.mark:
			return nowhere("state %d of request %d is seen twice", cell.State, q.ID)
		}
		w.seen[cell.State] = w.mark
		furthest = max(furthest, int32(pos))
		last = append(last, furthest)
	}
	w.last[rank] = last
	return nil
}

// cellAt is what the kernel reads as local state n.
func cellAt(rr *serving.RankRecord, table []int32, n, states int32) (serving.Cell, *Violation) {
	if int(n/states) >= len(table) {
		return serving.Cell{}, nowhere("local state %d lies past the block table's %d pages", n, len(table))
	}
	slot := int64(table[n/states])*int64(states) + int64(n%states)
	if slot < 0 || slot >= int64(len(rr.Cache)) {
		return serving.Cell{}, nowhere("local state %d lies in slot %d; the cache has %d", n, slot, len(rr.Cache))
	}
	return rr.Cache[slot], nil
}

func holds(c serving.Cell) string {
	switch {
	case c.Token == 0:
		return "nothing"
	case c.Owner == 0:
		return "what a padding token wrote"
	}
	return fmt.Sprintf("state %d of request %d", c.State, c.Owner-1)
}
