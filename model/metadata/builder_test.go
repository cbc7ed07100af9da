package metadata

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func config() Config {
	return Config{
		NumSpeculativeTokens: 1, CompressRatio: 1, DCPWorldSize: 1, CPInterleave: 1,
		NativeNextN: []int{1, 2}, InitialFill: -77, BlockTableWidth: 2, MaxNumBatchedTokens: 8,
	}
}

// uniformBatch is a step of depth query tokens a request.
func uniformBatch(depth int32, lens ...int32) Batch {
	b := Batch{QueryStartLoc: []int32{0}, SeqLens: lens}
	for i := range lens {
		b.QueryStartLoc = append(b.QueryStartLoc, int32(i+1)*depth)
		b.BlockTable = append(b.BlockTable, []int32{int32(2*i + 1), int32(2*i + 2)})
	}
	b.NumActualTokens = int(depth) * len(lens)
	return b
}

func mustBuild(t *testing.T, b *Builder, batch Batch) *Decode {
	t.Helper()
	d, _, err := b.Build(batch)
	if err != nil {
		t.Fatal(err)
	}
	if d == nil {
		t.Fatal("no decode")
	}
	return d
}

// TestBuffersPersist: views keep their address from step to step, and what a
// smaller step does not write is what the larger one left.
func TestBuffersPersist(t *testing.T) {
	for _, tc := range []struct {
		name     string
		change   func(*Config)
		leftover []int32 // the flat buffer after a step of 3 requests and one of 1
		perReq   bool
	}{
		{"native keeps the old tail", func(*Config) {}, []int32{4, 5, 7, 8, 20, 21, -77, -77}, true},
		{"flatten clears the tail", func(c *Config) { c.ForceFlatten = true }, []int32{4, 5, 0, 0, 0, 0, 0, 0}, false},
		{"varlen clears the tail", func(c *Config) { c.Varlen = true }, []int32{4, 5, 0, 0, 0, 0, 0, 0}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := config()
			tc.change(&cfg)
			b, err := NewBuilder(cfg)
			if err != nil {
				t.Fatal(err)
			}
			first := mustBuild(t, b, uniformBatch(2, 31, 8, 21))
			lens, per := &first.SeqLens[0], first.PerReqSeqLens
			second := mustBuild(t, b, uniformBatch(2, 5))
			if lens != &second.SeqLens[0] || lens != &b.SeqLensBuffer()[0] {
				t.Error("the lengths moved")
			}
			if diff := cmp.Diff(tc.leftover, b.SeqLensBuffer()); diff != "" {
				t.Errorf("flat buffer (-want +got):\n%s", diff)
			}
			if !tc.perReq {
				if per != nil || second.PerReqSeqLens != nil {
					t.Error("a one-column table has per-request lengths")
				}
				return
			}
			if &per[0] != &second.PerReqSeqLens[0] {
				t.Error("the per-request lengths moved")
			}
			// per still views the first step's three entries.
			if diff := cmp.Diff([]int32{5, 8, 21}, per); diff != "" {
				t.Errorf("per-request buffer (-want +got):\n%s", diff)
			}
		})
	}
}

// TestBuildLeavesBatch: the input is never written, also where a length is
// handed through (next_n = 1).
func TestBuildLeavesBatch(t *testing.T) {
	for _, ratio := range []int{1, 4} {
		for _, world := range []int{1, 2} {
			cfg := config()
			cfg.NumSpeculativeTokens, cfg.CompressRatio, cfg.DCPWorldSize, cfg.CPInterleave = 0, ratio, world, 4
			b, err := NewBuilder(cfg)
			if err != nil {
				t.Fatal(err)
			}
			batch := uniformBatch(1, 31, 8, 21)
			d := mustBuild(t, b, batch)
			if diff := cmp.Diff(uniformBatch(1, 31, 8, 21), batch); diff != "" {
				t.Errorf("ratio %d world %d: the batch changed:\n%s", ratio, world, diff)
			}
			if own := &d.SeqLens[0] == &batch.SeqLens[0]; own != (ratio == 1 && world == 1) {
				t.Errorf("ratio %d world %d: lengths are the batch's own: %t", ratio, world, own)
			}
		}
	}
}

// TestPaddingIsNeverNegative: a padding request of length 0 has lengths 0, not
// -1, which a kernel would read as 4294967295.
func TestPaddingIsNeverNegative(t *testing.T) {
	for _, flatten := range []bool{false, true} {
		cfg := config()
		cfg.ForceFlatten = flatten
		b, err := NewBuilder(cfg)
		if err != nil {
			t.Fatal(err)
		}
		d := mustBuild(t, b, uniformBatch(2, 9, 0))
		if diff := cmp.Diff([]int32{8, 9, 0, 0}, d.SeqLens); diff != "" {
			t.Errorf("flatten %t (-want +got):\n%s", flatten, diff)
		}
	}
}

