package exhaust

import (
	"errors"
	"fmt"

	"mqaproof/kernels"
	"mqaproof/model"
)

// kind is how a kind of kernel is run through all lengths.
type kind struct {
	short  int // largest length in the grid
	axes   Axes
	paged  bool // the size of a page bears on the result
	sweeps []sweepKind
}

// sweepKind is a sweep that is made for settings of the grid.
type sweepKind struct {
	name string
	per  int // lengths a unit
	run  func(*run) error
	// short is the largest length in the grid, -1 for none, 0 for the kind's;
	// long the largest in one setting, 0 for the options'.
	short, long int
	// oneNextN is set where the query tokens of a request do not follow
	// next_n: settings that differ in it alone are run once.
	oneNextN bool
}

const (
	millionth = 1 << 20 // the largest length of a kernel of ours, and of one setting of each kind
	short     = 1 << 16 // that of vLLM's in the grid
	unbounded = -1
)

var (
	alone     = [][2]int{{1, 0}}
	ranks     = [][2]int{{1, 0}, {2, 0}, {2, 1}, {3, 1}, {4, 3}, {8, 0}, {8, 5}}
	everyRank = [][2]int{{1, 0}, {2, 0}, {2, 1}, {3, 0}, {3, 1}, {3, 2}, {4, 0}, {4, 1}, {4, 2}, {4, 3}, {8, 0}, {8, 1}, {8, 5}, {8, 7}}
	anyRatio  = []int{1, 2, 3, 4, 8, 128}
)

// Applies reports whether Exhaust has a way to run the subject.
func Applies(s *kernels.Subject) bool {
	_, err := kindOf(s)
	return err == nil
}

// kindOf is the plan for a subject's kind of kernel.
func kindOf(s *kernels.Subject) (kind, error) {
	if s.Manifest.Kind != kernels.Metadata {
		return kind{}, fmt.Errorf("%s: every length can be run only on a %s kernel, this is a %s kernel", s, kernels.Metadata, s.Manifest.Kind)
	}
	if s.Manifest.Step == nil {
		return kind{
			short:  millionth,
			axes:   Axes{ranks, []int{1, 16, 64}, []int{1, 2, 4, 128}, []int{1, 2, 3, 4, 8}, nil},
			sweeps: []sweepKind{{name: "table", per: 1 << 16, run: native}},
		}, nil
	}
	k := kind{short: short}
	ratios := s.Manifest.Limits.Ratio
	if ratios == nil {
		ratios = anyRatio
	}
	depths := []int{1, 3, 4, 5, 6, 7, 8, 2} // the last is run for long
	switch s.Manifest.Step.Kind {
	case model.UniformStep:
		k.axes = Axes{alone, nil, []int{1}, depths, nil}
		k.sweeps = []sweepKind{{name: "uniform", per: 1 << 12, run: uniform}}
	case model.VarlenStep:
		k.axes = Axes{alone, nil, []int{1}, depths, nil}
		k.sweeps = []sweepKind{
			{name: "uniform depth", per: 1 << 12, run: varlen(false)},
			{name: "mixed depths", per: 1 << 12, run: varlen(true), long: unbounded},
		}
	case model.PrefillStep:
		k.axes = Axes{everyRank, []int{1, 2, 16, 64, 128}, ratios, []int{1, 3}, nil}
		k.sweeps = []sweepKind{
			{name: "query tokens", per: 1 << 13, run: prefillTokens},
			{name: "long prefills", per: 1 << 17, run: prefillRows, short: millionth, oneNextN: true},
			{name: "whole chunks", per: 1 << 9, run: prefillStates, short: unbounded, long: short, oneNextN: true},
		}
	case model.SlotsStep:
		k.paged = true
		k.axes = Axes{ranks, []int{2, 16, 64, 128}, ratios, []int{1, 3}, []int{64, 5}}
		k.sweeps = []sweepKind{
			{name: "query tokens", per: 1 << 13, run: slotTokens},
			{name: "long prefills", per: 1 << 17, run: slotRows, short: millionth, oneNextN: true},
		}
	default:
		return kind{}, fmt.Errorf("%s: no way is known to run every length on a step of kind %q", s, s.Manifest.Step.Kind)
	}
	return k, nil
}

// plan is the sweeps of a subject under the options, and how many settings
// they have.
func plan(s *kernels.Subject, o Options) (sweeps []*sweep, settings int, err error) {
	k, err := kindOf(s)
	if err != nil {
		return nil, 0, err
	}
	if o.Axes != nil {
		k.axes = *o.Axes
	}
	if o.Short > 0 {
		k.short = o.Short
	}
	long := millionth
	if o.Long > 0 {
		long = o.Long
	}
	var taken []Setting
	all := k.axes.settings()
	if len(all) == 0 {
		return nil, 0, errors.New("exhaust: the grid is empty")
	}
	for _, set := range all {
		if err := set.check(); err != nil {
			return nil, 0, err
		}
		if k.paged && set.Page < 1 {
			return nil, 0, fmt.Errorf("%s: no page size is given in the grid", s)
		}
		if s.Accepts(set.example()) == nil {
			taken = append(taken, set)
		}
	}
	if len(taken) == 0 {
		return nil, 0, fmt.Errorf("%s: takes no setting of the grid: %w", s, s.Accepts(all[0].example()))
	}
	for _, sk := range k.sweeps {
		sweeps = append(sweeps, sk.sweeps(taken, k.short, long, o)...)
	}
	return sweeps, len(taken), nil
}

// sweeps are those of one kind: one a setting, the last setting's longer.
func (k sweepKind) sweeps(settings []Setting, short, long int, o Options) []*sweep {
	if k.short != 0 && (k.short == unbounded || o.Short == 0) {
		short = k.short
	}
	if k.long != 0 && (k.long == unbounded || o.Long == 0) {
		long = k.long
	}
	var out []*sweep
	seen := map[Setting]bool{} // less next_n
	for _, set := range settings {
		if k.oneNextN {
			key := set
			key.NextN = 0
			if seen[key] {
				continue
			}
			seen[key] = true
		}
		if short > 0 {
			out = append(out, &sweep{k.name, set, short, k.per, k.run})
		}
	}
	if long == unbounded || long <= short {
		return out
	}
	last := settings[len(settings)-1]
	if n := len(out); n > 0 {
		last = out[n-1].setting
		out = out[:n-1]
	}
	return append(out, &sweep{k.name, last, long, k.per, k.run})
}
