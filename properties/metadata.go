package properties

import (
	"context"
	"fmt"

	"mqaproof/kernels"
)

var metadata = Property{
	Name: "metadata",
	Sentence: "the table equals the counting oracle, the per-request lengths equal its last column, and the lengths that the kernel " +
		"derives or computes equal the table; what a metadata kernel of a step writes is what the builder's model makes",
	applies: always,
	check:   checkMetadata,
}

func checkMetadata(_ context.Context, e *evidence) (*Violation, error) {
	n := e.c.NextN
	native := e.s.Manifest.Kind == kernels.Metadata && e.s.Manifest.Step == nil
	v := Violation{Row: -1, Position: -1}
	blame := func(row int, want, got int, what string) {
		v.WrongRows++
		if v.Row < 0 {
			v.Row, v.Expected, v.Got, v.Detail = row, fmt.Sprint(want), fmt.Sprint(got), what
		}
	}
	for row := range e.in.Rows {
		b, j := e.request(row)
		table := int(e.in.Table[row])
		switch {
		case table != e.in.Visible[row]:
			blame(row, e.in.Visible[row], table, "the model's table against the oracle's count")
		case j == n-1 && int(e.in.PerRequest[b]) != table:
			blame(row, table, int(e.in.PerRequest[b]), "the model's per-request length against the table's last column")
		case native && int(e.base.Table[row]) != table:
			blame(row, table, int(e.base.Table[row]), "the kernels' table against the model's")
		case native && j == n-1 && int(e.base.PerRequest[b]) != table:
			blame(row, table, int(e.base.PerRequest[b]), "the kernels' per-request length against the table's last column")
		case e.s.Manifest.Kind == kernels.Logits && e.c.Data != "nan" && e.derived(row) != table:
			blame(row, table, e.derived(row), "the length that the kernel derives for the row against the table")
		}
	}
	if v.WrongRows == 0 {
		return e.checkStep()
	}
	return &v, nil
}

// checkStep holds the outputs of a metadata kernel of a step to the builder's
// model: every element that it must write, and none besides.
func (e *evidence) checkStep() (*Violation, error) {
	want, err := e.s.Expected(e.in)
	if err != nil {
		return nil, err
	}
	v := Violation{Row: -1, Position: -1}
	wrong, all := 0, 0
	for i, w := range want {
		got := e.base.Outputs[i]
		all += len(w.Values)
		for k := range w.Values {
			if w.Written[k] == got.Written[k] && (!w.Written[k] || w.Values[k] == got.Values[k]) {
				continue
			}
			if wrong++; wrong == 1 {
				v.Expected, v.Got = element(&w, k), element(&got, k)
				v.Detail = fmt.Sprintf("%s[%d]", w.Tensor, k)
			}
		}
	}
	if wrong == 0 {
		return nil, nil
	}
	v.Detail = fmt.Sprintf("%d of %d output elements, first %s", wrong, all, v.Detail)
	return &v, nil
}

func element(o *kernels.Output, k int) string {
	if !o.Written[k] {
		return "unwritten"
	}
	return fmt.Sprint(o.Values[k])
}

// derived is the row's length as the kernel's mask shows it: one past the last
// position that holds a value.
func (e *evidence) derived(row int) int {
	for pos := e.base.Width - 1; pos >= 0; pos-- {
		if e.sees(row, pos) {
			return pos + 1
		}
	}
	return 0
}
