package metadata

// localize turns global lengths into this rank's, after the expansion: each
// token's own length has to be localized.
func (b *Builder) localize(s step, d *Decode, view bool) {
	if b.cfg.DCPWorldSize == 1 {
		return
	}
	out := d.SeqLens
	if !view {
		out = b.seqLens[:s.decodes]
	}
	world, rank, interleave := int32(b.cfg.DCPWorldSize), int32(b.cfg.DCPRank), int32(b.cfg.CPInterleave)
	for i, x := range d.SeqLens {
		out[i] = Localize(Int32{}, x, world, rank, interleave)
	}
	d.SeqLens = out
}

// compress turns lengths in tokens into lengths in states. Where the lengths
// are not a view of the flat buffer, they go to a buffer of their own, cut or
// zero-padded to the number of tokens, as vLLM does it.
func (b *Builder) compress(s step, d *Decode, view bool) {
	if b.cfg.CompressRatio == 1 {
		return
	}
	out := d.SeqLens
	if !view {
		out = b.expandedSeqLens[:s.decodes]
	}
	for i, x := range d.SeqLens {
		out[i] = Compress(Int32{}, x, int32(b.cfg.CompressRatio))
	}
	if !view {
		if s.tokens > s.decodes {
			clear(b.expandedSeqLens[s.decodes:s.tokens])
		}
		out = b.expandedSeqLens[:s.tokens]
		d.Rows = s.tokens
	}
	d.SeqLens = out
}

// lastColumn fills the per-request lengths for kernels that read one length a
// request, once a step and last, so that they always match the table.
func (b *Builder) lastColumn(d *Decode) {
	if d.Columns <= 1 {
		return
	}
	d.PerReqSeqLens = b.perReqSeqLens[:d.Rows]
	for r := range d.Rows {
		d.PerReqSeqLens[r] = d.SeqLens[(r+1)*d.Columns-1]
	}
}
