package report

import (
	"fmt"
	"io"
	"time"

	"mqaproof/corpus"
	"mqaproof/properties/stateful"
	"mqaproof/sim/serving"
)

const servingRow = "%-22s %9s %9s %7s  %s\n"

// ServingHeader is the head of the table of a serving simulation.
func ServingHeader(w io.Writer) {
	fmt.Fprintf(w, servingRow, "engine's fault", "sequences", "steps", "time", "result")
}

// Serving is the line of one outcome of a serving simulation.
func Serving(w io.Writer, o *stateful.Outcome) {
	var result string
	switch {
	case o.Find == nil && o.Fault == serving.NoFault:
		result = fmt.Sprintf("holds %d properties", len(stateful.Properties()))
	case o.Find == nil:
		result = "planted fault NOT FOUND"
	case o.Fault == serving.NoFault:
		result = "COUNTEREXAMPLE: " + o.Find.Violation.String()
	default:
		result = "FAULT (planted): " + o.Find.Violation.Property
	}
	fmt.Fprintf(w, servingRow, o.Fault, fmt.Sprint(o.Sequences), fmt.Sprint(o.Steps), seconds(o.Time), result)
	if o.Find == nil {
		return
	}
	fmt.Fprintf(w, "    %s\n    %d steps, shrunk in %d runs from %d\n", o.Find.Violation, len(o.Find.Minimal.Steps), o.Find.Runs, len(o.Find.Generated.Steps))
	if o.Find.Path != "" {
		fmt.Fprintf(w, "    again: mqaproof replay %s\n", o.Find.Path)
	}
}

type servingJSON struct {
	Fault     string              `json:"fault"`
	Sequences int                 `json:"sequences"`
	Steps     int                 `json:"steps"`
	Seconds   float64             `json:"seconds"`
	Surprise  bool                `json:"surprise"`
	Violation *stateful.Violation `json:"violation,omitempty"`
	Minimal   *serving.Sequence   `json:"minimal,omitempty"`
	Corpus    string              `json:"corpus,omitempty"`
}

// ServingJSON is a serving simulation's outcomes as one object.
func ServingJSON(w io.Writer, all []stateful.Outcome, took time.Duration, seed uint64) error {
	out := struct {
		Seed     uint64        `json:"seed"`
		Seconds  float64       `json:"seconds"`
		Outcomes []servingJSON `json:"outcomes"`
	}{Seed: seed, Seconds: took.Seconds(), Outcomes: []servingJSON{}}
	for _, o := range all {
		j := servingJSON{Fault: o.Fault.String(), Sequences: o.Sequences, Steps: o.Steps, Seconds: o.Time.Seconds(), Surprise: o.Surprise()}
		if o.Find != nil {
			j.Violation, j.Minimal, j.Corpus = o.Find.Violation, &o.Find.Minimal, o.Find.Path
		}
		out.Outcomes = append(out.Outcomes, j)
	}
	return encode(w, out)
}

// ReplayedSequence is one saved sequence of engine steps run again.
type ReplayedSequence struct {
	Path      string              `json:"file"`
	Subject   string              `json:"subject"`
	Fault     string              `json:"fault"`
	Steps     int                 `json:"steps"`
	Violation *stateful.Violation `json:"violation,omitempty"`
}

// NewReplayedSequence joins an entry and what came of it.
func NewReplayedSequence(e corpus.Named, r *stateful.Replayed) ReplayedSequence {
	return ReplayedSequence{Path: e.Path, Subject: e.Subject.Name, Fault: r.Fault.String(), Steps: r.Steps, Violation: r.Violation}
}

// Sequence is the lines of a replayed sequence.
func Sequence(w io.Writer, e corpus.Named, r *stateful.Replayed) {
	fmt.Fprintf(w, "%s: %s, fault %s\n", e.Path, e.Shape(), r.Fault)
	if e.Note != "" {
		fmt.Fprintf(w, "  %s\n", e.Note)
	}
	if r.Violation == nil {
		fmt.Fprintf(w, "  all properties hold: the saved violation of %s no longer shows\n", e.Property)
		return
	}
	fmt.Fprintf(w, "  %s\n", r.Violation)
}
