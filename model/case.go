// Package model is what is right: the case, its tensors, the cache layouts,
// the counting mask oracle and the logits. Everything is a pure function of
// the case; nothing here imports other rooms of ours.
package model

// Layout names how a page of the KV cache holds its fp8 values and float32
// scales (vLLM and AITER names; see README).
type Layout string

const (
	// BlockFlat pages are Page*HeadDim values followed by Page float32 scales.
	BlockFlat Layout = "block-flat"
	// Interleaved tokens are HeadDim values followed by their float32 scale.
	Interleaved Layout = "interleaved"
	// Preshuffled pages are values in 16x16 tiles followed by Page float32 scales.
	Preshuffled Layout = "preshuffled"
)

// Style says how q, k, weights and scales are drawn.
type Style string

const (
	Exact       Style = "exact"       // every product, scale and partial sum is exactly representable in float32 in any order
	Normal      Style = "normal"      // rounded normal deviates
	Adversarial Style = "adversarial" // largest magnitudes, subnormals, zeros, negative weights
	NaN         Style = "nan"         // normal, with a few NaN patterns
)

// Request is one sequence of the batch.
type Request struct {
	ID      uint32 `json:"id"`      // values are addressed by it, so it stays when other requests go
	Context int    `json:"context"` // global context length in tokens, this step's NextN query tokens included; 0 is a padding request
}

// DCP is decode context parallelism: position p lives on rank (p/Interleave)%World.
type DCP struct {
	World      int `json:"world"`
	Rank       int `json:"rank"`
	Interleave int `json:"interleave"`
}

// Case is all that is needed to rebuild a run from nothing. A zero DCP or
// Ratio means off (World 1, Ratio 1): see Normalise.
type Case struct {
	Seed          uint64    `json:"seed"`
	Data          Style     `json:"data"`
	NextN         int       `json:"next_n"`
	Heads         int       `json:"heads"`
	HeadDim       int       `json:"head_dim"`
	Page          int       `json:"page"`             // states of a page
	Layout        Layout    `json:"layout,omitempty"` // empty: the kernel's own
	MaxModelLen   int       `json:"max_model_len"`    // logits columns
	Requests      []Request `json:"requests"`
	ShufflePages  bool      `json:"shuffle_pages,omitempty"`  // physical pages in a seeded random order, else ascending
	PageSeed      uint64    `json:"page_seed,omitempty"`      // picks another shuffle of the physical pages, no other value
	ExtraPages    int       `json:"extra_pages,omitempty"`    // block table columns beyond the needed ones; their entries are arbitrary
	LengthsStride int       `json:"lengths_stride,omitempty"` // row stride of the lengths table in elements; 0 or NextN: contiguous
	DCP           DCP       `json:"dcp,omitzero"`
	Ratio         int       `json:"ratio,omitempty"` // compress ratio: tokens of a state
}
