package stateful

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"mqaproof/kernels"
	"mqaproof/model"
	"mqaproof/sim/serving"
)

// Shape of the logits that real kernels compute.
const (
	kernelHeads   = 16
	kernelHeadDim = 32
)

// kernelSteps bounds the instructions of a wave; no step's kernel needs a
// tenth of it.
const kernelSteps = 20_000_000

// kernelRunner runs built-in kernels on some steps' buffers in the emulator.
type kernelRunner struct {
	ctx     context.Context
	every   int // steps with decodes from one run to the next
	perRow  *kernels.Subject
	lastCol *kernels.Subject // reads one length a request
	decodes int              // steps with decodes so far
	runs    int              // kernels run
}

func newKernelRunner(ctx context.Context, every int) (*kernelRunner, error) {
	all, err := kernels.Builtin()
	if err != nil {
		return nil, err
	}
	k := &kernelRunner{ctx: ctx, every: every}
	for _, s := range all {
		switch s.String() {
		case "hip/per-row gfx942 per-row":
			k.perRow = s
		case "hip/mfma-split gfx942 last-column":
			k.lastCol = s
		}
	}
	if k.perRow == nil || k.lastCol == nil {
		return nil, fmt.Errorf("stateful: the built-in kernels hip/per-row and hip/mfma-split for gfx942 are missing")
	}
	return k, nil
}

var kernel = Property{
	Name: "kernel",
	Sentence: "real kernels, run on the buffers of a step on every rank, give logits that gathered over the ranks are a single rank's, " +
		"bit for bit on exact data",
	check: func(ch *Checker, rec *serving.Record) *Violation {
		k := ch.kernels
		if k == nil || len(rec.Ranks[0].Reads) == 0 {
			return nil
		}
		k.decodes++
		if (k.decodes-1)%k.every != 0 {
			return nil
		}
		subjects := []*kernels.Subject{k.perRow}
		if ch.cfg.World == 1 && ch.cfg.Ratio == 1 && rec.Ranks[0].Reads[0].Columns > 1 {
			subjects = append(subjects, k.lastCol) // one length describes the rows
		}
		for _, s := range subjects {
			v, err := ch.runKernel(s, rec)
			if err != nil {
				return ch.fails(err)
			}
			if v != nil {
				return v
			}
		}
		return nil
	},
}

// runKernel runs the subject on every rank and compares the gathered rows.
func (ch *Checker) runKernel(s *kernels.Subject, rec *serving.Record) (*Violation, error) {
	results := make([]*kernels.Result, len(rec.Ranks))
	for rank := range rec.Ranks {
		in, err := ch.kernelInputs(rec, rank)
		if err != nil {
			return nil, err
		}
		r, err := s.Run(ch.kernels.ctx, in, kernels.RunOptions{Workers: 1, Budget: kernelSteps})
		if err != nil {
			return nil, err
		}
		ch.kernels.runs++
		switch {
		case r.Trap != nil:
			return nowhere("%s does not end: %v", s, r.Trap).at(rank, -1, -1), nil
		case len(r.Faults) > 0:
			return nowhere("%s: %v", s, r.Faults[0]).at(rank, -1, -1), nil
		}
		results[rank] = r
	}
	token := 0
	for i := range rec.Batch {
		q := &rec.Batch[i]
		if i >= rec.Counts.NumDecodes {
			break
		}
		own, err := ch.values.request(ch.cfg, q.ID, kernelHeads, kernelHeadDim)
		if err != nil {
			return nil, err
		}
		for j := range q.Query {
			back := q.Query - 1 - j
			row := token + j
			if c := rec.Ranks[0].Reads[0].Columns; c > 1 {
				row = i*c + j
			}
			if back >= ch.cfg.NextN {
				continue
			}
			if v := ch.gatherKernel(s, results, own, q, row, q.Start+j, back); v != nil {
				return v, nil
			}
		}
		token += q.Query
	}
	return nil, nil
}

// gatherKernel is gather for what a kernel stored.
func (ch *Checker) gatherKernel(s *kernels.Subject, results []*kernels.Result, own *requestValues, q *serving.Scheduled, row, pos, back int) *Violation {
	n := ch.single(own, pos, back)
	for i := range ch.gathered {
		ch.gathered[i] = negInf
	}
	for rank, r := range results {
		for k := range r.Width {
			at := row*r.Width + k
			bits := r.Logits[at]
			if !r.Written[at] || bits == math.Float32bits(negInf) {
				continue
			}
			if k >= len(ch.owned[rank]) {
				return nowhere("%s stores a logit for local state %d; the rank can own %d", s, k, len(ch.owned[rank])).at(rank, -1, row)
			}
			ch.gathered[ch.owned[rank][k]] = math.Float32frombits(bits)
		}
	}
	for state, want := range ch.expected {
		if got := ch.gathered[state]; got != want {
			return nowhere("%s: the logit of position %d of request %d for state %d; it sees %d", s, pos, q.ID, state, n).at(-1, -1, row).want(want, got)
		}
	}
	return nil
}

