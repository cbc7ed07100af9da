// Package properties is what must hold of a subject: each property a named
// value with a sentence, checked on one case at a time, and the generators of
// cases. It never asks which backend ran, and it leaves shrinking to package
// shrink.
package properties

import (
	"context"
	"fmt"
	"strings"

	"mqaproof/kernels"
	"mqaproof/model"
)

// Property is a named claim about one subject on one case.
type Property struct {
	Name     string
	Sentence string
	// applies says whether the claim means anything for the subject and case.
	applies func(s *kernels.Subject, c model.Case) bool
	// check gives nil when the claim holds.
	check func(ctx context.Context, e *evidence) (*Violation, error)
}

// Violation is how a property failed: where first, what was expected and what
// came, and how many of the rows are affected.
type Violation struct {
	Property  string       `json:"property"`
	Row       int          `json:"row"`      // first wrong row (request*next_n + j); -1 when no row is to blame
	Position  int          `json:"position"` // first wrong position of that row; -1 when none
	Expected  string       `json:"expected,omitempty"`
	Got       string       `json:"got,omitempty"`
	Detail    string       `json:"detail,omitempty"`
	WrongRows int          `json:"wrong_rows"`
	Rows      int          `json:"rows"`
	Mask      *MaskPicture `json:"-"`
}

func (v *Violation) String() string {
	var b strings.Builder
	b.WriteString(v.Property)
	if v.WrongRows > 0 {
		fmt.Fprintf(&b, ", %d of %d rows", v.WrongRows, v.Rows)
	}
	if v.Row >= 0 {
		fmt.Fprintf(&b, ", first at row %d", v.Row)
		if v.Position >= 0 {
			fmt.Fprintf(&b, " position %d", v.Position)
		}
	}
	if v.Expected != "" || v.Got != "" {
		fmt.Fprintf(&b, ": expected %s, got %s", v.Expected, v.Got)
	}
	if v.Detail != "" {
		fmt.Fprintf(&b, ": %s", v.Detail)
	}
	return b.String()
}

// All is every property, in the order in which they are checked and reported:
// a later one means little where an earlier one fails.
func All() []Property {
	return []Property{ends, reads, writes, determinism, mask, exactValue, valueBound, profileValue, metadata, invariance}
}

// Find gives the property called name.
func Find(name string) (Property, error) {
	var names []string
	for _, p := range All() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Property{}, fmt.Errorf("no property is called %q; there are %s", name, strings.Join(names, ", "))
}

// Applying is the properties that mean something for the subject on some case.
func Applying(s *kernels.Subject) []Property {
	var ps []Property
	for _, p := range All() {
		if p.applies(s, model.Case{Data: model.Exact}) || p.applies(s, model.Case{Data: model.Normal}) {
			ps = append(ps, p)
		}
	}
	return ps
}

// Check runs the subject on the case, as often as the properties need, and
// gives a violation for each property that fails, in the properties' order.
// An error means that the case could not be run at all.
func Check(ctx context.Context, s *kernels.Subject, c model.Case, ps []Property, o kernels.RunOptions) ([]*Violation, error) {
	e, err := newEvidence(ctx, s, c, o)
	if err != nil {
		return nil, err
	}
	var found []*Violation
	for _, p := range ps {
		if !p.applies(s, c) {
			continue
		}
		if e.base.Trap != nil && p.Name != ends.Name {
			continue // the run has no result to speak of
		}
		v, err := p.check(ctx, e)
		if err != nil {
			return found, fmt.Errorf("checking %s of %s: %w", p.Name, s, err)
		}
		if v != nil {
			v.Property = p.Name
			v.Rows = e.in.Rows
			found = append(found, v)
		}
	}
	return found, nil
}

func logitsKernel(s *kernels.Subject, _ model.Case) bool { return s.Manifest.Kind == kernels.Logits }

func always(*kernels.Subject, model.Case) bool { return true }
