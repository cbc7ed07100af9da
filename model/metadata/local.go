package metadata

// fillGlobal keeps the lengths before localization for those who need them.
func (l *Lengths[T, A]) fillGlobal(t *Table[T], s Shape, requests []T, path Path) {
	if l.cfg.DCPWorldSize == 1 {
		return
	}
	if _, largest := s.Depths(); path == Native || path == Requests || largest <= 1 {
		t.GlobalSeqLens = requests
		return
	}
	l.tokens(l.globalSeqLens, s, requests)
	if s.Actual() < s.Tokens {
		l.zero(l.globalSeqLens[s.Actual():s.Tokens])
	}
	t.GlobalSeqLens = l.globalSeqLens[:s.Tokens]
}

// copyGlobal is fillGlobal of the varlen path: its kernel has made the lengths.
func (l *Lengths[T, A]) copyGlobal(t *Table[T], s Shape, requests []T) {
	if l.cfg.DCPWorldSize == 1 {
		return
	}
	t.GlobalSeqLens = requests
	if _, largest := s.Depths(); largest > 1 {
		t.GlobalSeqLens = l.globalSeqLens[:s.Tokens]
		copy(t.GlobalSeqLens, t.SeqLens)
	}
}

// localize turns global lengths into this rank's, after the expansion: each
// token's own length has to be localized. The requests' own lengths are not
// overwritten.
func (l *Lengths[T, A]) localize(t *Table[T], path Path) {
	if l.cfg.DCPWorldSize == 1 {
		return
	}
	out := t.SeqLens
	if path == Requests {
		out = l.seqLens[:t.Rows]
	}
	a := l.arith
	world, rank, interleave := a.Int(l.cfg.DCPWorldSize), a.Int(l.cfg.DCPRank), a.Int(l.cfg.CPInterleave)
	for i, x := range t.SeqLens {
		out[i] = Localize(a, x, world, rank, interleave)
	}
	t.SeqLens = out
}

// compress turns lengths in tokens into lengths in states. The requests' own
// lengths go to a buffer of their own, cut or zero-padded to the number of
// tokens, as vLLM does it.
func (l *Lengths[T, A]) compress(t *Table[T], s Shape, path Path) {
	if l.cfg.CompressRatio == 1 {
		return
	}
	out := t.SeqLens
	if path == Requests {
		out = l.expandedSeqLens[:t.Rows]
	}
	ratio := l.arith.Int(l.cfg.CompressRatio)
	for i, x := range t.SeqLens {
		out[i] = Compress(l.arith, x, ratio)
	}
	if path == Requests {
		if s.Tokens > t.Rows {
			l.zero(l.expandedSeqLens[t.Rows:s.Tokens])
		}
		out = l.expandedSeqLens[:s.Tokens]
		t.Rows = s.Tokens
	}
	t.SeqLens = out
}

// lastColumn fills the per-request lengths for kernels that read one length a
// request, once a step and last, so that they always match the table.
func (l *Lengths[T, A]) lastColumn(t *Table[T]) {
	if t.Columns <= 1 {
		return
	}
	t.PerReqSeqLens = l.perReqSeqLens[:t.Rows]
	for r := range t.Rows {
		t.PerReqSeqLens[r] = t.SeqLens[(r+1)*t.Columns-1]
	}
}
