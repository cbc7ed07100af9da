// Package kernels is what is under test: manifests, our HIP sources and their
// code objects, imported production kernels, and the backends that run them.
// It alone joins a kernel's arguments to a case's tensors.
package kernels

import "mqaproof/model"

// Kind says what a kernel gives.
type Kind string

const (
	Logits   Kind = "logits"   // fills logits[rows, max_model_len]
	Metadata Kind = "metadata" // fills table and per-request lengths, or what a step of the builder needs: see StepSpec
)

// Manifest describes a kernel to the tool; one YAML file a kernel. Strings
// marked expr are expressions over the variables listed at Vars.
type Manifest struct {
	Name        string            `yaml:"name"`  // "hip/mfma-split"
	About       string            `yaml:"about"` // one sentence
	Kind        Kind              `yaml:"kind"`
	CodeObjects map[string]string `yaml:"code_objects"`  // target -> file, relative to the manifest
	FP8         string            `yaml:"fp8,omitempty"` // e4m3fn or e4m3fnuz; default: the target's own
	Layouts     []model.Layout    `yaml:"layouts,omitempty"`
	Profile     string            `yaml:"profile,omitempty"` // numeric profile: a name of package profile, or a file (*.json) beside the manifest; empty: unknown
	Reads       string            `yaml:"reads,omitempty"`   // "tokens" (default): only cache slots that hold a token; "pages": any byte of an allocated page
	Tile        string            `yaml:"tile,omitempty"`    // expr: up to the request's length, rounded up to whole tiles of so many positions, everything is written, -inf past the row's length; unset: memory past the row's own length stays unwritten
	Const       map[string]string `yaml:"const,omitempty"`   // expr: named values for the other expressions (chunk_k, split_kv, ...)
	Limits      Limits            `yaml:"limits,omitempty"`
	Wirings     map[string]Wiring `yaml:"wirings"` // table, last-column, per-row; for metadata kernels: device
	Launches    []LaunchSpec      `yaml:"launches"`
	Step        *StepSpec         `yaml:"step,omitempty"` // of a metadata kernel that does one part of the builder's work

	compiled *compiled
}

// What a kernel reads of the cache: see Manifest.Reads.
const (
	ReadsTokens = "tokens"
	ReadsPages  = "pages"
)

// StepSpec says on which step of the builder a metadata kernel is run, and so
// what its outputs must hold. Without one, a metadata kernel makes the native
// table and the per-request lengths.
type StepSpec struct {
	Kind model.StepKind `yaml:"kind"` // varlen, uniform, prefill or compressed-slots: see model.Step
	// BlockTableWidth is the number of block table columns that the kernel was
	// compiled for; 0: any, and the case's own are used.
	BlockTableWidth int `yaml:"block_table_width,omitempty"`
}

// Limits are the shapes a kernel accepts; a nil list means any.
type Limits struct {
	Heads   []int  `yaml:"heads,omitempty"`
	HeadDim []int  `yaml:"head_dim,omitempty"`
	Page    []int  `yaml:"page,omitempty"`
	NextN   []int  `yaml:"next_n,omitempty"`
	Ratio   []int  `yaml:"ratio,omitempty"`
	Where   string `yaml:"where,omitempty"` // expr, bool: any further condition
}

// Wiring is one way to hand lengths to the kernel.
type Wiring struct {
	Where    string `yaml:"where,omitempty"`    // expr, bool: cases on which this wiring is meant to hold
	Fault    string `yaml:"fault,omitempty"`    // id of the fault that this subject has (B01, B02, ...); empty: it must hold
	Property string `yaml:"property,omitempty"` // the property that the fault breaks
}

// LaunchSpec is one dispatch.
type LaunchSpec struct {
	Kernel string   `yaml:"kernel"`        // symbol
	Args   []Arg    `yaml:"args"`          // in the order of the code object's explicit arguments
	Grid   []string `yaml:"grid"`          // expr, workgroups, 1 to 3
	Block  []string `yaml:"block"`         // expr, work-items, 1 to 3
	LDS    string   `yaml:"lds,omitempty"` // expr, dynamic bytes
}

