package properties

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mqaproof/kernels"
	"mqaproof/model"
	"mqaproof/model/profile"
)

var valueBound = Property{
	Name:     "value-bound",
	Sentence: "every visible logit is as near to the float64 reference as any order of operations on this matrix core must come",
	applies:  func(s *kernels.Subject, c model.Case) bool { return logitsKernel(s, c) && c.Data != model.NaN },
	check:    checkValueBound,
}

// checkValueBound compares with a reference of gonum's matrix product and
// float64 sums. The dots of fp8 values are exact there; the sum over heads adds
// at most (heads+2) roundings of 2^-53 to the kernel's bound.
func checkValueBound(_ context.Context, e *evidence) (*Violation, error) {
	machine, err := profile.MachineOf(e.s.Target)
	if err != nil {
		return nil, err
	}
	v := Violation{Row: -1, Position: -1}
	heads := e.c.Heads
	sizes := make([]profile.Size, heads)
	for row := range e.in.Rows {
		n := e.in.Visible[row]
		if n == 0 {
			continue
		}
		b, _ := e.request(row)
		weights, scales := e.in.WeightRow(row), e.in.Scales(b)
		q, k := e.in.QCodes(row), e.in.KCodes(b)
		dots := e.dots(row, b, n)
		wrong := false
		for pos := range n {
			bits, written := e.at(row, pos)
			if !written || wrong {
				continue
			}
			sum, magnitude := 0.0, 0.0
			for h := range heads {
				dot := dots.At(h, pos)
				if sizes[h], err = profile.Measure(e.in.Format, q[h*e.c.HeadDim:(h+1)*e.c.HeadDim], k[pos*e.c.HeadDim:(pos+1)*e.c.HeadDim]); err != nil {
					return nil, err
				}
				if sizes[h].Dot != dot {
					return nil, fmt.Errorf("the references disagree on the dot of row %d head %d position %d: %g as integers, %g by gonum", row, h, pos, sizes[h].Dot, dot)
				}
				term := float64(weights[h]) * max(dot, 0)
				sum += term
				magnitude += math.Abs(term)
			}
			scale := float64(scales[pos])
			bound, err := profile.Bound(machine.Rule, e.in.Format, e.c.HeadDim, sizes, weights, scales[pos])
			if err != nil {
				return nil, err
			}
			bound += float64(heads+2) * 0x1p-53 * magnitude * math.Abs(scale)
			got := float64(math.Float32frombits(bits))
			if math.Abs(got-sum*scale) <= bound || math.IsInf(bound, 1) {
				continue
			}
			wrong = true
			v.WrongRows++
			if v.Row < 0 {
				v.Row, v.Position = row, pos
				v.Expected, v.Got = fmt.Sprintf("%g within %g", sum*scale, bound), word(bits, true)
			}
		}
	}
	if v.WrongRows == 0 {
		return nil, nil
	}
	return &v, nil
}

// dots is q times k transposed, [heads][n positions], of one row.
func (e *evidence) dots(row, request, n int) *mat.Dense {
	d := e.c.HeadDim
	q := mat.NewDense(e.c.Heads, d, e.in.QMatrix(row))
	if e.keys == nil {
		e.keys = make(map[int]*mat.Dense)
	}
	k, ok := e.keys[request]
	if !ok {
		k = mat.NewDense(e.in.LocalLen(request), d, e.in.KMatrix(request))
		e.keys[request] = k
	}
	var dots mat.Dense
	dots.Mul(q, k.Slice(0, n, 0, d).T())
	return &dots
}
