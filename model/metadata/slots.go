package metadata

import "fmt"

// noSlot marks a token without a slot: padding, owned by another rank, or not
// the last of its state.
const noSlot = -1

// pageStates is how many states a page holds.
func (c Config) pageStates() int32 { return int32(c.PageTokens / c.CompressRatio) }

// place is where the state that ends at pos lies; ok is false when none does.
// A device kernel computes this.
func (b *Builder) place(pos int32) (page, offset int32, ok bool) {
	a, c := Int32Device{}, b.cfg
	ratio := int32(c.CompressRatio)
	if Unfinished(a, pos, ratio) != 0 {
		return 0, 0, false
	}
	page, offset = StatePlace(a, pos, ratio, int32(c.DCPWorldSize), int32(c.CPInterleave), c.pageStates())
	return page, offset, true
}

// checkSlots refuses a step whose compressed slots cannot be looked up.
func (b *Builder) checkSlots(batch Batch) error {
	if b.cfg.CompressRatio == 1 {
		return nil
	}
	if b.cfg.pageStates() < 1 {
		return fmt.Errorf("metadata: page_tokens is %d; with compress_ratio %d it must be at least as large", b.cfg.PageTokens, b.cfg.CompressRatio)
	}
	if tokens := int(batch.QueryStartLoc[len(batch.SeqLens)]); len(batch.SlotMapping) < tokens {
		return fmt.Errorf("metadata: slot_mapping has %d entries; the query tokens are %d", len(batch.SlotMapping), tokens)
	}
	for r, length := range batch.SeqLens {
		pos := length - int32(batch.queryLen(r))
		for token := batch.QueryStartLoc[r]; token < batch.QueryStartLoc[r+1]; token++ {
			if page, _, ok := b.place(pos); ok && batch.SlotMapping[token] != noSlot && (page < 0 || int(page) >= b.cfg.BlockTableWidth) {
				return fmt.Errorf("metadata: request %d: the state that ends at position %d lies on page %d; block_table_width is %d", r, pos, page, b.cfg.BlockTableWidth)
			}
			pos++
		}
	}
	return nil
}

// compressSlots gives the token that completes a state on this rank the
// state's slot, and every other entry of the buffer -1. A token whose own slot
// is -1 has none either: its state is another rank's, or cached already.
func (b *Builder) compressSlots(batch Batch) []int64 {
	for i := range b.compressedSlots {
		b.compressedSlots[i] = noSlot
	}
	for r, length := range batch.SeqLens {
		pos := length - int32(batch.queryLen(r))
		for token := batch.QueryStartLoc[r]; token < batch.QueryStartLoc[r+1]; token++ {
			if page, offset, ok := b.place(pos); ok && batch.SlotMapping[token] != noSlot {
				b.compressedSlots[token] = int64(batch.BlockTable[r][page])*int64(b.cfg.pageStates()) + int64(offset)
			}
			pos++
		}
	}
	return b.compressedSlots[:batch.NumActualTokens]
}
