package kernels

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"mqaproof/model"
	"mqaproof/model/fp8"
	"mqaproof/sim/gpu"
)

// shapes are small cases; Fit gives each subject its own layout and page.
var shapes = []struct {
	name     string
	c        model.Case
	contexts []int
}{
	{"one row", model.Case{NextN: 1, Heads: 16, HeadDim: 64, Page: 1, MaxModelLen: 1}, []int{1}},
	{"two rows", model.Case{NextN: 2, Heads: 16, HeadDim: 64, Page: 1, MaxModelLen: 2}, []int{2}},
	{"padding and ragged ends", model.Case{NextN: 3, Heads: 16, HeadDim: 64, Page: 16, MaxModelLen: 80}, []int{0, 65, 3, 17}},
	{"past the length", model.Case{NextN: 1, Heads: 16, HeadDim: 64, Page: 64, MaxModelLen: 140, ExtraPages: 2, ShufflePages: true}, []int{70, 5}},
	{"strided lengths", model.Case{NextN: 2, Heads: 16, HeadDim: 64, Page: 16, MaxModelLen: 64, LengthsStride: 5}, []int{10, 31, 2}},
	{"DCP and ratio", model.Case{NextN: 3, Heads: 16, HeadDim: 64, Page: 16, MaxModelLen: 64, DCP: model.DCP{World: 2, Rank: 1, Interleave: 4}, Ratio: 2}, []int{40, 9, 0}},
}

func requests(contexts []int) []model.Request {
	out := make([]model.Request, len(contexts))
	for i, n := range contexts {
		out[i] = model.Request{ID: uint32(i + 1), Context: n}
	}
	return out
}

func subject(t testing.TB, name string) *Subject {
	t.Helper()
	all, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Match(name, all)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 {
		t.Fatalf("%s names %v", name, described(got))
	}
	return got[0]
}

// holding is every built-in subject without an announced fault.
func holding(t testing.TB) []*Subject {
	t.Helper()
	all, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(s *Subject) bool { return s.Fault() != "" })
}

