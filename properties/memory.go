package properties

import (
	"context"
	"fmt"

	"mqaproof/kernels"
	"mqaproof/model"
	"mqaproof/model/profile"
	"mqaproof/sim/gpu"
)

var reads = Property{
	Name:     "reads",
	Sentence: "no byte outside a tensor is read, and none that nobody wrote",
	applies:  always,
	check: func(_ context.Context, e *evidence) (*Violation, error) {
		return e.faultOf(func(k gpu.FaultKind) bool {
			return k == gpu.OutOfBoundsRead || k == gpu.UninitialisedRead || k == gpu.Misaligned
		}), nil
	},
}

var writes = Property{
	Name:     "writes",
	Sentence: "every logit that the row may see is written, and nothing is written outside the logits that the kernel owns",
	applies:  always,
	check:    checkWrites,
}

// checkWrites: no store outside a tensor; every visible logit stored; no store
// past the row's last whole tile (or past the row's length for a kernel that
// leaves the rest alone).
func checkWrites(_ context.Context, e *evidence) (*Violation, error) {
	if v := e.faultOf(func(k gpu.FaultKind) bool { return k == gpu.OutOfBoundsWrite || k == gpu.ReadOnlyWrite }); v != nil {
		return v, nil
	}
	if e.s.Manifest.Kind != kernels.Logits {
		return nil, nil
	}
	tile, err := e.s.Tile(e.in)
	if err != nil {
		return nil, err
	}
	v := Violation{Row: -1, Position: -1}
	for row := range e.in.Rows {
		pos, what := e.wrongWrite(row, tile)
		if pos < 0 {
			continue
		}
		v.WrongRows++
		if v.Row < 0 {
			v.Row, v.Position, v.Detail = row, pos, what
		}
	}
	if v.WrongRows == 0 {
		return nil, nil
	}
	return &v, nil
}

func (e *evidence) wrongWrite(row, tile int) (pos int, what string) {
	end := e.in.Visible[row]
	if e.s.Manifest.Tile != "" { // whole tiles, up to the request's last row's length
		b, _ := e.request(row)
		last := e.in.Visible[(b+1)*e.c.NextN-1]
		end = min((last+tile-1)/tile*tile, e.base.Width)
	}
	for pos := range e.base.Width {
		_, written := e.at(row, pos)
		if !written && pos < e.in.Visible[row] {
			return pos, "a visible logit was never written"
		}
		if written && pos >= end {
			return pos, fmt.Sprintf("written past position %d, where the row's part of the logits ends", end)
		}
	}
	return -1, ""
}

func (e *evidence) faultOf(wanted func(gpu.FaultKind) bool) *Violation {
	for _, f := range e.base.Faults {
		if wanted(f.Kind) {
			return &Violation{Row: -1, Position: -1, Detail: f.String()}
		}
	}
	return nil
}

var determinism = Property{
	Name:     "determinism",
	Sentence: "run again with its waves scheduled in another order, the kernel gives the same bits, and no two workgroups race",
	applies:  always,
	check: func(ctx context.Context, e *evidence) (*Violation, error) {
		if v := e.faultOf(func(k gpu.FaultKind) bool { return k == gpu.Race }); v != nil {
			return v, nil
		}
		o := e.o
		o.Order = e.c.Seed | 1
		again, err := e.s.Run(ctx, e.in, o)
		if err != nil {
			return nil, err
		}
		return e.compare(again, "with its waves in another order", func(row int) int { return row }), nil
	},
}

var invariance = Property{
	Name:     "invariance",
	Sentence: "renaming the physical pages, permuting the requests and moving the tensors changes no bit of a row",
	applies:  always,
	check:    checkInvariance,
}

