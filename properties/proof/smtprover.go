package proof

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"
)

// smtProver is a solver with a theory.
type smtProver struct {
	solver
	theory
	perQuery time.Duration
}

func (p smtProver) proverName() string { return p.solver.name + "-" + p.theory.name }

// firstTry is what a query about integers may take at first: one that takes
// longer is decided sooner for each remainder of its length.
const firstTry = 2 * time.Second

func (p smtProver) flagsFor(again bool) []string {
	d := p.perQuery
	if !p.bits && !again {
		d = min(d, firstTry)
	}
	return p.flags(p.theory, d, again)
}

// prove proves a theorem; a query that is left undecided gets a process of its
// own, and one about an integer length is cut by the length's remainders. The
// input is the text by which anyone can do it again.
func (p smtProver) prove(ctx context.Context, t Theorem, d Domain, progress func(part, done, total int)) (fs []finding, input string, err error) {
	s := newScript(p.theory)
	for i, part := range t.Parts {
		s.partQueries(i, part, t.Name+"/"+part.Name, d)
		if !part.Refuted {
			continue
		}
		// The smallest counterexample, at the first setting.
		w, c, ts, err := p.smallest(ctx, part, d, nil)
		if err != nil {
			return nil, "", err
		}
		if w != nil {
			what := fmt.Sprintf("%s/%s at %s", t.Name, part.Name, w.Setting)
			at := func(op string) func(string) string {
				return func(name string) string {
					return fmt.Sprintf("(%s %s %s)", op, name, p.number(w.Length))
				}
			}
			below := "<"
			if p.bits {
				below = "bvslt"
			}
			s.ask(query{part: i, setting: w.Setting, sat: true, what: what + ": the smallest counterexample"}, []claim{c}, ts, at("="))
			s.ask(query{part: i, setting: w.Setting, what: what + ": there is no smaller one"}, []claim{c}, ts, at(below))
		}
	}
	input = s.text.String()
	fs = make([]finding, len(t.Parts))
	answers := make([]string, len(s.queries))
	total, done := make([]int, len(t.Parts)), make([]int, len(t.Parts))
	for _, q := range s.queries {
		total[q.part]++
	}
	err = p.run(ctx, input, len(s.queries), p.flagsFor(false), func(i int, a string) {
		answers[i] = a
		part := s.queries[i].part
		done[part]++
		if progress != nil {
			progress(part, done[part], total[part])
		}
	})
	if err != nil {
		return nil, "", err
	}
	for i, q := range s.queries {
		if answers[i] != "unknown" {
			continue
		}
		var cut string
		if answers[i], cut, err = p.again(ctx, q); err != nil {
			return nil, "", err
		}
		if answers[i] != "unknown" {
			fs[q.part].again++
			input += cut
		}
	}
	for i := range t.Parts {
		again := fs[i].again
		if fs[i], err = p.find(ctx, i, t.Parts[i], s.queries, answers, d); err != nil {
			return nil, "", err
		}
		fs[i].again = again
	}
	return fs, input, nil
}

// again asks a query that was left undecided once more: about an integer length
// for each remainder of the length by the setting's period, which then divides
// evenly, and otherwise as it is. cut is the text of the queries by remainders.
func (p smtProver) again(ctx context.Context, q query) (answer, cut string, err error) {
	var parts []string
	if !p.bits {
		parts = q.byRemainder()
	}
	if parts == nil {
		err = p.run(ctx, p.prelude()+q.text, 1, p.flagsFor(true), func(_ int, a string) { answer = a })
		return answer, "", err
	}
	cut = strings.Join(parts, "")
	answers := make([]string, len(parts))
	if err := p.run(ctx, p.prelude()+cut, len(parts), p.flagsFor(false), func(i int, a string) { answers[i] = a }); err != nil {
		return "", "", err
	}
	answer = "unsat" // unless some remainder says otherwise
	for i, part := range parts {
		// A process of its own may decide what one with many queries before it
		// does not, with either choice of flags.
		for _, other := range []bool{false, true} {
			if answers[i] != "unknown" {
				break
			}
			if err := p.run(ctx, p.prelude()+part, 1, p.flagsFor(other), func(_ int, a string) { answers[i] = a }); err != nil {
				return "", "", err
			}
		}
		if answer != "sat" && answers[i] != "unsat" {
			answer = answers[i]
		}
	}
	return answer, cut, nil
}

// find sums the answers about a part up.
func (p smtProver) find(ctx context.Context, i int, part Part, queries []query, answers []string, d Domain) (finding, error) {
	var f finding
	var last Setting
	var refutedAt *Setting
	for k, q := range queries {
		if q.part != i {
			continue
		}
		if q.claims == 0 { // about the smallest counterexample
			if answers[k] == "unknown" {
				f.unknown++
			} else if (answers[k] == "sat") != q.sat {
				return f, fmt.Errorf("proof: %s contradicts itself: %s is %s", p.proverName(), q.what, answers[k])
			}
			continue
		}
		if f.settings == 0 || q.setting != last {
			f.settings++
			last = q.setting
		}
		f.claims += q.claims
		switch answers[k] {
		case "unknown":
			f.unknown += q.claims
		case "sat":
			if refutedAt == nil {
				refutedAt = &q.setting
			}
		case "unsat":
			if f.held == nil {
				f.held = &q.setting
			}
		}
	}
	if refutedAt == nil {
		return f, nil
	}
	w, _, _, err := p.smallest(ctx, part, d, refutedAt)
	if err != nil {
		return f, err
	}
	if w == nil {
		w = &Witness{*refutedAt, -1} // found false, but the length not found in time
	}
	f.refuted = w
	return f, nil
}

// smallest looks for the lowest length at which the first claim that can be
// false is, at the given setting or the part's first. It is nil if the solver
// finds none or does not answer.
func (p smtProver) smallest(ctx context.Context, part Part, d Domain, at *Setting) (*Witness, claim, *Terms, error) {
	for setting := range part.settings(d.axes(p.keep)) {
		if at != nil && setting != *at {
			continue
		}
		ts := &Terms{}
		for _, c := range part.claims(ts, setting, d) {
			hi := c.hi
			if hi == 0 {
				hi = math.MaxInt32 - 1
			}
			// false says whether the claim can be false at a length up to x.
			can := func(x int64) (bool, error) {
				s := newScript(p.theory)
				s.ask(query{sat: true}, []claim{c}, ts, func(name string) string {
					return p.operator(lessEqual, []string{name, p.number(x)})
				})
				sat := false
				err := p.run(ctx, s.text.String(), 1, p.flagsFor(false), func(_ int, a string) { sat = a == "sat" })
				return sat, err
			}
			low, high := c.lo-1, c.lo
			for {
				sat, err := can(high)
				if err != nil {
					return nil, claim{}, nil, err
				}
				if sat {
					break
				}
				if high == hi {
					low = high
					break
				}
				low, high = high, min(hi, high+2*(high-c.lo)+1)
			}
			if low == hi {
				continue
			}
			for high-low > 1 {
				mid := low + (high-low)/2
				sat, err := can(mid)
				if err != nil {
					return nil, claim{}, nil, err
				}
				if sat {
					high = mid
				} else {
					low = mid
				}
			}
			return &Witness{setting, high}, c, ts, nil
		}
		return nil, claim{}, nil, nil
	}
	return nil, claim{}, nil, nil
}
