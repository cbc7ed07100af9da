package stateful

import (
	"slices"

	"mqaproof/sim/serving"
)

// shape is the choices that make a configuration; any choice makes a valid
// one. Both generators draw shapes, each in its own way.
type shape struct {
	nextN, world int
	rows         serving.RowsMode
	ratio        int
	interleaves  int // interleave in ratios
	pages        int // page in interleaves
	modelPages   int // max_model_len in pages of all ranks, about
	extraPages   int // beyond the null page and those of one request
	seqs         int
	chunk        int
	captures     int // which of the batch sizes are captured, a bit each
}

var (
	nextNs      = []int{1, 2, 2, 3, 3, 4}
	worlds      = []int{1, 1, 2, 2, 3, 4}
	rowsModes   = []serving.RowsMode{serving.Native, serving.Native, serving.Native, serving.Flatten, serving.Varlen}
	ratios      = []int{1, 1, 1, 2, 3, 4}
	interleaves = []int{1, 1, 2, 4}
	pageSizes   = []int{1, 1, 2, 4}
	modelPages  = []int{1, 2, 3, 5}
	extraPages  = []int{0, 1, 3, 8}
	chunks      = []int{1, 2, 3, 5, 8, 16}
)

const (
	maxSeqs     = 6
	maxContext  = 96 // longest request of a generated engine
	maxCaptures = 1<<maxSeqs - 1
)

func (s shape) config() serving.Config {
	c := serving.Config{
		NextN: s.nextN, Rows: s.rows, World: s.world, Ratio: s.ratio,
		Interleave: s.ratio * s.interleaves,
		MaxSeqs:    s.seqs, Chunk: s.chunk,
	}
	c.Page = c.Interleave * s.pages
	c.MaxModelLen = max(min(c.Page*c.World*s.modelPages, maxContext), c.NextN+1)
	c.Pages = pagesOf(c) + 1 + s.extraPages
	for size := 1; size <= c.MaxSeqs; size++ {
		if s.captures>>(size-1)&1 == 1 {
			c.Captures = append(c.Captures, size)
		}
	}
	return c
}

// pagesOf is the pages of one request of max_model_len.
func pagesOf(c serving.Config) int {
	span := c.Page * c.World
	return (c.MaxModelLen + span - 1) / span
}

// prompts are prompt lengths that matter: about the sizes at which something
// changes.
func prompts(c serving.Config) []int {
	ps := []int{1, 1, 2, c.NextN, c.NextN + 1, c.Chunk, c.Chunk + 1, c.Page, c.Page * c.World, c.Page*c.World + 1, c.MaxModelLen - c.NextN, c.MaxModelLen - 1}
	return slices.DeleteFunc(ps, func(p int) bool { return p < 1 || p >= c.MaxModelLen })
}
