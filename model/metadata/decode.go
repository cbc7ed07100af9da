package metadata

import "fmt"

// Decode is what the kernel gets for the decodes of a step. Slices are views
// of the builder's buffers or of the batch, valid until the next Build.
type Decode struct {
	SeqLens          []int32   // (Rows, Columns), row-major: (B, n) native, else (rows, 1)
	Rows, Columns    int       //
	BlockTable       [][]int32 // (rows, width); one row a request (native) or a token (flattened)
	DecodeLens       []int32   // query tokens of each row
	RequiresPadding  bool      // native rows of differing depth
	GlobalSeqLens    []int32   // lengths before localization, as the rows are; nil without DCP
	PerReqDecodeLens []int32   // query tokens of each request
	DecodeIsUniform  bool      // all requests have the same number of query tokens
	MaxDecodeLen     int       // the largest such number
	Indices          []int32   // varlen: request of each token; else nil
	PerReqSeqLens    []int32   // (B) the table's last column when it is (B, n > 1), else nil
}

// Build makes the metadata of one step. Decode is nil when the step has no
// decode. An error leaves the buffers as they were.
func (b *Builder) Build(batch Batch) (*Decode, Counts, error) {
	if err := batch.validate(b.cfg); err != nil {
		return nil, Counts{}, err
	}
	if batch.NumActualTokens == 0 {
		return nil, Counts{}, nil
	}
	counts := split(batch, b.cfg.NextN(), !b.cfg.flattens() && !b.cfg.Varlen)
	if counts.NumDecodes == 0 {
		return nil, counts, nil
	}
	s := b.newStep(batch, counts)
	if s.native {
		if need := s.decodes * s.maxDepth; need > len(b.seqLens) {
			return nil, Counts{}, fmt.Errorf("metadata: %d decodes of depth %d need %d lengths; max_num_batched_tokens is %d", s.decodes, s.maxDepth, need, len(b.seqLens))
		}
	}
	return b.build(s), counts, nil
}

// step is a batch's decodes and what the host knows of them.
type step struct {
	Batch
	decodes, tokens    int
	depths             []int32 // query lengths
	minDepth, maxDepth int
	actual             int // sum of depths; tokens beyond it are padding
	native             bool
}

func (b *Builder) newStep(batch Batch, counts Counts) step {
	s := step{Batch: batch, decodes: counts.NumDecodes, tokens: counts.NumDecodeTokens}
	s.depths = b.depths[:s.decodes]
	s.minDepth, s.maxDepth = batch.queryLen(0), batch.queryLen(0)
	for i := range s.depths {
		q := batch.queryLen(i)
		s.depths[i] = int32(q)
		s.minDepth, s.maxDepth = min(s.minDepth, q), max(s.maxDepth, q)
	}
	s.actual = int(batch.QueryStartLoc[s.decodes])
	s.native = b.cfg.native(s.maxDepth)
	return s
}

func (b *Builder) build(s step) *Decode {
	d := &Decode{
		DecodeIsUniform: s.minDepth == s.maxDepth,
		MaxDecodeLen:    s.maxDepth,
	}
	if !b.cfg.Varlen {
		copy(b.decodeLens, s.depths)
		copy(b.perReqDecode, s.depths)
		b.fillGlobal(s, d)
	}
	d.DecodeLens = b.decodeLens[:s.decodes]
	d.PerReqDecodeLens = b.perReqDecode[:s.decodes]

	// view says that the lengths already lie in b.seqLens, so that what
	// follows may work in place. Lengths of next_n = 1 are the batch's own.
	view := true
	switch {
	case b.cfg.Varlen:
		b.varlen(s, d)
	case !s.native && b.uniform(s):
		b.flattenUniform(s, d)
	case !s.native:
		b.flattenVariable(s, d)
	case b.cfg.NextN() > 1:
		b.nativeTable(s, d)
	default:
		b.requestLengths(s, d)
		view = false
	}
	b.localize(s, d, view)
	b.compress(s, d, view)
	b.lastColumn(d)
	return d
}
