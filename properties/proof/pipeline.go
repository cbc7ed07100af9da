package proof

import (
	"fmt"

	"mqaproof/model/metadata"
)

// config is the builder's configuration at a setting.
func (s Setting) config(tokens int) metadata.Config {
	c := metadata.Config{
		NumSpeculativeTokens: s.NextN - 1,
		CompressRatio:        s.Ratio,
		DCPWorldSize:         s.World,
		DCPRank:              s.Rank,
		CPInterleave:         s.Interleave,
		MaxNumBatchedTokens:  tokens,
	}
	for n := range s.NextN {
		c.NativeNextN = append(c.NativeNextN, n+1)
	}
	return c
}

// shape is that of a step of the given query lengths and padding tokens.
func shape(padding int, depths ...int) metadata.Shape {
	s := metadata.Shape{Starts: make([]int32, 1, len(depths)+1)}
	for i, n := range depths {
		s.Starts = append(s.Starts, s.Starts[i]+int32(n))
	}
	s.Tokens = s.Actual() + padding
	return s
}

// lengths is the builder's way of the lengths, over terms. What its buffers
// hold before the first step is a length of its own, so that it shows.
func lengths(ts *Terms, cfg metadata.Config) *metadata.Lengths[*Term, *Terms] {
	l, err := metadata.NewLengths(ts, cfg, ts.Var("stale"))
	if err != nil {
		// Settings are those that the builder accepts: see valid.
		panic(fmt.Sprintf("proof: the builder refuses a setting of the grid: %v", err))
	}
	return l
}

// row is the table row of a request of length x whose n query tokens all
// decode, by the native path; for n = 1 by that of the request's own length.
func (s Setting) row(ts *Terms, x *Term) []*Term {
	return lengths(ts, s.config(s.NextN)).Decode(shape(0, s.NextN), []*Term{x}).SeqLens
}

// derived is what a kernel that is given one length per request sees in row j:
// the positions up to length - n + j.
func (s Setting) derived(ts *Terms, length *Term, j int) *Term {
	return ts.Max(ts.Int(0), ts.Add(length, ts.Int(j+1-s.NextN)))
}

// counted is the number of states of the rule below x.
func (ts *Terms) counted(r Rule, x *Term) *Term {
	return ts.new(Term{kind: counted, rule: &r, a: x})
}

// completes says that position p, not negative, completes a state of the rule.
func (ts *Terms) completes(r Rule, p *Term) *Term {
	owner := metadata.Mod(ts, ts.Div(p, ts.Int(r.Interleave)), ts.Int(r.World))
	last := metadata.Mod(ts, ts.Add(p, ts.Int(1)), ts.Int(r.Ratio))
	return ts.and(ts.eq(owner, ts.Int(r.Rank)), ts.eq(last, ts.Int(0)))
}

// counts says, for a solver, that f(x) counts the states below x + shift for
// all x >= 0: f(0) is 0, and a longer request gains the state that the position
// x + shift completes, if it does. Shift is at most 0.
func (ts *Terms) counts(r Rule, x *Term, shift int, f func(*Term) *Term) *Term {
	p := ts.Add(x, ts.Int(shift))
	gained := ts.choose(ts.and(ts.le(ts.Int(0), p), ts.completes(r, p)), ts.Int(1), ts.Int(0))
	return ts.and(
		ts.eq(f(ts.Int(0)), ts.Int(0)),
		ts.eq(f(ts.Add(x, ts.Int(1))), ts.Add(f(x), gained)))
}
