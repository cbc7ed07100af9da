package metadata

// Builder makes the decode metadata of step after step in buffers that it
// keeps. It is for one goroutine.
type Builder struct {
	cfg Config

	// Each is made once, at its full size, and filled with InitialFill.
	seqLens         []int32   // lengths of the decode rows: vLLM's decode_seq_lens_buffer
	expandedSeqLens []int32   // compressed lengths when the rows are the requests themselves
	globalSeqLens   []int32   // lengths before localization, per token
	decodeLens      []int32   // query tokens of each row
	perReqDecode    []int32   // query tokens of each request
	indices         []int32   // request of each token (varlen)
	blockTable      [][]int32 // block table row of each token
	perReqSeqLens   []int32   // the table's last column

	depths []int32 // scratch: query lengths of this step's decodes, as the host knows them
}

// NewBuilder makes the buffers. It refuses a configuration that vLLM refuses,
// or one whose buffers would be out of proportion.
func NewBuilder(cfg Config) (*Builder, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	n := cfg.MaxNumBatchedTokens
	b := &Builder{cfg: cfg, depths: make([]int32, n)}
	for _, buffer := range []*[]int32{
		&b.seqLens, &b.expandedSeqLens, &b.globalSeqLens, &b.decodeLens,
		&b.perReqDecode, &b.indices, &b.perReqSeqLens,
	} {
		*buffer = filled(n, cfg.InitialFill)
	}
	flat := filled(n*cfg.BlockTableWidth, cfg.InitialFill)
	b.blockTable = make([][]int32, n)
	for i := range b.blockTable {
		b.blockTable[i] = flat[i*cfg.BlockTableWidth : (i+1)*cfg.BlockTableWidth : (i+1)*cfg.BlockTableWidth]
	}
	return b, nil
}

func filled(n int, v int32) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// SeqLensBuffer is the whole flat buffer of decode lengths, also what lies
// behind the rows of the last step.
func (b *Builder) SeqLensBuffer() []int32 { return b.seqLens }
