package importer

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mqaproof/internal/needtool"
	"mqaproof/kernels"
	"mqaproof/model"
)

// TestImportedRuns runs what was imported from the checkout on the emulator:
// only a run shows that arguments, strides and offsets are what the kernel
// expects.
func TestImportedRuns(t *testing.T) {
	py := needtool.Python(t, "triton")
	dir := t.TempDir()
	// Two kernels of the checkout do not compile; the two that do are looked at here.
	if paths, err := Import(t.Context(), Request{Package: "amd-aiter", Path: checkout, CacheDir: dir, Python: py, Heads: []int{16}, HeadDim: []int{32}, SplitKV: []int{3}}, nil); len(paths) != 2 {
		t.Fatalf("manifests %q, %v", paths, err)
	}
	subjects, problems := kernels.Imported(dir)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	// Contexts of tables differ from row to row, so that one length handed to
	// the wrong request or row shows.
	c := model.Case{Seed: 7, Data: model.Exact, NextN: 2, Heads: 16, HeadDim: 32, Page: 1, Layout: model.Interleaved, MaxModelLen: 96, ShufflePages: true, ExtraPages: 2,
		Requests: []model.Request{{ID: 4, Context: 9}, {ID: 0, Context: 70}, {ID: 2, Context: 0}, {ID: 9, Context: 33}}}
	for _, want := range []struct {
		subject   string
		wrongRows int
	}{
		{"amd-aiter/plain-h16-d32-s3 gfx942 last-column", 0},
		// The table read as one length a request: 8, 9, 69, 70 in place of 9, 70, 0, 33.
		{"amd-aiter/plain-h16-d32-s3 gfx942 table", 8},
	} {
		found, err := kernels.Match(want.subject, subjects)
		if err != nil {
			t.Fatal(err)
		}
		s := found[0]
		if err := s.Accepts(c); err != nil {
			t.Fatal(err)
		}
		in, err := s.Inputs(c)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Run(t.Context(), in, kernels.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if want.wrongRows == 0 && len(r.Faults) > 0 || r.Trap != nil {
			t.Errorf("%s: faults %v, trap %v", s, r.Faults, r.Trap)
		}
		if got := wrongRows(t, in, r); got != want.wrongRows {
			t.Errorf("%s: %d of %d rows are wrong, want %d", s, got, in.Rows, want.wrongRows)
		}
	}
}

// wrongRows counts rows with a wrong mask or a wrong value.
func wrongRows(t *testing.T, in *model.Inputs, r *kernels.Result) int {
	t.Helper()
	wrong := 0
	for row := range in.Rows {
		exact, err := in.ExactRow(row)
		if err != nil {
			t.Fatal(err)
		}
		for pos := range r.Width {
			i := row*r.Width + pos
			got := math.Float32frombits(r.Logits[i])
			seen := r.Written[i] && !math.IsInf(float64(got), -1)
			if seen != (pos < in.Visible[row]) || seen && got != exact[pos] {
				wrong++
				break
			}
		}
	}
	return wrong
}

// TestWrongMetadata imports kernels of the metadata builder of which two are
// wrong, and runs all of them. TestImportVLLM does so with right ones.
func TestWrongMetadata(t *testing.T) {
	r := Request{Package: "vllm", Path: t.TempDir(), CacheDir: t.TempDir(), Python: needtool.Python(t, "triton"), NextN: []int{1}, Ratio: []int{2}, BlockTableWidth: []int{5}}
	if err := os.CopyFS(r.Path, os.DirFS(checkout)); err != nil {
		t.Fatal(err)
	}
	change(t, filepath.Join(r.Path, filepath.FromSlash(vllmDecodeMetadata)), "req + 1) + token + 1", "req + 1) + token + 2")
	change(t, filepath.Join(r.Path, filepath.FromSlash(vllmIndexer)), "row_start + seen", "row_start + seen + 1")
	if _, err := Import(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	got := wrongMetadata(t, r.CacheDir, 2)
	if want := []string{"vllm/decode-metadata-w5", "vllm/prefill-chunk-dcp-r2", "vllm/prefill-chunk-r2"}; !slices.Equal(got, want) {
		t.Errorf("%v are wrong, want %v", got, want)
	}
}

// wrongMetadata runs the metadata kernels of a cache folder and names those of
// which an output is not what the builder's model gives.
func wrongMetadata(t *testing.T, dir string, ratio int) (wrong []string) {
	t.Helper()
	subjects, problems := kernels.Imported(dir)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	ran := 0
	for _, s := range subjects {
		for _, world := range []int{1, 3} {
			for _, nextN := range []int{1, 3} {
				c := model.Case{Seed: 5, Data: model.Exact, NextN: nextN, Heads: 1, HeadDim: 4, Page: 2, MaxModelLen: 96, Ratio: ratio, ShufflePages: true,
					Requests: []model.Request{{ID: 4, Context: 9}, {ID: 0, Context: 70}, {ID: 2, Context: 0}, {ID: 9, Context: 33}}}
				if world > 1 {
					c.DCP = model.DCP{World: world, Rank: 1, Interleave: 4}
				}
				if s.Manifest.Kind != kernels.Metadata || s.Accepts(c) != nil {
					continue
				}
				ran++
				if stepDiffers(t, s, c) && !slices.Contains(wrong, s.Name) {
					wrong = append(wrong, s.Name)
				}
			}
		}
	}
	// One varlen and one uniform kernel for each world and next_n; one of chunks and
	// one of slots likewise, each world's own.
	if want := 4 + 4 + 2*2 + 2*2; ran != want {
		t.Errorf("%d runs, want %d", ran, want)
	}
	return wrong
}

// stepDiffers runs a metadata kernel of a step.
func stepDiffers(t *testing.T, s *kernels.Subject, c model.Case) bool {
	t.Helper()
	in, err := s.Inputs(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(t.Context(), in, kernels.RunOptions{})
	if err != nil || len(r.Faults) > 0 || r.Trap != nil {
		t.Fatalf("%s: %v, %+v", s, err, r)
	}
	want, err := s.Expected(in)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		for k := range w.Values {
			if w.Written[k] != r.Outputs[i].Written[k] {
				t.Fatalf("%s: %s[%d]: written %v", s, w.Tensor, k, r.Outputs[i].Written[k])
			}
			if w.Written[k] && w.Values[k] != r.Outputs[i].Values[k] {
				return true
			}
		}
	}
	return false
}

// change replaces what is once in a file.
func change(t *testing.T, file, old, new string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(text), old) != 1 {
		t.Fatalf("%q is not once in %s", old, file)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), old, new, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
}
