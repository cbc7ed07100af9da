package order

import (
	"context"
	"fmt"
	"slices"

	"mqaproof/kernels"
	"mqaproof/model"
	"mqaproof/model/profile"
)

// Difference is a logit for which a profile gives other bits than the kernel.
type Difference struct {
	Row, Position int
	Want, Got     uint32 // by the profile, by the kernel
	Count         int    // differing logits of the case
	Compared      int    // all that were compared
}

// Compare holds every visible logit that the kernel wrote to the profile's.
// Where the kernel's mask is known to be wrong, a -inf says nothing and is
// passed over. It gives nil when all are equal.
func Compare(s *kernels.Subject, p *profile.Profile, in *model.Inputs, r *kernels.Result) (*Difference, int, error) {
	d := Difference{Row: -1}
	c := in.Case
	maskWrong := s.Fault() != ""
	for row := range in.Rows {
		n := in.Visible[row]
		if n == 0 {
			continue
		}
		want := make([]uint32, n)
		request := row / c.NextN
		q := profile.Row{Q: in.QCodes(row), Weights: in.WeightRow(row)}
		if err := p.Logits(q, in.KCodes(request)[:n*c.HeadDim], in.Scales(request)[:n], want); err != nil {
			return nil, 0, err
		}
		for pos, w := range want {
			at := row*r.Width + pos
			got := r.Logits[at]
			if !r.Written[at] || maskWrong && got == negInf {
				continue
			}
			d.Compared++
			if profile.Same(w, got) {
				continue
			}
			d.Count++
			if d.Row < 0 {
				d.Row, d.Position, d.Want, d.Got = row, pos, w, got
			}
		}
	}
	if d.Count == 0 {
		return nil, d.Compared, nil
	}
	return &d, d.Compared, nil
}

const negInf = 0xff800000

// verify holds the profile to the kernel on data of all random styles: short
// and long contexts, several requests.
func verify(ctx context.Context, s *kernels.Subject, p *profile.Profile) error {
	compared := 0
	for _, c := range verifyCases(s) {
		in, err := s.Inputs(c)
		if err != nil {
			return err
		}
		r, err := s.Run(ctx, in, kernels.RunOptions{})
		if err != nil {
			return err
		}
		if r.Trap != nil {
			return fmt.Errorf("comparing: the kernel does not end on %s: %w", c, r.Trap)
		}
		d, n, err := Compare(s, p, in, r)
		if err != nil {
			return err
		}
		compared += n
		if d != nil {
			return fmt.Errorf("the profile that explains all probes (%s) does not explain %d of %d logits of the case %s: row %d position %d should be %s and is %s: the kernel does something that no probe asks, or whose order depends on the position",
				p.Summary(), d.Count, d.Compared, c, d.Row, d.Position, word(d.Want), word(d.Got))
		}
	}
	if compared == 0 {
		return fmt.Errorf("comparing: the kernel wrote no visible logit")
	}
	return nil
}

// verifyCases is a fixed set of cases in the subject's limits.
func verifyCases(s *kernels.Subject) []model.Case {
	l := s.Manifest.Limits
	pick := func(given, otherwise []int) []int {
		if given != nil {
			return given
		}
		return otherwise
	}
	heads, dims := pick(l.Heads, anyHeads), pick(l.HeadDim, anyDims)
	var cases []model.Case
	add := func(c model.Case) {
		for _, width := range []int{256, 1024, 4096, 16384} {
			longest := 0
			for _, r := range c.Requests {
				longest = max(longest, r.Context)
			}
			c.MaxModelLen = (longest + width - 1) / width * width
			if fits, err := s.Fit(c); err == nil {
				cases = append(cases, fits)
				return
			}
		}
	}
	for i, style := range []model.Style{model.Normal, model.Adversarial, model.NaN, model.Normal, model.Adversarial, model.NaN} {
		for _, shape := range [][]int{{1}, {63, 5, 130, 17}, {257, 400}} {
			for _, nextN := range pick(l.NextN, []int{1, 3}) {
				c := model.Case{Seed: uint64(1 + i), Data: style, NextN: nextN, ShufflePages: i%2 == 1}
				c.Heads, c.HeadDim = heads[(i+len(cases))%len(heads)], dims[(i+len(cases)/2)%len(dims)]
				for id, n := range shape {
					c.Requests = append(c.Requests, model.Request{ID: uint32(id), Context: max(n, nextN)})
				}
				add(c)
			}
		}
	}
	// One long context: kernels that split it over workgroups then have several
	// tiles in each, so that their loops turn. Where sizes are free, small ones
	// do: a kernel with a thread a row would run for minutes.
	c := model.Case{Seed: 99, Data: model.Normal, NextN: slices.Min(pick(l.NextN, []int{1})), Requests: []model.Request{{ID: 0, Context: 5000}}}
	c.Heads, c.HeadDim = slices.Min(heads), slices.Min(dims)
	add(c)
	c.Data, c.Requests = model.Adversarial, []model.Request{{ID: 0, Context: 3001}}
	add(c)
	return cases
}
