package properties

import (
	"context"
	"fmt"

	"mqaproof/model"
)

var mask = Property{
	Name:     "mask",
	Sentence: "a logit is -inf, or left unwritten, exactly where the row may not see the position, as the counting oracle says",
	applies:  logitsKernel,
	check:    checkMask,
}

// MaskPicture is which positions each row should see and does see. The columns
// are the positions that matter: up to one past the last that differs.
type MaskPicture struct {
	Expected, Got [][]bool
}

// checkMask compares the positions that hold a value with the oracle's count.
// In the nan style a visible logit may itself be -inf (an infinite scale times
// a negative weight), so there only logits that must not be seen count.
func checkMask(_ context.Context, e *evidence) (*Violation, error) {
	v := Violation{Row: -1, Position: -1}
	for row := range e.in.Rows {
		pos := e.firstWrong(row)
		if pos < 0 {
			continue
		}
		v.WrongRows++
		if v.Row < 0 {
			v.Row, v.Position = row, pos
			v.Expected, v.Got = seen(pos < e.in.Visible[row]), seen(e.sees(row, pos))
			v.Detail = maySee(e.in.Visible[row])
		}
	}
	if v.WrongRows == 0 {
		return nil, nil
	}
	v.Mask = e.picture()
	return &v, nil
}

func maySee(n int) string {
	if n == 1 {
		return "the row may see 1 position"
	}
	return fmt.Sprintf("the row may see %d positions", n)
}

func seen(b bool) string {
	if b {
		return "a value"
	}
	return "-inf"
}

func (e *evidence) sees(row, pos int) bool {
	bits, written := e.at(row, pos)
	return written && bits != negInf
}

// firstWrong is the row's first position whose visibility is wrong, or -1.
func (e *evidence) firstWrong(row int) int {
	for pos := range e.base.Width {
		sees, should := e.sees(row, pos), pos < e.in.Visible[row]
		if sees != should && (sees || e.c.Data != model.NaN) {
			return pos
		}
	}
	return -1
}

func (e *evidence) picture() *MaskPicture {
	width := 0
	for row := range e.in.Rows {
		for pos := range e.base.Width {
			if e.sees(row, pos) || pos < e.in.Visible[row] {
				width = max(width, pos+1)
			}
		}
	}
	p := &MaskPicture{}
	for row := range e.in.Rows {
		want, got := make([]bool, width), make([]bool, width)
		for pos := range width {
			want[pos], got[pos] = pos < e.in.Visible[row], e.sees(row, pos)
		}
		p.Expected, p.Got = append(p.Expected, want), append(p.Got, got)
	}
	return p
}
