package stateful

import (
	"iter"
	"slices"

	"mqaproof/sim/serving"
)

// fewerSteps leaves out runs of steps, long runs first: as it is, in an engine
// with room for all that a short sequence needs, and with what the run may have
// come to, a preemption or an end, as one step's event. Fewer steps come before
// everything else, so the engine may grow with them.
func fewerSteps(s serving.Sequence) iter.Seq[serving.Sequence] {
	return func(yield func(serving.Sequence) bool) {
		n := len(s.Steps)
		room := roomy(s.Engine)
		for size := n - 1; size >= 1; size = shorter(size) {
			stride := 1
			if size > few {
				stride = size / 2
			}
			for start := 0; start+size <= n; start += stride {
				before, after := s.Steps[:start], s.Steps[start+size:]
				left := serving.Sequence{Engine: s.Engine, Steps: slices.Concat(before, after)}
				if !yield(left) || !yield(serving.Sequence{Engine: room, Steps: left.Steps}) {
					return
				}
				if size == 1 {
					continue
				}
				for _, one := range []serving.Step{{Preempt: []int{0}}, {Finish: []int{0}}} {
					if !yield(serving.Sequence{Engine: room, Steps: slices.Concat(before, []serving.Step{one}, after)}) {
						return
					}
				}
			}
		}
	}
}

// few is how many steps are so few that every run of them is tried.
const few = 8

func shorter(size int) int {
	if size <= few {
		return size - 1
	}
	return size / 2
}

// roomy is an engine in which a prompt is one chunk, and a request neither
// ends by itself nor waits for pages within a few steps.
func roomy(c serving.Config) serving.Config {
	const tokens = 64
	c.MaxModelLen, c.Chunk = max(c.MaxModelLen, tokens), max(c.Chunk, tokens)
	c.Pages = max(c.Pages, c.MaxSeqs*pagesOf(c)+1)
	return c
}

// mergedSteps has the events of two neighbouring steps happen in one.
func mergedSteps(s serving.Sequence) iter.Seq[serving.Sequence] {
	return func(yield func(serving.Sequence) bool) {
		for i := range len(s.Steps) - 1 {
			a, b := s.Steps[i], s.Steps[i+1]
			t := s
			t.Steps = slices.Concat(s.Steps[:i], []serving.Step{{
				Finish: slices.Concat(a.Finish, b.Finish), Preempt: slices.Concat(a.Preempt, b.Preempt),
				Arrive: slices.Concat(a.Arrive, b.Arrive), Short: slices.Concat(a.Short, b.Short), Accept: b.Accept,
			}}, s.Steps[i+2:])
			if !yield(t) {
				return
			}
		}
	}
}

// engines gives a proposal for each configuration.
func engines(of func(serving.Config) []serving.Config) proposal {
	return func(s serving.Sequence) iter.Seq[serving.Sequence] {
		return func(yield func(serving.Sequence) bool) {
			for _, c := range of(s.Engine) {
				// A smaller page needs more of them; so fewer pages come last.
				c.Pages = max(c.Pages, pagesOf(c)+1)
				t := s
				t.Engine = c
				if !yield(t) {
					return
				}
			}
		}
	}
}

var compressionOff = engines(func(c serving.Config) []serving.Config {
	var cs []serving.Config
	for r := 1; r < c.Ratio; r++ {
		d := c
		d.Ratio = r
		// The interleave and the page stay as many states as they were.
		small := d
		small.Interleave = max(c.Interleave/c.Ratio, 1) * r
		small.Page = c.Page / c.Interleave * small.Interleave
		cs = append(cs, small, d)
	}
	return cs
})

var ranksOff = engines(func(c serving.Config) []serving.Config {
	var cs []serving.Config
	for w := 1; w < c.World; w++ {
		d := c
		d.World = w
		cs = append(cs, d)
	}
	return cs
})

