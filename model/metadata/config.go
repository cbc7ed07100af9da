package metadata

import (
	"fmt"
	"slices"
)

// Config is what a builder is made with. The JSON names are those of recorded
// runs of vLLM's own builder, which testdata holds. Only steps with prefills
// read workspace_factor, max_logits_mb and max_model_len; only compressed slots
// read page_tokens.
type Config struct {
	NumSpeculativeTokens int    `json:"num_speculative_tokens"` // next_n - 1
	CompressRatio        int    `json:"compress_ratio"`         // tokens of a state; 1: none
	DCPWorldSize         int    `json:"dcp_world_size"`         // 1: off
	CPInterleave         int    `json:"cp_interleave"`
	DCPRank              int    `json:"dcp_rank"`
	NativeNextN          []int  `json:"native_next_n"` // query depths that have a native kernel
	ForceFlatten         bool   `json:"force_flatten"` // one row a token although a native kernel exists
	Varlen               bool   `json:"varlen"`        // the one-kernel path of varlen paged MQA logits
	Adaptive             bool   `json:"adaptive"`      // adaptive verification: no uniform flatten with several decodes
	ModelVersion         string `json:"model_version"`
	InitialFill          int32  `json:"initial_fill"` // what every persistent buffer holds before the first step; vLLM: 0
	PageTokens           int    `json:"page_tokens"`
	WorkspaceFactor      int    `json:"workspace_factor"`
	MaxLogitsMB          int    `json:"max_logits_mb"`
	MaxModelLen          int    `json:"max_model_len"`
	BlockTableWidth      int    `json:"block_table_width"`
	MaxNumSeqs           int    `json:"max_num_seqs"`
	MaxNumBatchedTokens  int    `json:"max_num_batched_tokens"` // size of the flat buffers
}

// maxBufferEntries bounds the expanded block table (tokens * width), so that a
// damaged configuration gives an error and not gigabytes.
const maxBufferEntries = 1 << 28

// NextN is the largest number of query tokens of a decode.
func (c Config) NextN() int { return c.NumSpeculativeTokens + 1 }

// flattens reports whether decodes become one row a token.
func (c Config) flattens() bool {
	return c.ForceFlatten || !slices.Contains(c.NativeNextN, c.NextN())
}

// native reports whether a step whose longest decode has depth query tokens
// may hand the kernel one row of lengths a request. One token always may.
func (c Config) native(depth int) bool {
	return !c.flattens() && !c.Varlen && depth <= c.NextN() &&
		(depth <= 1 || slices.Contains(c.NativeNextN, depth))
}

func (c Config) validate() error {
	for _, f := range []struct {
		name     string
		got, min int
	}{
		{"num_speculative_tokens", c.NumSpeculativeTokens, 0},
		{"compress_ratio", c.CompressRatio, 1},
		{"dcp_world_size", c.DCPWorldSize, 1},
		{"cp_interleave", c.CPInterleave, 1},
		{"dcp_rank", c.DCPRank, 0},
		{"block_table_width", c.BlockTableWidth, 0},
		{"max_num_batched_tokens", c.MaxNumBatchedTokens, 1},
	} {
		if f.got < f.min {
			return fmt.Errorf("metadata: %s is %d; it must be at least %d", f.name, f.got, f.min)
		}
		if f.got > maxBufferEntries {
			return fmt.Errorf("metadata: %s is %d; it must be at most %d", f.name, f.got, maxBufferEntries)
		}
	}
	if c.DCPRank >= c.DCPWorldSize {
		return fmt.Errorf("metadata: dcp_rank is %d; with dcp_world_size %d it must be below it", c.DCPRank, c.DCPWorldSize)
	}
	if c.DCPWorldSize > 1 && c.CompressRatio > 1 {
		if c.CPInterleave%c.CompressRatio != 0 {
			return fmt.Errorf("metadata: cp_interleave is %d; under DCP it must be a multiple of compress_ratio %d", c.CPInterleave, c.CompressRatio)
		}
		if c.ModelVersion == "deepseek_v4" {
			return fmt.Errorf("metadata: model_version %s has no DCP with compression (compress_ratio %d)", c.ModelVersion, c.CompressRatio)
		}
	}
	if n := c.MaxNumBatchedTokens * c.BlockTableWidth; n > maxBufferEntries {
		return fmt.Errorf("metadata: max_num_batched_tokens * block_table_width is %d; it must be at most %d", n, maxBufferEntries)
	}
	return nil
}
