package kernels

// tensor is what the tool knows of one name of Tensors.
type tensor struct {
	name     string
	output   bool // uninitialised before the run, read back after it
	readOnly bool
	only     Kind // the kind of kernel that has it; "": both
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
}

// tensorOf finds a name of Tensors.
func tensorOf(name string) *tensor {
	for i := range tensorTable {
		if tensorTable[i].name == name {
			return &tensorTable[i]
		}
	}
	panic("kernels: no tensor " + name)
}
