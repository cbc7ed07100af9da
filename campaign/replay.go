package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mqaproof/corpus"
	"mqaproof/kernels"
	"mqaproof/properties"
	"mqaproof/report"
)

// Replay runs a saved case, and the further settings it names, on the
// subjects, checking every property.
func Replay(ctx context.Context, e corpus.Named, subjects []*kernels.Subject, o kernels.RunOptions, each func(*report.Replayed)) error {
	settings := append([]corpus.Setting{{DCP: e.Case.DCP, Ratio: e.Case.Ratio}}, e.Also...)
	for _, s := range subjects {
		for i, setting := range settings {
			if err := ctx.Err(); err != nil {
				return err
			}
			// Further settings ask what one length per request can describe; other
			// wirings say the same of them as of the case itself.
			if i > 0 && s.Wiring != "last-column" {
				continue
			}
			each(replayOne(ctx, e, s, setting, o))
		}
	}
	return nil
}

func replayOne(ctx context.Context, e corpus.Named, s *kernels.Subject, setting corpus.Setting, o kernels.RunOptions) *report.Replayed {
	r := &report.Replayed{Path: e.Path, Entry: e.Entry, Subject: s, Setting: setting}
	c, err := s.Fit(setting.Apply(e.Case))
	if err != nil {
		r.Err = fmt.Errorf("%s does not take the case: %w", s, err)
		return r
	}
	r.Case, r.Rows = c, len(c.Requests)*c.NextN
	r.Violations, r.Err = properties.Check(ctx, s, c, properties.All(), o)
	for _, v := range r.Violations {
		if v.Property == "mask" {
			r.WrongRows = v.WrongRows
		}
	}
	return r
}

// Choice is what the user asks a replay to run on; empty fields choose all.
type Choice struct {
	Subject, Wiring, Target string
	Own                     bool // subjects are the user's own: take them all
}

// ErrNotInstalled is wrapped by the error of SubjectsFor when none of the
// subjects is there.
var ErrNotInstalled = errors.New("no subject to replay it on")

// SubjectsFor is the subjects on which an entry is replayed: those chosen, or
// else the entry's own kernel and target and those that the entry names in On,
// less those with another fault of their own. With allWirings an entry's own
// kernel runs with each of its wirings, else with the entry's.
func SubjectsFor(e *corpus.Entry, all []*kernels.Subject, want Choice, allWirings bool) ([]*kernels.Subject, error) {
	globs := []string{e.Subject.Name}
	switch {
	case want.Own:
		globs = []string{"*"}
	case want.Subject != "":
		globs = []string{want.Subject}
	case allWirings:
		globs = append(globs, e.On...)
	}
	var matches []func(*kernels.Subject) bool
	for _, g := range globs {
		m, err := kernels.Matcher(g)
		if err != nil {
			return nil, err
		}
		matches = append(matches, m)
	}
	var chosen []*kernels.Subject
	for _, s := range all {
		own := s.Name == e.Subject.Name && want.Subject == ""
		switch {
		case !own && want == (Choice{}) && s.Fault() != "" && s.Fault() != e.Fault,
			want.Wiring != "" && s.Wiring != want.Wiring,
			want.Target != "" && s.Target != want.Target,
			want.Wiring == "" && own && !allWirings && s.Wiring != e.Subject.Wiring,
			want.Target == "" && own && s.Target != e.Subject.Target:
			continue
		}
		if slices.ContainsFunc(matches, func(m func(*kernels.Subject) bool) bool { return m(s) }) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("%w: %s is not installed (see `mqaproof kernels list` and `mqaproof kernels import --help`), or --subject, --wiring or --target leave none", ErrNotInstalled, e.Subject.Name)
	}
	return chosen, nil
}
