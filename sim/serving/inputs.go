package serving

import "mqaproof/model/metadata"

// inputs are the buffers that a step is put into before the builders run; all
// ranks have the same in them.
type inputs struct {
	queryStart []int32   // (max_seqs+1)
	seqLens    tracked   // (max_seqs)
	blockTable [][]int32 // (max_seqs, width), rows of one flat buffer
}

func newInputs(c Config, f Fault) *inputs {
	in := &inputs{queryStart: make([]int32, c.MaxSeqs+1)}
	lens := make([]int32, c.MaxSeqs)
	for i := range lens {
		lens[i] = Poison
	}
	in.seqLens = track(lens)
	rows := c.MaxSeqs
	if f == MovedBuffer {
		rows = 1
	}
	in.blockTable = newBlockTable(rows, c.tableWidth())
	return in
}

func newBlockTable(rows, width int) [][]int32 {
	flat, table := make([]int32, rows*width), make([][]int32, rows)
	for i := range table {
		table[i] = flat[i*width : (i+1)*width : (i+1)*width]
	}
	return table
}

// fill puts the batch in, padded with requests without tokens, and gives the
// step as the builders take it, but for the slots. A block table row keeps
// what an earlier step left past the request's pages.
func (in *inputs) fill(e *Engine, padded, tokens int) metadata.Batch {
	if padded > len(in.blockTable) { // only a planted fault makes it too small
		grown := newBlockTable(padded, e.cfg.tableWidth())
		for i, row := range in.blockTable {
			copy(grown[i], row)
		}
		in.blockTable = grown
	}
	in.seqLens.begin()
	for i, r := range e.batch {
		in.queryStart[i+1] = in.queryStart[i] + int32(r.query)
		in.seqLens.data[i] = int32(r.computed + r.query)
		copy(in.blockTable[i], r.pages)
	}
	for i := len(e.batch); i < padded; i++ {
		in.queryStart[i+1] = in.queryStart[i]
		if e.fault != PaddingKept {
			in.seqLens.data[i] = 0
			clear(in.blockTable[i])
		}
	}
	in.seqLens.end()
	if e.fault == PaddingKept {
		in.outlive(len(e.batch), padded)
	}
	return metadata.Batch{
		QueryStartLoc:   in.queryStart[:padded+1],
		SeqLens:         in.seqLens.data[:padded],
		BlockTable:      in.blockTable[:padded],
		NumActualTokens: tokens,
	}
}

// outlive keeps what never held a step's length a valid one: memory that a
// device hands out is zero here.
func (in *inputs) outlive(from, to int) {
	for i := from; i < to; i++ {
		if in.seqLens.data[i] == Poison {
			in.seqLens.data[i] = 0
		}
	}
}
