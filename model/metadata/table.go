package metadata

// Table is the lengths of a step's decodes. Slices are views of buffers or of
// the requests' own lengths.
type Table[T any] struct {
	SeqLens       []T // (Rows, Columns), row-major: (B, n) native, else (rows, 1)
	Rows, Columns int //
	GlobalSeqLens []T // lengths before localization, as the rows are; nil without DCP
	PerReqSeqLens []T // (B) the table's last column when it is (B, n > 1), else nil
}

// Lengths is the part of a builder that lengths go through, over any integers:
// the builder's own over int32, a prover's over terms. Which operations run
// depends on the configuration and on shapes, never on a length.
type Lengths[T any, A Arith[T]] struct {
	arith A
	cfg   Config

	// Each is made once, at its full size, and filled.
	seqLens         []T // lengths of the decode rows: vLLM's decode_seq_lens_buffer
	expandedSeqLens []T // compressed lengths when the rows are the requests themselves
	globalSeqLens   []T // lengths before localization, per token
	perReqSeqLens   []T // the table's last column
}

// NewLengths makes the buffers, filled with fill. It refuses what NewBuilder
// refuses.
func NewLengths[T any, A Arith[T]](arith A, cfg Config, fill T) (*Lengths[T, A], error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	l := &Lengths[T, A]{arith: arith, cfg: cfg}
	for _, buffer := range []*[]T{&l.seqLens, &l.expandedSeqLens, &l.globalSeqLens, &l.perReqSeqLens} {
		*buffer = filled(cfg.MaxNumBatchedTokens, fill)
	}
	return l, nil
}

func filled[T any](n int, v T) []T {
	s := make([]T, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// Fits says whether the buffers hold a step of this shape.
func (l *Lengths[T, A]) Fits(s Shape) bool {
	_, largest := s.Depths()
	return s.Tokens <= len(l.seqLens) && (l.cfg.Path(s) != Native || s.Decodes()*largest <= len(l.seqLens))
}

// Decode makes the table of a step of a shape that Fits, from the requests'
// global lengths (decodes), this step's query tokens included.
func (l *Lengths[T, A]) Decode(s Shape, requests []T) Table[T] {
	var t Table[T]
	path := l.cfg.Path(s)
	if path != Varlen {
		l.fillGlobal(&t, s, requests, path)
	}
	switch path {
	case Requests:
		t.Rows, t.Columns, t.SeqLens = s.Decodes(), 1, requests
	case Native:
		l.native(&t, s, requests)
	case FlattenUniform:
		l.uniform(&t, s, requests)
	default:
		l.tokens(l.seqLens, s, requests)
		l.viewTokens(&t, s)
	}
	if path == Varlen {
		l.copyGlobal(&t, s, requests)
	}
	l.localize(&t, path)
	l.compress(&t, s, path)
	l.lastColumn(&t)
	return t
}

// native gives each request a row of as many lengths as the deepest request
// has query tokens, contiguous even when that is below next_n.
func (l *Lengths[T, A]) native(t *Table[T], s Shape, requests []T) {
	_, n := s.Depths()
	t.Rows, t.Columns = s.Decodes(), n
	t.SeqLens = l.seqLens[:t.Rows*t.Columns]
	for i := range t.SeqLens {
		t.SeqLens[i] = Expand(l.arith, requests[i/n], l.arith.Int(n), l.arith.Int(i%n))
	}
}

// uniform gives each token of a step of one depth a row.
func (l *Lengths[T, A]) uniform(t *Table[T], s Shape, requests []T) {
	_, n := s.Depths()
	for i := range s.Tokens {
		l.seqLens[i] = Expand(l.arith, requests[i/n], l.arith.Int(n), l.arith.Int(i%n))
	}
	l.viewTokens(t, s)
}

// tokens writes the length of each actual token.
func (l *Lengths[T, A]) tokens(out []T, s Shape, requests []T) {
	for r := range s.Decodes() {
		n, start := l.arith.Int(s.Depth(r)), l.arith.Int(int(s.Starts[r]))
		for i := s.Starts[r]; i < s.Starts[r+1]; i++ {
			out[i] = ExpandFrom(l.arith, requests[r], n, start, l.arith.Int(int(i)))
		}
	}
}

// viewTokens ends the paths of a row a token: the buffer past the actual
// tokens is zero.
func (l *Lengths[T, A]) viewTokens(t *Table[T], s Shape) {
	l.zero(l.seqLens[min(s.Actual(), s.Tokens):])
	t.Rows, t.Columns, t.SeqLens = s.Tokens, 1, l.seqLens[:s.Tokens]
}

func (l *Lengths[T, A]) zero(out []T) {
	for i := range out {
		out[i] = l.arith.Int(0)
	}
}