// checkInvariance makes all three changes in one run, and only when that
// differs asks which one it was.
func checkInvariance(ctx context.Context, e *evidence) (*Violation, error) {
	if e.s.Manifest.Step != nil {
		return e.movedStep(ctx)
	}
	changes := []struct {
		name string
		do   func(*model.Case, *kernels.RunOptions)
	}{
		{"with its requests in reverse order", func(c *model.Case, _ *kernels.RunOptions) { *c = reverseRequests(*c) }},
		{"with its physical pages renamed", func(c *model.Case, _ *kernels.RunOptions) { *c = model.RenamePages(*c, e.c.Seed+1) }},
		{"with its tensors elsewhere", func(_ *model.Case, o *kernels.RunOptions) { o.Placement = e.c.Seed | 1 }},
	}
	try := func(what string, use ...int) (*Violation, error) {
		c, o, row := e.c, e.o, func(row int) int { return row }
		for _, i := range use {
			changes[i].do(&c, &o)
			if i == 0 {
				row = e.reversedRow
			}
		}
		in, err := e.s.Inputs(c)
		if err != nil {
			return nil, err
		}
		r, err := e.s.Run(ctx, in, o)
		if err != nil {
			return nil, err
		}
		return e.compare(r, what, row), nil
	}
	together, err := try("with its requests reversed, pages renamed and tensors moved", 0, 1, 2)
	if together == nil || err != nil {
		return nil, err
	}
	for i, change := range changes {
		v, err := try(change.name, i)
		if v != nil || err != nil {
			return v, err
		}
	}
	return together, nil
}

// movedStep is invariance for a metadata kernel of a step, whose outputs name
// requests and pages: only its tensors can be moved.
func (e *evidence) movedStep(ctx context.Context) (*Violation, error) {
	o := e.o
	o.Placement = e.c.Seed | 1
	r, err := e.s.Run(ctx, e.in, o)
	if err != nil {
		return nil, err
	}
	return e.compare(r, "with its tensors elsewhere", nil), nil
}

func reverseRequests(c model.Case) model.Case {
	n := len(c.Requests)
	rs := make([]model.Request, n)
	for i, r := range c.Requests {
		rs[n-1-i] = r
	}
	c.Requests = rs
	return c
}

func (e *evidence) reversedRow(row int) int {
	b, j := e.request(row)
	return (len(e.c.Requests)-1-b)*e.c.NextN + j
}

// compare holds another run against the plain one, row by row; where maps a
// row to its place in the other run. Any NaN equals any NaN.
func (e *evidence) compare(other *kernels.Result, how string, where func(int) int) *Violation {
	if other.Trap != nil {
		return &Violation{Row: -1, Position: -1, Detail: how + " the kernel does not end: " + other.Trap.Error()}
	}
	if e.s.Manifest.Step != nil {
		return e.compareOutputs(other, how)
	}
	v := Violation{Row: -1, Position: -1}
	for row := range e.in.Rows {
		pos, want, got := e.differs(other, row, where(row))
		if pos < 0 {
			continue
		}
		v.WrongRows++
		if v.Row < 0 {
			v.Row, v.Position, v.Expected, v.Got, v.Detail = row, pos, want, got, how
		}
	}
	if v.WrongRows == 0 {
		return nil
	}
	return &v
}

// compareOutputs is compare for a metadata kernel of a step.
func (e *evidence) compareOutputs(other *kernels.Result, how string) *Violation {
	for i := range e.base.Outputs {
		a, b := &e.base.Outputs[i], &other.Outputs[i]
		for k := range a.Values {
			if x, y := element(a, k), element(b, k); x != y {
				return &Violation{Row: -1, Position: -1, Expected: x, Got: y, Detail: fmt.Sprintf("%s, %s[%d]", how, a.Tensor, k)}
			}
		}
	}
	return nil
}

func (e *evidence) differs(other *kernels.Result, row, there int) (pos int, want, got string) {
	if e.s.Manifest.Kind == kernels.Metadata {
		a, b := e.base.Table[row], other.Table[there]
		if a != b {
			return e.c.NextN, fmt.Sprint(a), fmt.Sprint(b)
		}
		return -1, "", ""
	}
	for pos := range e.base.Width {
		x, xw := e.at(row, pos)
		i := there*other.Width + pos
		y, yw := other.Logits[i], other.Written[i]
		if xw != yw || (xw && !profile.Same(x, y)) {
			return pos, word(x, xw), word(y, yw)
		}
	}
	return -1, "", ""
}
