package metadata

// Builder makes the metadata of step after step in buffers that it keeps. It
// is for one goroutine.
type Builder struct {
	cfg     Config
	lengths *Lengths[int32, Int32]

	// Each is made once, at its full size, and filled with InitialFill.
	decodeLens      []int32   // query tokens of each row
	perReqDecode    []int32   // query tokens of each request
	indices         []int32   // request of each token (varlen)
	blockTable      [][]int32 // block table row of each token
	compressedSlots []int64   // slot of the state that each token completes
}

// NewBuilder makes the buffers. It refuses a configuration that vLLM refuses,
// or one whose buffers would be out of proportion.
func NewBuilder(cfg Config) (*Builder, error) {
	lengths, err := NewLengths(Int32{}, cfg, cfg.InitialFill)
	if err != nil {
		return nil, err
	}
	n := cfg.MaxNumBatchedTokens
	b := &Builder{cfg: cfg, lengths: lengths, compressedSlots: filled(n, int64(cfg.InitialFill))}
	for _, buffer := range []*[]int32{&b.decodeLens, &b.perReqDecode, &b.indices} {
		*buffer = filled(n, cfg.InitialFill)
	}
	flat := filled(n*cfg.BlockTableWidth, cfg.InitialFill)
	b.blockTable = make([][]int32, n)
	for i := range b.blockTable {
		b.blockTable[i] = flat[i*cfg.BlockTableWidth : (i+1)*cfg.BlockTableWidth : (i+1)*cfg.BlockTableWidth]
	}
	return b, nil
}

// SeqLensBuffer is the whole flat buffer of decode lengths, also what lies
// behind the rows of the last step.
func (b *Builder) SeqLensBuffer() []int32 { return b.lengths.seqLens }
