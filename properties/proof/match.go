package proof

import "mqaproof/model/metadata"

func match() Theorem {
	return Theorem{
		Name:     "match",
		Sentence: "the per-request lengths equal the table's last column on every path, whatever was in the buffers before",
		Parts: []Part{
			{
				Name:     "copy",
				Sentence: "per_req_seq_lens[b] = table[b][n-1], in a first step and in one of fewer and shallower requests after it",
				settings: where(func(s Setting) bool { return s.NextN > 1 }),
				claims:   claimCopy,
			},
			{
				Name:     "whole",
				Sentence: "per_req_seq_lens[b] is the number of states that the rank holds of the request, counted",
				settings: where(func(s Setting) bool { return s.NextN > 1 }),
				claims:   claimWhole,
			},
			{
				Name:     "fresh",
				Sentence: "every row depends on the length of its own request in this step alone; tables of one column have no per-request lengths (rank 0)",
				settings: where(func(s Setting) bool { return s.Rank == 0 }),
				claims:   claimFresh,
			},
		},
	}
}

// steps runs two steps on one builder: the second has a request less and, where
// it can be, is a token shallower. See gives the lengths that went in.
func (s Setting) steps(ts *Terms, see func(metadata.Table[*Term], []*Term)) {
	l := lengths(ts, s.config(3*s.NextN))
	for step, requests := range [][]*Term{{ts.Var("a0"), ts.Var("a1"), ts.Var("a2")}, {ts.Var("b0"), ts.Var("b1")}} {
		depth := s.NextN
		if step == 1 && depth > 2 {
			depth--
		}
		depths := make([]int, len(requests))
		for i := range depths {
			depths[i] = depth
		}
		t := l.Decode(shape(0, depths...), requests)
		// The next step overwrites the buffers that the table views.
		t.SeqLens = append([]*Term(nil), t.SeqLens...)
		t.PerReqSeqLens = append([]*Term(nil), t.PerReqSeqLens...)
		see(t, requests)
	}
}

func claimCopy(ts *Terms, s Setting, _ Domain) []claim {
	var cs []claim
	s.steps(ts, func(t metadata.Table[*Term], requests []*Term) {
		if len(t.PerReqSeqLens) != len(requests) || len(t.SeqLens) != len(requests)*t.Columns || t.Columns < 2 {
			cs = append(cs, claim{goal: ts.truth(false)})
			return
		}
		for b := range requests {
			cs = append(cs, claim{goal: ts.eq(t.PerReqSeqLens[b], t.SeqLens[(b+1)*t.Columns-1])})
		}
	})
	return cs
}

func claimWhole(ts *Terms, s Setting, _ Domain) []claim {
	perReq := func(x *Term) *Term {
		t := lengths(ts, s.config(s.NextN)).Decode(shape(0, s.NextN), []*Term{x})
		if len(t.PerReqSeqLens) != 1 {
			return ts.Int(-1)
		}
		return t.PerReqSeqLens[0]
	}
	x := ts.Var("L")
	return []claim{{
		goal:   ts.eq(perReq(x), ts.counted(s.rule(), x)),
		solver: func() *Term { return ts.counts(s.rule(), x, 0, perReq) },
	}}
}

func claimFresh(ts *Terms, s Setting, _ Domain) []claim {
	fresh := true
	s.steps(ts, func(t metadata.Table[*Term], requests []*Term) {
		for i, row := range t.SeqLens {
			fresh = fresh && dependsOnly(row, requests[i/t.Columns])
		}
		for b, v := range t.PerReqSeqLens {
			fresh = fresh && dependsOnly(v, requests[b])
		}
		fresh = fresh && (t.Columns > 1) == (len(t.PerReqSeqLens) > 0)
	})
	for _, p := range s.tokenPaths() {
		l := lengths(ts, p.cfg)
		// The first step leaves lengths behind where the second has padding.
		l.Decode(shape(0, p.before...), []*Term{ts.Var("a0"), ts.Var("a1")})
		requests := []*Term{ts.Var("b0"), ts.Var("b1")}
		t := l.Decode(p.shape, requests)
		fresh = fresh && t.Columns == 1 && t.PerReqSeqLens == nil && len(t.SeqLens) == p.shape.Tokens
		for i, row := range t.SeqLens {
			switch b := p.request(i); {
			case b < 0:
				fresh = fresh && dependsOnly(row, nil)
			default:
				fresh = fresh && dependsOnly(row, requests[b])
			}
		}
	}
	return []claim{{goal: ts.truth(fresh)}}
}

// dependsOnly says that t has no other variable than on.
func dependsOnly(t, on *Term) bool {
	if t.kind == variable {
		return t == on
	}
	for _, p := range t.parts() {
		if !dependsOnly(p, on) {
			return false
		}
	}
	return true
}

// tokenPath is a path that gives each token a row, in a step of two requests.
type tokenPath struct {
	path   metadata.Path
	cfg    metadata.Config
	before []int // query lengths of the step before
	shape  metadata.Shape
}

// tokenPaths are the paths beside the native one.
func (s Setting) tokenPaths() []tokenPath {
	n := s.NextN
	flatten := s.config(2*n + 2)
	flatten.ForceFlatten = true
	varlen := s.config(2*n + 2)
	varlen.Varlen = true
	paths := []tokenPath{
		{metadata.FlattenUniform, flatten, []int{n, n}, shape(0, n, n)},
		{metadata.FlattenVariable, flatten, []int{n, n}, shape(1, n, 1)},
		{metadata.FlattenVariable, flatten, []int{n, n}, shape(1, 1, 0)},
		{metadata.Varlen, varlen, []int{n, n}, shape(1, n, 1)},
	}
	if n == 1 {
		paths = append(paths, tokenPath{metadata.Requests, s.config(2), []int{1, 1}, shape(0, 1, 1)})
	}
	return paths
}

// request is the request of row i, -1 for padding.
func (p tokenPath) request(i int) int {
	for b := range p.shape.Decodes() {
		if i < int(p.shape.Starts[b+1]) {
			return b
		}
	}
	return -1
}
