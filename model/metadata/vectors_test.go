package metadata_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"mqaproof/model/metadata"
	"mqaproof/model/vectors"
)

// TestRecordedSteps holds the builder to recorded runs of vLLM 0.33.0's own:
// every field of every step, on a sample of the recording.
func TestRecordedSteps(t *testing.T) {
	path := filepath.Join("testdata", "builder.jsonl")
	checkRecorded(t, path)
	taken := map[string]int{}
	err := vectors.ReadBuilder(path, func(_ int, q vectors.Sequence) error {
		for _, step := range q.Steps {
			if n := step.Expect.NumDecodes; n > 0 {
				taken[q.Config.Path(metadata.Shape{Starts: step.Batch.QueryStartLoc[:n+1], Tokens: step.Expect.NumDecodeTokens}).String()]++
			}
			for i, c := range step.Expect.Prefill {
				taken["chunks"]++
				if i > 0 {
					taken["second chunks"]++
				}
				if c.SkipKVGather {
					taken["cut requests"]++
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"requests", "native", "flatten uniform", "flatten variable", "varlen", "chunks", "second chunks", "cut requests"} {
		if taken[what] == 0 {
			t.Errorf("the sample has no %s", what)
		}
	}
	t.Log(taken)
}

// TestRecordedStepsInFull does the same with the whole recording where there
// is one: beside the checkout, or in the folder that MQAPROOF_VECTORS names.
func TestRecordedStepsInFull(t *testing.T) {
	dir := os.Getenv("MQAPROOF_VECTORS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "vectors")
	}
	path := filepath.Join(dir, "builder.jsonl")
	if _, err := os.Stat(path); err != nil && os.Getenv("MQAPROOF_VECTORS") == "" {
		t.Skip("no full recording beside the checkout; MQAPROOF_VECTORS can name its folder")
	}
	checkRecorded(t, path)
}

func checkRecorded(t *testing.T, path string) {
	r, err := vectors.CheckBuilder(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Holds() {
		t.Errorf("%s\n%s", r, r.First)
	}
	t.Log(r)
}
