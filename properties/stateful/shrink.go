package stateful

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"mqaproof/sim/serving"
)

// Shrunk is a minimal sequence and what it took.
type Shrunk struct {
	Sequence  serving.Sequence
	Violation *Violation
	Runs      int // sequences run, the given one not counted
	Kept      int // of those, simplifications that were kept
}

// proposal gives sequences that are strictly simpler than the given one in one
// respect, the simplest first.
type proposal func(serving.Sequence) iter.Seq[serving.Sequence]

// proposals in the order in which they are applied. No later one undoes an
// earlier one, so that shrinking ends.
var proposals = []proposal{
	fewerSteps, mergedSteps, compressionOff, ranksOff, smallerNumbers, fewerCaptures, nativeRows,
	fewerEvents, smallerEvents, fewerPages,
}

// Shrink takes a sequence on which the engine with the fault fails the
// violation's property to a minimal one on which it still does: no single
// proposal makes it simpler. The order of proposals is fixed, so the same
// sequence gives the same minimum. It stops early, with the simplest sequence
// so far and ctx's error, when ctx ends. progress, if not nil, is given the
// number of runs.
func Shrink(ctx context.Context, seq serving.Sequence, f serving.Fault, v *Violation, progress func(runs int)) (Shrunk, error) {
	s, err := newShared(ctx, kernelEvery(v.Property))
	if err != nil {
		return Shrunk{Sequence: seq, Violation: v}, err
	}
	sh := shrinker{
		shared: s, ctx: ctx, fault: f, progress: progress, seen: map[string]bool{},
		out: Shrunk{Sequence: seq, Violation: v},
	}
	sh.cut()
	sh.seen[key(sh.out.Sequence)] = true
	for {
		before := sh.out.Kept
		for _, p := range proposals {
			if err := sh.apply(p); err != nil {
				return sh.out, err
			}
		}
		if sh.out.Kept == before {
			return sh.out, nil
		}
	}
}

// kernelEvery is how often a kernel must run for a property to fail again.
func kernelEvery(property string) int {
	if property == kernel.Name {
		return 1
	}
	return 0
}

type shrinker struct {
	*shared
	ctx      context.Context
	fault    serving.Fault
	progress func(int)
	seen     map[string]bool // every sequence that was run: none is run twice
	out      Shrunk
}

// cut leaves out what comes after the violation.
func (s *shrinker) cut() {
	if n := s.out.Violation.Step + 1; n < len(s.out.Sequence.Steps) {
		s.out.Sequence.Steps = slices.Clone(s.out.Sequence.Steps[:n])
	}
}

// apply takes the first proposal that still fails, and asks again, until none
// does.
func (s *shrinker) apply(p proposal) error {
	for {
		kept := false
		for seq := range p(s.out.Sequence) {
			v, err := s.try(seq)
			if err != nil {
				return err
			}
			if v != nil {
				s.out.Sequence, s.out.Violation = seq, v
				s.out.Kept++
				s.cut()
				kept = true
				break
			}
		}
		if !kept {
			return nil
		}
	}
}

// try gives the violation of the property that is shrunk for, nil when the
// sequence has none.
func (s *shrinker) try(seq serving.Sequence) (*Violation, error) {
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	k := key(seq)
	if s.seen[k] || seq.Engine.Validate() != nil {
		return nil, nil
	}
	s.seen[k] = true
	v, err := s.run(s.ctx, seq, s.fault)
	s.out.Runs++
	if s.progress != nil {
		s.progress(s.out.Runs)
	}
	if err != nil || v == nil || v.Property != s.out.Violation.Property {
		return nil, err
	}
	return v, nil
}

func key(s serving.Sequence) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("a sequence always marshals: %v", err)) // plain fields only
	}
	return string(b)
}