func run(t testing.TB, s *Subject, c model.Case, o RunOptions) (*model.Inputs, *Result) {
	t.Helper()
	in, err := s.Inputs(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(t.Context(), in, o)
	if err != nil {
		t.Fatal(err)
	}
	return in, r
}

func TestHoldingSubjects(t *testing.T) {
	for _, s := range holding(t) {
		t.Run(s.String(), func(t *testing.T) {
			ran := 0
			for _, shape := range shapes {
				c := shape.c
				c.Seed, c.Data, c.Requests = 7, model.Exact, requests(shape.contexts)
				c, err := s.Fit(c)
				if err != nil || !s.Meant(c) {
					continue
				}
				if err := s.Accepts(c); err != nil {
					t.Errorf("%s: fits and is meant, but is not accepted: %v", shape.name, err)
				}
				ran++
				for _, o := range []RunOptions{{}, {Workers: 1, Order: 3, Placement: 5}} {
					in, r := run(t, s, c, o)
					if r.Trap != nil || len(r.Faults) > 0 || r.More > 0 {
						t.Fatalf("%s: trap %v, faults %v and %d more", shape.name, r.Trap, r.Faults, r.More)
					}
					if s.Manifest.Kind == Metadata {
						checkMetadata(t, shape.name, in, r)
					} else {
						checkLogits(t, s, shape.name, in, r)
					}
				}
			}
			if ran < 3 {
				t.Errorf("ran %d shapes, want 3 or more", ran)
			}
		})
	}
}

func checkMetadata(t *testing.T, shape string, in *model.Inputs, r *Result) {
	t.Helper()
	if !slices.Equal(r.Table, in.Table) || !slices.Equal(r.PerRequest, in.PerRequest) {
		t.Errorf("%s: table %v and %v, want %v and %v", shape, r.Table, r.PerRequest, in.Table, in.PerRequest)
	}
	if slices.Contains(r.TableWritten, false) || slices.Contains(r.PerRequestWritten, false) {
		t.Errorf("%s: words are unwritten", shape)
	}
}

func checkLogits(t *testing.T, s *Subject, shape string, in *model.Inputs, r *Result) {
	t.Helper()
	tile, err := s.Tile(in)
	if err != nil {
		t.Fatal(err)
	}
	if r.Rows != in.Rows || r.Width != in.Width || len(r.Logits) != r.Rows*r.Width || len(r.Written) != len(r.Logits) {
		t.Fatalf("%s: result is %d x %d with %d words", shape, r.Rows, r.Width, len(r.Logits))
	}
	for row := range in.Rows {
		want, err := in.ExactRow(row)
		if err != nil {
			t.Fatal(err)
		}
		for pos := range in.Width {
			i := row*in.Width + pos
			got := math.Float32frombits(r.Logits[i])
			switch {
			case pos < in.Visible[row]:
				if !r.Written[i] || got != want[pos] {
					t.Fatalf("%s: row %d position %d is %v (written %v), want %v", shape, row, pos, got, r.Written[i], want[pos])
				}
			case r.Written[i] && (tile == 1 || !math.IsInf(float64(got), -1)):
				t.Fatalf("%s: row %d position %d is %v, want nothing seen there", shape, row, pos, got)
			}
		}
	}
}

// TestTableWiring gives the one-length kernel the (B, next_n) table: it takes
// entry b of the flattened table for the length of request b (B01).
func TestTableWiring(t *testing.T) {
	for _, target := range []string{"gfx942", "gfx950"} {
		s := subject(t, "hip/mfma-split "+target+" table")
		c := model.Case{
			Seed: 1, Data: model.Exact, NextN: 2, Heads: 16, HeadDim: 64, Page: 1, Layout: model.BlockFlat, MaxModelLen: 70,
			Requests: requests([]int{2, 66, 9}),
		}
		in, r := run(t, s, c, RunOptions{})
		if want := []int32{1, 2, 65, 66, 8, 9}; !slices.Equal(in.Table, want) {
			t.Fatalf("table is %v, want %v", in.Table, want)
		}
		for row := range in.Rows {
			b, j := row/c.NextN, row%c.NextN
			sees := max(0, int(in.Table[b])-c.NextN+1+j)
			for pos := range in.Width {
				i := row*in.Width + pos
				hidden := !r.Written[i] || math.IsInf(float64(math.Float32frombits(r.Logits[i])), -1)
				if hidden != (pos >= sees) && pos < in.LocalLen(b) {
					t.Fatalf("%s: row %d position %d: hidden is %v, want %d seen", s, row, pos, hidden, sees)
				}
			}
			if sees == in.Visible[row] {
				t.Errorf("%s: row %d sees %d by the table and by right: the case shows nothing", s, row, sees)
			}
		}
	}
}

// TestRunTraps: what keeps a kernel from ending is its own fault when it runs
// out of instructions, and the caller's when the run is called off.
func TestRunTraps(t *testing.T) {
	s := subject(t, "hip/mfma-split gfx942 last-column")
	c := model.Case{
		Seed: 1, Data: model.Exact, NextN: 2, Heads: 16, HeadDim: 64, Page: 1, Layout: model.BlockFlat, MaxModelLen: 3,
		Requests: requests([]int{3}),
	}
	in, r := run(t, s, c, RunOptions{Budget: 20})
	if r.Trap == nil || r.Trap.Kind != gpu.TrapBudget {
		t.Errorf("trap is %v, want %s", r.Trap, gpu.TrapBudget)
	}
	if r.Rows != 2 || r.Width != 3 || slices.Contains(r.Written, true) {
		t.Errorf("result is %d x %d, written %v; want the whole of it, unwritten", r.Rows, r.Width, r.Written)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Run(ctx, in, RunOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("called off: error is %v, want %v", err, context.Canceled)
	}
}

// TestConcurrentRuns: one subject, several goroutines, the same bits.
func TestConcurrentRuns(t *testing.T) {
	s := subject(t, "hip/per-row gfx942 per-row")
	c := model.Case{
		Seed: 1, Data: model.Normal, NextN: 2, Heads: 32, HeadDim: 64, Page: 16, Layout: model.BlockFlat, MaxModelLen: 40,
		Requests: requests([]int{33, 20}),
	}
	in, want := run(t, s, c, RunOptions{Workers: 1})
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			got, err := s.Run(t.Context(), in, RunOptions{Workers: i, Order: uint64(i), Placement: uint64(i)})
			if err != nil || !slices.Equal(got.Logits, want.Logits) || !slices.Equal(got.Written, want.Written) {
				t.Errorf("run %d: %v, or other bits", i, err)
			}
		})
	}
	group.Wait()
}

