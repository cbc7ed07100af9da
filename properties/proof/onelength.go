package proof

func oneLength() Theorem {
	return Theorem{
		Name:     "one-length",
		Sentence: "with W = 1 and r = 1 the rows that a kernel derives from one length per request equal the table",
		Parts: []Part{{
			Name:     "derived",
			Sentence: "table[b][j] = max(0, P - n + 1 + j) for P the table's last column, for every length, padding included",
			settings: where(func(s Setting) bool { return s.World == 1 && s.Ratio == 1 }),
			claims: func(ts *Terms, s Setting, _ Domain) []claim {
				return []claim{{goal: s.describes(ts, s.row(ts, ts.Var("L")), nil)}}
			},
		}},
	}
}

// describes says that the kernel derives the row's lengths from length, or
// from the row's last if that is nil.
func (s Setting) describes(ts *Terms, row []*Term, length *Term) *Term {
	if length == nil {
		length = row[len(row)-1]
	}
	same := make([]*Term, len(row))
	for j := range row {
		same[j] = ts.eq(row[j], s.derived(ts, length, j))
	}
	return ts.all(same...)
}

func impossible() Theorem {
	settings := where(func(s Setting) bool { return s.NextN > 1 && (s.World > 1 || s.Ratio > 1) })
	return Theorem{
		Name:     "impossible",
		Sentence: "with W > 1 or r > 1, and n > 1, there are requests whose rows no single length describes",
		Parts: []Part{
			{
				Name: "set",
				Sentence: "a single length describes the rows exactly when the last u positions of the request each complete a state of the rank, " +
					"where u is the smaller of n - 1 and the number of its states; that length is the last column",
				settings: settings,
				claims:   claimSet,
			},
			{
				Name:     "always",
				Sentence: "a single length describes the rows of every request",
				Refuted:  true,
				settings: settings,
				claims: func(ts *Terms, s Setting, _ Domain) []claim {
					return []claim{{goal: s.describes(ts, s.row(ts, ts.Var("L")), nil)}}
				},
			},
		},
	}
}

// claimSet compares "some length describes the rows" with the closed form.
//
// If any length P does, the last column does: a last column of 1 or more is
// max(0, P) and so P itself; one of 0 means that all rows are 0, which length 0
// describes too. The go prover uses this; the solvers get P as a length of its
// own: where the closed form is false, no P describes the rows.
func claimSet(ts *Terms, s Setting, _ Domain) []claim {
	x := ts.Var("L")
	row := s.row(ts, x)
	closed := s.closedForm(ts, x, row[s.NextN-1])
	last := s.describes(ts, row, nil)
	return []claim{{
		goal: ts.iff(closed, last),
		solver: func() *Term {
			any := s.describes(ts, row, ts.Var("P"))
			return ts.and(ts.implies(closed, last), ts.implies(any, closed))
		},
	}}
}

// closedForm is the set of lengths x for which one length describes the rows;
// last is the number of states that the rank holds.
//
//	u = min(n-1, last)
//	u = 0, or position x-1 lies on the rank and
//	    r = 1: at place u-1 or later of its run of I positions (W > 1)
//	    r > 1: u = 1 and r divides x
func (s Setting) closedForm(ts *Terms, x, last *Term) *Term {
	u := ts.Min(ts.Int(s.NextN-1), last)
	p := ts.Sub(x, ts.Int(1))
	run := ts.Int(s.Interleave)
	round := ts.Sub(p, ts.Mul(ts.Div(p, ts.Int(s.Interleave*s.World)), ts.Int(s.Interleave*s.World)))
	place := ts.Sub(round, ts.Int(s.Rank*s.Interleave))
	owned := ts.and(ts.le(ts.Int(0), place), ts.le(ts.Add(place, ts.Int(1)), run))
	var rest *Term
	switch {
	case s.Ratio == 1:
		rest = ts.and(owned, ts.le(u, ts.Add(place, ts.Int(1))))
	default:
		whole := ts.eq(ts.Mul(ts.Div(x, ts.Int(s.Ratio)), ts.Int(s.Ratio)), x)
		rest = ts.and(whole, ts.eq(u, ts.Int(1)))
		if s.World > 1 {
			rest = ts.and(owned, rest)
		}
	}
	return ts.or(ts.eq(u, ts.Int(0)), rest)
}
