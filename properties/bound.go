package properties

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"gonum.org/v1/gonum/mat"

	"mqaproof/kernels"
	"mqaproof/model"
	"mqaproof/model/profile"
)

var valueBound = Property{
	Name:     "value-bound",
	Sentence: "every visible logit is as near to the exact value as any order of operations on this matrix core must come",
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
			bound, err := ref.bound(pos)
			if err != nil {
				return nil, err
			}
			exact, ok := model.ExactLogit(e.in, row, pos)
			if !ok {
				return nil, fmt.Errorf("row %d position %d has no exact value in the %s style", row, pos, e.c.Data)
			}
			if within(math.Float32frombits(bits), exact, bound) {
				continue
			}
			v.WrongRows++
			if v.Row < 0 {
				v.Row, v.Position = row, pos
				v.Expected, v.Got = fmt.Sprintf("%.9g within %.3g", exact, bound), word(bits, true)
			}
			break
		}
	}
	if v.WrongRows == 0 {
		return nil, nil
	}
	return &v, nil
}

// within reports |got - exact| <= bound without rounding the difference.
func within(got float32, exact *big.Float, bound float64) bool {
	switch {
	case math.IsInf(bound, 1):
		return true
	case math.IsNaN(float64(got)) || math.IsInf(float64(got), 0):
		return false
	}
	d := new(big.Float).SetPrec(exact.Prec()).SetFloat64(float64(got))
	d.Sub(d, exact)
	return d.Abs(d).Cmp(big.NewFloat(bound)) <= 0
}

// rowReference is what the bound of a row's logits is made of. Its dots come
// from two sources that must agree: float64 matrix products and integers.
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

// bound is how far from the exact logit at pos any kernel may be.
func (r *rowReference) bound(pos int) (float64, error) {
	k := r.k[pos*r.dim : (pos+1)*r.dim]
	for h := range r.heads {
		var err error
		if r.sizes[h], err = profile.Measure(r.machine.Format, r.q[h*r.dim:(h+1)*r.dim], k); err != nil {
			return 0, err
		}
		if dot := r.dots.At(h, pos); dot != r.sizes[h].Dot {
			return 0, fmt.Errorf("the references disagree on the dot of head %d and position %d: %g by gonum, %g by integers", h, pos, dot, r.sizes[h].Dot)
		}
	}
	return profile.Bound(r.machine.Rule, r.machine.Format, r.dim, r.sizes, r.weights, r.scales[pos])
}
