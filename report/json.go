package report

import (
	"encoding/json"
	"io"
	"time"

	"mqaproof/model"
	"mqaproof/properties"
)

type subjectJSON struct {
	Subject    string `json:"subject"`
	Target     string `json:"target"`
	Wiring     string `json:"wiring"`
	Backend    string `json:"backend"`
	Unverified bool   `json:"unverified,omitempty"`
}

type outcomeJSON struct {
	subjectJSON
	Cases      int                   `json:"cases"`
	Seconds    float64               `json:"seconds"`
	Result     string                `json:"result"` // holds, announced fault, counterexample, not found, stopped, error
	Fault      string                `json:"fault,omitempty"`
	Error      string                `json:"error,omitempty"`
	Violation  *properties.Violation `json:"violation,omitempty"`
	Case       *model.Case           `json:"case,omitempty"`
	ShrinkRuns int                   `json:"shrink_runs,omitempty"`
	Corpus     string                `json:"corpus,omitempty"`
}

// JSON is the outcomes of a campaign as one object.
func JSON(w io.Writer, all []*Outcome, took time.Duration, seed uint64) error {
	n := Count(all)
	out := struct {
		Seed      uint64        `json:"seed"`
		Seconds   float64       `json:"seconds"`
		Hold      int           `json:"hold"`
		Announced int           `json:"announced_faults_found"`
		Surprises int           `json:"surprises"`
		Failed    int           `json:"could_not_run"`
		Subjects  []outcomeJSON `json:"subjects"`
	}{Seed: seed, Seconds: took.Seconds(), Hold: n.Hold, Announced: n.Announced, Surprises: n.Surprises, Failed: n.Failed}
	for _, o := range all {
		out.Subjects = append(out.Subjects, o.json())
	}
	return encode(w, out)
}

func (o *Outcome) json() outcomeJSON {
	s := o.Subject
	j := outcomeJSON{
		subjectJSON: subjectJSON{s.Name, s.Target, s.Wiring, s.Backend, !s.Verified()},
		Cases:       o.Cases, Seconds: o.Time.Seconds(), Fault: s.Fault(),
	}
	switch {
	case o.Err != nil:
		j.Result, j.Error = "error", o.Err.Error()
	case o.Find != nil && o.Find.Announced:
		j.Result = "announced fault"
	case o.Find != nil:
		j.Result = "counterexample"
	case o.Unfinished:
		j.Result = "stopped"
	case s.Fault() != "":
		j.Result = "not found"
	default:
		j.Result = "holds"
	}
	if f := o.Find; f != nil && f.Unsaved != nil {
		j.Error = f.Unsaved.Error()
	}
	if f := o.Find; f != nil {
		j.Violation, j.Case, j.ShrinkRuns, j.Corpus = f.Violation, &f.Minimal.Case, f.Minimal.Runs, f.Path
	}
	return j
}

type replayedJSON struct {
	subjectJSON
	Path       string                  `json:"file"`
	Setting    string                  `json:"setting,omitempty"`
	Case       model.Case              `json:"case"`
	Rows       int                     `json:"rows"`
	WrongRows  int                     `json:"rows_with_wrong_mask"`
	Violations []*properties.Violation `json:"violations"`
	Error      string                  `json:"error,omitempty"`
}

// ReplaysJSON is replays of cases and of sequences as one array.
func ReplaysJSON(w io.Writer, all []*Replayed, sequences []ReplayedSequence) error {
	out := []any{}
	for _, s := range sequences {
		out = append(out, s)
	}
	for _, r := range all {
		s := r.Subject
		j := replayedJSON{
			subjectJSON: subjectJSON{s.Name, s.Target, s.Wiring, s.Backend, !s.Verified()},
			Path:        r.Path, Setting: r.Setting.String(), Case: r.Case, Rows: r.Rows, WrongRows: r.WrongRows, Violations: r.Violations,
		}
		if r.Err != nil {
			j.Error = r.Err.Error()
		}
		out = append(out, j)
	}
	return encode(w, out)
}

func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
