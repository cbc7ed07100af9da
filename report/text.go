package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"mqaproof/properties"
	"mqaproof/shrink"
)

const row = "%-28s %-7s %-12s %7s %7s  %s\n"

// Header is the head of the table of outcomes.
func Header(w io.Writer) {
	fmt.Fprintf(w, row, "subject", "target", "wiring", "cases", "time", "result")
}

// Text is the line of one outcome and, for a counterexample, its minimal case.
func (o *Outcome) Text(w io.Writer) {
	s := o.Subject
	fmt.Fprintf(w, row, s.Name, s.Target, s.Wiring, fmt.Sprint(o.Cases), seconds(o.Time), o.result())
	f := o.Find
	if f == nil {
		return
	}
	Minimal(w, f.Violation, f.Minimal)
	switch {
	case f.Unsaved != nil:
		fmt.Fprintf(w, "    NOT SAVED: %v\n", f.Unsaved)
	case f.Path != "":
		fmt.Fprintf(w, "    again: mqaproof replay %s\n", f.Path)
	}
}

// Minimal is a shrunk case and its violation.
func Minimal(w io.Writer, v *properties.Violation, min shrink.Outcome) {
	fmt.Fprintf(w, "    %s (shrunk in %d runs)\n", min.Case, min.Runs)
	if drawn(v.Mask) {
		maskText(w, v.Mask, min.Case.NextN)
	} else {
		fmt.Fprintf(w, "    %s\n", v)
	}
}

func (o *Outcome) result() string {
	var r string
	switch {
	case o.Err != nil && o.Find != nil:
		r = fmt.Sprintf("COUNTEREXAMPLE: %s; then it could not be run: %v", short(o.Find.Violation), o.Err)
	case o.Err != nil:
		r = "could not be run: " + o.Err.Error()
	case o.Find != nil && o.Find.Announced:
		r = fmt.Sprintf("FAULT %s (announced): %s", o.Subject.Fault(), short(o.Find.Violation))
	case o.Find != nil:
		r = "COUNTEREXAMPLE: " + short(o.Find.Violation)
	case o.Unfinished:
		r = fmt.Sprintf("stopped; %d properties held so far", o.Properties)
	case o.Subject.Fault() != "":
		r = fmt.Sprintf("announced fault %s NOT FOUND", o.Subject.Fault())
	default:
		r = fmt.Sprintf("holds %d properties", o.Properties)
	}
	if !o.Subject.Verified() && o.Err == nil {
		r += " (unverified)"
	}
	return r
}

func short(v *properties.Violation) string {
	if v.WrongRows > 0 {
		return fmt.Sprintf("%s, %d of %d rows", v.Property, v.WrongRows, v.Rows)
	}
	return v.Property
}

// drawn is whether a mask is small enough for a picture.
func drawn(m *properties.MaskPicture) bool {
	const maxRows, maxPositions = 16, 64
	return m != nil && len(m.Expected) > 0 && len(m.Expected) <= maxRows && len(m.Expected[0]) <= maxPositions
}

// maskText draws each row's mask: '#' where it sees a position, '.' where not.
func maskText(w io.Writer, m *properties.MaskPicture, nextN int) {
	width := max(len(m.Expected[0]), len("expected"))
	fmt.Fprintf(w, "    %-18s %-*s  got\n", "", width, "expected")
	for i := range m.Expected {
		fmt.Fprintf(w, "    %-18s %-*s  %s\n", fmt.Sprintf("row %d (j=%d)", i, i%nextN), width, cells(m.Expected[i]), cells(m.Got[i]))
	}
}

func cells(bs []bool) string {
	var b strings.Builder
	for _, x := range bs {
		if x {
			b.WriteByte('#')
		} else {
			b.WriteByte('.')
		}
	}
	return b.String()
}

// Summary is the last line of a campaign.
func Summary(w io.Writer, all []*Outcome, took time.Duration, seed uint64) {
	n := Count(all)
	fmt.Fprintf(w, "%d subjects: %d hold, %d announced faults found, %d surprises", len(all), n.Hold, n.Announced, n.Surprises)
	if n.Failed > 0 {
		fmt.Fprintf(w, ", %d could not be run or saved", n.Failed)
	}
	if n.Unfinished > 0 {
		fmt.Fprintf(w, ", %d stopped early", n.Unfinished)
	}
	fmt.Fprintf(w, ". %s, seed %d.\n", seconds(took), seed)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }

// Counts of outcomes by kind.
type Counts struct{ Hold, Announced, Surprises, Failed, Unfinished int }

// Count sorts outcomes by kind.
func Count(all []*Outcome) Counts {
	var n Counts
	for _, o := range all {
		switch {
		case o.Surprise():
			n.Surprises++
		case o.Err != nil || o.Find != nil && o.Find.Unsaved != nil:
			n.Failed++
		case o.Find != nil:
			n.Announced++
		case o.Unfinished:
			n.Unfinished++
		default:
			n.Hold++
		}
	}
	return n
}

// Text is the lines of one replay.
func (r *Replayed) Text(w io.Writer) {
	s := r.Subject
	what := r.Setting.String()
	if what != "" {
		what = ", " + what
	}
	head := fmt.Sprintf("%-28s %-7s %-12s", s.Name, s.Target, s.Wiring)
	if r.Err != nil {
		fmt.Fprintf(w, "%s not run%s: %v\n", head, what, r.Err)
		return
	}
	fmt.Fprintf(w, "%s %d of %d rows with a wrong mask%s", head, r.WrongRows, r.Rows, what)
	var others []string
	for _, v := range r.Violations {
		if v.Property != "mask" {
			others = append(others, v.Property)
		}
	}
	if len(others) > 0 {
		fmt.Fprintf(w, "; also broken: %s", strings.Join(others, ", "))
	} else if len(r.Violations) == 0 {
		fmt.Fprint(w, "; all properties hold")
	}
	if !s.Verified() {
		fmt.Fprint(w, " (unverified)")
	}
	fmt.Fprintln(w)
}

// Details are the violations of a replay, one after the other.
func (r *Replayed) Details(w io.Writer) {
	for _, v := range r.Violations {
		fmt.Fprintf(w, "    %s\n", v)
		if drawn(v.Mask) {
			maskText(w, v.Mask, r.Case.NextN)
		}
	}
}
