package importer

import "slices"

// shape is what a kernel is compiled for.
type shape struct {
	heads, headDim, page, chunkK, splitKV int
}

// pageBytes is a page's values and scales, as every layout has them.
func (s shape) pageBytes() int { return s.page * (s.headDim + 4) }

// shapes are all combinations that the request asks for, in ascending order,
// with the kernel's own defaults where the request says nothing.
func (r Request) shapes(pages []int, chunkK, splitKV int) []shape {
	var out []shape
	for _, h := range r.Heads {
		for _, d := range r.HeadDim {
			for _, p := range pages {
				for _, k := range orDefault(r.ChunkK, chunkK) {
					for _, n := range orDefault(r.SplitKV, splitKV) {
						out = append(out, shape{h, d, p, k, n})
					}
				}
			}
		}
	}
	return slices.Clip(out)
}
