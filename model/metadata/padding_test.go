package metadata

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// These pin what the recording has no step of: token counts padded beyond the
// last request's tokens, and adaptive verification with a padding request. The
// expected values are worked out by hand from vLLM 0.33.0's source.

// paddedTokens has requests of 3 and 1 query tokens, and two padding tokens.
func paddedTokens() Batch {
	return Batch{
		QueryStartLoc:   []int32{0, 3, 4},
		SeqLens:         []int32{10, 7},
		BlockTable:      [][]int32{{1, 2}, {3, 4}},
		NumActualTokens: 6,
	}
}

func TestPaddedTokens(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*Config)
		want   recorded
	}{
		{
			// Only the first entry of a padding row's block table is zeroed.
			"flatten", func(c *Config) { c.ForceFlatten = true },
			recorded{
				SeqLens:          [][]int32{{8}, {9}, {10}, {7}, {0}, {0}},
				BlockTable:       [][]int32{{1, 2}, {1, 2}, {1, 2}, {3, 4}, {0, -77}, {0, -77}},
				DecodeLens:       []int32{1, 1, 1, 1, 1, 1},
				PerReqDecodeLens: []int32{3, 1}, MaxDecodeLen: 3,
				BufferSeqLens: []int32{8, 9, 10, 7, 0, 0, 0, 0},
			},
		},
		{
			"flatten under DCP", func(c *Config) { c.ForceFlatten, c.DCPWorldSize, c.DCPRank = true, 2, 1 },
			recorded{
				SeqLens:          [][]int32{{4}, {4}, {5}, {3}, {0}, {0}},
				BlockTable:       [][]int32{{1, 2}, {1, 2}, {1, 2}, {3, 4}, {0, -77}, {0, -77}},
				DecodeLens:       []int32{1, 1, 1, 1, 1, 1},
				GlobalSeqLens:    []int32{8, 9, 10, 7, 0, 0},
				PerReqDecodeLens: []int32{3, 1}, MaxDecodeLen: 3,
				BufferSeqLens: []int32{4, 4, 5, 3, 0, 0, 0, 0},
			},
		},
		{
			// The whole row is zeroed, and padding tokens count on as requests.
			"varlen under DCP", func(c *Config) { c.Varlen, c.DCPWorldSize, c.DCPRank = true, 2, 1 },
			recorded{
				SeqLens:          [][]int32{{4}, {4}, {5}, {3}, {0}, {0}},
				BlockTable:       [][]int32{{1, 2}, {1, 2}, {1, 2}, {3, 4}, {0, 0}, {0, 0}},
				DecodeLens:       []int32{1, 1, 1, 1, 1, 1},
				GlobalSeqLens:    []int32{8, 9, 10, 7, 0, 0},
				PerReqDecodeLens: []int32{3, 1}, MaxDecodeLen: 3,
				Indices:       []int32{0, 0, 0, 1, 2, 3},
				BufferSeqLens: []int32{4, 4, 5, 3, 0, 0, 0, 0},
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := config()
			cfg.NumSpeculativeTokens, cfg.NativeNextN = 2, []int{1, 2, 3}
			tc.change(&cfg)
			b, err := NewBuilder(cfg)
			if err != nil {
				t.Fatal(err)
			}
			// Non-zero lengths from a step before, which padding has to clear.
			if cfg.DCPWorldSize > 1 {
				for i := range b.lengths.globalSeqLens {
					b.lengths.globalSeqLens[i] = 55
				}
			}
			d := mustBuild(t, b, paddedTokens())
			if diff := cmp.Diff(&tc.want, record(b, d)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestCompressedRequestLengths: with next_n = 1 and compression the rows are
// the step's tokens, padding tokens included, in a buffer of their own.
func TestCompressedRequestLengths(t *testing.T) {
	cfg := config()
	cfg.NumSpeculativeTokens, cfg.CompressRatio = 0, 4
	b, err := NewBuilder(cfg)
	if err != nil {
		t.Fatal(err)
	}
	batch := uniformBatch(1, 31, 8, 21)
	batch.NumActualTokens = 5
	d := mustBuild(t, b, batch)
	if diff := cmp.Diff([]int32{7, 2, 5, 0, 0}, d.SeqLens); diff != "" || d.Rows != 5 || d.Columns != 1 {
		t.Errorf("%d rows of %d (-want +got):\n%s", d.Rows, d.Columns, diff)
	}
	if b.SeqLensBuffer()[0] != -77 {
		t.Error("the flat buffer was written")
	}
}

// TestAdaptiveKeepsUniformOff: with several decodes, adaptive verification
// takes the variable path, which does not clamp a padding request's lengths;
// with one decode, the uniform path, which does.
func TestAdaptiveKeepsUniformOff(t *testing.T) {
	for _, tc := range []struct {
		adaptive bool
		lens     []int32
		want     []int32
	}{
		{false, []int32{9, 0}, []int32{8, 9, 0, 0}},
		{true, []int32{9, 0}, []int32{8, 9, -1, 0}},
		{true, []int32{0}, []int32{0, 0}},
	} {
		cfg := config()
		cfg.ForceFlatten, cfg.Adaptive = true, tc.adaptive
		b, err := NewBuilder(cfg)
		if err != nil {
			t.Fatal(err)
		}
		d := mustBuild(t, b, uniformBatch(2, tc.lens...))
		if diff := cmp.Diff(tc.want, d.SeqLens); diff != "" {
			t.Errorf("adaptive %t, lengths %v (-want +got):\n%s", tc.adaptive, tc.lens, diff)
		}
	}
}