func TestWriteDefined(t *testing.T) {
	cache := model.Cache{Bytes: make([]byte, 40), Defined: make([]bool, 40)}
	for i := range cache.Bytes {
		cache.Bytes[i] = byte(i + 1)
		cache.Defined[i] = i < 7 || i >= 20 && i < 33 || i == 39
	}
	b, err := gpu.NewMemory().Alloc(gpu.Spec{Name: "cache", Size: 40})
	if err != nil {
		t.Fatal(err)
	}
	b.Fill(poison(fp8.E4M3FNUZ))
	if err := writeDefined(b, &cache); err != nil {
		t.Fatal(err)
	}
	data, err := b.Read(0, 40)
	if err != nil {
		t.Fatal(err)
	}
	defined, err := b.Initialised(0, 40)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		want := byte(0x80)
		if cache.Defined[i] {
			want = cache.Bytes[i]
		}
		if data[i] != want || defined[i] != cache.Defined[i] {
			t.Errorf("byte %d is %#x, defined %v; want %#x, %v", i, data[i], defined[i], want, cache.Defined[i])
		}
	}
	for _, f := range []fp8.Format{fp8.E4M3FN, fp8.E4M3FNUZ} {
		if x := byte(poison(f)); !f.IsNaN(x) {
			t.Errorf("%s: poison %#x is not NaN", f, x)
		}
	}
}

// TestReadsPages: a kernel that may read all of its pages finds in them what
// the allocator left, and it is no fault.
func TestReadsPages(t *testing.T) {
	for _, reads := range []string{ReadsTokens, ReadsPages} {
		s := *subject(t, "hip/naive gfx942 per-row")
		m := *s.Manifest
		m.Reads = reads
		s.Manifest = &m
		in, err := s.Inputs(model.Case{
			Seed: 1, Data: model.Exact, NextN: 1, Heads: 4, HeadDim: 32, Page: 16, Layout: model.Interleaved, MaxModelLen: 20,
			Requests: requests([]int{17}),
		})
		if err != nil {
			t.Fatal(err)
		}
		buffers, err := s.allocate(gpu.NewMemory(), in, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		cache := buffers[slices.IndexFunc(s.plan.tensors, func(t *tensor) bool { return t.name == "cache" })]
		defined, err := cache.Initialised(0, cache.Size())
		if err != nil {
			t.Fatal(err)
		}
		if got := !slices.Contains(defined, false); got != (reads == ReadsPages) {
			t.Errorf("reads %s: all of the cache is defined: %v", reads, got)
		}
	}
}

func TestOutputsAreBounded(t *testing.T) {
	s := subject(t, "hip/mfma-stage1 gfx942 last-column")
	in := smallInputs()
	in.Width = 1 << 26
	_, err := s.allocate(gpu.NewMemory(), in, nil, 0)
	if want := "tensor head_logits: 17179869184 bytes are more than the 2147483648 that a run reads back: use a smaller max_model_len or fewer rows"; message(err) != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func TestRunRefusesOtherFormat(t *testing.T) {
	c := model.Case{Data: model.Exact, NextN: 1, Heads: 16, HeadDim: 64, Page: 1, MaxModelLen: 1, Requests: requests([]int{1})}
	in, err := subject(t, "hip/naive gfx950 per-row").Inputs(c)
	if err != nil {
		t.Fatal(err)
	}
	_, err = subject(t, "hip/naive gfx942 per-row").Run(t.Context(), in, RunOptions{})
	if want := "hip/naive gfx942 per-row: the inputs are e4m3fn, the kernel takes e4m3fnuz: build them with the subject's Inputs"; message(err) != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// BenchmarkRun is one run of a small case of a fuzz campaign, tensors built.
func BenchmarkRun(b *testing.B) {
	for _, s := range holding(b) {
		c := model.Case{
			Seed: 1, Data: model.Exact, NextN: 2, Heads: 16, HeadDim: 64, Page: 16, MaxModelLen: 64,
			Requests: requests([]int{17, 0, 40}),
		}
		c, err := s.Fit(c)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(s.Name+"/"+s.Target, func(b *testing.B) {
			in, err := s.Inputs(c)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			var vector uint64
			for b.Loop() {
				r, err := s.Run(b.Context(), in, RunOptions{Workers: 1})
				if err != nil {
					b.Fatal(err)
				}
				vector = r.VectorInstructions
			}
			b.ReportMetric(float64(vector), "vector-inst/op")
		})
	}
}
