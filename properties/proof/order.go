package proof

import "mqaproof/model/metadata"

func order() Theorem {
	return Theorem{
		Name:     "order",
		Sentence: "localizing after the expansion counts what each query token sees; expanding after the localization does not",
		Parts: []Part{
			{
				Name:     "rows",
				Sentence: "table[b][j] is the number of states of the rank at or below the position of query token j, counted",
				settings: where(always),
				claims:   claimRows,
			},
			{
				Name:     "paths",
				Sentence: "every path, and the native one in a step shallower than next_n, gives a token of a request of at least n tokens the length that the native path gives it, and padding 0",
				settings: where(always),
				claims:   claimPaths,
			},
			{
				Name:     "expand-after-localize",
				Sentence: "expanding the localized length of the request gives the same rows",
				Refuted:  true,
				settings: where(func(s Setting) bool { return s.World > 1 && s.NextN > 1 && s.Ratio == 1 }),
				claims: func(ts *Terms, s Setting, _ Domain) []claim {
					x := ts.Var("L")
					local := s.localize(ts, x)
					var same []*Term
					for j, want := range s.row(ts, x) {
						same = append(same, ts.eq(want, metadata.Expand(ts, local, ts.Int(s.NextN), ts.Int(j))))
					}
					return []claim{{goal: ts.all(same...)}}
				},
			},
		},
	}
}

func (s Setting) localize(ts *Terms, x *Term) *Term {
	return metadata.Localize(ts, x, ts.Int(s.World), ts.Int(s.Rank), ts.Int(s.Interleave))
}

func claimRows(ts *Terms, s Setting, _ Domain) []claim {
	x := ts.Var("L")
	row := s.row(ts, x)
	cs := make([]claim, len(row))
	for j := range row {
		shift := j + 1 - s.NextN
		cs[j] = claim{
			goal: ts.eq(row[j], ts.counted(s.rule(), ts.Max(ts.Int(0), ts.Add(x, ts.Int(shift))))),
			solver: func() *Term {
				return ts.counts(s.rule(), x, shift, func(x *Term) *Term { return s.row(ts, x)[j] })
			},
		}
	}
	return cs
}

func claimPaths(ts *Terms, s Setting, _ Domain) []claim {
	x := ts.Var("L")
	var cs []claim
	if s.NextN > 1 { // a native step that is a token shallower than it may be
		shallow := s
		shallow.NextN--
		got := lengths(ts, s.config(s.NextN)).Decode(shape(0, shallow.NextN), []*Term{x}).SeqLens
		for j, want := range shallow.row(ts, x) {
			cs = append(cs, claim{goal: ts.eq(got[j], want)})
		}
	}
	for _, p := range s.tokenPaths() {
		if p.cfg.Path(p.shape) != p.path {
			return []claim{{goal: ts.truth(false)}}
		}
		t := lengths(ts, p.cfg).Decode(p.shape, []*Term{x, x})
		native := map[int][]*Term{} // by depth
		for i, got := range t.SeqLens {
			b := p.request(i)
			if b < 0 {
				cs = append(cs, claim{goal: ts.eq(got, ts.Int(0))})
				continue
			}
			n := p.shape.Depth(b)
			if native[n] == nil {
				s := s
				s.NextN = n
				native[n] = s.row(ts, x)
			}
			cs = append(cs, claim{lo: int64(n), goal: ts.eq(got, native[n][i-int(p.shape.Starts[b])])})
		}
	}
	return cs
}
