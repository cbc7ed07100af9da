package calibrate

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"mqaproof/model/matrixcore"
)

// Report is what a probe's output says about the matrix core.
type Report struct {
	Target  Target `json:"target"`
	Device  string `json:"device"`
	Runtime string `json:"runtime"`
	Tiles   int    `json:"tiles"`
	Outputs int    `json:"outputs"` // dot products measured
	Tried   Count  `json:"tried"`   // rules of the family

	// Fits is the rules that give every output, the plainest first: one for each
	// way in which they behave on other tiles. None: no rule of the family fits.
	Fits []Fit `json:"fits"`

	// ZeroSigns is the zeros that came out with the other sign than the first fit
	// gives. Rules say nothing of it, and they count as equal.
	ZeroSigns int `json:"zero_signs"`

	// Nearest and Instructions are there when no rule fits.
	Nearest      *Nearest            `json:"nearest,omitempty"`
	Instructions []InstructionReport `json:"instructions,omitempty"`
}

// Count is a number of rules, which may be beyond the integers.
type Count float64

// Fit is rules that give every output and that nothing tells apart.
type Fit struct {
	Rule    matrixcore.Rule `json:"rule"`            // the one to use
	Names   []string        `json:"names,omitempty"` // the named rules that it is
	Order   string          `json:"order"`           // how k lies in the registers: see Order
	Members Count           `json:"members"`         // rules of the family that fit as well
	Open    []string        `json:"open,omitempty"`  // what of the rule no output depends on, field by field
}

// Nearest is the rule that gives the most outputs, as far as a search from the
// named rules and from the last to be refuted has found.
type Nearest struct {
	Rule    matrixcore.Rule `json:"rule"`
	Names   []string        `json:"names,omitempty"`
	Order   string          `json:"order"`
	Equal   int             `json:"equal"` // of Report.Outputs
	Refuted Refutation      `json:"refuted"`
}

// Refutation is the first output that a rule does not give.
type Refutation struct {
	Instruction string  `json:"instruction"`
	Tile        int     `json:"tile"`
	Row         int     `json:"row"`
	Col         int     `json:"col"`
	A           string  `json:"a"` // row of A, hex
	B           string  `json:"b"` // column of B, hex
	C           float32 `json:"-"`
	CBits       string  `json:"c"`    // float32 bits, hex
	Got         string  `json:"got"`  // measured
	Want        string  `json:"want"` // by the rule
}

// InstructionReport is what fits one instruction by itself.
type InstructionReport struct {
	Instruction string `json:"instruction"`
	Fits        []Fit  `json:"fits"`
}

// Read says which rules of the family give the probe's output. The error is
// that of an output that cannot be used, or the context's.
func Read(ctx context.Context, r io.Reader) (*Report, error) {
	m, err := Parse(r)
	if err != nil {
		return nil, err
	}
	return m.Report(ctx)
}