func TestNewBuilderErrors(t *testing.T) {
	for _, tc := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.NumSpeculativeTokens = -1 }, "num_speculative_tokens is -1"},
		{func(c *Config) { c.CompressRatio = 0 }, "compress_ratio is 0"},
		{func(c *Config) { c.DCPWorldSize = 0 }, "dcp_world_size is 0"},
		{func(c *Config) { c.CPInterleave = 0 }, "cp_interleave is 0"},
		{func(c *Config) { c.DCPRank = 1 }, "dcp_rank is 1; with dcp_world_size 1"},
		{func(c *Config) { c.DCPWorldSize, c.CompressRatio, c.CPInterleave = 2, 4, 6 }, "cp_interleave is 6"},
		{func(c *Config) {
			c.DCPWorldSize, c.CompressRatio, c.CPInterleave, c.ModelVersion = 2, 4, 8, "deepseek_v4"
		}, "deepseek_v4"},
		{func(c *Config) { c.MaxNumBatchedTokens = 0 }, "max_num_batched_tokens is 0"},
		{func(c *Config) { c.MaxNumBatchedTokens = 1 << 40 }, "at most"},
		{func(c *Config) { c.MaxNumBatchedTokens, c.BlockTableWidth = 1<<20, 1<<20 }, "max_num_batched_tokens * block_table_width"},
	} {
		cfg := config()
		tc.change(&cfg)
		if _, err := NewBuilder(cfg); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v; want one with %q", err, tc.want)
		}
	}
}

func TestBuildErrors(t *testing.T) {
	b, err := NewBuilder(config())
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		change func(*Batch)
		want   string
	}{
		{func(b *Batch) { *b = Batch{} }, "no request"},
		{func(b *Batch) { b.QueryStartLoc = b.QueryStartLoc[:2] }, "query_start_loc has 2 entries"},
		{func(b *Batch) { b.QueryStartLoc[0] = 1 }, "query_start_loc[0] is 1"},
		{func(b *Batch) { b.QueryStartLoc[1] = 9 }, "falls from 9 to 4 at request 1"},
		{func(b *Batch) { b.SeqLens[1] = -1 }, "seq_lens[1] is -1"},
		{func(b *Batch) { b.BlockTable = b.BlockTable[:1] }, "block_table has 1 rows"},
		{func(b *Batch) { b.BlockTable[1] = nil }, "block_table row 1 has 0 entries"},
		{func(b *Batch) { b.NumActualTokens = 3 }, "num_actual_tokens is 3"},
		{func(b *Batch) { b.NumActualTokens = 9 }, "max_num_batched_tokens is 8"},
		{func(b *Batch) { *b = uniformBatch(2, 1, 2, 3, 4, 5) }, "max_num_batched_tokens is 8"},
		// Five requests fit, five rows of two lengths do not: one decodes two
		// tokens, the others are padding.
		{func(b *Batch) {
			*b = uniformBatch(0, 1, 2, 3, 4, 5)
			for i := range b.QueryStartLoc[1:] {
				b.QueryStartLoc[i+1] = 2
			}
			b.NumActualTokens = 2
		}, "5 decodes of depth 2 need 10 lengths"},
	} {
		batch := uniformBatch(2, 9, 7)
		tc.change(&batch)
		if _, _, err := b.Build(batch); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v; want one with %q", err, tc.want)
		}
	}
	for _, v := range b.SeqLensBuffer() {
		if v != -77 {
			t.Fatalf("a refused step wrote %d", v)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, tc := range []struct {
		name      string
		queries   []int32
		threshold int
		uniform   bool
		want      Counts
	}{
		{"all short", []int32{1, 2, 1}, 2, false, Counts{3, 4, 0, 0}},
		{"long tail", []int32{1, 2, 7}, 2, false, Counts{2, 3, 1, 7}},
		{"long first", []int32{7, 1}, 2, false, Counts{0, 0, 2, 8}},
		{"uniform", []int32{2, 2, 1, 9}, 2, true, Counts{2, 4, 2, 10}},
		{"uniform with padding", []int32{2, 2, 0}, 2, true, Counts{3, 4, 0, 0}},
		{"one token each", []int32{1, 1, 0}, 1, true, Counts{3, 2, 0, 0}},
		{"one token, then prefill", []int32{1, 0, 5}, 1, true, Counts{2, 1, 1, 5}},
	} {
		b := Batch{QueryStartLoc: []int32{0}, SeqLens: make([]int32, len(tc.queries))}
		for i, q := range tc.queries {
			b.QueryStartLoc = append(b.QueryStartLoc, b.QueryStartLoc[i]+q)
			b.NumActualTokens += int(q)
		}
		if got := split(b, tc.threshold, tc.uniform); got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

// TestBuildAllocatesOnlyItsResult: a step allocates nothing but the Decode.
func TestBuildAllocatesOnlyItsResult(t *testing.T) {
	b, err := NewBuilder(config())
	if err != nil {
		t.Fatal(err)
	}
	batch := uniformBatch(2, 31, 8, 21)
	n := testing.AllocsPerRun(100, func() {
		if _, _, err := b.Build(batch); err != nil {
			t.Fatal(err)
		}
	})
	if n > 1 {
		t.Errorf("%v allocations a step; want the result alone", n)
	}
}
