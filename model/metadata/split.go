package metadata

// Counts is how a step splits into decodes, which come first, and prefills.
type Counts struct {
	NumDecodes       int `json:"num_decodes"`
	NumDecodeTokens  int `json:"num_decode_tokens"`
	NumPrefills      int `json:"num_prefills"`
	NumPrefillTokens int `json:"num_prefill_tokens"`
}

// split is the split of a step. A step without tokens, a placeholder that some
// parallel layouts run, is neither.
func (b *Builder) split(batch Batch) Counts {
	if batch.NumActualTokens == 0 {
		return Counts{}
	}
	return split(batch, b.cfg.NextN(), !b.cfg.flattens() && !b.cfg.Varlen)
}

// split finds the first prefill (vLLM: split_decodes_and_prefills). A request
// with at most threshold query tokens may be a decode. With uniform, decodes
// must all have the first request's query length; zero-length padding requests
// go along.
func split(b Batch, threshold int, uniform bool) Counts {
	n := len(b.SeqLens)
	first := b.queryLen(0)
	if first > threshold {
		return Counts{NumPrefills: n, NumPrefillTokens: b.NumActualTokens}
	}
	longest := 0
	for i := range n {
		longest = max(longest, b.queryLen(i))
	}
	if longest <= threshold && (!uniform || threshold <= 1) {
		return Counts{NumDecodes: n, NumDecodeTokens: b.NumActualTokens}
	}
	for i := range n {
		q := b.queryLen(i)
		prefill := q > threshold
		if uniform {
			prefill = q != first && q != 0
		}
		if prefill {
			tokens := int(b.QueryStartLoc[i])
			return Counts{
				NumDecodes: i, NumDecodeTokens: tokens,
				NumPrefills: n - i, NumPrefillTokens: b.NumActualTokens - tokens,
			}
		}
	}
	return Counts{NumDecodes: n, NumDecodeTokens: b.NumActualTokens}
}
