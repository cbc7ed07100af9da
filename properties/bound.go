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

func checkValueBound(_ context.Context, e *evidence) (*Violation, error) {
	machine, err := profile.MachineOf(e.s.Target)
	if err != nil {
		return nil, err
	}
	machine.Format = e.in.Format // a manifest may name another than the target's own
	v := Violation{Row: -1, Position: -1}
	for row := range e.in.Rows {
		if e.in.Visible[row] == 0 {
			continue
		}
		ref := e.referenceOf(row, machine)
		for pos := range e.in.Visible[row] {
			bits, written := e.at(row, pos)
			if !written {
				continue // for `writes` and `mask` to report
			}
			want, bound, err := ref.at(pos)
			if err != nil {
				return nil, err
			}
			if got := float64(math.Float32frombits(bits)); math.Abs(got-want) <= bound || math.IsInf(bound, 1) {
				continue
			}
			v.WrongRows++
			if v.Row < 0 {
				v.Row, v.Position = row, pos
				v.Expected, v.Got = fmt.Sprintf("%g within %g", want, bound), word(bits, true)
			}
			break
		}
	}
	if v.WrongRows == 0 {
		return nil, nil
	}
	return &v, nil
}

// rowReference is one row's logits in float64, and how far from them any
// kernel may be.
type rowReference struct {
	machine profile.Machine
	heads   int
	dim     int
	q, k    []byte // fp8 [heads][dim] and [positions][dim]
	weights []float32
	scales  []float32
	dots    *mat.Dense // [heads][visible positions], by gonum: exact, since fp8 products and their sums fit float64
	sizes   []profile.Size
}

func (e *evidence) referenceOf(row int, m profile.Machine) *rowReference {
	b, _ := e.request(row)
	d := e.c.HeadDim
	if e.keys == nil {
		e.keys = make(map[int]*mat.Dense)
	}
	keys, ok := e.keys[b]
	if !ok {
		keys = mat.NewDense(e.in.LocalLen(b), d, e.in.KMatrix(b))
		e.keys[b] = keys
	}
	dots := new(mat.Dense)
	dots.Mul(mat.NewDense(e.c.Heads, d, e.in.QMatrix(row)), keys.Slice(0, e.in.Visible[row], 0, d).T())
	return &rowReference{
		machine: m, heads: e.c.Heads, dim: d, q: e.in.QCodes(row), k: e.in.KCodes(b),
		weights: e.in.WeightRow(row), scales: e.in.Scales(b), dots: dots, sizes: make([]profile.Size, e.c.Heads),
	}
}

// at is the logit at pos and the bound on a kernel's distance from it. The
// reference's own sum over heads adds at most heads+2 roundings of 2^-53.
func (r *rowReference) at(pos int) (logit, bound float64, err error) {
	k := r.k[pos*r.dim : (pos+1)*r.dim]
	sum, magnitude := 0.0, 0.0
	for h := range r.heads {
		if r.sizes[h], err = profile.Measure(r.machine.Format, r.q[h*r.dim:(h+1)*r.dim], k); err != nil {
			return 0, 0, err
		}
		dot := r.dots.At(h, pos)
		if dot != r.sizes[h].Dot {
			return 0, 0, fmt.Errorf("the references disagree on the dot of head %d and position %d: %g by gonum, %g by integers", h, pos, dot, r.sizes[h].Dot)
		}
		term := float64(r.weights[h]) * max(dot, 0)
		sum += term
		magnitude += math.Abs(term)
	}
	scale := float64(r.scales[pos])
	bound, err = profile.Bound(r.machine.Rule, r.machine.Format, r.dim, r.sizes, r.weights, r.scales[pos])
	return sum * scale, bound + float64(r.heads+2)*0x1p-53*magnitude*math.Abs(scale), err
}
