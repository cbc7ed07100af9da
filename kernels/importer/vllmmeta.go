package importer

import (
	"fmt"

	"mqaproof/kernels"
	"mqaproof/model"
)

// Where vLLM keeps the device kernels of the indexer's metadata builder.
const (
	vllmDecodeMetadata = "vllm/v1/attention/ops/metadata.py"
	vllmIndexer        = "vllm/v1/attention/backends/mla/indexer.py"
	vllmCompressor     = "vllm/v1/attention/backends/mla/compressor_utils.py"
)

// Triton's launcher makes constants of values that are 1 and compiles apart
// for multiples of 16. Of the values that a step chooses only the former are
// followed here: what is compiled for any value is right for multiples too.

// vllmMetadataPlans are the builder's kernels: those with a block table width
// or a compress ratio compiled in once for each, and the others once.
func vllmMetadataPlans(r Request) []*plan {
	var plans []*plan
	for _, width := range r.BlockTableWidth {
		plans = append(plans, decodeMetadataPlan(r.Target, width))
	}
	plans = append(plans, uniformDecodePlan(r.Target, true), uniformDecodePlan(r.Target, false))
	for _, ratio := range r.Ratio {
		plans = append(plans, prefillChunkPlan(r.Target, ratio, false), prefillChunkPlan(r.Target, ratio, true))
		if ratio > 1 { // else there are no compressed slots
			plans = append(plans, compressedSlotsPlan(r.Target, ratio, false), compressedSlotsPlan(r.Target, ratio, true))
		}
	}
	return plans
}

// vllmBlock is the elements that a program of the builder's kernels takes on
// at a time.
const vllmBlock = 1024

func metadataPlan(target, what, file, function string, kind model.StepKind, name ...string) *plan {
	return &plan{
		Name:     shapeName("vllm", name[0], append(name[1:], targetSuffix(target))...),
		What:     "vLLM: " + what,
		Files:    []string{file},
		Function: function,
		Target:   target,
		Options:  map[string]any{"num_warps": 4},
		Block:    "256",
		Step:     &kernels.StepSpec{Kind: kind},
	}
}

// decodeMetadataPlan is launched by DeepseekV32IndexerMetadataBuilder.build
// where the varlen logits kernel is supported.
func decodeMetadataPlan(target string, width int) *plan {
	p := metadataPlan(target, "the decode-metadata kernel (varlen)", vllmDecodeMetadata, "_indexer_decode_metadata_kernel", model.VarlenStep,
		"decode-metadata", fmt.Sprintf("w%d", width))
	p.Step.BlockTableWidth = width
	p.Constexprs = map[string]any{"BLOCK_COLS": width}
	p.Params = map[string]param{
		"query_start_loc":    tensor("i32", "query_start_loc"),
		"seq_lens":           tensor("i32", "seq_lens"),
		"block_table":        tensor("i32", "block_table"),
		"output_seq_lens":    tensor("i32", "decode_seq_lens_out"),
		"output_block_table": tensor("i32", "decode_block_table_out"),
		"decode_lens":        tensor("i32", "decode_lens_out"),
		"indices":            tensor("i32", "indices_out"),
		"per_req_lens":       tensor("i32", "per_req_decode_lens_out"),
		"num_reqs":           value("batch", 0),
		"num_tokens":         value("step_tokens", 0),
		"capacity":           value("step_capacity", 0),
		"input_stride":       value("table_width", 0),
		"output_stride":      value("table_width", 0),
	}
	p.Required = []string{"query_start_loc", "seq_lens", "output_seq_lens", "num_reqs", "num_tokens"}
	p.Grid = []string{"max(batch, step_tokens + cdiv(step_capacity - step_tokens, 256))"}
	return p
}

// uniformDecodePlan is launched by _prepare_decode_tensors. One query token a
// request is a constant.
func uniformDecodePlan(target string, one bool) *plan {
	name := []string{"uniform-decode"}
	if one {
		name = append(name, "n1")
	}
	p := metadataPlan(target, "the uniform-decode kernel", vllmIndexer, "PrepareUniformDecodeKernel.kernel", model.UniformStep, name...)
	p.Constexprs = map[string]any{"BLOCK_SIZE": vllmBlock}
	p.Params = map[string]param{
		"seq_lens_ptr":             tensor("i32", "seq_lens"),
		"decode_seq_lens_ptr":      tensor("i32", "decode_seq_lens_out"),
		"block_table_ptr":          tensor("i32", "block_table"),
		"block_table_stride":       value("table_width", 0),
		"expanded_block_table_ptr": tensor("i32", "decode_block_table_out"),
		"expanded_bt_stride":       value("table_width", 0),
		"decode_lens_ptr":          tensor("i32", "decode_lens_out"),
		"max_decode_len":           value("next_n", 0),
	}
	p.Required = []string{"seq_lens_ptr", "decode_seq_lens_ptr", "max_decode_len"}
	p.Grid = []string{"step_tokens"}
	p.Limits.Where = "next_n > 1"
	if one {
		p.Constexprs["max_decode_len"] = 1
		p.Limits = kernels.Limits{NextN: []int{1}}
	}
	return p
}

