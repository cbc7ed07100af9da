package model

import "fmt"

// Limits of a case. They are wide enough for any production shape and small
// enough that no case, however it came here, makes the tool allocate more
// than some hundred megabytes or walk for minutes.
const (
	MaxRequests     = 1024
	MaxNextN        = 8
	MaxHeads        = 256
	MaxHeadDim      = 512
	MaxPage         = 1 << 16
	MaxColumns      = 1 << 24 // MaxModelLen
	MaxExtraPages   = 1 << 12
	MaxStride       = 1 << 12 // LengthsStride
	MaxWorld        = 1 << 10
	MaxInterleave   = 1 << 20 // world*interleave stays an int32
	MaxRatio        = 1 << 12
	MaxTotalContext = 1 << 24 // global tokens of all requests together
	MaxQBytes       = 1 << 27
	MaxCacheBytes   = 1 << 28
	MaxTableEntries = 1 << 24 // block table
	MaxLogits       = 1 << 27 // rows * MaxModelLen
)

// Validate says what is wrong with the case, as one error that names the
// field, its value and the limits, or nil.
func (c Case) Validate() error {
	c = c.Normalise()
	switch c.Data {
	case Exact, Normal, Adversarial, NaN:
	default:
		return fmt.Errorf("case: data %q is no data style; use %s, %s, %s or %s", c.Data, Exact, Normal, Adversarial, NaN)
	}
	switch c.Layout {
	case BlockFlat, Interleaved, Preshuffled:
	default:
		return fmt.Errorf("case: layout %q is no cache layout; use %s, %s or %s", c.Layout, BlockFlat, Interleaved, Preshuffled)
	}
	for _, f := range []struct {
		name          string
		got, min, max int
	}{
		{"next_n", c.NextN, 1, MaxNextN},
		{"heads", c.Heads, 1, MaxHeads},
		{"head_dim", c.HeadDim, 4, MaxHeadDim},
		{"page", c.Page, 1, MaxPage},
		{"max_model_len", c.MaxModelLen, 1, MaxColumns},
		{"number of requests", len(c.Requests), 1, MaxRequests},
		{"extra_pages", c.ExtraPages, 0, MaxExtraPages},
		{"lengths_stride", c.LengthsStride, c.NextN, MaxStride},
		{"dcp.world", c.DCP.World, 1, MaxWorld},
		{"dcp.rank", c.DCP.Rank, 0, c.DCP.World - 1},
		{"dcp.interleave", c.DCP.Interleave, 1, MaxInterleave},
		{"ratio", c.Ratio, 1, MaxRatio},
	} {
		if f.got < f.min || f.got > f.max {
			return fmt.Errorf("case: %s is %d; it must be %d to %d", f.name, f.got, f.min, f.max)
		}
	}
	if c.HeadDim%4 != 0 {
		return fmt.Errorf("case: head_dim is %d; it must be a multiple of 4", c.HeadDim)
	}
	if c.Layout == Preshuffled && (c.HeadDim%tileDims != 0 || c.Page%tileTokens != 0) {
		return fmt.Errorf("case: layout %s has tiles of %d tokens and %d dims, so head_dim %d and page %d must be multiples of %d and %d",
			Preshuffled, tileTokens, tileDims, c.HeadDim, c.Page, tileDims, tileTokens)
	}
	if c.DCP.World > 1 && c.DCP.Interleave%c.Ratio != 0 {
		return fmt.Errorf("case: dcp.interleave is %d; with ratio %d it must be a multiple of it, so that a state lives on one rank", c.DCP.Interleave, c.Ratio)
	}
	if err := c.validateRequests(); err != nil {
		return err
	}
	return c.validateSizes()
}

func (c Case) validateRequests() error {
	seen := make(map[uint32]int, len(c.Requests))
	total := 0
	for i, r := range c.Requests {
		if first, ok := seen[r.ID]; ok {
			return fmt.Errorf("case: requests %d and %d have the same id %d; values are addressed by it, so ids must differ", first, i, r.ID)
		}
		seen[r.ID] = i
		if r.Context != 0 && (r.Context < c.NextN || r.Context > c.MaxModelLen) {
			return fmt.Errorf("case: requests[%d].context is %d; it must be 0 (padding) or from next_n %d to max_model_len %d", i, r.Context, c.NextN, c.MaxModelLen)
		}
		total += r.Context
	}
	if total > MaxTotalContext {
		return fmt.Errorf("case: the contexts add up to %d tokens; at most %d", total, MaxTotalContext)
	}
	return nil
}

// validateSizes bounds what Build and a run allocate. The factors are bounded
// by then, so no product overflows 64 bits.
func (c Case) validateSizes() error {
	b := int64(len(c.Requests))
	rows := b * int64(c.NextN)
	var pages, widest int64
	for _, r := range c.Requests {
		// An upper bound that needs no formula of the builder: no rank holds
		// more states than there are.
		n := ceilDiv(int64(r.Context), int64(c.Ratio))
		if c.DCP.World > 1 {
			n = min(n, ceilDiv(int64(r.Context), int64(c.DCP.World)*int64(c.DCP.Interleave))*int64(c.DCP.Interleave/c.Ratio))
		}
		n = ceilDiv(n, int64(c.Page))
		pages += n
		widest = max(widest, n)
	}
	for _, f := range []struct {
		name       string
		got, limit int64
	}{
		{"q bytes (requests*next_n*heads*head_dim)", rows * int64(c.Heads) * int64(c.HeadDim), MaxQBytes},
		{"cache bytes (pages*page*(head_dim+4))", (pages + 1) * int64(c.Page) * int64(c.HeadDim+4), MaxCacheBytes},
		{"block table entries (requests*(longest request's pages+extra_pages))", b * (widest + int64(c.ExtraPages)), MaxTableEntries},
		{"logits (requests*next_n*max_model_len)", rows * int64(c.MaxModelLen), MaxLogits},
	} {
		if f.got > f.limit {
			return fmt.Errorf("case: too large: %d %s; at most %d", f.got, f.name, f.limit)
		}
	}
	return nil
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