// smallerNumbers makes each number of the configuration smaller, all values
// below it first to last.
var smallerNumbers = engines(func(c serving.Config) []serving.Config {
	var cs []serving.Config
	for _, number := range []func(*serving.Config) *int{
		func(c *serving.Config) *int { return &c.Interleave },
		func(c *serving.Config) *int { return &c.Page },
		func(c *serving.Config) *int { return &c.NextN },
		func(c *serving.Config) *int { return &c.MaxModelLen },
		func(c *serving.Config) *int { return &c.MaxSeqs },
		func(c *serving.Config) *int { return &c.Chunk },
	} {
		for v := 1; v < *number(&c); v++ {
			d := c
			*number(&d) = v
			d.Captures = slices.DeleteFunc(slices.Clone(c.Captures), func(n int) bool { return n > d.MaxSeqs })
			cs = append(cs, d)
		}
	}
	return cs
})

var fewerPages = engines(func(c serving.Config) []serving.Config {
	var cs []serving.Config
	for n := 2; n < c.Pages; n++ {
		d := c
		d.Pages = n
		if n >= pagesOf(c)+1 {
			cs = append(cs, d)
		}
	}
	return cs
})

// fewerCaptures captures no size, one fewer, or a smaller one.
var fewerCaptures = engines(func(c serving.Config) []serving.Config {
	var cs []serving.Config
	if len(c.Captures) > 0 {
		d := c
		d.Captures = nil
		cs = append(cs, d)
	}
	for i := range c.Captures {
		d := c
		d.Captures = slices.Delete(slices.Clone(c.Captures), i, i+1)
		cs = append(cs, d)
	}
	for i, size := range c.Captures {
		for smaller := 1; smaller < size; smaller++ {
			d := c
			d.Captures = slices.Clone(c.Captures)
			d.Captures[i] = smaller // where it does not ascend, the engine is not valid and not run
			cs = append(cs, d)
		}
	}
	return cs
})

var rowsOrder = []serving.RowsMode{serving.Native, serving.Flatten, serving.Varlen}

var nativeRows = engines(func(c serving.Config) []serving.Config {
	var cs []serving.Config
	for _, mode := range rowsOrder[:max(slices.Index(rowsOrder, c.Rows), 0)] {
		d := c
		d.Rows = mode
		cs = append(cs, d)
	}
	return cs
})

// lists are the events of a step.
func lists(s *serving.Step) []*[]int {
	return []*[]int{&s.Finish, &s.Preempt, &s.Arrive, &s.Short, &s.Accept}
}

const arrivals = 2 // the place of Arrive in lists

// fewerEvents leaves out a list of a step, then one number of it.
func fewerEvents(s serving.Sequence) iter.Seq[serving.Sequence] {
	return events(s, func(_ int, list []int) [][]int {
		if len(list) == 0 {
			return nil
		}
		out := [][]int{nil}
		if len(list) > 1 {
			for i := range list {
				out = append(out, slices.Delete(slices.Clone(list), i, i+1))
			}
		}
		return out
	})
}

// smallerEvents makes one number of a list smaller, down to what it means
// nothing to be below: 1 for a prompt, else 0.
func smallerEvents(s serving.Sequence) iter.Seq[serving.Sequence] {
	return events(s, func(which int, list []int) [][]int {
		least := 0
		if which == arrivals {
			least = 1
		}
		var out [][]int
		for i, v := range list {
			for smaller := least; smaller < v; smaller++ {
				l := slices.Clone(list)
				l[i] = smaller
				out = append(out, l)
			}
			if v < least {
				l := slices.Clone(list)
				l[i] = least
				out = append(out, l)
			}
		}
		return out
	})
}

// events changes one list of one step; which is its place among lists.
func events(s serving.Sequence, change func(which int, list []int) [][]int) iter.Seq[serving.Sequence] {
	return func(yield func(serving.Sequence) bool) {
		for i := range s.Steps {
			for l, list := range lists(&s.Steps[i]) {
				for _, changed := range change(l, *list) {
					t := s
					t.Steps = slices.Clone(s.Steps)
					*lists(&t.Steps[i])[l] = changed
					if !yield(t) {
						return
					}
				}
			}
		}
	}
}
