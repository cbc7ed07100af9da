package metadata

import "fmt"

// Batch is the input of one step. Requests are ordered decodes first.
type Batch struct {
	QueryStartLoc   []int32   `json:"query_start_loc"` // (B+1) prefix sums of the query lengths
	SeqLens         []int32   `json:"seq_lens"`        // (B) global lengths, this step's query tokens included
	BlockTable      [][]int32 `json:"block_table"`     // (B, block_table_width)
	SlotMapping     []int64   `json:"slot_mapping"`    // (tokens); the decode lengths do not depend on it
	NumActualTokens int       `json:"num_actual_tokens"`
}

func (b Batch) validate(c Config) error {
	n := len(b.SeqLens)
	if n == 0 {
		return fmt.Errorf("metadata: the batch has no request")
	}
	if len(b.QueryStartLoc) != n+1 {
		return fmt.Errorf("metadata: query_start_loc has %d entries; with %d seq_lens it must have %d", len(b.QueryStartLoc), n, n+1)
	}
	if len(b.BlockTable) != n {
		return fmt.Errorf("metadata: block_table has %d rows; with %d seq_lens it must have as many", len(b.BlockTable), n)
	}
	if b.QueryStartLoc[0] != 0 {
		return fmt.Errorf("metadata: query_start_loc[0] is %d; it must be 0", b.QueryStartLoc[0])
	}
	for i := range n {
		if b.queryLen(i) < 0 {
			return fmt.Errorf("metadata: query_start_loc falls from %d to %d at request %d", b.QueryStartLoc[i], b.QueryStartLoc[i+1], i)
		}
		if b.SeqLens[i] < 0 {
			return fmt.Errorf("metadata: seq_lens[%d] is %d; it must not be negative", i, b.SeqLens[i])
		}
		if len(b.BlockTable[i]) != c.BlockTableWidth {
			return fmt.Errorf("metadata: block_table row %d has %d entries; block_table_width is %d", i, len(b.BlockTable[i]), c.BlockTableWidth)
		}
	}
	tokens := int(b.QueryStartLoc[n])
	if b.NumActualTokens < tokens {
		return fmt.Errorf("metadata: num_actual_tokens is %d; the query tokens are %d", b.NumActualTokens, tokens)
	}
	if most := max(n, b.NumActualTokens); most > c.MaxNumBatchedTokens {
		return fmt.Errorf("metadata: the step has %d requests and %d tokens; max_num_batched_tokens is %d", n, b.NumActualTokens, c.MaxNumBatchedTokens)
	}
	return nil
}

// queryLen is the number of query tokens of request i.
func (b Batch) queryLen(i int) int { return int(b.QueryStartLoc[i+1] - b.QueryStartLoc[i]) }
