package vectors

import "mqaproof/model/metadata"

// Sequence is one recorded builder and its consecutive steps.
type Sequence struct {
	Config metadata.Config `json:"config"`
	Steps  []Step          `json:"steps"`
}

// Step is one recorded call.
type Step struct {
	Batch  metadata.Batch `json:"batch"`
	Expect Metadata       `json:"expect"`
}

// Metadata is metadata.Metadata as it is recorded.
type Metadata struct {
	metadata.Counts
	SlotMapping []int64 `json:"slot_mapping"`
	Decode      *Decode `json:"decode"`
	Prefill     []Chunk `json:"prefill"` // null without prefills
}

// Decode is metadata.Decode as it is recorded.
type Decode struct {
	SeqLens          [][]int32 `json:"seq_lens"` // (rows, columns)
	BlockTable       [][]int32 `json:"block_table"`
	DecodeLens       []int32   `json:"decode_lens"`
	RequiresPadding  bool      `json:"requires_padding"`
	GlobalSeqLens    []int32   `json:"global_seq_lens"`
	PerReqDecodeLens []int32   `json:"per_req_decode_lens"`
	DecodeIsUniform  bool      `json:"decode_is_uniform"`
	MaxDecodeLen     int       `json:"max_decode_len"`
	Indices          []int32   `json:"indices"`
	BufferSeqLens    []int32   `json:"buffer_seq_lens"` // the whole flat buffer after the step
	PerReqSeqLens    []int32   `json:"per_req_seq_lens"`
}

// Chunk is metadata.Chunk as it is recorded.
type Chunk struct {
	TokenStart           int        `json:"token_start"`
	TokenEnd             int        `json:"token_end"`
	NumReqs              int        `json:"num_reqs"`
	TotalSeqLens         int        `json:"total_seq_lens"`
	MaxSeqLenK           int        `json:"max_seqlen_k"`
	SkipKVGather         bool       `json:"skip_kv_gather"`
	CuSeqLens            []int32    `json:"cu_seq_lens"`
	CuSeqLenKs           []int32    `json:"cu_seqlen_ks"`
	CuSeqLenKe           []int32    `json:"cu_seqlen_ke"`
	TokenToSeqRuns       [][2]int32 `json:"token_to_seq_runs"` // (value, count) runs
	LocalCuSeqLens       []int32    `json:"local_cu_seq_lens"`
	LocalTotalSeqLens    int        `json:"local_total_seq_lens"`
	MaxLocalTotalSeqLens int        `json:"max_local_total_seq_lens"`
}

// Record is what a builder made of a step, as it is recorded. Slices are
// shared with m and b.
func Record(b *metadata.Builder, m *metadata.Metadata) Metadata {
	r := Metadata{Counts: m.Counts, SlotMapping: m.SlotMapping}
	if d := m.Decode; d != nil {
		r.Decode = &Decode{
			BlockTable: d.BlockTable, DecodeLens: d.DecodeLens, RequiresPadding: d.RequiresPadding,
			GlobalSeqLens: d.GlobalSeqLens, PerReqDecodeLens: d.PerReqDecodeLens, DecodeIsUniform: d.DecodeIsUniform,
			MaxDecodeLen: d.MaxDecodeLen, Indices: d.Indices, BufferSeqLens: b.SeqLensBuffer(), PerReqSeqLens: d.PerReqSeqLens,
			SeqLens: make([][]int32, d.Rows),
		}
		for i := range d.Rows {
			r.Decode.SeqLens[i] = d.SeqLens[i*d.Columns : (i+1)*d.Columns]
		}
	}
	if m.Prefill != nil {
		r.Prefill = make([]Chunk, len(m.Prefill.Chunks))
		for i, c := range m.Prefill.Chunks {
			r.Prefill[i] = Chunk{
				TokenStart: c.TokenStart, TokenEnd: c.TokenEnd, NumReqs: c.NumReqs, TotalSeqLens: c.TotalSeqLens,
				MaxSeqLenK: c.MaxSeqLenK, SkipKVGather: c.SkipKVGather, CuSeqLens: c.CuSeqLens,
				CuSeqLenKs: c.CuSeqLenKs, CuSeqLenKe: c.CuSeqLenKe, TokenToSeqRuns: runs(c.TokenToSeq),
				LocalCuSeqLens: c.LocalCuSeqLens, LocalTotalSeqLens: c.LocalTotalSeqLens, MaxLocalTotalSeqLens: c.MaxLocalTotalSeqLens,
			}
		}
	}
	return r
}

func runs(values []int32) [][2]int32 {
	rs := [][2]int32{}
	for i, v := range values {
		if i == 0 || v != values[i-1] {
			rs = append(rs, [2]int32{v, 0})
		}
		rs[len(rs)-1][1]++
	}
	return rs
}
