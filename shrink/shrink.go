// Package shrink takes a failing case to a minimal one. It works on cases, not
// on random bits: each step proposes a strictly simpler case of the same kind
// (fewer requests, shorter contexts, ...), and keeps it only when a run shows
// that it still fails.
//
// The order of the steps and of the proposals within a step is fixed, so the
// same case and the same test give the same minimum. Steps are repeated until
// a whole round changes nothing: at that fixed point no single proposal of any
// step fails any more.
package shrink

import (
	"context"
	"encoding/json"
	"fmt"

	"mqaproof/model"
)

// Test says whether a case still fails. It is asked at most once for any case.
// Cases that the subject does not accept are simply not failing.
type Test func(context.Context, model.Case) (bool, error)

// Outcome is a minimal case and what it took.
type Outcome struct {
	Case  model.Case
	Runs  int // cases run, the given one not counted
	Steps int // of those, simplifications that were kept
}

// Case shrinks c, which fails test. It stops early, with the simplest case so
// far and ctx's error, when ctx ends. progress, if not nil, is called after
// each run.
func Case(ctx context.Context, c model.Case, test Test, progress func(Outcome)) (Outcome, error) {
	s := shrinker{ctx: ctx, test: test, progress: progress, seen: map[string]bool{}, out: Outcome{Case: c}}
	s.seen[key(c)] = true
	for {
		before := s.out.Steps
		for _, step := range steps {
			if err := s.apply(step); err != nil {
				return s.out, err
			}
		}
		if s.out.Steps == before {
			return s.out, nil
		}
	}
}

type shrinker struct {
	ctx      context.Context
	test     Test
	progress func(Outcome)
	seen     map[string]bool // every case that was run: none is run twice
	out      Outcome
}

// apply takes the first of a step's proposals that still fails, and asks the
// step again, until none does.
func (s *shrinker) apply(propose step) error {
	for {
		kept := false
		for c := range propose(s.out.Case) {
			fails, err := s.try(c)
			if err != nil {
				return err
			}
			if fails {
				s.out.Case = c
				s.out.Steps++
				kept = true
				break
			}
		}
		if !kept {
			return nil
		}
	}
}

func (s *shrinker) try(c model.Case) (bool, error) {
	if err := s.ctx.Err(); err != nil {
		return false, err
	}
	k := key(c)
	if s.seen[k] || c.Validate() != nil {
		return false, nil
	}
	s.seen[k] = true
	fails, err := s.test(s.ctx, c)
	s.out.Runs++
	if s.progress != nil {
		s.progress(s.out)
	}
	return fails, err
}

func key(c model.Case) string {
	b, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("a case always marshals: %v", err)) // plain fields only
	}
	return string(b)
}
