package model

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mqaproof/model/fp8"
)

func stepCase(seed uint64) Case {
	return Case{Seed: seed, Data: Exact, NextN: 3, Heads: 1, HeadDim: 4, Page: 2, MaxModelLen: 60, Ratio: 2,
		DCP:      DCP{World: 2, Rank: 1, Interleave: 4},
		Requests: []Request{{ID: 4, Context: 9}, {ID: 0, Context: 60}, {ID: 2, Context: 0}, {ID: 9, Context: 33}}}
}

func buildStep(t *testing.T, c Case, kind StepKind, width int) *Step {
	t.Helper()
	in, err := Build(c, fp8.E4M3FN)
	if err != nil {
		t.Fatal(err)
	}
	s, err := in.NewStep(kind, width)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSteps: what a step is promised to be, over many seeds; and every special
// turn is taken by some of them.
func TestSteps(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(200) {
		c := stepCase(seed)
		for _, kind := range StepKinds {
			s := buildStep(t, c, kind, 0)
			if d := cmp.Diff(s, buildStep(t, c, kind, 0)); d != "" {
				t.Fatalf("%s: not the same twice:\n%s", kind, d)
			}
			tokens := int(s.Batch.QueryStartLoc[len(c.Requests)])
			if s.Batch.NumActualTokens > tokens {
				seen["padding tokens, "+string(kind)]++
			}
			for r := range c.Requests {
				n := s.Batch.QueryStartLoc[r+1] - s.Batch.QueryStartLoc[r]
				if n > s.Batch.SeqLens[r] && s.Batch.SeqLens[r] > 0 {
					t.Fatalf("%s: request %d has %d query tokens and length %d", kind, r, n, s.Batch.SeqLens[r])
				}
			}
			switch kind {
			case VarlenStep, UniformStep:
				if s.Metadata.NumPrefills > 0 || s.Metadata.Decode.Rows != s.Batch.NumActualTokens || s.Metadata.Decode.Columns != 1 || s.Batch.NumActualTokens != 12 {
					t.Fatalf("%s: not a row a token: %+v", kind, s.Metadata)
				}
				if kind == VarlenStep && s.Metadata.Decode.Indices == nil || kind == UniformStep && !s.Metadata.Decode.DecodeIsUniform {
					t.Fatalf("%s: another path: %+v", kind, s.Metadata.Decode)
				}
			case PrefillStep:
				if s.Chunk == nil {
					seen["no chunk"]++
					continue
				}
				if rows := s.Chunk.TokenEnd - s.Chunk.TokenStart; s.Start < 0 || s.End > rows || s.Start >= s.End {
					t.Fatalf("rows %d to %d of %d", s.Start, s.End, rows)
				} else if s.Start > 0 && s.End < rows {
					seen["cut at both ends"]++
				} else if s.End-s.Start == rows {
					seen["whole"]++
				}
				if s.ChunkFirst > 0 {
					seen["decodes before the chunk"]++
				}
			case SlotsStep:
				if n := s.Batch.QueryStartLoc[3] - s.Batch.QueryStartLoc[2]; n != 3 {
					t.Fatalf("the padding request has %d query tokens, want next_n", n)
				}
				for _, slot := range s.Metadata.SlotMapping {
					if slot >= 0 {
						seen["slots"]++
					}
				}
			}
		}
	}
	for _, what := range []string{"no chunk", "cut at both ends", "whole", "decodes before the chunk", "slots", "padding tokens, varlen", "padding tokens, compressed-slots"} {
		if seen[what] == 0 {
			t.Errorf("no step has %s: %v", what, seen)
		}
	}
}

func TestStepWidth(t *testing.T) {
	c := stepCase(1)
	own := buildStep(t, c, VarlenStep, 0)
	if w := own.Config.BlockTableWidth; w != 7 { // 14 of the 30 states, in pages of 2
		t.Fatalf("the case's own width is %d", w)
	}
	for _, width := range []int{1, 7, 20} {
		s := buildStep(t, c, VarlenStep, width)
		for r, row := range s.Batch.BlockTable {
			if len(row) != width || !cmp.Equal(row[:min(width, 7)], own.Batch.BlockTable[r][:min(width, 7)]) {
				t.Errorf("width %d: row %d is %v, the case has %v", width, r, row, own.Batch.BlockTable[r])
			}
			for _, page := range row[min(width, 7):] {
				if page < badPage {
					t.Errorf("width %d: row %d goes on with page %d, which may be a real one", width, r, page)
				}
			}
		}
	}
	in, err := Build(c, fp8.E4M3FN)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.NewStep("sideways", 0); err == nil || !strings.Contains(err.Error(), `"sideways" is no kind of step`) {
		t.Errorf("got %v", err)
	}
}
