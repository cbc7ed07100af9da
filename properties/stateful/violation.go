package stateful

import (
	"fmt"
	"strings"

	"mqaproof/sim/serving"
)

// Property is a named claim about every step of an engine.
type Property struct {
	Name     string
	Sentence string
	check    func(*Checker, *serving.Record) *Violation
}

// Properties is every property, in the order in which they are checked: a
// later one means little where an earlier one fails. The last, kernel, runs
// real kernels and so only on some steps: see Options.KernelEvery.
func Properties() []Property {
	return []Property{buffers, fresh, padding, pages, slots, visible, match, logits, kernel}
}

// Violation is how a property failed. Numbers that do not apply are -1.
type Violation struct {
	Property string `json:"property"`
	Step     int    `json:"step"`  // index of the step
	Rank     int    `json:"rank"`  //
	Layer    int    `json:"layer"` //
	Row      int    `json:"row"`   // of the table: request*columns + column
	Expected string `json:"expected,omitempty"`
	Got      string `json:"got,omitempty"`
	Detail   string `json:"detail"`
}

// String is the violation as one line.
func (v *Violation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, step %d", v.Property, v.Step+1)
	for _, f := range []struct {
		name string
		v    int
	}{{"rank", v.Rank}, {"layer", v.Layer}, {"row", v.Row}} {
		if f.v >= 0 {
			fmt.Fprintf(&b, ", %s %d", f.name, f.v)
		}
	}
	fmt.Fprintf(&b, ": %s", v.Detail)
	if v.Expected != "" || v.Got != "" {
		fmt.Fprintf(&b, ": expected %s, got %s", v.Expected, v.Got)
	}
	return b.String()
}

// nowhere is a violation of the whole step; callers fill in what they know.
func nowhere(format string, args ...any) *Violation {
	return &Violation{Rank: -1, Layer: -1, Row: -1, Detail: fmt.Sprintf(format, args...)}
}

func (v *Violation) at(rank, layer, row int) *Violation {
	v.Rank, v.Layer, v.Row = rank, layer, row
	return v
}

func (v *Violation) want(expected, got any) *Violation {
	v.Expected, v.Got = fmt.Sprint(expected), fmt.Sprint(got)
	return v
}
