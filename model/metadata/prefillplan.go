package metadata

import "fmt"

// chunkSpan is the requests of a chunk and its part of their query rows.
type chunkSpan struct {
	first, end       int // requests of the batch
	rowStart, rowEnd int // query rows, counted from those of request first
}

// workspaceStates is how many gathered states the workspace of sparse MLA
// prefill holds: its entries are 576 bf16 values, a state is 128 fp8 values and
// a float32 scale.
func (c Config) workspaceStates() int {
	return c.MaxModelLen * (576 * 2 / 132) * c.WorkspaceFactor / c.CompressRatio
}

// stateInterleave is the interleave in states; under DCP it is a whole number.
func (c Config) stateInterleave() int32 {
	if c.DCPWorldSize > 1 {
		return int32(c.CPInterleave / c.CompressRatio)
	}
	return int32(c.CPInterleave)
}

// planPrefill packs the prefills, in order, into chunks whose states fit the
// workspace and whose float32 logits fit their budget. A request that is over
// the logits budget alone is cut along its query rows; one that is over the
// workspace alone is not cut.
func (b *Builder) planPrefill(batch Batch, decodes int) ([]chunkSpan, error) {
	for _, f := range []struct {
		name string
		got  int
	}{
		{"max_model_len", b.cfg.MaxModelLen}, {"workspace_factor", b.cfg.WorkspaceFactor}, {"max_logits_mb", b.cfg.MaxLogitsMB},
	} {
		if f.got < 1 || f.got > maxBufferEntries {
			return nil, fmt.Errorf("metadata: %s is %d; a step with prefills needs it from 1 to %d", f.name, f.got, maxBufferEntries)
		}
	}
	workspace, logits := b.cfg.workspaceStates(), b.cfg.MaxLogitsMB<<20/4
	var plan []chunkSpan
	for end := decodes; end < len(batch.SeqLens); {
		// The first is taken whatever its size, and if over a limit, alone.
		first, rows, states := end, 0, 0
		for over := false; end < len(batch.SeqLens) && !over; end++ {
			r, s := rows+batch.queryLen(end), states+int(batch.SeqLens[end])/b.cfg.CompressRatio
			over = s > workspace || r*s > logits
			if over && end > first {
				break
			}
			rows, states = r, s
		}
		most := max(1, rows)
		if states > 0 {
			most = max(1, logits/states)
		}
		for start := 0; start < rows; start += most {
			plan = append(plan, chunkSpan{first, end, start, min(start+most, rows)})
		}
	}
	return plan, nil
}
