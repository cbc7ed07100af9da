package exhaust

import (
	"context"
	"fmt"

	"mqaproof/kernels"
	"mqaproof/sim/gpu"
)

// sweep is one kind of launch under one setting, for lengths 0 to max.
type sweep struct {
	name    string
	setting Setting
	max     int
	per     int // lengths a unit
	run     func(*run) error
}

// unit is a range of a sweep's lengths.
type unit struct {
	sweep    *sweep
	from, to int // lengths from (from) to (to-1)
}

// run is a unit under way.
type run struct {
	unit
	ctx context.Context
	s   *kernels.Subject
	set Setting
	rig *kernels.Rig

	lengths, elements, instructions uint64
	found                           *Counterexample // the smallest length's, of those seen
}

// judge gives the counts of global lengths first to last; nil, with found set,
// where the formula and counting differ, so that nothing can be judged by them.
func (r *run) judge(first, last int) *counts {
	c, bad := r.set.judge(first, last)
	if bad != nil {
		bad.Sweep = r.sweep.name
		r.found = bad
	}
	return c
}

// blame keeps the element if no shorter length has a wrong one.
func (r *run) blame(length, token int, tensor, want, got, detail string) {
	if r.found == nil || length < r.found.Length {
		r.found = &Counterexample{r.sweep.name, r.set, length, tensor, token, want, got, detail}
	}
}

// vars are the setting's variables and those of a launch.
func (r *run) vars(of map[string]int) map[string]int {
	of["next_n"], of["world"], of["rank"], of["interleave"], of["ratio"] = r.set.NextN, r.set.World, r.set.Rank, r.set.Interleave, r.set.Ratio
	of["page"] = r.set.Page
	return of
}

// launch runs the kernels on what was written. Lengths from (from) to (to-1)
// are in it. Ok is false when there is nothing to compare.
func (r *run) launch(from, to int, vars map[string]int) (ok bool, err error) {
	res, err := r.rig.Run(r.ctx, r.vars(vars), kernels.RunOptions{Workers: 1})
	if err != nil {
		return false, err
	}
	r.lengths += uint64(to - from)
	r.instructions += res.Instructions
	in := fmt.Sprintf("in a launch with lengths %d to %d", from, to-1)
	if res.Trap != nil {
		r.blame(from, -1, "(the run)", "an end", "none", in+": "+res.Trap.Error())
		return false, nil
	}
	for _, f := range res.Faults {
		r.blame(from, -1, faultPlace(f), "no fault", string(f.Kind), in+": "+f.String())
	}
	return true, nil
}

func faultPlace(f gpu.Fault) string {
	if f.Buffer != "" {
		return f.Buffer
	}
	return f.Space
}

// output is a tensor of the last launch.
type output struct {
	r       *run
	tensor  string
	words   []uint32
	written []bool
	next    int // elements before it were compared
}

func (r *run) output(tensor string) *output {
	w, written := r.rig.Words(tensor)
	return &output{r: r, tensor: tensor, words: w, written: written}
}

// is compares the next element, which belongs to a token of a request of the
// given length.
func (o *output) is(want int32, length, token int) {
	if o.words == nil { // the kernel has no such output
		return
	}
	k := o.next
	o.next++
	if o.written[k] && int32(o.words[k]) == want {
		return
	}
	o.r.blame(length, token, o.tensor, fmt.Sprint(want), o.shown(k), "")
}

// isWide is is for a tensor of int64.
func (o *output) isWide(want int64, length, token int) {
	if o.words == nil {
		return
	}
	k := 2 * o.next
	o.next++
	got := int64(uint64(o.words[k]) | uint64(o.words[k+1])<<32)
	if o.written[k] && o.written[k+1] && got == want {
		return
	}
	shown := fmt.Sprint(got)
	if !o.written[k] || !o.written[k+1] {
		shown = "unwritten"
	}
	o.r.blame(length, token, o.tensor, fmt.Sprint(want), shown, "")
}

func (o *output) shown(k int) string {
	if !o.written[k] {
		return "unwritten"
	}
	return fmt.Sprint(int32(o.words[k]))
}

// end checks that all behind the compared elements is as it was; first is the
// launch's smallest length.
func (o *output) end(first, dwords int) {
	if o.words == nil {
		return
	}
	o.r.elements += uint64(o.next)
	for k := o.next * dwords; k < len(o.written); k++ {
		if o.written[k] {
			o.r.blame(first, k/dwords, o.tensor, "unwritten", fmt.Sprint(int32(o.words[k])), "written behind the launch's part; the place is in the tensor")
			return
		}
	}
}
