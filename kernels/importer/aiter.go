package importer

import (
	"fmt"
	"strconv"

	"mqaproof/kernels"
	"mqaproof/model"
)

// Where AITER keeps its Triton kernels: in the 0.1.7 releases, and later.
const (
	aiterTriton      = "aiter/ops/triton/_triton_kernels/pa_mqa_logits.py"
	aiterTritonMoved = "aiter/ops/triton/_triton_kernels/attention/pa_mqa_logits.py"
)

// aiterVariant is one of AITER's Triton kernels.
type aiterVariant struct {
	name, function, what string
	heads, ragged        bool // writes logits of each head apart; reads a flat list of tokens
}

var aiterVariants = []aiterVariant{
	{"plain", "_deepgemm_fp8_paged_mqa_logits", "the plain kernel", false, false},
	{"stage1", "_deepgemm_fp8_paged_mqa_logits_stage1", "the stage1 kernel (logits of each head)", true, false},
	{"ragged", "_deepgemm_fp8_paged_mqa_logits_ragged_k", "the ragged kernel (a flat list of tokens)", false, true},
	{"stage1-ragged", "_deepgemm_fp8_paged_mqa_logits_stage1_ragged_k", "the ragged stage1 kernel (logits of each head)", true, true},
}

// aiterDefaults are a launcher's choices.
type aiterDefaults struct {
	chunkK, splitKV, stage1Heads int
	paged                        bool // KVBlockSize pages
}

// released are those of amd-aiter 0.1.7; current ones take chunks of 256, heads
// together, and choose SplitKV from the number of compute units: 10 is the least
// it chooses with two waves a unit, 5*WavePerEU.
func (v aiterVariant) defaults(pkg string) aiterDefaults {
	if pkg == "amd-aiter" || v.ragged {
		return aiterDefaults{chunkK: 64, splitKV: 5, stage1Heads: 32}
	}
	return aiterDefaults{chunkK: 256, splitKV: 10, stage1Heads: 64, paged: true}
}

func aiterTritonPlans(pkg string, r Request) []*plan {
	var plans []*plan
	for _, v := range aiterVariants {
		d := v.defaults(pkg)
		pages := []int{1}
		if d.paged {
			pages = orDefault(r.Page, 1, 64)
		} else if len(r.Page) > 0 {
			pages = orDefault(r.Page)
		}
		for _, s := range r.shapes(pages, d.chunkK, d.splitKV) {
			plans = append(plans, v.plan(pkg, r.Target, d, s))
		}
	}
	return plans
}

