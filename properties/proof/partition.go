package proof

import (
	"iter"

	"mqaproof/model/metadata"
)

func partition() Theorem {
	// These do not depend on next_n or on the rank.
	once := func(s Setting) bool { return s.NextN == 1 && s.Rank == 0 }
	divides := where(func(s Setting) bool { return once(s) && s.World > 1 })
	otherwise := func(a axes) iter.Seq[Setting] {
		return a.grid(func(s Setting) bool { return once(s) && s.World > 1 && !valid(s) })
	}
	return Theorem{
		Name: "partition",
		Sentence: "local lengths over the ranks sum to the global length; compression commutes with localization when r divides I and not otherwise; " +
			"decode and prefill formulas agree",
		Parts: []Part{
			{
				Name:     "sum",
				Sentence: "the local lengths of all ranks sum to the length, for negative ones too",
				settings: where(func(s Setting) bool { return once(s) && s.Ratio == 1 }),
				claims: func(ts *Terms, s Setting, _ Domain) []claim {
					x := ts.Var("x")
					// No clamp on x: both sides are quasi-periodic on all integers.
					return []claim{{lo: s.below(), goal: ts.eq(s.sum(ts, func(s Setting) *Term { return s.localize(ts, x) }), x)}}
				},
			},
			{
				Name:     "alone",
				Sentence: "with one rank the local length is the length, whatever the interleave",
				settings: func(a axes) iter.Seq[Setting] { return alone(a) },
				claims: func(ts *Terms, s Setting, _ Domain) []claim {
					x := ts.Var("x")
					return []claim{{lo: s.below(), goal: ts.eq(s.localize(ts, x), x)}}
				},
			},
			{
				Name:     "complete",
				Sentence: "the states of a length are the most that fit into it, for negative ones too: s * r <= x < s * r + r",
				settings: where(func(s Setting) bool { return s.World == 1 && s.NextN == 1 }),
				claims: func(ts *Terms, s Setting, _ Domain) []claim {
					x := ts.Var("x")
					tokens := ts.Mul(metadata.Compress(ts, x, ts.Int(s.Ratio)), ts.Int(s.Ratio))
					rest := ts.Sub(x, tokens)
					return []claim{{lo: s.below(), goal: ts.and(ts.le(ts.Int(0), rest), ts.le(rest, ts.Int(s.Ratio-1)))}}
				},
			},
			{
				Name:     "commutes",
				Sentence: "localizing and then compressing equals compressing and then localizing by I/r states, when r divides I, on every rank",
				settings: divides,
				claims: func(ts *Terms, s Setting, _ Domain) []claim {
					var cs []claim
					for rank := range s.World {
						s.Rank = rank
						cs = append(cs, claim{lo: s.below(), goal: s.commutes(ts, ts.Var("x"), s.Interleave/s.Ratio)})
					}
					return cs
				},
			},
			{
				Name:     "commutes-otherwise",
				Sentence: "they are equal on rank 0 for some interleave in states, when r does not divide I",
				Refuted:  true,
				settings: otherwise,
				claims:   claimNoInterleave,
			},
			{
				Name:     "states",
				Sentence: "the local states of all ranks sum to the states of the request, when r divides I",
				settings: divides,
				claims: func(ts *Terms, s Setting, _ Domain) []claim {
					return []claim{{lo: s.below(), goal: s.statesSum(ts, ts.Var("x"))}}
				},
			},
			{
				Name:     "states-otherwise",
				Sentence: "they do when r does not divide I",
				Refuted:  true,
				settings: otherwise,
				claims: func(ts *Terms, s Setting, _ Domain) []claim {
					return []claim{{goal: s.statesSum(ts, ts.Var("x"))}}
				},
			},
			{
				Name:     "prefill",
				Sentence: "the prefill kernel gives a query token of a request of at least n tokens the length that decode gives it",
				settings: where(always),
				claims: func(ts *Terms, s Setting, _ Domain) []claim {
					x := ts.Var("L")
					var cs []claim
					for i, want := range s.row(ts, x) {
						cs = append(cs, claim{lo: int64(s.NextN), goal: ts.eq(s.prefill(ts, x, i), want)})
					}
					return cs
				},
			},
		},
	}
}

// below is a negative length, several rounds and states down.
func (s Setting) below() int64 { return -4 * int64(s.World*s.Interleave*s.Ratio) }

// alone are settings of one rank with every interleave.
func alone(a axes) iter.Seq[Setting] {
	return func(yield func(Setting) bool) {
		for _, interleave := range a.interleave {
			if !yield(Setting{1, 1, 1, interleave, 0}) {
				return
			}
		}
	}
}

// sum is the sum of f over all ranks.
func (s Setting) sum(ts *Terms, f func(Setting) *Term) *Term {
	s.Rank = 0
	sum := f(s)
	for rank := 1; rank < s.World; rank++ {
		s.Rank = rank
		sum = ts.Add(sum, f(s))
	}
	return sum
}

func (s Setting) statesSum(ts *Terms, x *Term) *Term {
	r := ts.Int(s.Ratio)
	return ts.eq(s.sum(ts, func(s Setting) *Term { return metadata.Compress(ts, s.localize(ts, x), r) }), metadata.Compress(ts, x, r))
}

// commutes compares with localization by interleave states.
func (s Setting) commutes(ts *Terms, x *Term, interleave int) *Term {
	r := ts.Int(s.Ratio)
	states := s
	states.Interleave = interleave
	return ts.eq(metadata.Compress(ts, s.localize(ts, x), r), states.localize(ts, metadata.Compress(ts, x, r)))
}

// claimNoInterleave says of every interleave I' in states that it is none.
//
// Let x = (floor(I/r) + 1) * r, the first multiple of r beyond I. If r < I, x is
// below W*I and rank 0 holds I positions of it, floor(I/r) states, one less than
// x/r. If r > I, x is r, rank 0 lacks one position of it at least, and so its
// one state. Hence the first claim, that rank 0 holds all states, fails at some
// x' <= x. Where I' >= x'/r, localizing by I' leaves rank 0 all states of x', and
// so this x' refutes I' too. The smaller I' are at most floor(I/r): a claim each.
func claimNoInterleave(ts *Terms, s Setting, _ Domain) []claim {
	x := ts.Var("x")
	r := ts.Int(s.Ratio)
	hi := int64(s.Interleave/s.Ratio+1) * int64(s.Ratio)
	cs := []claim{{hi: hi, goal: ts.eq(metadata.Compress(ts, s.localize(ts, x), r), metadata.Compress(ts, x, r))}}
	for interleave := 1; interleave <= s.Interleave/s.Ratio; interleave++ {
		cs = append(cs, claim{goal: s.commutes(ts, x, interleave)})
	}
	return cs
}

// prefill is what the prefill kernel gives row i.
func (s Setting) prefill(ts *Terms, x *Term, i int) *Term {
	interleave := s.Interleave
	if s.World > 1 {
		interleave /= s.Ratio
	}
	return metadata.PrefillLength(Device{ts}, x, ts.Int(s.NextN), ts.Int(i), ts.Int(s.Ratio), ts.Int(s.World), ts.Int(s.Rank), ts.Int(interleave))
}
