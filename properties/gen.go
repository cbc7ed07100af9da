package properties

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"mqaproof/kernels"
	"mqaproof/model"
)

// maxWork bounds a generated case: fp8 products of the whole batch, so that a
// case runs in milliseconds.
const maxWork = 1 << 21

// Cases generates whole cases in the shapes that the subject accepts and its
// wiring is meant for. Small and edge shapes are the likely ones: contexts
// about multiples of a page and of a tile, padding requests, single rows.
func Cases(s *kernels.Subject) *rapid.Generator[model.Case] {
	l := s.Manifest.Limits
	or := func(given, otherwise []int) []int {
		if len(given) > 0 {
			return given
		}
		return otherwise
	}
	heads := small(or(l.Heads, []int{1, 2, 4, 8, 16, 32, 64}))
	dims := small(or(l.HeadDim, []int{4, 8, 16, 32, 64, 128}))
	pages := rapid.SampledFrom(or(l.Page, []int{1, 2, 4, 16, 64}))
	nextNs := rapid.SampledFrom(or(l.NextN, []int{1, 1, 2, 2, 3, 4, 5, 8}))

	return rapid.Custom(func(t *rapid.T) model.Case {
		c := model.Case{
			Seed:    rapid.Uint64().Draw(t, "seed"),
			Data:    rapid.SampledFrom([]model.Style{model.Exact, model.Exact, model.Exact, model.Exact, model.Normal, model.Normal, model.Adversarial, model.NaN}).Draw(t, "data"),
			NextN:   nextNs.Draw(t, "next_n"),
			Heads:   heads.Draw(t, "heads"),
			HeadDim: dims.Draw(t, "head_dim"),
			Page:    pages.Draw(t, "page"),

			ShufflePages: rapid.Bool().Draw(t, "shuffle_pages"),
			ExtraPages:   rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "extra_pages"),
		}
		if len(s.Manifest.Layouts) > 0 {
			c.Layout = rapid.SampledFrom(s.Manifest.Layouts).Draw(t, "layout")
		}
		if extra := rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "lengths_stride"); extra > 0 {
			c.LengthsStride = c.NextN + extra
		}
		parallelism(t, s, &c)
		batch := rapid.SampledFrom([]int{1, 1, 2, 2, 3, 4, 5, 8, 20}).Draw(t, "batch")
		longest := contexts(t, &c, batch)
		c.MaxModelLen = logitsWidth(t, c, longest)
		return c
	})
}

// small prefers the first few of ascending values.
func small(vs []int) *rapid.Generator[int] {
	vs = slices.Sorted(slices.Values(vs))
	few := vs[:min(2, len(vs))]
	return rapid.OneOf(rapid.SampledFrom(few), rapid.SampledFrom(few), rapid.SampledFrom(vs))
}

func parallelism(t *rapid.T, s *kernels.Subject, c *model.Case) {
	plain := *c
	if given := s.Manifest.Limits.Ratio; len(given) > 0 {
		c.Ratio = rapid.SampledFrom(given).Draw(t, "ratio")
		plain.Ratio = c.Ratio
	} else if rapid.IntRange(0, 2).Draw(t, "compress") == 0 {
		c.Ratio = rapid.SampledFrom([]int{2, 3, 4}).Draw(t, "ratio")
	}
	if rapid.IntRange(0, 2).Draw(t, "dcp") == 0 {
		c.DCP.World = rapid.IntRange(2, 4).Draw(t, "world")
		c.DCP.Rank = rapid.IntRange(0, c.DCP.World-1).Draw(t, "rank")
		c.DCP.Interleave = max(c.Ratio, 1) * rapid.SampledFrom([]int{1, 1, 2, 4, 16}).Draw(t, "interleave")
	}
	if s.Meant(*c) {
		return
	}
	*c = plain
}

// contexts draws the requests within the work bound and gives the longest.
func contexts(t *rapid.T, c *model.Case, batch int) (longest int) {
	most := maxWork / (batch * c.NextN * c.Heads * c.HeadDim)
	most = max(min(most, rapid.SampledFrom([]int{8, 40, 40, 150, 400}).Draw(t, "reach")), c.NextN)
	near := []int{c.Page, 16, 64}
	for id := range batch {
		context := 0
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0: // padding
		case 1:
			context = c.NextN
		case 2, 3, 4:
			unit := rapid.SampledFrom(near).Draw(t, "unit")
			context = unit*rapid.IntRange(1, max(most/unit, 1)).Draw(t, "units") + rapid.IntRange(-1, c.NextN).Draw(t, "off")
		default:
			context = rapid.IntRange(c.NextN, most).Draw(t, "context")
		}
		if context > 0 {
			context = max(min(context, most), c.NextN)
		}
		longest = max(longest, context)
		c.Requests = append(c.Requests, model.Request{ID: uint32(id), Context: context})
	}
	return longest
}

// logitsWidth is tight, loose, or whole pages or tiles.
func logitsWidth(t *rapid.T, c model.Case, longest int) int {
	longest = max(longest, 1)
	unit := rapid.SampledFrom([]int{1, c.Page, 64, 256}).Draw(t, "width_unit")
	width := (longest + unit - 1) / unit * unit
	if unit == 1 {
		width += rapid.SampledFrom([]int{0, 0, 1, 7}).Draw(t, "width_slack")
	}
	return width
}

// Case is the index-th generated case of a campaign's seed for the subject.
// It depends on nothing else, so campaigns may draw cases in any order.
func Case(s *kernels.Subject, gen *rapid.Generator[model.Case], seed uint64, index int) (model.Case, error) {
	const tries = 200
	var refusal error
	for try := range tries {
		c := gen.Example(int(mix(seed, uint64(index), uint64(try)) >> 1))
		if refusal = s.Accepts(c); refusal == nil {
			return c, nil
		}
	}
	return model.Case{}, fmt.Errorf("none of %d generated cases is in the limits of %s: the last was refused because %w: widen the limits in its manifest", tries, s, refusal)
}

// mix hashes the words (splitmix64 finaliser, Steele et al. 2014).
func mix(words ...uint64) uint64 {
	h := uint64(0)
	for _, w := range words {
		h += w + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}
