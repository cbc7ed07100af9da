package serving

import (
	"fmt"

	"mqaproof/model/metadata"
)

// RowsMode names how the decodes of a step become rows of the kernels.
type RowsMode string

const (
	Native  RowsMode = "native"  // a row of lengths a request
	Flatten RowsMode = "flatten" // a row a token
	Varlen  RowsMode = "varlen"  // a row a token, by the varlen path
)

// Config is what an engine is made with.
type Config struct {
	NextN       int      `json:"next_n"`             // query tokens of a full decode: one and NextN-1 drafts
	Rows        RowsMode `json:"rows"`               //
	World       int      `json:"world"`              // DCP ranks; 1: off
	Interleave  int      `json:"interleave"`         // position p lives on rank (p/Interleave) % World
	Ratio       int      `json:"ratio"`              // tokens of a cached state; 1: no compression
	Page        int      `json:"page"`               // tokens of a page on one rank
	Pages       int      `json:"pages"`              // physical pages of a rank, the null page 0 included
	MaxSeqs     int      `json:"max_seqs"`           // requests that run at once
	MaxModelLen int      `json:"max_model_len"`      // tokens of a request
	Chunk       int      `json:"chunk"`              // most tokens that one request prefills in a step
	Captures    []int    `json:"captures,omitempty"` // ascending batch sizes for which steps are captured
}

// Limits keep an engine, however its configuration came here, small.
const (
	MaxNextN     = 8
	MaxWorld     = 16
	maxPages     = 1 << 14
	maxSeqs      = 256
	maxModelLen  = 1 << 14
	maxPageSize  = 1 << 10
	maxTableSize = 1 << 22 // of the block tables expanded to tokens, all ranks
	maxSlots     = 1 << 22 // of all ranks
)

// Validate says what is wrong with the configuration, or nil.
func (c Config) Validate() error {
	switch c.Rows {
	case Native, Flatten, Varlen:
	default:
		return fmt.Errorf("serving: rows is %q; it must be %s, %s or %s", c.Rows, Native, Flatten, Varlen)
	}
	for _, f := range []struct {
		name          string
		got, min, max int
	}{
		{"next_n", c.NextN, 1, MaxNextN},
		{"world", c.World, 1, MaxWorld},
		{"interleave", c.Interleave, 1, maxPageSize},
		{"ratio", c.Ratio, 1, maxPageSize},
		{"page", c.Page, 1, maxPageSize},
		{"pages", c.Pages, 2, maxPages},
		{"max_seqs", c.MaxSeqs, 1, maxSeqs},
		{"max_model_len", c.MaxModelLen, c.NextN + 1, maxModelLen},
		{"chunk", c.Chunk, 1, maxModelLen},
	} {
		if f.got < f.min || f.got > f.max {
			return fmt.Errorf("serving: %s is %d; it must be %d to %d", f.name, f.got, f.min, f.max)
		}
	}
	if c.Page%c.Ratio != 0 || c.Page%c.Interleave != 0 {
		return fmt.Errorf("serving: page is %d; it must be a multiple of ratio %d and of interleave %d", c.Page, c.Ratio, c.Interleave)
	}
	if c.World > 1 && c.Interleave%c.Ratio != 0 {
		return fmt.Errorf("serving: interleave is %d; with %d ranks it must be a multiple of ratio %d, so that a state lives on one rank", c.Interleave, c.World, c.Ratio)
	}
	if need := c.tableWidth() + 1; c.Pages < need {
		return fmt.Errorf("serving: pages is %d; the null page and one request of max_model_len %d need %d", c.Pages, c.MaxModelLen, need)
	}
	if n := c.World * c.budget() * c.tableWidth(); n > maxTableSize {
		return fmt.Errorf("serving: the block tables, expanded to tokens, have %d entries (world * (max_seqs*next_n + chunk) * pages of max_model_len); at most %d", n, maxTableSize)
	}
	if n := c.World * c.Pages * c.PageStates(); n > maxSlots {
		return fmt.Errorf("serving: the caches have %d slots (world * pages * page/ratio); at most %d", n, maxSlots)
	}
	last := 0
	for i, n := range c.Captures {
		if n <= last || n > c.MaxSeqs {
			return fmt.Errorf("serving: captures[%d] is %d; sizes must ascend from 1 to max_seqs %d", i, n, c.MaxSeqs)
		}
		last = n
	}
	return nil
}

// tableWidth is the pages of the longest request: a page number stands for a
// page of every rank.
func (c Config) tableWidth() int { return c.pagesOf(c.MaxModelLen) }

// pagesOf is how many pages hold the given number of tokens.
func (c Config) pagesOf(tokens int) int {
	span := c.Page * c.World
	return (tokens + span - 1) / span
}

// PageStates is how many states a page holds.
func (c Config) PageStates() int { return c.Page / c.Ratio }

// budget is the most tokens of a step: a full decode of every request, and a
// chunk.
func (c Config) budget() int { return c.MaxSeqs*c.NextN + c.Chunk }

// graphSize is the smallest captured size that holds n requests, 0 when none.
func (c Config) graphSize(n int) int {
	for _, size := range c.Captures {
		if size >= n {
			return size
		}
	}
	return 0
}

// builder is the configuration of a rank's metadata builder.
func (c Config) builder(rank int) metadata.Config {
	native := make([]int, c.NextN)
	for i := range native {
		native[i] = i + 1
	}
	return metadata.Config{
		NumSpeculativeTokens: c.NextN - 1,
		CompressRatio:        c.Ratio,
		DCPWorldSize:         c.World,
		DCPRank:              rank,
		CPInterleave:         c.Interleave,
		NativeNextN:          native,
		ForceFlatten:         c.Rows == Flatten,
		Varlen:               c.Rows == Varlen,
		InitialFill:          Poison,
		PageTokens:           c.Page,
		WorkspaceFactor:      1,
		MaxLogitsMB:          1,
		MaxModelLen:          c.MaxModelLen,
		BlockTableWidth:      c.tableWidth(),
		MaxNumSeqs:           c.MaxSeqs,
		MaxNumBatchedTokens:  c.budget(),
	}
}
