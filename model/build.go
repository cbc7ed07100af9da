package model

import (
	"fmt"

	"mqaproof/model/fp8"
	"mqaproof/model/metadata"
)

// Build makes the tensors of a case in an fp8 format: a pure function of both.
// Inputs.Case is the case normalised (an empty layout is BlockFlat).
func Build(c Case, f fp8.Format) (*Inputs, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if !f.Valid() {
		return nil, fmt.Errorf("case: fp8 format %d is none; use %s or %s", f, fp8.E4M3FN, fp8.E4M3FNUZ)
	}
	c = c.Normalise()
	in := &Inputs{
		Case:   c,
		Format: f,
		Rows:   len(c.Requests) * c.NextN,
		Width:  c.MaxModelLen,
	}
	in.countRequests()
	if err := in.buildLengths(); err != nil {
		return nil, err
	}
	v := newValues(c, f)
	in.drawQueries(v)
	in.drawKeys(v)
	in.placePages()
	in.fillCache()
	return in, nil
}

// countRequests asks the oracle what each request holds and each row sees.
func (in *Inputs) countRequests() {
	c := in.Case
	in.Global = make([]int32, len(c.Requests))
	in.Visible = make([]int, 0, in.Rows)
	in.starts = make([]int, 1, len(c.Requests)+1)
	for i, r := range c.Requests {
		s := c.count(r.Context)
		in.Global[i] = int32(r.Context)
		in.Visible = append(in.Visible, s.visible...)
		in.states = append(in.states, s.states...)
		in.starts = append(in.starts, len(in.states))
	}
}

// buildLengths has the builder's model make the table, from a step in which
// every request, a padding one too, has NextN query tokens. Block tables do
// not bear on lengths, so the step's are empty.
func (in *Inputs) buildLengths() error {
	c := in.Case
	b, err := metadata.NewBuilder(metadata.Config{
		NumSpeculativeTokens: c.NextN - 1,
		NativeNextN:          []int{c.NextN},
		CompressRatio:        c.Ratio,
		DCPWorldSize:         c.DCP.World,
		DCPRank:              c.DCP.Rank,
		CPInterleave:         c.DCP.Interleave,
		MaxNumBatchedTokens:  in.Rows,
	})
	if err != nil {
		return err
	}
	batch := metadata.Batch{
		QueryStartLoc:   make([]int32, len(c.Requests)+1),
		SeqLens:         in.Global,
		BlockTable:      make([][]int32, len(c.Requests)),
		NumActualTokens: in.Rows,
	}
	for i := range batch.QueryStartLoc {
		batch.QueryStartLoc[i] = int32(i * c.NextN)
	}
	d, _, err := b.Build(batch)
	if err != nil {
		return err
	}
	in.Table = append([]int32(nil), d.SeqLens...)
	in.PerRequest = make([]int32, len(c.Requests))
	in.Prefix = make([]int32, len(c.Requests)+1)
	for i := range in.PerRequest {
		in.PerRequest[i] = in.Table[(i+1)*c.NextN-1]
		in.Prefix[i+1] = in.Prefix[i] + in.PerRequest[i]
		if n := in.LocalLen(i); int(in.PerRequest[i]) != n {
			return fmt.Errorf("case: request %d: the builder's last length is %d, by counting it is %d: a defect of the model", i, in.PerRequest[i], n)
		}
	}
	return nil
}

func (in *Inputs) drawQueries(v *values) {
	c := in.Case
	each := c.Heads * c.HeadDim
	in.Q = make([]byte, in.Rows*each)
	in.Weights = make([]float32, in.Rows*c.Heads)
	for row := range in.Rows {
		id, back := c.Requests[row/c.NextN].ID, c.NextN-1-row%c.NextN
		v.queryRow(id, back, in.Q[row*each:(row+1)*each])
		v.weightRow(id, back, in.Weights[row*c.Heads:(row+1)*c.Heads])
	}
}

func (in *Inputs) drawKeys(v *values) {
	c := in.Case
	in.keys = make([]byte, len(in.states)*c.HeadDim)
	in.scales = make([]float32, len(in.states))
	for i, r := range c.Requests {
		for s := in.starts[i]; s < in.starts[i+1]; s++ {
			state := int(in.states[s])
			v.keyRow(r.ID, state, in.keys[s*c.HeadDim:(s+1)*c.HeadDim])
			in.scales[s] = v.scale(r.ID, state)
		}
	}
}
