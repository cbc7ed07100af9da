package metadata

import "fmt"

// Decode is what the kernel gets for the decodes of a step. Slices are views
// of the builder's buffers or of the batch, valid until the next step.
type Decode struct {
	Table[int32]
	BlockTable       [][]int32 // (rows, width); one row a request (native) or a token (flattened)
	DecodeLens       []int32   // query tokens of each row
	RequiresPadding  bool      // native rows of differing depth
	PerReqDecodeLens []int32   // query tokens of each request
	DecodeIsUniform  bool      // all requests have the same number of query tokens
	MaxDecodeLen     int       // the largest such number
	Indices          []int32   // varlen: request of each token; else nil
}

// Build makes the decode part of the metadata of one step, for those who need
// only lengths. Decode is nil when the step has no decode. An error leaves the
// buffers as they were.
func (b *Builder) Build(batch Batch) (*Decode, Counts, error) {
	if err := batch.validate(b.cfg); err != nil {
		return nil, Counts{}, err
	}
	counts := b.split(batch)
	if counts.NumDecodes == 0 {
		return nil, counts, nil
	}
	shape := shapeOf(batch, counts)
	if err := b.fits(shape); err != nil {
		return nil, Counts{}, err
	}
	return b.decode(batch, shape), counts, nil
}

func shapeOf(batch Batch, counts Counts) Shape {
	return Shape{Starts: batch.QueryStartLoc[:counts.NumDecodes+1], Tokens: counts.NumDecodeTokens}
}

func (b *Builder) fits(s Shape) error {
	if b.lengths.Fits(s) {
		return nil
	}
	_, largest := s.Depths()
	return fmt.Errorf("metadata: %d decodes of depth %d need %d lengths; max_num_batched_tokens is %d", s.Decodes(), largest, s.Decodes()*largest, b.cfg.MaxNumBatchedTokens)
}

func (b *Builder) decode(batch Batch, s Shape) *Decode {
	path := b.cfg.Path(s)
	smallest, largest := s.Depths()
	d := &Decode{
		Table:            b.lengths.Decode(s, batch.SeqLens[:s.Decodes()]),
		PerReqDecodeLens: b.perReqDecode[:s.Decodes()],
		DecodeIsUniform:  smallest == largest,
		MaxDecodeLen:     largest,
	}
	for r := range d.PerReqDecodeLens {
		d.PerReqDecodeLens[r] = int32(s.Depth(r))
	}
	if path != Varlen {
		copy(b.decodeLens, d.PerReqDecodeLens)
	}
	if path == Native || path == Requests {
		d.DecodeLens = b.decodeLens[:s.Decodes()]
		d.BlockTable = batch.BlockTable[:s.Decodes()]
		d.RequiresPadding = !d.DecodeIsUniform
		return d
	}
	d.DecodeLens = b.decodeLens[:s.Tokens]
	for i := range d.DecodeLens {
		d.DecodeLens[i] = 1
	}
	b.tokenPages(batch, s, path)
	d.BlockTable = b.blockTable[:s.Tokens]
	if path == Varlen {
		b.tokenRequests(s)
		d.Indices = b.indices[:s.Tokens]
	}
	return d
}

// tokenPages gives each token its request's block table row. The varlen kernel
// zeroes a padding token's whole row; the variable path puts the null page in
// front and leaves the rest of the row as it was.
func (b *Builder) tokenPages(batch Batch, s Shape, path Path) {
	for r := range s.Decodes() {
		for i := s.Starts[r]; i < s.Starts[r+1]; i++ {
			copy(b.blockTable[i], batch.BlockTable[r])
		}
	}
	for i := s.Actual(); i < s.Tokens; i++ {
		if path == Varlen {
			clear(b.blockTable[i])
		} else {
			clear(b.blockTable[i][:min(1, b.cfg.BlockTableWidth)])
		}
	}
}

// tokenRequests names each token's request. Padding tokens count on from the
// number of requests.
func (b *Builder) tokenRequests(s Shape) {
	for r := range s.Decodes() {
		for i := s.Starts[r]; i < s.Starts[r+1]; i++ {
			b.indices[i] = int32(r)
		}
	}
	for i := s.Actual(); i < s.Tokens; i++ {
		b.indices[i] = int32(s.Decodes() + i - s.Actual())
	}
}