func (v aiterVariant) plan(pkg, target string, d aiterDefaults, s shape) *plan {
	page := ""
	if d.paged {
		page = unless("p", s.page, 1)
	}
	p := &plan{
		Name: shapeName(pkg, v.name, fmt.Sprintf("h%d", s.heads), fmt.Sprintf("d%d", s.headDim), page,
			unless("k", s.chunkK, d.chunkK), unless("s", s.splitKV, d.splitKV), targetSuffix(target)),
		What:       "AITER: " + v.what,
		Files:      []string{aiterTriton, aiterTritonMoved},
		Function:   v.function,
		Target:     target,
		Constexprs: map[string]any{"ChunkQ": s.heads, "ChunkK": s.chunkK, "HiddenDim": s.headDim, "SplitKV": s.splitKV},
		Options:    map[string]any{"num_warps": 4},
		Params:     aiterParams(s),
		Layouts:    []model.Layout{model.Interleaved},
		Reads:      kernels.ReadsTokens,
		Tile:       "chunk_k",
		Const:      map[string]string{"chunk_k": strconv.Itoa(s.chunkK), "split_kv": strconv.Itoa(s.splitKV)},
		Limits:     kernels.Limits{Heads: []int{s.heads}, HeadDim: []int{s.headDim}, Page: []int{s.page}},
		Grid:       []string{"batch * next_n * split_kv"},
		Block:      "256",
		// The strides that depend on it are compiled as multiples of 16.
		WholeChunks: "max_model_len % chunk_k == 0",
		Lengths:     oneLength,
	}
	p.Limits.Where = "max_model_len % 16 == 0"
	out := "OutLogits_buffer"
	if v.heads {
		out = "Out_buffer"
		if target == gfx942 {
			// Scale, relu and weight are each rounded, and the caller adds the heads:
			// there is no other order. That the dims reach the matrix core in order was
			// seen by running all shapes of 16 to 128 heads, 32 to 128 dims, and chunks
			// of 16 to 128 positions.
			p.Profile = "mfma16-heads"
		}
		chunkQ := min(d.stage1Heads, s.heads)
		p.Constexprs["ChunkQ"] = chunkQ
		p.Const["chunk_q"] = strconv.Itoa(chunkQ)
		p.Grid = []string{"batch * next_n * (heads / chunk_q) * split_kv"}
		// Below 2 GiB of logits the launcher promises 32-bit offsets.
		p.Limits.Where += " && heads * rows * max_model_len < 536870912"
	}
	p.Required = []string{"weights", out, "next_n"}
	if v.ragged {
		p.Lengths = ragged
		p.Params["kv_indices"] = tensor("i32", "kv_indices")
		p.Required = append(p.Required, "prefix_sum_context_lens", "kv_indices")
	} else {
		p.Required = append(p.Required, "context_len_ptr", "kv_indices")
	}
	if d.paged {
		p.Constexprs["KVBlockSize"] = s.page
		p.Options["waves_per_eu"] = 2
		if !v.heads {
			// Triton's launcher turns a plain argument that is 1 into a constant.
			p.Constexprs["stride_scale_token"] = 1
		}
		if s.page > 1 {
			p.Layouts = []model.Layout{model.BlockFlat}
		} else {
			p.Optional = []string{"KVBlockSize", "stride_scale_token"} // before there were pages
		}
	} else if s.page != 1 {
		p.Problem = fmt.Sprintf("it addresses single tokens: page %d is not possible, only 1 is", s.page)
	}
	return p
}

// aiterParams are the parameters of AITER's kernels, Triton and Gluon, with
// what the launchers pass. A page is values, then scales: for pages of one token
// that is the interleaved layout too.
func aiterParams(s shape) map[string]param {
	scale := tensor("f32", "cache")
	scale.Offset = "page * head_dim"
	scale.Multiple = s.page * s.headDim
	return map[string]param{
		"batch_size":              value("batch", 0),
		"next_n":                  value("next_n", 0),
		"heads_num":               value("heads", s.heads),
		"Q_buffer":                tensor("fp8", "q"),
		"stride_q_batch":          value("next_n * heads * head_dim", s.heads*s.headDim),
		"stride_q_next_n":         value("heads * head_dim", s.heads*s.headDim),
		"stride_q_heads":          value("head_dim", s.headDim),
		"KV_buffer":               tensor("fp8", "cache"),
		"stride_k_seq":            value("page_bytes", s.pageBytes()),
		"stride_k_block":          value("page_bytes", s.pageBytes()),
		"stride_k_token":          value("head_dim", s.headDim),
		"scale_buffer":            scale,
		"stride_scale_seq":        value("page_bytes / 4", s.pageBytes()/4),
		"stride_scale_block":      value("page_bytes / 4", s.pageBytes()/4),
		"stride_scale_token":      value("1", 0),
		"context_len_ptr":         tensor("i32", "lengths"),
		"prefix_sum_context_lens": tensor("i32", "prefix"),
		"kv_indices":              tensor("i32", "block_table"),
		"weights":                 tensor("f32", "weights"),
		"stride_w_batch":          value("heads", s.heads),
		"Out_buffer":              tensor("f32", "head_logits"),
		"OutLogits_buffer":        tensor("f32", "logits"),
		"stride_out_heads":        value("rows * max_model_len", alignment),
		"stride_out_batch":        value("max_model_len", alignment),
		"max_model_len":           value("max_model_len", alignment),
		"max_blk_len":             value("table_width", 0),
		"max_block_len":           value("table_width", 0),
		"num_block":               value("pages", 0),
	}
}