// kernelInputs are the tensors of a rank's decode kernel: lengths and block
// table as the last layer finds them, and a cache whose slots hold the values
// of the tokens that they are named after. The kernel's requests are the
// table's rows, its next_n the table's columns.
func (ch *Checker) kernelInputs(rec *serving.Record, rank int) (*model.Inputs, error) {
	rr := &rec.Ranks[rank]
	r := &rr.Reads[serving.Layers-1]
	width := int32(1)
	for _, n := range r.Lengths {
		width = max(width, n)
	}
	rows := r.Rows * r.Columns
	in := &model.Inputs{
		Case: model.Case{
			Seed: 1, Data: model.Exact, NextN: r.Columns, Heads: kernelHeads, HeadDim: kernelHeadDim,
			Page: ch.cfg.PageStates(), MaxModelLen: int(width), Requests: make([]model.Request, r.Rows),
		}.Normalise(),
		Format: ch.kernels.perRow.Format(), Rows: rows, Width: int(width),
		Q: make([]byte, rows*kernelHeads*kernelHeadDim), Weights: make([]float32, rows*kernelHeads),
		TableWidth: len(r.BlockTable[0]),
		Global:     make([]int32, r.Rows), Table: r.Lengths, PerRequest: r.PerRequest,
		Prefix: make([]int32, r.Rows+1),
	}
	if in.PerRequest == nil {
		in.PerRequest = r.Lengths
	}
	for i := range r.Rows {
		in.BlockTable = append(in.BlockTable, r.BlockTable[i]...)
		in.Case.Requests[i] = model.Request{ID: uint32(i), Context: int(in.PerRequest[i])}
	}
	if err := ch.kernelQueries(rec, r, in); err != nil {
		return nil, err
	}
	return in, ch.kernelCache(rr, in)
}

// kernelQueries fills q and the weights of the rows that are not padding.
func (ch *Checker) kernelQueries(rec *serving.Record, r *serving.Read, in *model.Inputs) error {
	token := 0
	for i := range rec.Batch {
		q := &rec.Batch[i]
		if i >= rec.Counts.NumDecodes {
			break
		}
		own, err := ch.values.request(ch.cfg, q.ID, kernelHeads, kernelHeadDim)
		if err != nil {
			return err
		}
		for j := range q.Query {
			row := token + j
			if r.Columns > 1 {
				row = i*r.Columns + j
			}
			if back := q.Query - 1 - j; back < ch.cfg.NextN {
				copy(in.QCodes(row), own.in.QCodes(own.row(back)))
				copy(in.WeightRow(row), own.in.WeightRow(own.row(back)))
			}
		}
		token += q.Query
	}
	return nil
}

// kernelCache writes the cache; slots that hold nothing stay undefined.
func (ch *Checker) kernelCache(rr *serving.RankRecord, in *model.Inputs) error {
	g := model.Geometry{Layout: model.BlockFlat, Page: in.Case.Page, HeadDim: kernelHeadDim}
	c := &in.Cache
	c.Geometry, c.Pages, c.PageBytes = g, ch.cfg.Pages, g.PageBytes()
	c.Bytes = make([]byte, c.Pages*c.PageBytes)
	c.Defined = make([]bool, len(c.Bytes))
	for i := range c.PageBytes {
		c.Defined[i] = true // the null page
	}
	for slot, cell := range rr.Cache {
		if cell.Owner == 0 {
			continue
		}
		v, err := ch.values.request(ch.cfg, cell.Owner-1, kernelHeads, kernelHeadDim)
		if err != nil {
			return err
		}
		page, token, state := slot/g.Page, slot%g.Page, int(cell.State)
		at, scale := g.ValueOffset(page, token, 0), g.ScaleOffset(page, token)
		copy(c.Bytes[at:at+kernelHeadDim], v.in.KCodes(0)[state*kernelHeadDim:])
		binary.LittleEndian.PutUint32(c.Bytes[scale:], math.Float32bits(v.in.Scales(0)[state]))
		for i := range kernelHeadDim {
			c.Defined[at+i] = true
		}
		for i := range 4 {
			c.Defined[scale+i] = true
		}
	}
	return nil
}
