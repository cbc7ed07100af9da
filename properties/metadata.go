package properties

import (
	"context"
	"fmt"

	"mqaproof/kernels"
)

var metadata = Property{
	Name: "metadata",
	Sentence: "the table equals the counting oracle, the per-request lengths equal its last column, and the lengths that the kernel " +
		"derives or computes equal the table",
	applies: always,
	check:   checkMetadata,
}

func checkMetadata(_ context.Context, e *evidence) (*Violation, error) {
	n := e.c.NextN
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
		case e.s.Manifest.Kind == kernels.Metadata && int(e.base.Table[row]) != table:
			blame(row, table, int(e.base.Table[row]), "the kernels' table against the model's")
		case e.s.Manifest.Kind == kernels.Metadata && j == n-1 && int(e.base.PerRequest[b]) != table:
			blame(row, table, int(e.base.PerRequest[b]), "the kernels' per-request length against the table's last column")
		case e.s.Manifest.Kind == kernels.Logits && e.c.Data != "nan" && e.derived(row) != table:
			blame(row, table, e.derived(row), "the length that the kernel derives for the row against the table")
		}
	}
	if v.WrongRows == 0 {
		return nil, nil
	}
	return &v, nil
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
