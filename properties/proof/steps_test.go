package proof

import (
	"fmt"
	"math/rand/v2"

	"mqaproof/model/metadata"
)

// judgeSteps runs the builder, in int32, over random settings and sequences of
// steps, and compares what it makes with counting positions one by one. It
// returns the first difference, "" if there is none. The mutants of the
// builder are judged by it too, so it depends on nothing else of this package.
func judgeSteps(seed uint64, sequences int) string {
	rng := rand.New(rand.NewPCG(seed, 0))
	for i := range sequences {
		if diff := judgeSequence(rng); diff != "" {
			return fmt.Sprintf("sequence %d: %s", i, diff)
		}
	}
	return judgeFormulas(rng)
}

// judgeFormulas checks what negative lengths become, which only padding has.
func judgeFormulas(rng *rand.Rand) string {
	for range 2000 {
		x, world, interleave := int32(rng.IntN(400)-200), int32(1+rng.IntN(4)), int32(1+rng.IntN(6))
		sum := int32(0)
		for rank := range world {
			sum += metadata.Localize(metadata.Int32{}, x, world, rank, interleave)
		}
		if sum != x {
			return fmt.Sprintf("length %d on %d ranks by %d: the local lengths sum to %d", x, world, interleave, sum)
		}
		states := metadata.Compress(metadata.Int32{}, x, interleave)
		if states*interleave > x || (states+1)*interleave <= x {
			return fmt.Sprintf("length %d in states of %d: %d", x, interleave, states)
		}
	}
	return ""
}

type judge struct {
	cfg metadata.Config
}

// below counts the states of this rank among the first length positions.
func (j judge) below(length int) int32 {
	var n int32
	for p := range length {
		if j.owns(p) && (p+1)%j.cfg.CompressRatio == 0 {
			n++
		}
	}
	return n
}

func (j judge) owns(p int) bool {
	return p/j.cfg.CPInterleave%j.cfg.DCPWorldSize == j.cfg.DCPRank
}

func judgeSequence(rng *rand.Rand) string {
	var c metadata.Config
	c.NumSpeculativeTokens = rng.IntN(4)
	c.CompressRatio = []int{1, 1, 2, 3, 4}[rng.IntN(5)]
	c.DCPWorldSize = 1 + rng.IntN(3)
	c.DCPRank = rng.IntN(c.DCPWorldSize)
	c.CPInterleave = c.CompressRatio * (1 + rng.IntN(3))
	c.NativeNextN = []int{1, 2, 3, 4}
	c.ForceFlatten = rng.IntN(3) == 0
	c.Varlen = rng.IntN(4) == 0
	c.InitialFill = -77
	c.PageTokens = c.CPInterleave * (1 + rng.IntN(2))
	c.WorkspaceFactor, c.MaxLogitsMB, c.MaxModelLen = 1, 1, 64
	c.BlockTableWidth, c.MaxNumBatchedTokens = 64, 64
	b, err := metadata.NewBuilder(c)
	if err != nil {
		return err.Error()
	}
	j := judge{c}
	for step := range 3 {
		batch := j.draw(rng)
		m, err := b.Step(batch)
		if err != nil {
			return fmt.Sprintf("step %d of %+v: %v", step, c, err)
		}
		if diff := j.compare(batch, m); diff != "" {
			return fmt.Sprintf("step %d of %+v, batch %v %v: %s", step, c, batch.QueryStartLoc, batch.SeqLens, diff)
		}
	}
	return ""
}

