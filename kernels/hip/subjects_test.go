package hip_test

import (
	"math"
	"strings"
	"testing"

	"mqaproof/kernels"
	"mqaproof/model"
)

// shapes are cases that every one of our logits kernels accepts: pages of one
// token and more, padding, contexts about the ends of tiles and pages, heads
// that do not fill the last block of 32.
var shapes = []struct {
	name     string
	shape    model.Case
	contexts []int
}{
	{"one token", model.Case{NextN: 1, Heads: 16, HeadDim: 64, Page: 1, MaxModelLen: 1}, []int{1}},
	{"two rows", model.Case{NextN: 2, Heads: 16, HeadDim: 64, Page: 1, MaxModelLen: 2}, []int{2}},
	{"padding", model.Case{NextN: 2, Heads: 32, HeadDim: 64, Page: 4, MaxModelLen: 9}, []int{0, 9, 0, 2}},
	{"tile ends", model.Case{NextN: 3, Heads: 16, HeadDim: 128, Page: 16, MaxModelLen: 131}, []int{63, 64, 65, 131}},
	{"splits", model.Case{NextN: 1, Heads: 48, HeadDim: 64, Page: 7, MaxModelLen: 150, ShufflePages: true}, []int{150, 1}},
	{"strided lengths", model.Case{NextN: 4, Heads: 128, HeadDim: 64, Page: 8, MaxModelLen: 20, ExtraPages: 2, LengthsStride: 6}, []int{20, 5}},
}

// logitsKernels are those of our kernels that must hold, with the wiring with
// which they do.
var logitsKernels = []struct{ name, wiring string }{
	{"hip/naive", "per-row"},
	{"hip/mfma-split", "last-column"},
	{"hip/mfma-stage1", "last-column"},
	{"hip/per-row", "per-row"},
	{"hip/per-row-wide", "per-row"}, // gfx950 only
}

// TestKernelsAgree runs our logits kernels on exact data. Written apart, with
// other instructions, layouts and orders of summation, they must give the same
// bits at every visible position, and -inf or nothing elsewhere.
func TestKernelsAgree(t *testing.T) {
	for _, target := range []string{"gfx942", "gfx950"} {
		for _, tt := range shapes {
			t.Run(target+" "+tt.name, func(t *testing.T) {
				var first *kernels.Result
				ran := 0
				for _, k := range logitsKernels {
					s := find(t, k.name, target, k.wiring)
					if s == nil {
						continue
					}
					in, r := run(t, s, tt.shape, tt.contexts)
					checkMask(t, s, in, r)
					if first == nil {
						first = r
					}
					checkSame(t, s, in, r, first)
					ran++
				}
				if ran < 4 {
					t.Errorf("%d kernels ran, want at least 4", ran)
				}
			})
		}
	}
}

// find is the built-in subject, nil when there is none for the target.
func find(t *testing.T, name, target, wiring string) *kernels.Subject {
	t.Helper()
	all, err := kernels.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.Name == name && s.Target == target && s.Wiring == wiring {
			return s
		}
	}
	return nil
}

// run runs the subject on exact data of the shape.
func run(t *testing.T, s *kernels.Subject, c model.Case, contexts []int) (*model.Inputs, *kernels.Result) {
	t.Helper()
	c.Seed, c.Data, c.Layout = 7, model.Exact, s.Manifest.Layouts[0]
	for i, n := range contexts {
		c.Requests = append(c.Requests, model.Request{ID: uint32(i), Context: n})
	}
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
	return in, r
}

// checkMask: no fault, a value exactly where the row may see the position.
func checkMask(t *testing.T, s *kernels.Subject, in *model.Inputs, r *kernels.Result) {
	t.Helper()
	if r.Trap != nil {
		t.Fatalf("%s: %v", s, r.Trap)
	}
	for _, f := range r.Faults {
		t.Errorf("%s: %v", s, f)
	}
	for row := range in.Rows {
		for pos := range in.Width {
			i := row*r.Width + pos
			value := r.Written[i] && !math.IsInf(float64(math.Float32frombits(r.Logits[i])), -1)
			if want := pos < in.Visible[row]; value != want {
				t.Fatalf("%s: row %d position %d of %d visible: has a value: %v", s, row, pos, in.Visible[row], value)
			}
		}
	}
}

// checkSame compares the visible logits of two kernels bit for bit.
func checkSame(t *testing.T, s *kernels.Subject, in *model.Inputs, got, want *kernels.Result) {
	t.Helper()
	for row := range in.Rows {
		for pos := range in.Visible[row] {
			i := row*got.Width + pos
			if got.Logits[i] != want.Logits[i] {
				t.Fatalf("%s: row %d position %d: %g, the first kernel gave %g", s, row, pos,
					math.Float32frombits(got.Logits[i]), math.Float32frombits(want.Logits[i]))
			}
		}
	}
}

// TestBadKernels: each kernel of bad/ is told apart as its manifest says.
func TestBadKernels(t *testing.T) {
	for _, tt := range []struct {
		manifest string
		refused  string // the error of loading or running it
		fault    string // a memory fault of the run
		trap     string // the kernel's own failure to end
	}{
		{manifest: "bad/far-read.yaml", fault: "out-of-bounds read"},
		{manifest: "bad/spin.yaml", trap: "instruction budget"},
		{manifest: "bad/unknown-opcode.yaml", refused: "unknown opcode"},
		{manifest: "bad/wrong-args.yaml", refused: "kernel spin takes 2 arguments, the manifest gives 1"},
	} {
		t.Run(tt.manifest, func(t *testing.T) {
			r, err := runBad(t, tt.manifest)
			if tt.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refused) {
					t.Fatalf("error %v, want one with %q", err, tt.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if tt.fault != "" && (len(r.Faults) == 0 || string(r.Faults[0].Kind) != tt.fault) {
				t.Errorf("faults %v, want %s", r.Faults, tt.fault)
			}
			if tt.trap != "" && (r.Trap == nil || string(r.Trap.Kind) != tt.trap) {
				t.Errorf("trap %v, want %s", r.Trap, tt.trap)
			}
		})
	}
}

func runBad(t *testing.T, manifest string) (*kernels.Result, error) {
	t.Helper()
	subjects, err := kernels.Load(manifest, "")
	if err != nil {
		return nil, err
	}
	s := subjects[0]
	in, err := s.Inputs(model.Case{
		Data: model.Exact, NextN: 1, Heads: 1, HeadDim: 4, Page: 1, MaxModelLen: 1,
		Layout: s.Manifest.Layouts[0], Requests: []model.Request{{ID: 0, Context: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.Run(t.Context(), in, kernels.RunOptions{Budget: 10_000})
}