// Arg is one kernel argument: a tensor's address, or a value.
type Arg struct {
	Name   string `yaml:"name"`
	Tensor string `yaml:"tensor,omitempty"` // see Tensors
	Offset string `yaml:"offset,omitempty"` // expr, bytes into the tensor
	Type   string `yaml:"type,omitempty"`   // i32, i64, u32, u64, f32, ptr (a null pointer) for values
	Value  string `yaml:"value,omitempty"`  // expr
}

// Tensors that an argument may name. Shapes in elements, row-major:
//
//	q            fp8 [B, next_n, heads, head_dim]
//	weights      f32 [B*next_n, heads]
//	cache        u8  [pages, page_bytes] in the case's layout (use offset for the scale region)
//	block_table  i32 [B, table_width]
//	lengths      i32 what the wiring hands over: table (B, lengths_stride) or per-request (B)
//	table        i32 (B, lengths_stride)
//	per_request  i32 (B)
//	seq_lens     i32 (B) global context lengths
//	prefix       i32 (B+1); kv_indices i32 (sum of lengths)
//	logits       f32 [B*next_n, max_model_len], written by the kernel
//	head_logits  f32 [heads, B*next_n, max_model_len], written by the kernel, summed over heads afterwards
//	table_out    i32 [B, next_n]; per_request_out i32 [B]; scratch0..3 i32 [B*next_n], written by metadata kernels
//
// Those of a step (see model.Step; block_table is then the step's):
//
//	query_start_loc          i32 [B+1]
//	slot_mapping             i64 [step_tokens]
//	chunk_query_start_loc    i32 [chunk_requests+1] that of the chunk, counted from its first token
//	cu_seq_lens              i32 [chunk_requests+1] prefix sums of the requests' states, on all ranks
//	local_cu_seq_lens        i32 [chunk_requests+1] and on this rank
//	decode_seq_lens_out      i32 [step_capacity], written by varlen and uniform kernels
//	decode_block_table_out   i32 [step_capacity, table_width], written by them too
//	decode_lens_out          i32 [step_capacity], and this
//	indices_out              i32 [step_capacity]; per_req_decode_lens_out i32 [step_capacity], written by varlen kernels
//	token_to_seq_out         i32 [states of the chunk, on all ranks], written by prefill kernels
//	row_starts_out           i32 [chunk_end-chunk_start]; row_ends_out likewise, written by them too
//	compressed_slots_out     i64 [step_tokens], written by compressed-slots kernels
var Tensors = []string{"q", "weights", "cache", "block_table", "lengths", "table", "per_request", "seq_lens", "prefix", "kv_indices", "logits", "head_logits", "table_out", "per_request_out", "scratch0", "scratch1", "scratch2", "scratch3",
	"query_start_loc", "slot_mapping", "chunk_query_start_loc", "cu_seq_lens", "local_cu_seq_lens",
	"decode_seq_lens_out", "decode_block_table_out", "decode_lens_out", "indices_out", "per_req_decode_lens_out", "token_to_seq_out", "row_starts_out", "row_ends_out", "compressed_slots_out"}

// Vars are the variables of expressions, all integers: batch, next_n, heads,
// head_dim, page, page_bytes, pages, table_width, max_model_len, lengths_stride,
// rows (batch*next_n), max_context (largest per-request length), world, rank,
// interleave, ratio; of a step (else 0) step_tokens, step_capacity, chunk_first,
// chunk_requests, chunk_start and chunk_end (query rows to work on, counted from
// the chunk's first); and the manifest's own constants. Functions: cdiv(a, b),
// min, max, roundup(a, b), div(a, b); a / b of integers is div, which cuts
// toward zero. Conditions (where) cannot use pages, table_width, max_context and
// those of a step.
var Vars = []string{"batch", "next_n", "heads", "head_dim", "page", "page_bytes", "pages", "table_width", "max_model_len", "lengths_stride", "rows", "max_context", "world", "rank", "interleave", "ratio",
	"step_tokens", "step_capacity", "chunk_first", "chunk_requests", "chunk_start", "chunk_end"}
