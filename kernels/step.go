package kernels

import (
	"encoding/binary"

	"mqaproof/model"
	"mqaproof/sim/gpu"
)

// step is the builder's step that a metadata kernel is run on; nil for a
// kernel without one.
func (s *Subject) step(in *model.Inputs) (*model.Step, error) {
	if s.Manifest.Step == nil {
		return nil, nil
	}
	return in.NewStep(s.Manifest.Step.Kind, s.Manifest.Step.BlockTableWidth)
}

// stepVar is a variable of Vars that a step tells or tells otherwise.
func stepVar(s *model.Step, name string) (v int, ok bool) {
	switch {
	case s == nil:
		return 0, false
	case name == "table_width":
		return s.Config.BlockTableWidth, true
	case name == "step_tokens":
		return s.Batch.NumActualTokens, true
	case name == "step_capacity":
		return s.Config.MaxNumBatchedTokens, true
	case name == "chunk_first":
		return s.ChunkFirst, true
	case name == "chunk_requests" && s.Chunk != nil:
		return s.Chunk.NumReqs, true
	case name == "chunk_start":
		return s.Start, true
	case name == "chunk_end":
		return s.End, true
	}
	return 0, false
}

// stepContents are contents of a step's tensor.
func (t *tensor) stepContents(s *model.Step) (size uint64, data []byte) {
	if t.output {
		element := uint64(4)
		if t.wide {
			element = 8
		}
		return element * t.elements(s), nil
	}
	switch t.name {
	case "block_table":
		data = rowBytes(s.Batch.BlockTable)
	case "query_start_loc":
		data = intBytes(s.Batch.QueryStartLoc)
	case "slot_mapping":
		for _, x := range s.Batch.SlotMapping {
			data = binary.LittleEndian.AppendUint64(data, uint64(x))
		}
		for len(data) < 8*s.Batch.NumActualTokens { // of padding tokens
			data = append(data, 0xff)
		}
	case "chunk_query_start_loc":
		if s.Chunk != nil {
			loc := s.Batch.QueryStartLoc[s.ChunkFirst:][:s.Chunk.NumReqs+1]
			for _, x := range loc {
				data = binary.LittleEndian.AppendUint32(data, uint32(x-loc[0]))
			}
		}
	case "cu_seq_lens":
		if s.Chunk != nil {
			data = intBytes(s.Chunk.CuSeqLens)
		}
	case "local_cu_seq_lens":
		if s.Chunk != nil {
			data = intBytes(s.Chunk.LocalCuSeqLens)
		}
	}
	return uint64(len(data)), data
}

// elements is the length of an output of a step.
func (t *tensor) elements(s *model.Step) uint64 {
	switch t.name {
	case "decode_block_table_out":
		return uint64(s.Config.MaxNumBatchedTokens) * uint64(s.Config.BlockTableWidth)
	case "token_to_seq_out":
		if s.Chunk == nil {
			return 0
		}
		return uint64(s.Chunk.TotalSeqLens)
	case "row_starts_out", "row_ends_out":
		return uint64(s.End - s.Start)
	case "compressed_slots_out":
		return uint64(s.Batch.NumActualTokens)
	}
	return uint64(s.Config.MaxNumBatchedTokens)
}

// Expected is what a metadata kernel with a step must leave in its outputs, by
// the model's builder: the elements that must be written, and their values.
// All others must stay as they were. It is nil for other kernels.
func (s *Subject) Expected(in *model.Inputs) ([]Output, error) {
	step, err := s.step(in)
	if step == nil || err != nil {
		return nil, err
	}
	var out []Output
	for _, t := range s.plan.tensors {
		if t.output && t.steps != nil {
			out = append(out, t.expected(step))
		}
	}
	return out, nil
}

func (t *tensor) expected(s *model.Step) Output {
	n := t.elements(s)
	o := Output{Tensor: t.name, Values: make([]int64, n), Written: make([]bool, n)}
	d := s.Metadata.Decode
	switch t.name {
	case "decode_seq_lens_out":
		if s.Kind == model.VarlenStep { // its tail is zeroed by the kernel
			o.set(0, s.SeqLensBuffer)
		} else {
			o.set(0, d.SeqLens)
		}
	case "decode_block_table_out":
		for i, row := range d.BlockTable {
			o.set(i*s.Config.BlockTableWidth, row)
		}
	case "decode_lens_out":
		o.set(0, d.DecodeLens)
	case "indices_out":
		o.set(0, d.Indices)
	case "per_req_decode_lens_out":
		o.set(0, d.PerReqDecodeLens)
	case "compressed_slots_out":
		for i := range s.Batch.QueryStartLoc[len(s.Batch.SeqLens)] {
			o.Values[i], o.Written[i] = s.Metadata.SlotMapping[i], true
		}
	}
	if s.Chunk == nil {
		return o
	}
	switch t.name {
	case "token_to_seq_out":
		o.set(0, s.Chunk.TokenToSeq)
	case "row_starts_out":
		o.set(0, s.Chunk.CuSeqLenKs[s.Start:s.End])
	case "row_ends_out":
		o.set(0, s.Chunk.CuSeqLenKe[s.Start:s.End])
	}
	return o
}

// set says that v is written from element at on.
func (o *Output) set(at int, v []int32) {
	for i, x := range v {
		o.Values[at+i], o.Written[at+i] = int64(x), true
	}
}

// values reads an output of a step.
func (t *tensor) values(b *gpu.Buffer) Output {
	o := Output{Tensor: t.name}
	bits, written := b.Words()
	if !t.wide {
		o.Values, o.Written = make([]int64, len(bits)), written
		for i, x := range bits {
			o.Values[i] = int64(int32(x))
		}
		return o
	}
	o.Values, o.Written = make([]int64, len(bits)/2), make([]bool, len(bits)/2)
	for i := range o.Values {
		o.Values[i] = int64(uint64(bits[2*i]) | uint64(bits[2*i+1])<<32)
		o.Written[i] = written[2*i] || written[2*i+1] // half an element is wrong either way
	}
	return o
}

func rowBytes(rows [][]int32) []byte {
	var b []byte
	for _, r := range rows {
		b = appendInts(b, r)
	}
	return b
}
