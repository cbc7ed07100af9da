package importer

import (
	"fmt"
	"strconv"

	"mqaproof/kernels"
	"mqaproof/model"
)

// Where AITER keeps its Gluon kernels.
const aiterGluon = "aiter/ops/triton/gluon/pa_mqa_logits.py"

// The launcher's choices: chunks of 256, and a SplitKV from the number of
// compute units of which 10 is the least (5*WavePerEU).
const (
	gluonChunkK  = 256
	gluonSplitKV = 10
)

func aiterGluonPlans(pkg string, r Request) []*plan {
	// The plain kernel is launched for one-token pages, the preshuffled one for
	// all others; pages that the request names go where they belong.
	var one, many []int
	for _, page := range orDefault(r.Page, 1, 16, 64) {
		if page == 1 {
			one = append(one, page)
		} else {
			many = append(many, page)
		}
	}
	var plans []*plan
	for _, s := range r.shapes(one, gluonChunkK, gluonSplitKV) {
		p := gluonPlan(pkg, "gluon-plain", r.Target, s)
		p.What = "AITER: the plain Gluon kernel"
		p.Function = "_gluon_deepgemm_fp8_paged_mqa_logits"
		p.Layouts = []model.Layout{model.Interleaved}
		// Its chunks end at the request's length, so that it stores to all of that
		// in every row, -inf past the row's own, and no further.
		p.Tile = "1"
		plans = append(plans, p)
	}
	for _, s := range r.shapes(many, gluonChunkK, gluonSplitKV) {
		p := gluonPlan(pkg, "gluon-preshuffle", r.Target, s)
		p.What = "AITER: the Gluon kernel for preshuffled pages"
		p.Function = "_gluon_deepgemm_fp8_paged_mqa_logits_preshuffle"
		p.Layouts = []model.Layout{model.Preshuffled}
		// Steps of half a chunk, each of whole pages: it loads and stores all of
		// a page, and masks only in the last half chunk.
		p.Reads = kernels.ReadsPages
		p.Tile = "page"
		p.Limits.Where = "max_model_len % page == 0"
		switch {
		case p.Problem != "":
		case s.headDim != 128:
			p.Problem = fmt.Sprintf("its tile offsets are written for head_dim 128, not %d", s.headDim)
		case s.page%16 != 0:
			p.Problem = fmt.Sprintf("it takes pages in tiles of 16 tokens, not page %d", s.page)
		case s.chunkK < 128:
			p.Problem = fmt.Sprintf("its four waves take 16 positions each in a step of ChunkK/2: ChunkK must be at least 128, not %d", s.chunkK)
		case s.chunkK/2%s.page != 0:
			p.Problem = fmt.Sprintf("its steps of ChunkK/2 = %d positions must be whole pages, not page %d", s.chunkK/2, s.page)
		}
		plans = append(plans, p)
	}
	return plans
}

func gluonPlan(pkg, kernel, target string, s shape) *plan {
	cdna := 3
	if target == gfx950 {
		cdna = 4
	}
	params := aiterParams(s)
	params["SplitKV"] = value("split_kv", 0)
	// Hints as the launcher gives them: none for the logits, their stride, and the
	// tables' widths; the cache may be of any size.
	for _, name := range []string{"OutLogits_buffer", "stride_out_batch", "max_model_len"} {
		p := params[name]
		p.Multiple, p.Wide = 0, true
		params[name] = p
	}
	for _, name := range []string{"context_len_ptr", "kv_indices"} {
		p := params[name]
		p.Multiple = 0
		params[name] = p
	}
	for _, name := range []string{"KV_buffer", "scale_buffer"} {
		p := params[name]
		p.Wide = true
		if s.pageBytes()%alignment != 0 {
			p.Multiple = 0
		}
		params[name] = p
	}
	stride := params["stride_out_batch"]
	stride.Type = "i64"
	params["stride_out_batch"] = stride
	page := ""
	if kernel != "gluon-plain" {
		page = fmt.Sprintf("p%d", s.page)
	}
	problem := ""
	// 256 lanes of 16 bytes load q, and a chunk of keys: less is no layout.
	if least := min(s.heads, s.chunkK); least*s.headDim < 4096 {
		problem = fmt.Sprintf("its lanes load 4096 values at a time: head_dim %d needs at least %d heads and a ChunkK as large", s.headDim, 4096/s.headDim)
	}
	return &plan{
		Problem: problem,
		Name: shapeName(pkg, kernel, fmt.Sprintf("h%d", s.heads), fmt.Sprintf("d%d", s.headDim), page,
			unless("k", s.chunkK, gluonChunkK), unless("s", s.splitKV, gluonSplitKV), targetSuffix(target)),
		Files:  []string{aiterGluon},
		Target: target,
		Constexprs: map[string]any{"ChunkQ": s.heads, "ChunkK": s.chunkK, "HiddenDim": s.headDim, "KVBlockSize": s.page,
			"CDNA_VERSION": cdna, "ARCH": target},
		Returns:  map[string]any{"get_cdna_version": cdna},
		Options:  map[string]any{"num_warps": 4, "waves_per_eu": 2, "num_stages": 2},
		Params:   params,
		Required: []string{"context_len_ptr", "kv_indices", "weights", "OutLogits_buffer", "next_n", "SplitKV"},
		Reads:    kernels.ReadsTokens,
		Const:    map[string]string{"chunk_k": strconv.Itoa(s.chunkK), "split_kv": strconv.Itoa(s.splitKV)},
		Limits:   kernels.Limits{Heads: []int{s.heads}, HeadDim: []int{s.headDim}, Page: []int{s.page}},
		Grid:     []string{"batch * next_n * split_kv"},
		Block:    "256",
		Lengths:  oneLength,
	}
}
