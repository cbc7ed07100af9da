package stateful

import (
	"context"
	"fmt"

	"mqaproof/corpus"
	"mqaproof/sim/serving"
)

// Subject is what entries of sequences name as their subject.
const Subject = "serving/engine"

// BackendSim is their backend.
const BackendSim = "sim"

// NewEntry is the corpus entry of a find.
func NewEntry(f *Find, fault serving.Fault, tool string) *corpus.Entry {
	e := &corpus.Entry{
		Tool:     tool,
		Subject:  corpus.Subject{Name: Subject, Backend: BackendSim},
		Property: f.Violation.Property,
		Expected: corpus.Expected{Row: f.Violation.Row, Position: -1, Detail: f.Violation.String()},
		Sequence: &f.Minimal,
	}
	if fault != serving.NoFault {
		e.Fault, e.Note = fault.String(), fault.Sentence()
	}
	return e
}

// Replayed is what came of a saved sequence.
type Replayed struct {
	Fault     serving.Fault
	Steps     int        // of the sequence
	Violation *Violation // nil: every property held
	Same      bool       // the saved property failed again
}

// Replay puts an engine with the entry's fault through its sequence.
func Replay(ctx context.Context, e *corpus.Entry) (*Replayed, error) {
	if e.Sequence == nil {
		return nil, fmt.Errorf("the entry %s has a case, no sequence of steps: replay it on its kernel", e.FileName())
	}
	f, err := serving.ParseFault(e.Fault)
	if err != nil {
		return nil, err
	}
	v, err := Run(ctx, *e.Sequence, f, kernelEvery(e.Property))
	if err != nil {
		return nil, err
	}
	return &Replayed{Fault: f, Steps: len(e.Sequence.Steps), Violation: v, Same: v != nil && v.Property == e.Property}, nil
}
