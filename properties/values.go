package properties

import (
	"context"
	"fmt"
	"math"

	"mqaproof/kernels"
	"mqaproof/model"
	"mqaproof/model/profile"
)

var exactValue = Property{
	Name:     "exact-value",
	Sentence: "on exact data every visible logit has the one float32 that any order of correct operations gives",
	applies:  func(s *kernels.Subject, c model.Case) bool { return logitsKernel(s, c) && c.Data == model.Exact },
	check: func(_ context.Context, e *evidence) (*Violation, error) {
		return e.values(func(row int, want []uint32) error {
			exact, err := e.in.ExactRow(row)
			for i := range want {
				want[i] = math.Float32bits(exact[i])
			}
			return err
		}, sameExact, "")
	},
}

var profileValue = Property{
	Name:     "profile-value",
	Sentence: "every visible logit has the bits that the kernel's numeric profile gives, on any data",
	applies: func(s *kernels.Subject, c model.Case) bool {
		return logitsKernel(s, c) && s.Manifest.Profile != ""
	},
	check: func(_ context.Context, e *evidence) (*Violation, error) {
		p, err := e.s.NumericProfile()
		if err != nil {
			return nil, err
		}
		if p.Covers(e.c.Heads, e.c.HeadDim) != nil {
			return nil, nil // a derived profile tells nothing of shapes it was not derived at
		}
		return e.values(func(row int, want []uint32) error {
			b, _ := e.request(row)
			q := profile.Row{Q: e.in.QCodes(row), Weights: e.in.WeightRow(row)}
			n := len(want)
			return p.Logits(q, e.in.KCodes(b)[:n*e.c.HeadDim], e.in.Scales(b)[:n], want)
		}, profile.Same, "profile "+p.String())
	},
}

// values compares the bits of every visible logit that was written with those
// that expect gives for the row's visible positions.
func (e *evidence) values(expect func(row int, want []uint32) error, same func(want, got uint32) bool, detail string) (*Violation, error) {
	v := Violation{Row: -1, Position: -1, Detail: detail}
	var want []uint32
	for row := range e.in.Rows {
		n := e.in.Visible[row]
		if n == 0 {
			continue
		}
		if cap(want) < n {
			want = make([]uint32, n)
		}
		want = want[:n]
		if err := expect(row, want); err != nil {
			return nil, err
		}
		for pos := range n {
			got, written := e.at(row, pos)
			if !written || same(want[pos], got) {
				continue // an unwritten logit is for `writes` and `mask` to report
			}
			v.WrongRows++
			if v.Row < 0 {
				v.Row, v.Position, v.Expected, v.Got = row, pos, word(want[pos], true), word(got, true)
			}
			break
		}
	}
	if v.WrongRows == 0 {
		return nil, nil
	}
	return &v, nil
}

// sameExact: the sign of an exact zero depends on the order of summation.
func sameExact(x, y uint32) bool { return x == y || (x|y)&0x7fffffff == 0 }

// word is a logit for people: its value and, since the last bit may be what
// differs, its bits.
func word(bits uint32, written bool) string {
	if !written {
		return "unwritten"
	}
	return fmt.Sprintf("%g (%#08x)", math.Float32frombits(bits), bits)
}
