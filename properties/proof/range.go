package proof

import (
	"math"

	"mqaproof/model/metadata"
)

func intRange() Theorem {
	return Theorem{
		Name:     "range",
		Sentence: "for lengths up to the model's maximum nothing overflows 32 bits, no length is negative, and no page lies past the block table",
		Parts: []Part{
			{
				Name:     "int32",
				Sentence: "every intermediate value of table, prefill row and slot fits 32 bits",
				settings: where(always),
				claims:   claimInt32,
			},
			{
				Name:     "lengths",
				Sentence: "table and prefill lengths are from 0 to the length of the request",
				settings: where(always),
				claims:   claimSigns,
			},
			{
				Name:     "page",
				Sentence: "every state's page is from 0 to below ceil(max_len / (W * page)), for pages of one and two runs of I positions (states of r without DCP)",
				settings: where(func(s Setting) bool { return s.NextN == 1 }),
				claims:   claimPages,
			},
		},
	}
}

func claimInt32(ts *Terms, s Setting, d Domain) []claim {
	x, p := ts.Var("L"), ts.Var("p")
	decode := claim{hi: d.MaxLen, within: int32s(s.row(ts, x)...)}
	prefill := claim{lo: int64(s.NextN), hi: d.MaxLen, within: int32s(s.prefill(ts, x, 0), s.prefill(ts, x, s.NextN-1))}
	page, offset := s.place(ts, p, s.pageStates(1))
	slot := claim{hi: d.MaxLen - 1, within: int32s(page, offset, metadata.Unfinished(Device{ts}, p, ts.Int(s.Ratio)))}
	return []claim{decode, prefill, slot}
}

// int32s bounds every term that the given ones are made of.
func int32s(roots ...*Term) []bound {
	var bs []bound
	seen := map[*Term]bool{}
	var walk func(*Term)
	walk = func(t *Term) {
		if seen[t] {
			return
		}
		seen[t] = true
		if t.kind != constant && t.kind != variable {
			bs = append(bs, bound{t, math.MinInt32, math.MaxInt32})
		}
		for _, p := range t.parts() {
			walk(p)
		}
	}
	for _, t := range roots {
		walk(t)
	}
	return bs
}

func claimSigns(ts *Terms, s Setting, d Domain) []claim {
	x := ts.Var("L")
	sized := func(lo int64, t *Term) claim {
		return claim{
			lo: lo, hi: d.MaxLen,
			goal:   ts.and(ts.le(ts.Int(0), t), ts.le(t, x)),
			within: []bound{{t, 0, d.MaxLen}, {ts.Sub(x, t), 0, d.MaxLen}},
		}
	}
	var cs []claim
	for j, t := range s.row(ts, x) {
		cs = append(cs, sized(0, t), sized(int64(s.NextN), s.prefill(ts, x, j)))
	}
	return cs
}

// pageStates is the number of states of a page of some runs of positions.
func (s Setting) pageStates(runs int) int {
	if s.World == 1 {
		return runs
	}
	return runs * s.Interleave / s.Ratio
}

// place is where the slot kernel puts the state of the token at p.
func (s Setting) place(ts *Terms, p *Term, pageStates int) (page, offset *Term) {
	return metadata.StatePlace(Device{ts}, p, ts.Int(s.Ratio), ts.Int(s.World), ts.Int(s.Interleave), ts.Int(pageStates))
}

func claimPages(ts *Terms, s Setting, d Domain) []claim {
	p := ts.Var("p")
	var cs []claim
	for _, runs := range []int{1, 2} {
		states := s.pageStates(runs)
		tokens := int64(states * s.Ratio * s.World)
		width := (d.MaxLen + tokens - 1) / tokens
		page, _ := s.place(ts, p, states)
		goal := ts.and(ts.le(ts.Int(0), page), ts.le(page, ts.Int(int(width)-1)))
		cs = append(cs, claim{hi: d.MaxLen - 1, goal: goal, within: []bound{{page, 0, width - 1}}})
	}
	return cs
}
