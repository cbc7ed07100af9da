package metadata

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A sequence is one recorded builder and its consecutive steps.
type sequence struct {
	Config Config `json:"config"`
	Steps  []struct {
		Batch  Batch    `json:"batch"`
		Expect expected `json:"expect"`
	} `json:"steps"`
}

type expected struct {
	Counts
	Decode *recorded `json:"decode"`
}

// recorded is the decode part as vLLM's builder returned it.
type recorded struct {
	SeqLens          [][]int32 `json:"seq_lens"`
	BlockTable       [][]int32 `json:"block_table"`
	DecodeLens       []int32   `json:"decode_lens"`
	RequiresPadding  bool      `json:"requires_padding"`
	GlobalSeqLens    []int32   `json:"global_seq_lens"`
	PerReqDecodeLens []int32   `json:"per_req_decode_lens"`
	DecodeIsUniform  bool      `json:"decode_is_uniform"`
	MaxDecodeLen     int       `json:"max_decode_len"`
	Indices          []int32   `json:"indices"`
	BufferSeqLens    []int32   `json:"buffer_seq_lens"`
	PerReqSeqLens    []int32   `json:"per_req_seq_lens"`
}

func record(b *Builder, d *Decode) *recorded {
	if d == nil {
		return nil
	}
	r := &recorded{
		BlockTable: d.BlockTable, DecodeLens: d.DecodeLens, RequiresPadding: d.RequiresPadding,
		GlobalSeqLens: d.GlobalSeqLens, PerReqDecodeLens: d.PerReqDecodeLens, DecodeIsUniform: d.DecodeIsUniform,
		MaxDecodeLen: d.MaxDecodeLen, Indices: d.Indices, BufferSeqLens: b.SeqLensBuffer(), PerReqSeqLens: d.PerReqSeqLens,
		SeqLens: make([][]int32, d.Rows),
	}
	for i := range r.SeqLens {
		r.SeqLens[i] = d.SeqLens[i*d.Columns : (i+1)*d.Columns]
	}
	return r
}

// TestRecordedSteps holds the builder to recorded runs of vLLM 0.33.0's own:
// every decode field of every step, on a sample of the recording.
func TestRecordedSteps(t *testing.T) { checkVectors(t, filepath.Join("testdata", "builder.jsonl")) }

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
	checkVectors(t, path)
}

func checkVectors(t *testing.T, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<24)
	paths := map[string]int{}
	steps, failures := 0, 0
	for line := 1; lines.Scan(); line++ {
		var q sequence
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			t.Fatalf("%s:%d: %v", path, line, err)
		}
		b, err := NewBuilder(q.Config)
		if err != nil {
			t.Fatalf("%s:%d: %v", path, line, err)
		}
		for i, s := range q.Steps {
			steps++
			d, counts, err := b.Build(s.Batch)
			if err != nil {
				t.Errorf("%s:%d step %d: %v", path, line, i, err)
				failures++
				continue
			}
			diff := cmp.Diff(s.Expect, expected{counts, record(b, d)})
			if diff != "" {
				failures++
				if failures <= 5 {
					t.Errorf("%s:%d step %d (-vLLM +ours):\n%s", path, line, i, diff)
				}
			}
			paths[pathName(q.Config, s.Expect.Decode)]++
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if steps == 0 || failures > 0 {
		t.Errorf("%d of %d steps match", steps-failures, steps)
	}
	for _, p := range []string{"no decode", "varlen", "flatten", "native table", "next_n = 1"} {
		if paths[p] == 0 {
			t.Errorf("no step takes the path %q", p)
		}
	}
	t.Logf("%d of %d steps match; paths %v", steps-failures, steps, paths)
}

func pathName(c Config, d *recorded) string {
	switch {
	case d == nil:
		return "no decode"
	case c.Varlen:
		return "varlen"
	case !c.native(d.MaxDecodeLen):
		return "flatten"
	case c.NextN() > 1:
		return "native table"
	}
	return "next_n = 1"
}