// ReadFile is Read of a file.
func ReadFile(ctx context.Context, path string) (*Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("calibrate: %w", err)
	}
	defer f.Close()
	r, err := Read(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Report looks for the rules.
func (m *Measured) Report(ctx context.Context) (*Report, error) {
	all := shapes(m.Target)
	r := &Report{Target: m.Target, Device: m.Device, Runtime: m.Runtime, Outputs: len(m.outputs)}
	for _, in := range m.Target.Instructions() {
		r.Tiles += in.Tiles()
	}
	for i := range all {
		b := all[i].everything()
		r.Tried += Count(b.members())
	}
	found, last, err := search(ctx, all, inOrder(m.outputs))
	if err != nil {
		return nil, err
	}
	if r.Fits = m.fits(found, m.Target.Instructions()); len(r.Fits) > 0 {
		s, _, _ := place(&r.Fits[0].Rule, orderNamed(r.Fits[0].Order))
		r.ZeroSigns = zeroSigns(&r.Fits[0].Rule, s.order, m.outputs)
		return r, nil
	}
	if r.Nearest, err = m.nearest(ctx, last); err != nil {
		return nil, err
	}
	for _, in := range m.Target.Instructions() {
		var own []output
		for _, o := range m.outputs {
			if o.in.Name == in.Name {
				own = append(own, o)
			}
		}
		found, _, err := search(ctx, all, inOrder(own))
		if err != nil {
			return nil, err
		}
		r.Instructions = append(r.Instructions, InstructionReport{in.Name, m.fits(found, []Instruction{in})})
	}
	return r, nil
}

// fits gives one Fit for each behaviour that what is left shows in the
// instructions, the plainest first.
func (m *Measured) fits(found []fit, instructions []Instruction) []Fit {
	type candidate struct {
		Fit
		plain  int
		traits string
	}
	var all []candidate
	for _, f := range found {
		for i := range f.boxes {
			b := &f.boxes[i]
			rule := f.shape.rule(b.first())
			var names []string
			for _, named := range m.Target.named() {
				if s, c, ok := place(named, f.shape.order); ok && s == f.shape && b.has(c) {
					names = append(names, named.Name)
					rule = f.shape.rule(c)
				}
			}
			rule.Name = string(m.Target) + "-measured"
			rule.Source = m.source(instructions)
			all = append(all, candidate{
				Fit{Rule: rule, Names: names, Order: f.shape.order.String(), Members: Count(b.members()), Open: b.open(&f.shape)},
				f.shape.oddity(&rule, len(names) > 0), behaviour(instructions, &rule, f.shape.order),
			})
		}
	}
	slices.SortStableFunc(all, func(x, y candidate) int { return x.plain - y.plain })
	var out []Fit
	place := map[string]int{}
	for _, c := range all {
		if i, ok := place[c.traits]; ok {
			out[i].Members += c.Members
			for _, name := range c.Names {
				if !slices.Contains(out[i].Names, name) {
					out[i].Names = append(out[i].Names, name)
				}
			}
			continue
		}
		place[c.traits] = len(out)
		out = append(out, c.Fit)
	}
	if len(out) == 1 { // what is left of several is a guess
		out[0].Rule.Verified = true
	}
	return out
}

// source says where a rule comes from that fits all outputs of the
// instructions.
func (m *Measured) source(instructions []Instruction) string {
	n := 0
	for _, in := range instructions {
		n += in.Tiles() * in.N * in.N
	}
	if len(instructions) == 1 && len(m.Target.Instructions()) > 1 {
		return fmt.Sprintf("mqaproof calibrate: %d of %d outputs of %s on %s", n, n, instructions[0].Name, m.device())
	}
	return fmt.Sprintf("mqaproof calibrate: %d of %d outputs on %s", n, n, m.device())
}

func (m *Measured) device() string {
	if m.Device == "" {
		return "an unnamed " + string(m.Target)
	}
	return m.Device
}

// oddity orders rules that cannot be told apart: named ones first, then those
// with the fewest unusual features.
func (s *shape) oddity(r *matrixcore.Rule, named bool) int {
	n := 0
	for _, odd := range []bool{s.order != InOrder, s.flush8, s.flush32, s.normalise, s.lanes == matrixcore.Consecutive, s.addC} {
		if odd {
			n += 100
		}
	}
	if !named {
		n += 10000
	}
	if r.ResultBits > 0 {
		n += 50
	}
	return n + 10*log2(s.subSums) + log2(s.group)
}

// behaviour is a digest of what the rule gives for tiles that the probe does
// not have.
func behaviour(instructions []Instruction, r *matrixcore.Rule, order Order) string {
	var all []byte
	for _, in := range instructions {
		for seed := range uint64(20) {
			tile := in.chosen(1<<50 + seed)
			for _, d := range order.mulAdd(in, r, tile) {
				b := math.Float32bits(d)
				if b<<1 == 0 {
					b = 0
				}
				all = append(all, byte(b), byte(b>>8), byte(b>>16), byte(b>>24))
			}
		}
	}
	return digest(all)
}

// mulAdd is the rule's D of a tile whose k lie in that order.
func (o Order) mulAdd(in Instruction, r *matrixcore.Rule, t Tile) []float32 {
	if o != InOrder && in.bytesOfLane() == 32 {
		t.A, t.B = o.arrange(in, t.A), o.arrange(in, t.B)
	}
	d := make([]float32, in.N*in.N)
	r.MulAdd(in.Format, in.Format, in.N, in.N, in.K, t.A, t.B, t.C, d)
	return d
}

// arrange puts the bytes of an operand's rows into the order of k.
func (o Order) arrange(in Instruction, operand []byte) []byte {
	out := make([]byte, len(operand))
	for i := range operand {
		out[i/in.K*in.K+o.at(in, i%in.K)] = operand[i]
	}
	return out
}

func orderNamed(name string) Order {
	if name == InHalves.String() {
		return InHalves
	}
	return InOrder
}

// zeroSigns counts the zeros of the other sign.
func zeroSigns(r *matrixcore.Rule, order Order, outputs []output) int {
	n := 0
	for i := range outputs {
		o := &outputs[i]
		if o.want<<1 == 0 && o.want != o.by(r, order) {
			n++
		}
	}
	return n
}

// by is the bits that the rule gives for the output.
func (o *output) by(r *matrixcore.Rule, order Order) uint32 {
	a, b := o.a, o.b
	if order != InOrder && o.in.bytesOfLane() == 32 {
		a, b = order.arrange(o.in, a), order.arrange(o.in, b)
	}
	c, d := [1]float32{o.c}, [1]float32{}
	r.MulAdd(o.in.Format, o.in.Format, 1, 1, o.in.K, a, b, c[:], d[:])
	return math.Float32bits(d[0])
}

// open describes the fields of which the box has several values.
func (b *box) open(s *shape) []string {
	var out []string
	for _, f := range []struct {
		name string
		set  cutSet
	}{{"Product", b.product}, {"SubSum", b.subSum}, {"Sum", b.sum}, {"Acc", b.acc}} {
		if f.set.size() > 1 {
			out = append(out, f.name+": "+f.set.String())
		}
	}
	if count(b.reach) > 1 {
		out = append(out, "AccReach: "+ranges(reaches, func(i int) bool { return b.reach>>i&1 == 1 }, reachAt))
	}
	if count(b.result) > 1 {
		var parts []string
		for i := range allResults {
			if b.result>>i&1 == 0 {
				continue
			}
			if res := resultAt(i); res.bits > 0 {
				parts = append(parts, fmt.Sprintf("%d bits %s", res.bits, res.rounding))
			} else {
				parts = append(parts, "float32 to nearest")
			}
		}
		out = append(out, "result: "+strings.Join(parts, ", "))
	}
	return out
}

// String lists the cuts: "trunc 24-40, floor 24".
func (s cutSet) String() string {
	var parts []string
	for rounding := matrixcore.Trunc; rounding <= matrixcore.Nearest; rounding++ {
		first := int(rounding) * bitsSpan
		if text := ranges(bitsSpan, func(i int) bool { return s.has(first + i) }, func(i int) int { return minBits + i }); text != "" {
			parts = append(parts, rounding.String()+" "+text)
		}
	}
	return strings.Join(parts, ", ")
}

// ranges lists those of n numbers that are in: "6-9 12".
func ranges(n int, in func(i int) bool, value func(i int) int) string {
	var parts []string
	for i := 0; i < n; i++ {
		if !in(i) {
			continue
		}
		from := i
		for i+1 < n && in(i+1) {
			i++
		}
		if from == i {
			parts = append(parts, fmt.Sprint(value(i)))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", value(from), value(i)))
		}
	}
	return strings.Join(parts, " ")
}
