package properties

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"mqaproof/kernels"
	"mqaproof/model"
)

// evidence is what the properties of one case share: its inputs, the plain run
// and float64 keys, each made once.
type evidence struct {
	s    *kernels.Subject
	c    model.Case
	o    kernels.RunOptions
	in   *model.Inputs
	base *kernels.Result
	keys map[int]*mat.Dense // each request's k in float64, made when asked for
}

func newEvidence(ctx context.Context, s *kernels.Subject, c model.Case, o kernels.RunOptions) (*evidence, error) {
	in, err := s.Inputs(c)
	if err != nil {
		return nil, err
	}
	base, err := s.Run(ctx, in, o)
	if err != nil {
		return nil, err
	}
	return &evidence{s: s, c: c, o: o, in: in, base: base}, nil
}

// request and j of a row.
func (e *evidence) request(row int) (b, j int) { return row / e.c.NextN, row % e.c.NextN }

// bits of a logit and whether the kernel wrote it.
func (e *evidence) at(row, pos int) (bits uint32, written bool) {
	i := row*e.base.Width + pos
	return e.base.Logits[i], e.base.Written[i]
}

const negInf = 0xff800000
