package properties

import (
	"context"
	"math"
	"slices"
	"testing"

	"mqaproof/kernels"
	"mqaproof/model"
	"mqaproof/sim/gpu"
)

func subject(t *testing.T, name string) *kernels.Subject {
	t.Helper()
	all, err := kernels.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	some, err := kernels.Match(name, all)
	if err != nil || len(some) != 1 {
		t.Fatalf("%q names %d subjects (%v)", name, len(some), err)
	}
	return some[0]
}

func testCase(data model.Style) model.Case {
	return model.Case{Seed: 7, Data: data, NextN: 2, Heads: 16, HeadDim: 32, Page: 4, Layout: model.BlockFlat, MaxModelLen: 32, ShufflePages: true,
		Requests: []model.Request{{ID: 0, Context: 9}, {ID: 1, Context: 0}, {ID: 2, Context: 21}}}
}

// Each property fails on a result with its kind of flaw, and holds on the
// result as the kernel gave it.
func TestEachPropertyCanFail(t *testing.T) {
	const (
		row     = 5 // the last request's last row, which sees 21 positions
		at      = row*32 + 3
		past    = row*32 + 21
		farPast = row*32 + 31
	)
	logits, meta := "hip/mfma-split gfx942 last-column", "hip/metadata gfx942 device"
	for _, test := range []struct {
		flaw     string
		subject  string
		data     model.Style
		tamper   func(*kernels.Result)
		breaks   []string // all the properties that must fail
		location [2]int   // row and position of the first one, when it has them
	}{
		{"a visible logit is -inf", logits, model.Exact, func(r *kernels.Result) { r.Logits[at] = negInf }, []string{"mask", "exact-value", "value-bound", "profile-value"}, [2]int{row, 3}},
		{"a hidden logit has a value", logits, model.Exact, func(r *kernels.Result) { r.Logits[past], r.Written[past] = 0, true }, []string{"mask", "metadata"}, [2]int{row, 21}},
		{"a visible logit is missing", logits, model.Exact, func(r *kernels.Result) { r.Written[at] = false }, []string{"writes", "mask"}, [2]int{row, 3}},
		{"the last visible logit is missing", logits, model.Exact, func(r *kernels.Result) { r.Written[past-1] = false }, []string{"writes", "mask", "metadata"}, [2]int{row, 20}},
		{"one bit of an exact logit", logits, model.Exact, func(r *kernels.Result) { r.Logits[at] ^= 1 }, []string{"exact-value", "profile-value"}, [2]int{row, 3}},
		{"one bit of a normal logit", logits, model.Normal, func(r *kernels.Result) { r.Logits[at] ^= 1 }, []string{"profile-value"}, [2]int{row, 3}},
		{"a thousandth of a normal logit", logits, model.Normal, func(r *kernels.Result) {
			r.Logits[at] = math.Float32bits(math.Float32frombits(r.Logits[at]) * 1.001)
		}, []string{"value-bound", "profile-value"}, [2]int{row, 3}},
		{"a normal logit is NaN", logits, model.Normal, func(r *kernels.Result) { r.Logits[at] = 0x7fc00000 }, []string{"value-bound", "profile-value"}, [2]int{row, 3}},
		{"written past its tile", logits, model.Exact, func(r *kernels.Result) { r.Logits[2*32+5], r.Written[2*32+5] = negInf, true }, []string{"writes"}, [2]int{2, 5}},
		{"a read out of bounds", logits, model.Exact, func(r *kernels.Result) { r.Faults = []gpu.Fault{{Kind: gpu.OutOfBoundsRead, Buffer: "q"}} }, []string{"reads"}, [2]int{-1, -1}},
		{"an uninitialised read", logits, model.Exact, func(r *kernels.Result) { r.Faults = []gpu.Fault{{Kind: gpu.UninitialisedRead, Buffer: "cache"}} }, []string{"reads"}, [2]int{-1, -1}},
		{"a write out of bounds", logits, model.Exact, func(r *kernels.Result) { r.Faults = []gpu.Fault{{Kind: gpu.OutOfBoundsWrite, Buffer: "logits"}} }, []string{"writes"}, [2]int{-1, -1}},
		{"a race", logits, model.Exact, func(r *kernels.Result) { r.Faults = []gpu.Fault{{Kind: gpu.Race, Buffer: "logits"}} }, []string{"determinism"}, [2]int{-1, -1}},
		{"an endless wave", logits, model.Exact, func(r *kernels.Result) { r.Trap = &gpu.Trap{Kind: gpu.TrapBudget} }, []string{"ends"}, [2]int{-1, -1}},
		{"a wrong length in the table", meta, model.Exact, func(r *kernels.Result) { r.Table[row]++ }, []string{"metadata"}, [2]int{row, -1}},
		{"a wrong per-request length", meta, model.Exact, func(r *kernels.Result) { r.PerRequest[2]-- }, []string{"metadata"}, [2]int{row, -1}},
	} {
		t.Run(test.flaw, func(t *testing.T) {
			e, err := newEvidence(context.Background(), subject(t, test.subject), testCase(test.data), kernels.RunOptions{Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			if got := failing(t, e, false); len(got) != 0 {
				t.Fatalf("before the flaw: %v fail", names(got))
			}
			test.tamper(e.base)
			got := failing(t, e, true)
			if !slices.Equal(names(got), test.breaks) {
				t.Fatalf("%v fail, want %v", names(got), test.breaks)
			}
			if v := got[0]; v.Row != test.location[0] || v.Position != test.location[1] {
				t.Errorf("located at row %d position %d, want %v: %s", v.Row, v.Position, test.location, v)
			}
		})
	}
}

// failing is the violations of e's plain run. A tampered run differs from any
// other one, so then determinism counts only for races and invariance not.
func failing(t *testing.T, e *evidence, tampered bool) []*Violation {
	t.Helper()
	var vs []*Violation
	for _, p := range All() {
		if !p.applies(e.s, e.c) || e.base.Trap != nil && p.Name != ends.Name {
			continue
		}
		if tampered && (p.Name == invariance.Name || p.Name == determinism.Name && e.faultOf(func(k gpu.FaultKind) bool { return k == gpu.Race }) == nil) {
			continue
		}
		v, err := p.check(context.Background(), e)
		if err != nil {
			t.Fatal(err)
		}
		if v != nil {
			v.Property = p.Name
			vs = append(vs, v)
		}
	}
	return vs
}

func names(vs []*Violation) []string {
	var ns []string
	for _, v := range vs {
		ns = append(ns, v.Property)
	}
	return ns
}

// Determinism and invariance see any difference from a second run, where the
// row went.
func TestSecondRuns(t *testing.T) {
	for _, p := range []Property{determinism, invariance} {
		e, err := newEvidence(context.Background(), subject(t, "hip/per-row gfx942 per-row"), testCase(model.Normal), kernels.RunOptions{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if v, err := p.check(context.Background(), e); v != nil || err != nil {
			t.Fatalf("%s: %v, %v", p.Name, v, err)
		}
		e.base.Logits[1*32+2] ^= 1 << 30
		v, err := p.check(context.Background(), e)
		if err != nil || v == nil || v.Row != 1 || v.Position != 2 || v.WrongRows != 1 {
			t.Errorf("%s: %v, %v; want row 1 position 2", p.Name, v, err)
		}
	}
}

func TestNames(t *testing.T) {
	for _, p := range All() {
		if found, err := Find(p.Name); err != nil || found.Name != p.Name || p.Sentence == "" {
			t.Errorf("%q: %v", p.Name, err)
		}
	}
	if _, err := Find("speed"); err == nil {
		t.Error("a property that is none was found")
	}
}

// Generated cases are valid, within the subject's limits, the same for the
// same seed, and reach the shapes that matter.
func TestGenerator(t *testing.T) {
	all, err := kernels.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		gen := Cases(s)
		var padding, several, strided, parallel, compressed, styles = 0, 0, 0, 0, 0, map[model.Style]bool{}
		const cases = 150
		for i := range cases {
			c, err := Case(s, gen, 1, i)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Accepts(c); err != nil {
				t.Fatalf("%s: case %d: %v", s, i, err)
			}
			again, err := Case(s, Cases(s), 1, i)
			if err != nil || again.String() != c.String() || again.Seed != c.Seed {
				t.Fatalf("%s: case %d is %s, and then %s", s, i, c, again)
			}
			styles[c.Data] = true
			for _, r := range c.Requests {
				if r.Context == 0 {
					padding++
				}
			}
			count := func(n *int, yes bool) {
				if yes {
					*n++
				}
			}
			count(&several, len(c.Requests) > 1)
			count(&strided, c.LengthsStride > c.NextN)
			count(&parallel, c.DCP.World > 1)
			count(&compressed, c.Ratio > 1)
		}
		if padding < 10 || several < 30 || strided < 10 || len(styles) < 4 {
			t.Errorf("%s: of %d cases %d padding requests, %d batches, %d strided tables, styles %v", s, cases, padding, several, strided, styles)
		}
		both := testCase(model.Exact)
		both.Ratio, both.DCP = 2, model.DCP{World: 2, Interleave: 2}
		if s.Meant(both) && (parallel < 10 || compressed < 10) {
			t.Errorf("%s: of %d cases %d with DCP and %d compressed", s, cases, parallel, compressed)
		}
	}
}
