package exhaust

import (
	"mqaproof/kernels"
	"mqaproof/model/metadata"
)

// The kernels that give each token a row take a program a token; the varlen
// one also searches for the token's request, which costs more the more there
// are.
const (
	uniformTokens  = 1 << 12
	varlenRequests = 128
	// paddingTokens and tailEntries are what a varlen step has behind its
	// tokens: rows of padding, and an end of the buffer that two programs clear.
	paddingTokens = 3
	tailEntries   = 300
)

// pageEntry is an entry of a made-up block table; no two of a launch are equal.
func pageEntry(request, column, width int) int32 { return int32(1 + request*width + column) }

func pageTable(requests, width int) []int32 {
	t := make([]int32, 0, requests*width)
	for r := range requests {
		for c := range width {
			t = append(t, pageEntry(r, c, width))
		}
	}
	return t
}

// width is the block table columns that the kernel was compiled for, else 3.
func (r *run) width() int {
	if w := r.s.Manifest.Step.BlockTableWidth; w > 0 {
		return w
	}
	return 3
}

// uniform runs the kernel that flattens requests of next_n tokens each.
func uniform(r *run) error {
	n, width := r.set.NextN, r.width()
	batch := max(min(uniformTokens/n, r.to-r.from), 1)
	want := r.judge(r.from-n, r.to-1)
	if want == nil {
		return nil
	}
	var err error
	if r.rig, err = r.flattenRig(batch, batch*n, width); err != nil {
		return err
	}
	a := metadata.Int32{}
	lengths, starts := make([]int32, batch), make([]int32, batch+1)
	for at := r.from; at < r.to && r.found == nil; at += batch {
		b := min(batch, r.to-at)
		for i := range b {
			lengths[i], starts[i+1] = int32(at+i), int32((i+1)*n)
		}
		if err := r.fillStep(lengths[:b], starts[:b+1]); err != nil {
			return err
		}
		ok, err := r.launch(at, at+b, map[string]int{"batch": b, "rows": b * n, "table_width": width, "step_tokens": b * n, "step_capacity": b * n})
		if err != nil || !ok {
			return err
		}
		lens, ones, pages := r.output("decode_seq_lens_out"), r.output("decode_lens_out"), r.output("decode_block_table_out")
		for i := range b {
			for j := range n {
				lens.is(want.of(int(metadata.Expand(a, int32(at+i), int32(n), int32(j)))), at+i, j)
				ones.is(1, at+i, j)
				for c := range width {
					pages.is(pageEntry(i, c, width), at+i, j)
				}
			}
		}
		lens.end(at, 1)
		ones.end(at, 1)
		pages.end(at, 1)
	}
	return nil
}

func (r *run) flattenRig(batch, capacity, width int) (rig *kernels.Rig, err error) {
	rig, err = r.s.NewRig(map[string]int{"query_start_loc": batch + 1, "seq_lens": batch, "block_table": batch * width,
		"decode_seq_lens_out": capacity, "decode_lens_out": capacity, "indices_out": capacity, "per_req_decode_lens_out": capacity,
		"decode_block_table_out": capacity * width,
		"scratch0":               capacity, "scratch1": capacity, "scratch2": capacity, "scratch3": capacity})
	if err != nil {
		return nil, err
	}
	return rig, rig.Write("block_table", pageTable(batch, width))
}

func (r *run) fillStep(lengths, starts []int32) error {
	if err := r.rig.Write("seq_lens", lengths); err != nil {
		return err
	}
	return r.rig.Write("query_start_loc", starts)
}

// varlen runs the kernel that flattens requests of differing depths: next_n
// tokens each, or 1 to next_n by turns where mixed. A request has no more query
// tokens than its length, and a padding request has none.
func varlen(mixed bool) func(*run) error {
	return func(r *run) error {
		n, width := r.set.NextN, r.width()
		batch := max(min(varlenRequests, r.to-r.from), 1)
		want := r.judge(0, r.to-1)
		if want == nil {
			return nil
		}
		capacity := batch*n + paddingTokens + tailEntries
		var err error
		if r.rig, err = r.flattenRig(batch, capacity, width); err != nil {
			return err
		}
		lengths, starts := make([]int32, batch), make([]int32, batch+1)
		for at := r.from; at < r.to && r.found == nil; at += batch {
			b := min(batch, r.to-at)
			tokens := 0
			for i := range b {
				depth := n
				if mixed {
					depth = 1 + (at+i)%n
				}
				tokens += min(depth, at+i)
				lengths[i], starts[i+1] = int32(at+i), int32(tokens)
			}
			if err := r.fillStep(lengths[:b], starts[:b+1]); err != nil {
				return err
			}
			vars := map[string]int{"batch": b, "rows": b * n, "table_width": width, "step_tokens": tokens + paddingTokens, "step_capacity": capacity}
			ok, err := r.launch(at, at+b, vars)
			if err != nil || !ok {
				return err
			}
			r.compareVarlen(at, b, starts, want, width, capacity)
		}
		return nil
	}
}

func (r *run) compareVarlen(at, b int, starts []int32, want *counts, width, capacity int) {
	lens, ones, pages := r.output("decode_seq_lens_out"), r.output("decode_lens_out"), r.output("decode_block_table_out")
	indices, depths := r.output("indices_out"), r.output("per_req_decode_lens_out")
	a := metadata.Int32{}
	for i := range b {
		depth := starts[i+1] - starts[i]
		depths.is(depth, at+i, 0)
		for t := starts[i]; t < starts[i+1]; t++ {
			j := int(t - starts[i])
			lens.is(want.of(int(metadata.ExpandFrom(a, int32(at+i), depth, starts[i], t))), at+i, j)
			ones.is(1, at+i, j)
			indices.is(int32(i), at+i, j)
			for c := range width {
				pages.is(pageEntry(i, c, width), at+i, j)
			}
		}
	}
	for t := range paddingTokens {
		ones.is(1, at, t)
		indices.is(int32(b+t), at, t)
		for range width {
			pages.is(0, at, t)
		}
	}
	for t := int(starts[b]); t < capacity; t++ {
		lens.is(0, at, t-int(starts[b]))
	}
	for _, o := range []*output{lens, ones, pages, indices, depths} {
		o.end(at, 1)
	}
}
