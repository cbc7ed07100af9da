package metadata

// nativeTable gives each request a row of maxDepth lengths, a view of the flat
// buffer, contiguous even when maxDepth is below next_n.
func (b *Builder) nativeTable(s step, d *Decode) {
	n := int32(s.maxDepth)
	d.Rows, d.Columns = s.decodes, s.maxDepth
	d.SeqLens = b.seqLens[:d.Rows*d.Columns]
	for r := range d.Rows {
		for j := range n {
			d.SeqLens[r*d.Columns+int(j)] = Expand(Int32{}, s.SeqLens[r], n, j)
		}
	}
	d.BlockTable = b.requestRows(s)
	d.RequiresPadding = s.minDepth != s.maxDepth
}

// requestLengths is next_n = 1: the lengths are the requests' own.
func (b *Builder) requestLengths(s step, d *Decode) {
	d.Rows, d.Columns = s.decodes, 1
	d.SeqLens = s.SeqLens[:s.decodes]
	d.BlockTable = b.requestRows(s)
	d.RequiresPadding = s.minDepth != s.maxDepth
}

func (b *Builder) requestRows(s step) [][]int32 { return s.BlockTable[:s.decodes] }

// uniform reports whether a flattened step is of one depth throughout, without
// padding tokens.
func (b *Builder) uniform(s step) bool {
	return (s.decodes == 1 || !b.cfg.Adaptive) &&
		s.minDepth == s.maxDepth && s.decodes*s.maxDepth == s.tokens
}

// flattenUniform gives each token of a uniform step a row.
func (b *Builder) flattenUniform(s step, d *Decode) {
	n := int32(s.maxDepth)
	for i := range s.tokens {
		r, j := i/s.maxDepth, int32(i%s.maxDepth)
		b.seqLens[i] = Expand(Int32{}, s.SeqLens[r], n, j)
		copy(b.blockTable[i], s.BlockTable[r])
	}
	b.tokenRows(s, d)
}

// flattenVariable gives each token a row whatever the depths. A padding row
// has length 0 and the null page in front; the rest of its block table row is
// left as it was.
func (b *Builder) flattenVariable(s step, d *Decode) {
	b.expandTokens(s, b.seqLens)
	for r := range s.decodes {
		for i := s.QueryStartLoc[r]; i < s.QueryStartLoc[r+1]; i++ {
			copy(b.blockTable[i], s.BlockTable[r])
		}
	}
	for i := s.actual; i < s.tokens && b.cfg.BlockTableWidth > 0; i++ {
		b.blockTable[i][0] = 0
	}
	b.tokenRows(s, d)
}

// tokenRows ends both flatten paths: every row has one query token, and the
// buffer past the tokens is zero.
func (b *Builder) tokenRows(s step, d *Decode) {
	clear(b.seqLens[min(s.actual, s.tokens):])
	for i := range s.tokens {
		b.decodeLens[i] = 1
	}
	b.viewTokens(s, d)
}

func (b *Builder) viewTokens(s step, d *Decode) {
	d.Rows, d.Columns = s.tokens, 1
	d.SeqLens = b.seqLens[:s.tokens]
	d.BlockTable = b.blockTable[:s.tokens]
	d.DecodeLens = b.decodeLens[:s.tokens]
}

// varlen is vLLM's device kernel (_indexer_decode_metadata_kernel): as
// flattenVariable, with the request of each token. A padding token counts on
// from the number of requests and has a zero block table row.
func (b *Builder) varlen(s step, d *Decode) {
	b.expandTokens(s, b.seqLens)
	for r := range s.decodes {
		for i := s.QueryStartLoc[r]; i < s.QueryStartLoc[r+1]; i++ {
			b.indices[i] = int32(r)
			copy(b.blockTable[i], s.BlockTable[r])
		}
	}
	for i := s.actual; i < s.tokens; i++ {
		b.indices[i] = int32(s.decodes + i - s.actual)
		clear(b.blockTable[i])
	}
	copy(b.perReqDecode, s.depths)
	b.tokenRows(s, d)
	d.Indices = b.indices[:s.tokens]
	if b.cfg.DCPWorldSize > 1 {
		d.GlobalSeqLens = s.SeqLens[:s.decodes]
		if s.maxDepth > 1 {
			d.GlobalSeqLens = b.globalSeqLens[:s.tokens]
			copy(d.GlobalSeqLens, d.SeqLens)
		}
	}
}

// fillGlobal keeps the lengths before localization for those who need them.
func (b *Builder) fillGlobal(s step, d *Decode) {
	if b.cfg.DCPWorldSize == 1 {
		return
	}
	if s.native || s.maxDepth <= 1 {
		d.GlobalSeqLens = s.SeqLens[:s.decodes]
		return
	}
	b.expandTokens(s, b.globalSeqLens)
	if s.actual < s.tokens {
		clear(b.globalSeqLens[s.actual:s.tokens])
	}
	d.GlobalSeqLens = b.globalSeqLens[:s.tokens]
}

// expandTokens writes the length of each of the step's actual tokens.
func (b *Builder) expandTokens(s step, out []int32) {
	for r := range s.decodes {
		start := s.QueryStartLoc[r]
		for i := start; i < s.QueryStartLoc[r+1]; i++ {
			out[i] = ExpandFrom(Int32{}, s.SeqLens[r], s.depths[r], start, i)
		}
	}
}
