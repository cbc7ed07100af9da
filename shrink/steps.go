package shrink

import (
	"cmp"
	"iter"
	"slices"

	"mqaproof/model"
)

// A step proposes cases that are strictly simpler than the given one in one
// respect, the simplest first, so that a big simplification is tried before a
// small one.
type step func(model.Case) iter.Seq[model.Case]

// steps in the order in which they are applied: what makes the largest
// difference to the cost of later runs comes first.
var steps = []step{
	parallelOff, compressionOff, fewerRequests, smallerNextN, fewerHeads, smallerHeadDim, shorterContexts,
	simplerBlockTable, contiguousLengths, smallerPage, narrowerLogits, simplerData, plainNames,
}

// edit gives a step that changes a copy of the case in one way per value.
func edit[T any](values func(model.Case) []T, set func(*model.Case, T)) step {
	return func(c model.Case) iter.Seq[model.Case] {
		return func(yield func(model.Case) bool) {
			for _, v := range values(c) {
				d := c
				d.Requests = slices.Clone(c.Requests)
				set(&d, v)
				if !yield(d) {
					return
				}
			}
		}
	}
}

var parallelOff = edit(
	func(c model.Case) []model.DCP {
		if c.DCP.World <= 1 {
			return nil
		}
		simpler := []model.DCP{{}}
		add := func(d model.DCP) {
			if d != c.DCP {
				simpler = append(simpler, d)
			}
		}
		ratio := max(c.Ratio, 1)
		add(model.DCP{World: 2, Rank: 0, Interleave: ratio})
		add(model.DCP{World: 2, Rank: min(c.DCP.Rank, 1), Interleave: ratio})
		if c.DCP.Interleave > ratio {
			add(model.DCP{World: c.DCP.World, Rank: c.DCP.Rank, Interleave: ratio})
		}
		if c.DCP.Rank > 0 {
			add(model.DCP{World: c.DCP.World, Interleave: c.DCP.Interleave})
		}
		// Proposals must go down: a smaller world, else the same world with a smaller interleave or rank.
		return slices.DeleteFunc(simpler, func(d model.DCP) bool {
			return d.World > c.DCP.World || (d.World == c.DCP.World && (d.Interleave > c.DCP.Interleave || d.Rank > c.DCP.Rank))
		})
	},
	func(c *model.Case, d model.DCP) { c.DCP = d },
)

var compressionOff = edit(
	func(c model.Case) []int { return below(c.Ratio, 0, 2) },
	func(c *model.Case, r int) { c.Ratio = r },
)

// fewerRequests leaves out runs of requests, long runs first.
func fewerRequests(c model.Case) iter.Seq[model.Case] {
	return func(yield func(model.Case) bool) {
		n := len(c.Requests)
		for size := n - 1; size >= 1; size = next(size) {
			for start := 0; start+size <= n; start += max(size/2, 1) {
				d := c
				d.Requests = slices.Concat(c.Requests[:start], c.Requests[start+size:])
				if !yield(d) {
					return
				}
			}
		}
	}
}

func next(size int) int {
	if size == 1 {
		return 0
	}
	return max(size/2, 1)
}

// smallerNextN keeps the contexts in one proposal and takes the query tokens
// that go from them in another.
func smallerNextN(c model.Case) iter.Seq[model.Case] {
	return func(yield func(model.Case) bool) {
		for n := 1; n < c.NextN; n++ {
			d := c
			d.NextN = n
			if c.LengthsStride > 0 {
				d.LengthsStride = n + c.LengthsStride - c.NextN
			}
			if !yield(d) {
				return
			}
			d.Requests = slices.Clone(c.Requests)
			for i, r := range d.Requests {
				d.Requests[i].Context = max(r.Context-(c.NextN-n), 0)
			}
			if !yield(d) {
				return
			}
		}
	}
}

var fewerHeads = edit(
	func(c model.Case) []int { return below(c.Heads, 1, 2, 4, 8, 16, 32, 64, 128) },
	func(c *model.Case, h int) { c.Heads = h },
)

var smallerHeadDim = edit(
	func(c model.Case) []int { return below(c.HeadDim, 4, 8, 16, 32, 64, 128, 256) },
	func(c *model.Case, d int) { c.HeadDim = d },
)

