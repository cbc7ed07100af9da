package importer

import (
	"fmt"
	"strconv"

	"mqaproof/kernels"
	"mqaproof/model"
)

// Where vLLM keeps its block-flat decode kernel.
const vllmSparse = "vllm/v1/attention/ops/rocm_aiter_mla_sparse.py"

// The launcher's choices: tiles of 64 positions, which must divide the page,
// and a number of splits from the batch, the model length and the number of
// compute units; 4 is what a batch of 85 three-token requests gets on any of
// the targets (1024/rows), or a smaller one with a model length of 256.
const (
	vllmBlockKV = 64
	vllmSplits  = 4
)

// vllmPlans has, for each shape and next_n, the kernel that reads a length a
// row and, where next_n > 1 makes a difference, the one that reads a length a
// request: the launcher picks by the lengths' size.
func vllmPlans(r Request) []*plan {
	var plans []*plan
	for _, s := range r.shapes(orDefault(r.Page, 64), vllmBlockKV, vllmSplits) {
		for _, nextN := range r.NextN {
			plans = append(plans, vllmPlan("block-flat", r.Target, s, nextN, perRow))
			if nextN > 1 {
				plans = append(plans, vllmPlan("block-flat-request", r.Target, s, nextN, oneLength))
			}
		}
	}
	return append(plans, vllmMetadataPlans(r)...)
}

func vllmPlan(kernel, target string, s shape, nextN int, lengths lengthsKind) *plan {
	p := &plan{
		Name: shapeName("vllm", kernel, fmt.Sprintf("h%d", s.heads), fmt.Sprintf("d%d", s.headDim), fmt.Sprintf("p%d", s.page), fmt.Sprintf("n%d", nextN),
			unless("k", s.chunkK, vllmBlockKV), unless("s", s.splitKV, vllmSplits), targetSuffix(target)),
		What:     "vLLM: the block-flat decode kernel, " + string(lengths),
		Files:    []string{vllmSparse},
		Function: "_fp8_paged_mqa_logits_decode_kernel",
		Target:   target,
		Constexprs: map[string]any{"NUM_HEADS": s.heads, "HEAD_SIZE": s.headDim, "BLOCK_SIZE": s.page, "BLOCK_KV": s.chunkK,
			"N_SPLITS": s.splitKV, "NEXT_N": nextN, "CTX_PER_ROW": lengths == perRow},
		Options: map[string]any{"num_warps": 4, "num_stages": 2},
		Params: map[string]param{
			"q_ptr":             tensor("fp8", "q"),
			"kv_val_ptr":        tensor("fp8", "cache"),
			"kv_scale_ptr":      tensor("f32", "cache"),
			"weights_ptr":       tensor("f32", "weights"),
			"ctx_lens_ptr":      tensor("i32", "lengths"),
			"block_tables_ptr":  tensor("i32", "block_table"),
			"logits_ptr":        tensor("f32", "logits"),
			"stride_q_b":        value("next_n * heads * head_dim", nextN*s.heads*s.headDim),
			"stride_q_n":        value("heads * head_dim", s.heads*s.headDim),
			"stride_q_h":        value("head_dim", s.headDim),
			"stride_w_row":      value("heads", s.heads),
			"stride_kvblk_fp8":  value("page_bytes", s.pageBytes()),
			"stride_kvblk_f32":  value("page_bytes / 4", s.pageBytes()/4),
			"scale_region_off":  value("page * head_dim / 4", s.page*s.headDim/4),
			"stride_bt_b":       value("table_width", 0),
			"stride_logits_row": value("max_model_len", 0),
			"max_blocks":        value("table_width", 0),
			"max_model_len":     value("max_model_len", 0),
		},
		Required: []string{"q_ptr", "kv_val_ptr", "kv_scale_ptr", "weights_ptr", "ctx_lens_ptr", "block_tables_ptr", "logits_ptr", "max_model_len"},
		Layouts:  []model.Layout{model.BlockFlat},
		Reads:    kernels.ReadsTokens,
		Const:    map[string]string{"block_kv": strconv.Itoa(s.chunkK), "n_splits": strconv.Itoa(s.splitKV)},
		Limits:   kernels.Limits{Heads: []int{s.heads}, HeadDim: []int{s.headDim}, Page: []int{s.page}, NextN: []int{nextN}},
		Grid:     []string{"rows", "n_splits"},
		Block:    "256",
		Lengths:  lengths,
	}
	if s.page%s.chunkK != 0 {
		p.Problem = fmt.Sprintf("its tiles of %d positions must divide the page, not page %d", s.chunkK, s.page)
	}
	return p
}