// prefillChunkPlan is launched by build_prefill_chunk_metadata, under DCP or
// not; not, the world and the interleave are constants. A chunk's lengths start
// anywhere in the step's.
func prefillChunkPlan(target string, ratio int, dcp bool) *plan {
	p := metadataPlan(target, "the prefill-chunk kernel", vllmIndexer, "BuildPrefillChunkMetadataKernel.kernel", model.PrefillStep,
		"prefill-chunk", dcpName(dcp), fmt.Sprintf("r%d", ratio))
	lengths := param{Type: "i32", Tensor: "seq_lens", Offset: "chunk_first * 4"}
	p.Constexprs = map[string]any{"BLOCK_SIZE": vllmBlock, "COMPRESS_RATIO": ratio}
	p.Params = map[string]param{
		"query_start_loc_ptr":                  tensor("i32", "chunk_query_start_loc"),
		"uncompressed_seq_lens_ptr":            lengths,
		"cu_compressed_seq_lens_ptr":           tensor("i32", "cu_seq_lens"),
		"row_start_cu_compressed_seq_lens_ptr": tensor("i32", "local_cu_seq_lens"),
		"token_to_seq_ptr":                     tensor("i32", "token_to_seq_out"),
		"cu_compressed_seq_len_ks_ptr":         tensor("i32", "row_starts_out"),
		"cu_compressed_seq_len_ke_ptr":         tensor("i32", "row_ends_out"),
		"query_slice_start":                    value("chunk_start", 0),
		"query_slice_stop":                     value("chunk_end", 0),
		"DCP_RANK":                             value("rank", 0),
		"DCP_WORLD":                            value("world", 0),
		"DCP_INTERLEAVE":                       value("interleave / ratio", 0),
	}
	p.Required = []string{"query_start_loc_ptr", "uncompressed_seq_lens_ptr", "cu_compressed_seq_len_ke_ptr", "DCP_WORLD"}
	p.Grid = []string{"chunk_requests"}
	p.limitDCP(ratio, dcp, "DCP_WORLD", "DCP_INTERLEAVE")
	return p
}

// compressedSlotsPlan is launched by get_compressed_slot_mapping.
func compressedSlotsPlan(target string, ratio int, dcp bool) *plan {
	p := metadataPlan(target, "the compressed slot mapping kernel", vllmCompressor, "CompressedSlotMappingKernel.kernel", model.SlotsStep,
		"compressed-slots", dcpName(dcp), fmt.Sprintf("r%d", ratio))
	p.Constexprs = map[string]any{"COMPRESS_RATIO": ratio, "PAD_ID": -1, "TRITON_BLOCK_SIZE": vllmBlock}
	p.Params = map[string]param{
		"compressed_slot_mapping_ptr": tensor("long", "compressed_slots_out"),
		"slot_mapping_ptr":            tensor("long", "slot_mapping"),
		"query_start_loc_ptr":         tensor("i32", "query_start_loc"),
		"seq_lens_ptr":                tensor("i32", "seq_lens"),
		"block_table_ptr":             tensor("i32", "block_table"),
		"block_table_stride":          value("table_width", 0),
		"block_size":                  value("page", 0),
		"dcp_world_size":              value("world", 0),
		"cp_interleave":               value("interleave", 0),
	}
	p.Required = []string{"compressed_slot_mapping_ptr", "slot_mapping_ptr", "seq_lens_ptr", "block_table_ptr", "block_size"}
	p.Grid = []string{"batch"}
	p.limitDCP(ratio, dcp, "dcp_world_size", "cp_interleave")
	return p
}

func dcpName(dcp bool) string {
	if dcp {
		return "dcp"
	}
	return ""
}

// limitDCP limits a kernel to the ratio, and to DCP or to none.
func (p *plan) limitDCP(ratio int, dcp bool, world, interleave string) {
	p.Limits.Ratio = []int{ratio}
	if dcp {
		p.Limits.Where = "world > 1"
		return
	}
	p.Limits.Where = "world == 1"
	p.Constexprs[world], p.Constexprs[interleave] = 1, 1
}
