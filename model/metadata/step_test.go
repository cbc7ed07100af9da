package metadata

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func stepConfig() Config {
	cfg := config()
	cfg.PageTokens, cfg.WorkspaceFactor, cfg.MaxLogitsMB, cfg.MaxModelLen = 4, 1, 1, 64
	cfg.BlockTableWidth, cfg.MaxNumBatchedTokens = 16, 64
	return cfg
}

// stepBatch is a step of the given query and request lengths; each request has
// pages of its own, and every token a slot.
func stepBatch(cfg Config, queries, lens []int32) Batch {
	b := Batch{QueryStartLoc: []int32{0}, SeqLens: lens}
	for i, q := range queries {
		b.QueryStartLoc = append(b.QueryStartLoc, b.QueryStartLoc[i]+q)
		row := make([]int32, cfg.BlockTableWidth)
		for p := range row {
			row[p] = int32(i*cfg.BlockTableWidth + p + 1)
		}
		b.BlockTable = append(b.BlockTable, row)
	}
	b.NumActualTokens = int(b.QueryStartLoc[len(queries)])
	for i := range b.NumActualTokens {
		b.SlotMapping = append(b.SlotMapping, int64(i))
	}
	return b
}

// TestCompressedSlots: the buffer keeps its address, is -1 wherever no state is
// completed, also behind the step, and a token without a slot gives none.
func TestCompressedSlots(t *testing.T) {
	cfg := stepConfig()
	cfg.CompressRatio = 2
	b, err := NewBuilder(cfg)
	if err != nil {
		t.Fatal(err)
	}
	first, err := b.Step(stepBatch(cfg, []int32{2, 2}, []int32{8, 9}))
	if err != nil {
		t.Fatal(err)
	}
	// Positions 6, 7 and 7, 8: states 3 and 3, of pages of two states.
	if diff := cmp.Diff([]int64{-1, 2*2 + 1, 18*2 + 1, -1}, first.SlotMapping); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	batch := stepBatch(cfg, []int32{2}, []int32{8})
	batch.SlotMapping[1] = -1
	second, err := b.Step(batch)
	if err != nil {
		t.Fatal(err)
	}
	if &first.SlotMapping[0] != &second.SlotMapping[0] {
		t.Error("the slots moved")
	}
	for i, slot := range b.compressedSlots {
		if slot != -1 {
			t.Errorf("slot %d is %d", i, slot)
		}
	}
}

// TestPrefillCounts holds the row bounds to counting: a row sees, from its
// request's first gathered state on, the states that are complete at its
// position and whose rank is this one.
func TestPrefillCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := stepConfig()
		cfg.NumSpeculativeTokens, cfg.NativeNextN = 0, []int{1}
		cfg.CompressRatio = rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "ratio")
		cfg.DCPWorldSize = rapid.IntRange(1, 4).Draw(t, "world")
		cfg.DCPRank = rapid.IntRange(0, cfg.DCPWorldSize-1).Draw(t, "rank")
		cfg.CPInterleave = cfg.CompressRatio * rapid.IntRange(1, 3).Draw(t, "interleave")
		var queries, lens []int32
		for range rapid.IntRange(1, 4).Draw(t, "requests") {
			q := rapid.Int32Range(2, 9).Draw(t, "query")
			queries, lens = append(queries, q), append(lens, q+rapid.Int32Range(0, 50).Draw(t, "context"))
		}
		b, err := NewBuilder(cfg)
		if err != nil {
			t.Fatal(err)
		}
		m, err := b.Step(stepBatch(cfg, queries, lens))
		if err != nil {
			t.Fatal(err)
		}
		owned := func(length int32) (n int32) {
			for p := range int(length) {
				if (p+1)%cfg.CompressRatio == 0 && p/cfg.CPInterleave%cfg.DCPWorldSize == cfg.DCPRank {
					n++
				}
			}
			return n
		}
		var ks, ke []int32
		start := int32(0)
		for r, q := range queries {
			for i := range q {
				ks, ke = append(ks, start), append(ke, start+owned(lens[r]-q+1+i))
			}
			start += owned(lens[r])
		}
		var gotKs, gotKe []int32
		for _, c := range m.Prefill.Chunks {
			gotKs, gotKe = append(gotKs, c.CuSeqLenKs...), append(gotKe, c.CuSeqLenKe...)
		}
		if m.Prefill.Chunks == nil || len(m.Prefill.Chunks) > 1 {
			t.Fatalf("%d chunks", len(m.Prefill.Chunks))
		}
		if len(m.Prefill.Chunks) == 0 {
			ks, ke = nil, nil // no complete state on any rank
		}
		if diff := cmp.Diff([][]int32{ks, ke}, [][]int32{gotKs, gotKe}); diff != "" {
			t.Fatalf("(-counted +builder):\n%s", diff)
		}
	})
}

