package exhaust

import (
	"fmt"

	"mqaproof/model/metadata"
)

// walk passes the positions of a request one after the other and counts the
// states that are complete on the rank. It divides nothing: an owner's run, a
// round of owners, a state and a page each have a counter.
type walk struct {
	s Setting

	owner, inRun int // who holds the next position, and how many of its run were passed
	inState      int // tokens of the state under way
	states       int // complete on this rank

	page, inPage int // place of the next state of this rank
}

// pass passes one position. Complete says whether it completed a state on this
// rank, owned whether the rank holds it; page and offset are that state's place.
func (w *walk) pass() (owned, complete bool, page, offset int) {
	owned = w.owner == w.s.Rank
	if w.inState++; w.inState == w.s.Ratio {
		w.inState = 0
		if owned {
			complete, page, offset = true, w.page, w.inPage
			w.states++
			if w.inPage++; w.inPage == w.s.Page {
				w.page, w.inPage = w.page+1, 0
			}
		}
	}
	if w.inRun++; w.inRun == w.s.Interleave {
		w.inRun = 0
		if w.owner++; w.owner == w.s.World {
			w.owner = 0
		}
	}
	return owned, complete, page, offset
}

// counts is how many states a token sees whose global length is x, for x from
// first up to and with last.
type counts struct {
	first  int
	states []int32
}

func (c *counts) of(x int) int32 { return c.states[x-c.first] }

// judge gives the counts by the proved formula, held to the walk at every
// length from 0.
func (s Setting) judge(first, last int) (*counts, *Counterexample) {
	c := &counts{first: max(first, 0)}
	a := metadata.Int32{}
	w := walk{s: s}
	for x := range last + 1 {
		if x > 0 {
			w.pass()
		}
		if x < c.first {
			continue
		}
		n := metadata.Compress(a, metadata.Localize(a, int32(x), int32(s.World), int32(s.Rank), int32(s.Interleave)), int32(s.Ratio))
		if int(n) != w.states {
			return nil, &Counterexample{Setting: s, Length: x, Tensor: "(no kernel)", Expected: fmt.Sprint(w.states), Got: fmt.Sprint(n),
				Detail: "the model's formula against counting"}
		}
		c.states = append(c.states, n)
	}
	return c, nil
}
