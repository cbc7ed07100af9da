package proof

import (
	"iter"

	"mqaproof/model/metadata"
)

func slots() Theorem {
	once := where(func(s Setting) bool { return s.NextN == 1 })
	return Theorem{
		Name:     "slots",
		Sentence: "the compressed slots of a request are unique, owned by the rank, and cover exactly its completed states",
		Parts: []Part{
			{
				Name: "next",
				Sentence: "a token has a compressed slot exactly when it completes a state, and the state of one that the rank owns is number c, " +
					"c the states of the rank before it: so the states are 0, 1, 2, ... in order, none twice and none left out",
				settings: once,
				claims:   claimNext,
			},
			{
				Name:     "page",
				Sentence: "page and offset are those of the state: page * size + offset = state, 0 <= offset < size",
				settings: once,
				claims:   claimEuclid,
			},
			{
				Name:     "alone",
				Sentence: "with one rank the local position is the position, whatever the interleave",
				settings: func(a axes) iter.Seq[Setting] { return alone(a) },
				claims: func(ts *Terms, s Setting, _ Domain) []claim {
					p := ts.Var("p")
					return []claim{{goal: ts.eq(s.localPosition(ts, p), p)}}
				},
			},
		},
	}
}

func (s Setting) localPosition(ts *Terms, p *Term) *Term {
	return metadata.LocalPosition(Device{ts}, p, ts.Int(s.World), ts.Int(s.Interleave))
}

// state is the number that the slot kernel gives the state of the token at p:
// with pages of one state it is the page.
func (s Setting) state(ts *Terms, p *Term) *Term {
	page, _ := s.place(ts, p, 1)
	return page
}

func claimNext(ts *Terms, s Setting, _ Domain) []claim {
	p := ts.Var("p")
	finished := ts.eq(metadata.Unfinished(Device{ts}, p, ts.Int(s.Ratio)), ts.Int(0))
	owner := s.rule()
	owner.Ratio = 1 // who owns the position, complete or not
	owned := ts.completes(owner, p)
	here := ts.and(finished, owned)
	state := s.state(ts, p)
	before := func(x *Term) *Term { return ts.counted(s.rule(), x) }
	next := ts.Add(p, ts.Int(1))
	goal := ts.and(
		ts.iff(here, ts.eq(before(next), ts.Add(before(p), ts.Int(1)))),
		ts.implies(here, ts.eq(state, before(p))))
	// For solvers, the builder's own formula counts: the theorem order.
	formula := func(x *Term) *Term { return metadata.Compress(ts, s.localize(ts, x), ts.Int(s.Ratio)) }
	solver := func() *Term {
		return ts.and(
			ts.eq(formula(next), ts.Add(formula(p), ts.choose(here, ts.Int(1), ts.Int(0)))),
			ts.implies(here, ts.eq(state, formula(p))))
	}
	return []claim{{goal: goal, solver: solver}}
}

func claimEuclid(ts *Terms, s Setting, _ Domain) []claim {
	p := ts.Var("p")
	state := s.state(ts, p)
	var cs []claim
	for _, runs := range []int{1, 2} {
		size := s.pageStates(runs)
		page, offset := s.place(ts, p, size)
		cs = append(cs, claim{goal: ts.all(
			ts.eq(ts.Add(ts.Mul(page, ts.Int(size)), offset), state),
			ts.le(ts.Int(0), offset),
			ts.le(offset, ts.Int(size-1)))})
	}
	return cs
}