// shorterContexts shortens all contexts together, then each by itself: to none
// or the least allowed, then by halving towards it, then by one.
func shorterContexts(c model.Case) iter.Seq[model.Case] {
	return func(yield func(model.Case) bool) {
		longest := 0
		for _, r := range c.Requests {
			longest = max(longest, r.Context)
		}
		for _, limit := range towards(longest, c.NextN) {
			d := c
			d.Requests = slices.Clone(c.Requests)
			for i := range d.Requests {
				d.Requests[i].Context = min(d.Requests[i].Context, limit)
			}
			if !yield(d) {
				return
			}
		}
		for i, r := range c.Requests {
			shorter := towards(r.Context, c.NextN)
			if r.Context > 0 {
				shorter = append([]int{0}, shorter...)
			}
			for _, x := range shorter {
				d := c
				d.Requests = slices.Clone(c.Requests)
				d.Requests[i].Context = x
				if !yield(d) {
					return
				}
			}
		}
	}
}

// near is how many values are tried one by one, so that a short context is the
// shortest there is even where failing needs a parity or a remainder.
const near = 64

// towards gives values below x and at least least: least itself, then ever
// closer to x by halves and by powers of two (which keep the place in a tile),
// ending with x-1; then, once they are few, all of them.
func towards(x, least int) []int {
	var gaps []int
	for gap := x - least; gap > 0; gap /= 2 {
		gaps = append(gaps, gap)
	}
	for gap := 2; gap < x-least; gap *= 2 {
		gaps = append(gaps, gap)
	}
	if x-least <= near {
		for gap := 1; gap < x-least; gap++ {
			gaps = append(gaps, gap)
		}
	}
	slices.SortFunc(gaps, func(a, b int) int { return cmp.Compare(b, a) })
	var vs []int
	for _, gap := range slices.Compact(gaps) {
		vs = append(vs, x-gap)
	}
	return vs
}

var simplerBlockTable = edit(
	func(c model.Case) []func(*model.Case) {
		var vs []func(*model.Case)
		if c.ShufflePages {
			vs = append(vs, func(c *model.Case) { c.ShufflePages = false })
		}
		for _, e := range below(c.ExtraPages, 0, 1) {
			vs = append(vs, func(c *model.Case) { c.ExtraPages = e })
		}
		return vs
	},
	func(c *model.Case, f func(*model.Case)) { f(c) },
)

var contiguousLengths = edit(
	func(c model.Case) []int {
		if c.LengthsStride <= c.NextN {
			return below(c.LengthsStride, 0)
		}
		return below(c.LengthsStride, 0, c.NextN+1)
	},
	func(c *model.Case, s int) { c.LengthsStride = s },
)

var smallerPage = edit(
	func(c model.Case) []int { return below(c.Page, 1, 2, 4, 8, 16, 32, 64) },
	func(c *model.Case, p int) { c.Page = p },
)

// narrowerLogits tries the longest context and round widths above it.
var narrowerLogits = edit(
	func(c model.Case) []int {
		longest := 1
		for _, r := range c.Requests {
			longest = max(longest, r.Context)
		}
		candidates := []int{longest, longest + 1}
		for _, unit := range []int{4, 16, 32, 64, 128, 256, 512} {
			candidates = append(candidates, (longest+unit-1)/unit*unit)
		}
		slices.Sort(candidates)
		return below(c.MaxModelLen, append(slices.Compact(candidates), towards(c.MaxModelLen, longest)...)...)
	},
	func(c *model.Case, w int) { c.MaxModelLen = w },
)

var dataOrder = []model.Style{model.Exact, model.Normal, model.Adversarial, model.NaN}

var simplerData = edit(
	func(c model.Case) []model.Style {
		return dataOrder[:max(slices.Index(dataOrder, c.Data), 0)]
	},
	func(c *model.Case, s model.Style) { c.Data = s },
)

// plainNames makes the seed 1 and numbers the requests from 0.
var plainNames = edit(
	func(c model.Case) []func(*model.Case) {
		var vs []func(*model.Case)
		if c.Seed != 1 {
			vs = append(vs, func(c *model.Case) { c.Seed = 1 })
		}
		for i, r := range c.Requests {
			if r.ID != uint32(i) {
				return append(vs, func(c *model.Case) {
					for i := range c.Requests {
						c.Requests[i].ID = uint32(i)
					}
				})
			}
		}
		return vs
	},
	func(c *model.Case, f func(*model.Case)) { f(c) },
)

// below keeps the candidates that are less than x.
func below(x int, candidates ...int) []int {
	return slices.DeleteFunc(candidates, func(v int) bool { return v >= x })
}