// TestPrefillPlan: both limits, and a request over each of them alone.
func TestPrefillPlan(t *testing.T) {
	const logits = 1 << 20 / 4
	for _, tc := range []struct {
		name          string
		queries, lens []int32
		want          []chunkSpan
	}{
		{"one chunk", []int32{3, 4}, []int32{10, 20}, []chunkSpan{{0, 2, 0, 7}}},
		// The workspace holds 8 * 64 = 512 states.
		{"workspace", []int32{3, 4, 5}, []int32{500, 12, 1}, []chunkSpan{{0, 2, 0, 7}, {2, 3, 0, 5}}},
		{"over the workspace alone", []int32{3, 4}, []int32{513, 12}, []chunkSpan{{0, 1, 0, 3}, {1, 2, 0, 4}}},
		{"over the workspace second", []int32{3, 4}, []int32{12, 513}, []chunkSpan{{0, 1, 0, 3}, {1, 2, 0, 4}}},
		{"cut rows", []int32{5}, []int32{logits / 2}, []chunkSpan{{0, 1, 0, 2}, {0, 1, 2, 4}, {0, 1, 4, 5}}},
		{"a row over the budget", []int32{2}, []int32{2 * logits}, []chunkSpan{{0, 1, 0, 1}, {0, 1, 1, 2}}},
		{"no states", []int32{5}, []int32{0}, []chunkSpan{{0, 1, 0, 5}}},
	} {
		cfg := stepConfig()
		b, err := NewBuilder(cfg)
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.planPrefill(stepBatch(cfg, tc.queries, tc.lens), 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(chunkSpan{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// TestEmptyStep: a step without tokens is neither decode nor prefill, but its
// slots are cleared.
func TestEmptyStep(t *testing.T) {
	cfg := stepConfig()
	cfg.CompressRatio = 2
	b, err := NewBuilder(cfg)
	if err != nil {
		t.Fatal(err)
	}
	m, err := b.Step(stepBatch(cfg, []int32{0}, []int32{0}))
	if err != nil {
		t.Fatal(err)
	}
	if m.Counts != (Counts{}) || m.Decode != nil || m.Prefill != nil || m.BlockTable != nil || len(m.SlotMapping) != 0 || b.compressedSlots[63] != -1 {
		t.Errorf("%+v", m)
	}
}

func TestStepErrors(t *testing.T) {
	for _, tc := range []struct {
		config func(*Config)
		batch  func(*Batch)
		want   string
	}{
		{func(c *Config) { c.MaxModelLen = 0 }, func(*Batch) {}, "max_model_len is 0"},
		{func(c *Config) { c.MaxLogitsMB = 0 }, func(*Batch) {}, "max_logits_mb is 0"},
		{func(c *Config) { c.CompressRatio, c.PageTokens = 4, 3 }, func(*Batch) {}, "page_tokens is 3"},
		{func(c *Config) { c.CompressRatio = 2 }, func(b *Batch) { b.SlotMapping = b.SlotMapping[1:] }, "slot_mapping has 9 entries"},
		{func(c *Config) { c.CompressRatio = 2 }, func(b *Batch) { b.SeqLens[1] = 66 }, "lies on page 16; block_table_width is 16"},
		{func(*Config) {}, func(b *Batch) { b.SeqLens[1] = 1<<31 - 1 }, "the prefills 1 to 1 hold 2147483647 states"},
		{func(*Config) {}, func(b *Batch) { b.NumActualTokens = 65 }, "max_num_batched_tokens is 64"},
	} {
		cfg := stepConfig()
		tc.config(&cfg)
		b, err := NewBuilder(cfg)
		if err != nil {
			t.Fatal(err)
		}
		batch := stepBatch(cfg, []int32{2, 5, 3}, []int32{9, 30, 7})
		tc.batch(&batch)
		if _, err := b.Step(batch); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v; want one with %q", err, tc.want)
		}
		if b.SeqLensBuffer()[0] != -77 || b.compressedSlots[0] != -77 {
			t.Error("a refused step wrote")
		}
	}
}
