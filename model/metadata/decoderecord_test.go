package metadata

// recorded is a Decode in a form that compares well.
type recorded struct {
	SeqLens          [][]int32
	BlockTable       [][]int32
	DecodeLens       []int32
	RequiresPadding  bool
	GlobalSeqLens    []int32
	PerReqDecodeLens []int32
	DecodeIsUniform  bool
	MaxDecodeLen     int
	Indices          []int32
	BufferSeqLens    []int32
	PerReqSeqLens    []int32
}

func record(b *Builder, d *Decode) *recorded {
	r := &recorded{
		BlockTable: d.BlockTable, DecodeLens: d.DecodeLens, RequiresPadding: d.RequiresPadding,
		GlobalSeqLens: d.GlobalSeqLens, PerReqDecodeLens: d.PerReqDecodeLens, DecodeIsUniform: d.DecodeIsUniform,
		MaxDecodeLen: d.MaxDecodeLen, Indices: d.Indices, BufferSeqLens: b.SeqLensBuffer(), PerReqSeqLens: d.PerReqSeqLens,
		SeqLens: make([][]int32, d.Rows),
	}
	for i := range r.SeqLens {
		r.SeqLens[i] = d.SeqLens[i*d.Columns : (i+1)*d.Columns]
	}
	return r
}
