package calibrate

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"mqaproof/model/matrixcore"
)

// nearest is the rule that gives the most outputs, by climbing: from the named
// rules and from some of the last to be refuted, always to the best rule that
// differs in one field, judged by a sample.
func (m *Measured) nearest(ctx context.Context, last []death) (*Nearest, error) {
	sample := inOrder(m.outputs)
	sample = sample[:min(1500, len(sample))]
	var starts []point
	for _, named := range m.Target.named() {
		if s, c, ok := place(named, InOrder); ok {
			starts = append(starts, point{s, c, 0})
		}
	}
	for i := 0; i < len(last) && i < 40; i++ {
		starts = append(starts, point{last[i].shape, last[i].boxes[0].first(), 0})
	}
	for i := range starts {
		starts[i].judge(sample)
	}
	slices.SortStableFunc(starts, func(x, y point) int { return y.equal - x.equal })
	best := starts[0]
	for at := starts[0]; ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		next := at
		for _, p := range at.neighbours(m.Target) {
			if p.judge(sample); p.equal > next.equal {
				next = p
			}
		}
		if next.equal == at.equal {
			best = at
			break
		}
		at = next
	}
	rule := best.shape.rule(best.choice)
	n := &Nearest{Order: best.shape.order.String()}
	for i := range m.outputs {
		o := &m.outputs[i]
		switch by := o.by(&rule, best.shape.order); {
		case same(by, o.want):
			n.Equal++
		case n.Refuted.Instruction == "":
			n.Refuted = o.refutation(by)
		}
	}
	for _, named := range m.Target.named() {
		if s, c, ok := place(named, best.shape.order); ok && s == best.shape && c == best.choice {
			n.Names = append(n.Names, named.Name)
		}
	}
	rule.Name = string(m.Target) + "-nearest"
	rule.Source = fmt.Sprintf("mqaproof calibrate: %d of %d outputs on %s", n.Equal, len(m.outputs), m.device())
	n.Rule = rule
	return n, nil
}

// point is one rule, and how many outputs of the sample it gives.
type point struct {
	shape  shape
	choice choice
	equal  int
}

func (p *point) judge(sample []output) {
	r := p.shape.rule(p.choice)
	p.equal = 0
	for i := range sample {
		if same(sample[i].by(&r, p.shape.order), sample[i].want) {
			p.equal++
		}
	}
}

// neighbours is the rules that differ in one field: one step in bits or reach,
// or any other value of the rest.
func (p *point) neighbours(t Target) []point {
	var out []point
	with := func(change func(*choice)) {
		q := *p
		change(&q.choice)
		out = append(out, q)
	}
	cuts := []func(*choice) *int{func(c *choice) *int { return &c.product }}
	if p.shape.subSums > 1 {
		cuts = append(cuts, func(c *choice) *int { return &c.subSum })
	}
	if p.shape.join == matrixcore.JoinLate {
		cuts = append(cuts, func(c *choice) *int { return &c.sum }, func(c *choice) *int { return &c.acc })
		for _, step := range []int{-8, -1, 1, 8} {
			if reach := p.choice.reach + step; reach >= 0 && reach < reaches {
				with(func(c *choice) { c.reach = reach })
			}
		}
	}
	for _, field := range cuts {
		now := cutAt(*field(&p.choice))
		for _, step := range []int{-8, -2, -1, 0, 1, 2, 8} {
			for rounding := matrixcore.Trunc; rounding <= matrixcore.Nearest; rounding++ {
				i, ok := cutIndex(matrixcore.Cut{Bits: now.Bits + step, Rounding: rounding})
				if ok && i != *field(&p.choice) {
					with(func(c *choice) { *field(c) = i })
				}
			}
		}
	}
	for i := range allResults {
		if i != p.choice.result {
			with(func(c *choice) { c.result = i })
		}
	}
	for _, s := range shapes(t) {
		if s.differences(&p.shape) == 1 {
			q := *p
			q.shape = s
			out = append(out, q)
		}
	}
	return out
}

// differences counts the fields in which the shapes differ; how the lanes lie
// counts with their number.
func (s *shape) differences(o *shape) int {
	n := 0
	for _, d := range []bool{
		s.group != o.group, s.subSums != o.subSums || s.lanes != o.lanes, s.join != o.join, s.addC != o.addC,
		s.normalise != o.normalise, s.flush8 != o.flush8, s.flush32 != o.flush32, s.order != o.order,
	} {
		if d {
			n++
		}
	}
	return n
}

func (o *output) refutation(by uint32) Refutation {
	bits := func(b uint32) string { return fmt.Sprintf("%08x", b) }
	return Refutation{
		Instruction: o.in.Name, Tile: o.tile, Row: o.row, Col: o.col,
		A: hex.EncodeToString(o.a), B: hex.EncodeToString(o.b),
		C: o.c, CBits: bits(math.Float32bits(o.c)), Got: bits(o.want), Want: bits(by),
	}
}
