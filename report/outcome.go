// Package report is what people look at: tables, masks drawn as pictures, and
// the same facts as JSON.
package report

import (
	"time"

	"mqaproof/corpus"
	"mqaproof/kernels"
	"mqaproof/model"
	"mqaproof/properties"
	"mqaproof/shrink"
)

// Outcome is what a campaign found of one subject.
type Outcome struct {
	Subject    *kernels.Subject
	Cases      int
	Properties int // that apply to the subject
	Time       time.Duration
	Find       *Find // nil: every property held on every case
	Err        error // the subject could not be run (on)
	Unfinished bool  // stopped by the user
}

// Find is a counterexample.
type Find struct {
	Violation *properties.Violation // of the minimal case
	Index     int                   // of the generated case that showed it
	Case      model.Case            // as generated
	Minimal   shrink.Outcome
	Announced bool   // it is the fault that the subject's manifest announces
	Path      string // of the corpus file; "" when not saved
	Unsaved   error  // why it could not be saved
}

// Surprise reports whether the outcome is not what the manifest announces: a
// fault that it does not name, or one that it names and that was not found.
func (o *Outcome) Surprise() bool {
	if o.Find != nil {
		return !o.Find.Announced
	}
	return o.Err == nil && !o.Unfinished && o.Subject.Fault() != ""
}

// Replayed is one saved case run again on one subject under one setting.
type Replayed struct {
	Path       string
	Entry      *corpus.Entry
	Subject    *kernels.Subject
	Setting    corpus.Setting
	Case       model.Case // as run
	Violations []*properties.Violation
	Rows       int
	WrongRows  int   // of the mask, for a kernel that gives logits
	Err        error // the case cannot be run on this subject
}

// Find gives the violation of the property, or nil.
func (r *Replayed) Find(property string) *properties.Violation {
	for _, v := range r.Violations {
		if v.Property == property {
			return v
		}
	}
	return nil
}
