package model

import "mqaproof/model/fp8"

// Inputs are a case's tensors, host side, as the kernel's caller would hold
// them. Rows = len(Requests)*NextN; row = request*NextN + j.
type Inputs struct {
	Case   Case
	Format fp8.Format
	Rows   int
	Width  int // logits columns, = MaxModelLen

	Q       []byte    // fp8 [B, NextN, Heads, HeadDim]
	Weights []float32 // [Rows, Heads]
	Cache   Cache

	BlockTable []int32 // [B, TableWidth]
	TableWidth int

	Global     []int32 // [B] global context lengths
	Table      []int32 // [B, NextN] lengths as the builder gives them: expanded, localized, compressed (contiguous here; the strided view is made at launch)
	PerRequest []int32 // [B] the table's last column

	// Flat form for ragged kernels.
	Prefix    []int32 // [B+1] prefix sums of PerRequest
	KVIndices []int32 // physical token slot (page*Page + offset) of each local position, request after request

	// Visible[row] is how many local positions the row may see, by the
	// counting oracle (not by the builder).
	Visible []int

	// As drawn; read through the accessors of decoded.go. Request i has local
	// positions starts[i] to starts[i+1] of the flat arrays.
	starts []int
	states []int32   // global state of each local position
	keys   []byte    // fp8 [local positions, HeadDim]
	scales []float32 // [local positions]
}

// Cache is the paged KV cache of this rank in the case's layout.
type Cache struct {
	Bytes     []byte
	Defined   []bool // per byte: written by some token of this step or before; the rest is what an allocator left
	Pages     int    // physical pages; page 0 is the null page, never in use by a request, and defined
	PageBytes int
	Geometry  Geometry // where values and scales lie in Bytes
}
