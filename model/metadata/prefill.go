package metadata

import "fmt"

// Prefill is what the kernels get for the prefills of a step.
type Prefill struct {
	Chunks           []Chunk
	MaxPrefillSeqLen int // the longest request, in tokens
}

// Chunk is a range of requests, or of one request's query rows, that one call
// of gather and logits kernels works on. Lengths are in states.
type Chunk struct {
	TokenStart, TokenEnd int       // query rows, as tokens of the step
	NumReqs              int       //
	TotalSeqLens         int       // states of the requests on all ranks
	MaxSeqLenK           int       // of the longest request, on all ranks
	SkipKVGather         bool      // the gathered states are those of the chunk before
	CuSeqLens            []int32   // (NumReqs+1) prefix sums of the requests' states
	CuSeqLenKs           []int32   // (rows) first gathered state of the row's request
	CuSeqLenKe           []int32   // (rows) one past the last state that the row sees
	TokenToSeq           []int32   // (TotalSeqLens) request of each state, counted in the chunk
	LocalCuSeqLens       []int32   // (NumReqs+1) CuSeqLens of this rank
	LocalTotalSeqLens    int       // states on this rank
	MaxLocalTotalSeqLens int       // on the rank that has most
	BlockTable           [][]int32 // (NumReqs, width)
}

// prefill makes the chunks. A chunk without any complete state is left out.
func (b *Builder) prefill(batch Batch, decodes int) (*Prefill, error) {
	p := &Prefill{Chunks: []Chunk{}}
	for _, length := range batch.SeqLens[decodes:] {
		p.MaxPrefillSeqLen = max(p.MaxPrefillSeqLen, int(length))
	}
	plan, err := b.planPrefill(batch, decodes)
	if err != nil {
		return nil, err
	}
	for _, s := range plan {
		c, err := b.chunk(batch, s)
		if err != nil {
			return nil, err
		}
		if c.TotalSeqLens > 0 {
			p.Chunks = append(p.Chunks, c)
		}
	}
	return p, nil
}

func (b *Builder) chunk(batch Batch, s chunkSpan) (Chunk, error) {
	base := batch.QueryStartLoc[s.first]
	c := Chunk{
		NumReqs:      s.end - s.first,
		TokenStart:   int(base) + s.rowStart,
		TokenEnd:     int(base) + s.rowEnd,
		SkipKVGather: s.rowStart > 0,
		BlockTable:   batch.BlockTable[s.first:s.end],
		CuSeqLens:    make([]int32, 1, s.end-s.first+1),
	}
	ratio := int32(b.cfg.CompressRatio)
	for _, length := range batch.SeqLens[s.first:s.end] {
		states := int(Compress(Int32{}, length, ratio))
		c.TotalSeqLens += states
		c.MaxSeqLenK = max(c.MaxSeqLenK, states)
		if c.TotalSeqLens > maxBufferEntries {
			return Chunk{}, fmt.Errorf("metadata: the prefills %d to %d hold %d states; a chunk may have at most %d", s.first, s.end-1, c.TotalSeqLens, maxBufferEntries)
		}
		c.CuSeqLens = append(c.CuSeqLens, int32(c.TotalSeqLens))
	}
	c.TokenToSeq = make([]int32, 0, c.TotalSeqLens)
	for r := range c.NumReqs {
		for range c.CuSeqLens[r+1] - c.CuSeqLens[r] {
			c.TokenToSeq = append(c.TokenToSeq, int32(r))
		}
	}
	b.localChunk(&c)
	b.rowBounds(&c, batch, s)
	return c, nil
}

// localChunk counts the states of each rank.
func (b *Builder) localChunk(c *Chunk) {
	c.LocalCuSeqLens, c.LocalTotalSeqLens, c.MaxLocalTotalSeqLens = c.CuSeqLens, c.TotalSeqLens, c.TotalSeqLens
	if b.cfg.DCPWorldSize == 1 {
		return
	}
	c.MaxLocalTotalSeqLens = 0
	world, interleave := int32(b.cfg.DCPWorldSize), b.cfg.stateInterleave()
	for rank := range world {
		cu := make([]int32, c.NumReqs+1)
		for r := range c.NumReqs {
			cu[r+1] = cu[r] + Localize(Int32{}, c.CuSeqLens[r+1]-c.CuSeqLens[r], world, rank, interleave)
		}
		total := int(cu[c.NumReqs])
		c.MaxLocalTotalSeqLens = max(c.MaxLocalTotalSeqLens, total)
		if int(rank) == b.cfg.DCPRank {
			c.LocalCuSeqLens, c.LocalTotalSeqLens = cu, total
		}
	}
}

// rowBounds says which gathered states each query row sees. A device kernel
// computes this.
func (b *Builder) rowBounds(c *Chunk, batch Batch, s chunkSpan) {
	rows := s.rowEnd - s.rowStart
	c.CuSeqLenKs, c.CuSeqLenKe = make([]int32, rows), make([]int32, rows)
	ratio, world, rank := int32(b.cfg.CompressRatio), int32(b.cfg.DCPWorldSize), int32(b.cfg.DCPRank)
	interleave := b.cfg.stateInterleave()
	row := 0 // of the requests' query rows, uncut
	for r := range c.NumReqs {
		n := int32(batch.queryLen(s.first + r))
		for i := range n {
			if row >= s.rowStart && row < s.rowEnd {
				first := c.LocalCuSeqLens[r]
				c.CuSeqLenKs[row-s.rowStart] = first
				c.CuSeqLenKe[row-s.rowStart] = first + PrefillLength(Int32Device{}, batch.SeqLens[s.first+r], n, i, ratio, world, rank, interleave)
			}
			row++
		}
	}
}