// draw is a step of decodes, uniform or not, and perhaps prefills.
func (j judge) draw(rng *rand.Rand) metadata.Batch {
	next := j.cfg.NextN()
	depth := 1 + rng.IntN(next)
	batch := metadata.Batch{QueryStartLoc: []int32{0}}
	request := func(query, length int) {
		r := len(batch.SeqLens)
		batch.QueryStartLoc = append(batch.QueryStartLoc, batch.QueryStartLoc[r]+int32(query))
		batch.SeqLens = append(batch.SeqLens, int32(length))
		row := make([]int32, j.cfg.BlockTableWidth)
		for p := range row {
			row[p] = int32(r*len(row) + p + 1)
		}
		batch.BlockTable = append(batch.BlockTable, row)
		for i := range query {
			slot := int64(-1)
			if p := length - query + i; p >= 0 && j.owns(p) {
				slot = int64(p)
			}
			batch.SlotMapping = append(batch.SlotMapping, slot)
		}
	}
	varied := j.cfg.ForceFlatten || j.cfg.Varlen
	for range 1 + rng.IntN(3) {
		query := depth
		if varied && rng.IntN(2) == 0 {
			query = 1 + rng.IntN(next)
		}
		request(query, query+rng.IntN(40))
	}
	switch {
	case rng.IntN(3) == 0:
		request(next+1+rng.IntN(5), next+6+rng.IntN(40))
	case !varied && rng.IntN(3) == 0:
		request(depth, 0) // padding
	}
	batch.NumActualTokens = len(batch.SlotMapping)
	return batch
}

func (j judge) compare(batch metadata.Batch, m *metadata.Metadata) string {
	for r, length := range batch.SeqLens {
		query := int(batch.QueryStartLoc[r+1] - batch.QueryStartLoc[r])
		for i := range query {
			token := int(batch.QueryStartLoc[r]) + i
			pos := int(length) - query + i
			if diff := j.slot(batch, m, r, token, pos); diff != "" {
				return diff
			}
			if r >= m.NumDecodes {
				continue
			}
			at := token
			if m.Decode.Columns > 1 {
				at = r*m.Decode.Columns + i
			}
			if want := j.below(max(0, pos+1)); m.Decode.SeqLens[at] != want {
				return fmt.Sprintf("request %d token %d: length %d, counted %d", r, i, m.Decode.SeqLens[at], want)
			}
		}
		if r < m.NumDecodes && m.Decode.PerReqSeqLens != nil && m.Decode.PerReqSeqLens[r] != j.below(int(length)) {
			return fmt.Sprintf("request %d: per-request length %d, counted %d", r, m.Decode.PerReqSeqLens[r], j.below(int(length)))
		}
	}
	if d := m.Decode; d != nil && (d.PerReqSeqLens != nil) != (d.Columns > 1) {
		return fmt.Sprintf("a table of %d columns, per-request lengths %v", d.Columns, d.PerReqSeqLens)
	}
	return j.prefills(batch, m)
}

// slot checks a token's compressed slot.
func (j judge) slot(batch metadata.Batch, m *metadata.Metadata, r, token, pos int) string {
	if j.cfg.CompressRatio == 1 {
		return ""
	}
	want := int64(-1)
	if pos >= 0 && j.owns(pos) && (pos+1)%j.cfg.CompressRatio == 0 {
		state := int(j.below(pos))
		size := j.cfg.PageTokens / j.cfg.CompressRatio
		want = int64(batch.BlockTable[r][state/size])*int64(size) + int64(state%size)
	}
	if m.SlotMapping[token] != want {
		return fmt.Sprintf("request %d position %d: slot %d, want %d", r, pos, m.SlotMapping[token], want)
	}
	return ""
}

// prefills checks the row bounds of a step's chunks, which are never cut here.
func (j judge) prefills(batch metadata.Batch, m *metadata.Metadata) string {
	if m.Prefill == nil {
		return ""
	}
	r := m.NumDecodes
	for _, c := range m.Prefill.Chunks {
		for q := r; q < r+c.NumReqs; q++ {
			query := int(batch.QueryStartLoc[q+1] - batch.QueryStartLoc[q])
			for i := range query {
				row := int(batch.QueryStartLoc[q]) + i - c.TokenStart
				want := j.below(int(batch.SeqLens[q]) - query + i + 1)
				if got := c.CuSeqLenKe[row] - c.CuSeqLenKs[row]; got != want {
					return fmt.Sprintf("prefill %d token %d: sees %d, counted %d", q, i, got, want)
				}
			}
		}
		r += c.NumReqs
	}
	return ""
}
