package kernels

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mqaproof/model"
)

// sizeLimit is one list of a manifest's limits with the case's field.
type sizeLimit struct {
	name    string
	allowed []int
	of      func(*model.Case) *int
}

func (l *Limits) lists() []sizeLimit {
	return []sizeLimit{
		{"heads", l.Heads, func(c *model.Case) *int { return &c.Heads }},
		{"head_dim", l.HeadDim, func(c *model.Case) *int { return &c.HeadDim }},
		{"page", l.Page, func(c *model.Case) *int { return &c.Page }},
		{"next_n", l.NextN, func(c *model.Case) *int { return &c.NextN }},
		{"ratio", l.Ratio, func(c *model.Case) *int { return &c.Ratio }},
	}
}

// Accepts says why the subject is not meant to run the case: the case itself
// is wrong, a limit of the kernel is broken, or the wiring is not meant for
// it; nil when it is.
func (s *Subject) Accepts(c model.Case) error {
	if err := s.runs(c); err != nil {
		return err
	}
	ok, err := s.meant(c)
	if err == nil && !ok {
		err = fmt.Errorf("%s: wiring %s is meant for cases with %s", s, s.Wiring, s.Manifest.Wirings[s.Wiring].Where)
	}
	return err
}

// Meant reports whether the wiring is meant to hold on the case. A case on
// which it is not can still be run, to see what comes out.
func (s *Subject) Meant(c model.Case) bool {
	ok, err := s.meant(c)
	return ok && err == nil
}

func (s *Subject) meant(c model.Case) (bool, error) {
	e := s.Manifest.compiled.wirings[s.Wiring]
	if e == nil {
		return true, nil
	}
	ok, err := s.condition(e, c)
	if err != nil {
		return false, fmt.Errorf("%s: wirings.%s.where: %w", s, s.Wiring, err)
	}
	return ok, nil
}

// runs checks the case and the kernel's limits, not the wiring's condition.
func (s *Subject) runs(c model.Case) error {
	if c.Layout == "" && len(s.Manifest.Layouts) > 0 {
		c.Layout = s.Manifest.Layouts[0]
	}
	if err := c.Validate(); err != nil {
		return err
	}
	if len(s.Manifest.Layouts) > 0 && !slices.Contains(s.Manifest.Layouts, c.Layout) {
		return fmt.Errorf("%s: accepts layout %s; the case has %s", s, joinLayouts(s.Manifest.Layouts), c.Layout)
	}
	c = c.Normalise()
	for _, l := range s.Manifest.Limits.lists() {
		if got := *l.of(&c); l.allowed != nil && !slices.Contains(l.allowed, got) {
			return fmt.Errorf("%s: accepts %s %s; the case has %d", s, l.name, joinInts(l.allowed), got)
		}
	}
	if e := s.Manifest.compiled.limits; e != nil {
		ok, err := s.condition(e, c)
		if err != nil {
			return fmt.Errorf("%s: limits.where: %w", s, err)
		}
		if !ok {
			return fmt.Errorf("%s: accepts only cases with %s", s, s.Manifest.Limits.Where)
		}
	}
	return nil
}

func (s *Subject) condition(e *expression, c model.Case) (bool, error) {
	c = c.Normalise()
	v, err := s.Manifest.compiled.conditions.of(func(name string) int { return caseVar(&c, name) })
	if err != nil {
		return false, err
	}
	return e.bool(v)
}

// Fit makes one saved case fit for this kernel: a layout or page that the
// kernel does not accept, and sizes that the case leaves open (zero), become
// the kernel's own. Requests, next_n and sizes that the case gives stay as
// they are; where the kernel cannot take them, or would need a page or layout
// that its limits do not name, the error says which limit stands against it.
// The wiring's condition is not asked: see Meant.
func (s *Subject) Fit(c model.Case) (model.Case, error) {
	c.Heads = orOpen(c.Heads, s.Manifest.Limits.Heads, defaultHeads)
	c.HeadDim = orOpen(c.HeadDim, s.Manifest.Limits.HeadDim, defaultHeadDim)

	var first error
	for _, layout := range s.layoutsFor(c.Layout) {
		for _, page := range s.pagesFor(c.Page, layout) {
			try := c
			try.Layout, try.Page = layout, page
			err := s.runs(try)
			if err == nil {
				return try, nil
			}
			if first == nil {
				first = err
			}
		}
	}
	if first == nil { // never: both lists have an element
		first = errors.New("no layout or page to try")
	}
	return model.Case{}, first
}

// Sizes for a case that leaves them open to a kernel that takes any: those of
// DeepSeek-V3.2's indexer.
const (
	defaultHeads   = 64
	defaultHeadDim = 128
	defaultPage    = 64
)

func orOpen(got int, allowed []int, otherwise int) int {
	switch {
	case got != 0:
		return got
	case len(allowed) == 0 || slices.Contains(allowed, otherwise):
		return otherwise
	}
	return allowed[0]
}

// layoutsFor is the layouts to try, the case's own first.
func (s *Subject) layoutsFor(own model.Layout) []model.Layout {
	allowed := s.Manifest.Layouts
	switch {
	case len(allowed) == 0: // the kernel reads no cache
		return []model.Layout{own}
	case slices.Contains(allowed, own):
		return append([]model.Layout{own}, without(allowed, own)...)
	}
	return allowed
}

// pagesFor is the pages to try, the case's own first. With no list in the
// limits there may still be a condition on the page: the usual sizes follow.
func (s *Subject) pagesFor(own int, layout model.Layout) []int {
	allowed := s.Manifest.Limits.Page
	if allowed == nil {
		allowed = []int{defaultPage, 16, 128, 256, 1}
		if layout == model.Interleaved {
			allowed = []int{1, 16, defaultPage}
		}
		if own == 0 {
			return allowed
		}
		return append([]int{own}, without(allowed, own)...)
	}
	if slices.Contains(allowed, own) {
		return append([]int{own}, without(allowed, own)...)
	}
	return allowed
}

func without[T comparable](list []T, v T) []T {
	return slices.DeleteFunc(slices.Clone(list), func(x T) bool { return x == v })
}

func joinInts(list []int) string {
	s := make([]string, len(list))
	for i, v := range list {
		s[i] = strconv.Itoa(v)
	}
	return strings.Join(s, ", ")
}

func joinLayouts(list []model.Layout) string {
	s := make([]string, len(list))
	for i, v := range list {
		s[i] = string(v)
	}
	return strings.Join(s, ", ")
}
