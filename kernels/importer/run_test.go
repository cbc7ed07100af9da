package importer

import (
	"math"
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
