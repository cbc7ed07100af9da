package calibrate

import (
	"fmt"
	"io"
	"strings"

	"mqaproof/model/matrixcore"
)

// Explained reports whether some rule of the family gives every output.
func (r *Report) Explained() bool { return len(r.Fits) > 0 }

// WriteText writes the report for people; the rule to use as a Go value.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	device := r.Device
	if device == "" {
		device = "an unnamed GPU"
	}
	fmt.Fprintf(&b, "%s on %s, runtime %s: %d dot products in %d tiles\n", r.Target, device, r.Runtime, r.Outputs, r.Tiles)
	if r.Explained() {
		r.writeFits(&b)
	} else {
		r.writeNone(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) writeFits(b *strings.Builder) {
	first := &r.Fits[0]
	fmt.Fprintf(b, "Every one is what %s gives", nameOf(first.Names))
	if len(r.Fits) > 1 {
		fmt.Fprintf(b, "; so do %d other rules that differ from it elsewhere", len(r.Fits)-1)
	}
	fmt.Fprintf(b, ".\n%.6g of the %.3g rules of the family fit.\n", float64(r.members()), float64(r.Tried))
	if r.ZeroSigns > 0 {
		fmt.Fprintf(b, "%d zeros have the other sign, which rules say nothing about.\n", r.ZeroSigns)
	}
	for i := range r.Fits {
		f := &r.Fits[i]
		if i == 8 {
			fmt.Fprintf(b, "\n%d more are in the JSON report.\n", len(r.Fits)-i)
			break
		}
		fmt.Fprintf(b, "\n%s\n", GoValue(&f.Rule))
		if f.Order != InOrder.String() {
			fmt.Fprintf(b, "with k lying %s in the registers of the f8f6f4 instructions\n", f.Order)
		}
		for _, open := range f.Open {
			fmt.Fprintf(b, "no output depends on which it is: %s\n", open)
		}
	}
}

func (r *Report) members() (n Count) {
	for i := range r.Fits {
		n += r.Fits[i].Members
	}
	return n
}

func (r *Report) writeNone(b *strings.Builder) {
	n := r.Nearest
	fmt.Fprintf(b, "No rule of the family gives all of them (%.3g were tried).\n", float64(r.Tried))
	fmt.Fprintf(b, "The nearest found is %s, which gives %d of %d:\n\n%s\n", nameOf(n.Names), n.Equal, r.Outputs, GoValue(&n.Rule))
	if n.Order != InOrder.String() {
		fmt.Fprintf(b, "with k lying %s in the registers of the f8f6f4 instructions\n", n.Order)
	}
	f := &n.Refuted
	fmt.Fprintf(b, "\nFirst refuted by tile %d of %s, row %d, column %d:\n  A %s\n  B %s\n  C %s (%v)\n  measured %s\n  by the rule %s\n",
		f.Tile, f.Instruction, f.Row, f.Col, f.A, f.B, f.CBits, f.C, f.Got, f.Want)
	for _, in := range r.Instructions {
		if len(in.Fits) == 0 {
			fmt.Fprintf(b, "\n%s alone: no rule fits.\n", in.Instruction)
			continue
		}
		fmt.Fprintf(b, "\n%s alone: every output is what %s gives:\n\n%s\n", in.Instruction, nameOf(in.Fits[0].Names), GoValue(&in.Fits[0].Rule))
	}
}

func nameOf(names []string) string {
	if len(names) == 0 {
		return "a rule without a name"
	}
	return strings.Join(names, ", ")
}

// GoValue is the rule as a Go value, fields of value zero left out.
func GoValue(r *matrixcore.Rule) string {
	var b strings.Builder
	b.WriteString("&matrixcore.Rule{\n")
	line := func(field, format string, args ...any) {
		fmt.Fprintf(&b, "\t%-16s"+format+",\n", append([]any{field + ":"}, args...)...)
	}
	cut := func(field string, c matrixcore.Cut) {
		if c != (matrixcore.Cut{}) {
			line(field, "matrixcore.Cut{Bits: %d, Rounding: matrixcore.%s}", c.Bits, roundingName(c.Rounding))
		}
	}
	flag := func(field string, set bool) {
		if set {
			line(field, "true")
		}
	}
	line("Name", "%q", r.Name)
	flag("Verified", r.Verified)
	line("Source", "%q", r.Source)
	line("Group", "%d", r.Group)
	line("SubSums", "%d", r.SubSums)
	cut("Product", r.Product)
	cut("SubSum", r.SubSum)
	if r.Join == matrixcore.JoinEarly {
		line("Join", "matrixcore.JoinEarly")
	} else {
		line("Join", "matrixcore.JoinLate")
		cut("Sum", r.Sum)
		cut("Acc", r.Acc)
		line("AccReach", "%d", r.AccReach)
	}
	if r.ResultBits > 0 {
		line("ResultBits", "%d", r.ResultBits)
		if r.ResultRounding != matrixcore.Trunc {
			line("ResultRounding", "matrixcore.%s", roundingName(r.ResultRounding))
		}
	}
	flag("AddC", r.AddC)
	if r.Lanes == matrixcore.Consecutive {
		line("Lanes", "matrixcore.Consecutive")
	}
	flag("Normalise", r.Normalise)
	flag("FlushFP8", r.FlushFP8)
	flag("FlushFloat32", r.FlushFloat32)
	b.WriteString("}")
	return b.String()
}

// roundingName is the constant's name.
func roundingName(r matrixcore.Rounding) string {
	switch r {
	case matrixcore.Floor:
		return "Floor"
	case matrixcore.Nearest:
		return "Nearest"
	}
	return "Trunc"
}
