package kernels

import "mqaproof/model"

// tensor is what the tool knows of one name of Tensors.
type tensor struct {
	name     string
	output   bool // uninitialised before the run, read back after it
	readOnly bool
	only     Kind // the kind of kernel that has it; "": both

	steps []model.StepKind // of a tensor of the builder's step: the kinds that have it
	wide  bool             // int64, not int32
}

var tensorTable = []tensor{
	{name: "q", readOnly: true, only: Logits},
	{name: "weights", readOnly: true, only: Logits},
	{name: "cache", readOnly: true, only: Logits},
	{name: "block_table", readOnly: true},
	{name: "lengths", readOnly: true, only: Logits},
	{name: "table", readOnly: true, only: Logits},
	{name: "per_request", readOnly: true, only: Logits},
	{name: "seq_lens", readOnly: true},
	{name: "prefix", readOnly: true, only: Logits},
	{name: "kv_indices", readOnly: true, only: Logits},
	{name: "logits", output: true, only: Logits},
	{name: "head_logits", output: true, only: Logits},
	{name: "table_out", output: true, only: Metadata},
	{name: "per_request_out", output: true, only: Metadata},
	{name: "scratch0", output: true},
	{name: "scratch1", output: true},
	{name: "scratch2", output: true},
	{name: "scratch3", output: true},

	{name: "query_start_loc", readOnly: true, only: Metadata, steps: model.StepKinds},
	{name: "slot_mapping", readOnly: true, only: Metadata, steps: slotSteps, wide: true},
	{name: "chunk_query_start_loc", readOnly: true, only: Metadata, steps: prefillSteps},
	{name: "cu_seq_lens", readOnly: true, only: Metadata, steps: prefillSteps},
	{name: "local_cu_seq_lens", readOnly: true, only: Metadata, steps: prefillSteps},
	{name: "decode_seq_lens_out", output: true, only: Metadata, steps: flattenSteps},
	{name: "decode_block_table_out", output: true, only: Metadata, steps: flattenSteps},
	{name: "decode_lens_out", output: true, only: Metadata, steps: flattenSteps},
	{name: "indices_out", output: true, only: Metadata, steps: flattenSteps[:1]},
	{name: "per_req_decode_lens_out", output: true, only: Metadata, steps: flattenSteps[:1]},
	{name: "token_to_seq_out", output: true, only: Metadata, steps: prefillSteps},
	{name: "row_starts_out", output: true, only: Metadata, steps: prefillSteps},
	{name: "row_ends_out", output: true, only: Metadata, steps: prefillSteps},
	{name: "compressed_slots_out", output: true, only: Metadata, steps: slotSteps, wide: true},
}

var (
	flattenSteps = []model.StepKind{model.VarlenStep, model.UniformStep}
	prefillSteps = []model.StepKind{model.PrefillStep}
	slotSteps    = []model.StepKind{model.SlotsStep}
)

// tensorOf finds a name of Tensors.
func tensorOf(name string) *tensor {
	for i := range tensorTable {
		if tensorTable[i].name == name {
			return &tensorTable[i]
		}
	}
	panic("kernels: no tensor " + name)
}
