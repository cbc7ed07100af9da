package stateful

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqaproof/corpus"
	"mqaproof/sim/serving"
)

// TestFaultsFound: each planted fault is found, shrunk to at most 3 steps,
// saved and replayed; the engine without its fault holds on the same sequence.
func TestFaultsFound(t *testing.T) {
	want := map[serving.Fault]string{
		serving.RewriteAfterCopy:   "match",
		serving.CopyBeforeLocalize: "match",
		serving.CopyBeforeCompress: "match",
		serving.StaleReplay:        "fresh",
		serving.MovedBuffer:        "buffers",
		serving.PaddingKept:        "padding",
		serving.PageReused:         "pages",
		serving.SlotRewritten:      "slots",
	}
	for _, f := range serving.Faults() {
		t.Run(f.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			outs, err := Fuzz(context.Background(), Options{Faults: []serving.Fault{f}, Seed: 1, Corpus: dir, Tool: "test"})
			if err != nil {
				t.Fatal(err)
			}
			out := outs[0]
			if out.Find == nil || out.Surprise() {
				t.Fatalf("not found in %d steps", out.Steps)
			}
			b, err := json.Marshal(out.Find.Minimal)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d sequences (%s), %d steps, %d runs to shrink from %d steps, %s: %s\n%s", out.Sequences, out.Find.Generator, out.Steps,
				out.Find.Runs, len(out.Find.Generated.Steps), out.Time.Round(time.Millisecond), out.Find.Violation, b)
			if n := len(out.Find.Minimal.Steps); n > 3 {
				t.Errorf("shrunk to %d steps", n)
			}
			if out.Time > time.Minute {
				t.Errorf("took %s", out.Time)
			}
			if out.Find.Violation.Property != want[f] {
				t.Errorf("found by %s, want %s", out.Find.Violation.Property, want[f])
			}
			e, err := corpus.Open(dir, out.Find.Path)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Replay(context.Background(), e.Entry)
			if err != nil {
				t.Fatal(err)
			}
			if !r.Same || r.Fault != f {
				t.Errorf("replayed: %+v", r)
			}
			v, err := Run(context.Background(), out.Find.Minimal, serving.NoFault, 1)
			if err != nil || v != nil {
				t.Errorf("without the fault: %v, %v", v, err)
			}
		})
	}
}

// TestMinima: whatever sequence a fault is found with, it is shrunk to at most
// 3 steps.
func TestMinima(t *testing.T) {
	for seed := range uint64(12) {
		outs, err := Fuzz(context.Background(), Options{Faults: serving.Faults(), Seed: 10 + seed})
		if err != nil {
			t.Fatal(err)
		}
		for _, out := range outs {
			if out.Find == nil {
				t.Errorf("seed %d: %s was not found in %d steps", seed, out.Fault, out.Steps)
			} else if n := len(out.Find.Minimal.Steps); n > 3 {
				t.Errorf("seed %d: %s is shrunk to %d steps: %+v", seed, out.Fault, n, out.Find.Minimal)
			}
		}
	}
}

// TestSaved: every saved sequence fails as it did, and holds without its
// fault.
func TestSaved(t *testing.T) {
	entries, problems, err := corpus.Dir(corpus.Saved(), "corpus")
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	seen := map[serving.Fault]bool{}
	for _, e := range entries {
		if e.Sequence == nil {
			continue
		}
		r, err := Replay(context.Background(), e.Entry)
		if err != nil {
			t.Fatalf("%s: %v", e.Path, err)
		}
		if !r.Same || r.Violation.String() != e.Expected.Detail {
			t.Errorf("%s: %v", e.Path, r.Violation)
		}
		seen[r.Fault] = true
		if v, err := Run(context.Background(), *e.Sequence, serving.NoFault, 1); v != nil || err != nil {
			t.Errorf("%s without its fault: %v, %v", e.Path, v, err)
		}
	}
	for _, f := range serving.Faults() {
		if !seen[f] {
			t.Errorf("no sequence is saved for %s", f)
		}
	}
}

// TestBothGenerators: each planted fault is found by rapid's machine alone and
// by gopter's alone, by the same property.
func TestBothGenerators(t *testing.T) {
	s := newTestShared(t, 0)
	o := Options{Seed: 2, Length: DefaultLength}
	for _, f := range serving.Faults() {
		t.Run(f.String(), func(t *testing.T) {
			found := map[string]string{}
			for i := 0; i < 600 && len(found) < 2; i++ {
				m, err := s.generate(o, f, i)
				if err != nil {
					t.Fatal(err)
				}
				if m.violation != nil {
					found[generators[i%2]] = m.violation.Property
				}
			}
			if found["rapid"] == "" || found["rapid"] != found["gopter"] {
				t.Errorf("found by %v", found)
			}
		})
	}
}

// TestFaultFreeHolds: no property fails without a fault, and the sequences
// reach what an engine can do.
func TestFaultFreeHolds(t *testing.T) {
	outs, err := Fuzz(context.Background(), Options{Faults: []serving.Fault{serving.NoFault}, Steps: 30_000, Seed: 3, KernelEvery: 400})
	if err != nil {
		t.Fatal(err)
	}
	if out := outs[0]; out.Find != nil || out.Surprise() || out.Steps < 25_000 {
		t.Errorf("%d steps: %+v", out.Steps, out.Find)
	}
}

// TestReach: both generators make steps of every kind: replayed and padded
// ones, mixed ones, and preempted requests.
func TestReach(t *testing.T) {
	s := newTestShared(t, 0)
	o := Options{Seed: 4, Length: DefaultLength}
	for g, name := range generators {
		reached := map[string]int{}
		for i := g; i < 400; i += 2 {
			m, err := s.generate(o, serving.NoFault, i)
			if err != nil || m.violation != nil {
				t.Fatal(err, m.violation)
			}
			e, err := serving.New(m.sequence.Engine, serving.NoFault)
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range m.sequence.Steps {
				rec, err := e.Step(step)
				if err != nil {
					t.Fatal(err)
				}
				reached[rec.Kind.String()]++
				if rec.Padded > len(rec.Batch) {
					reached["padded"]++
				}
				if rec.Counts.NumDecodes > 0 && rec.Counts.NumPrefills > 0 {
					reached["mixed"]++
				}
				if rec.Counts.NumPrefills > 1 {
					reached["prefills"]++
				}
				if len(rec.Ranks) > 1 && len(rec.Ranks[1].Reads) > 0 && rec.Ranks[1].Reads[0].PerRequest != nil {
					reached["per-request under DCP"]++
				}
				if rec.Waiting > 0 {
					reached["waiting"]++
				}
			}
		}
		t.Log(name, reached)
		for _, what := range []string{"idle", "eager", "captured", "replayed", "padded", "mixed", "prefills", "per-request under DCP", "waiting"} {
			if reached[what] < 10 {
				t.Errorf("%s: %d steps are %s", name, reached[what], what)
			}
		}
	}
}

// TestWorkersChangeNothing: what is found does not depend on their number.
func TestWorkersChangeNothing(t *testing.T) {
	var first []Outcome
	for _, workers := range []int{1, 3} {
		outs, err := Fuzz(context.Background(), Options{Seed: 5, Steps: 2000, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		for i := range outs {
			outs[i].Time = 0
		}
		if first == nil {
			first = outs
			continue
		}
		if diff := cmp.Diff(first, outs); diff != "" {
			t.Errorf("(-1 worker +3 workers):\n%s", diff)
		}
	}
}

// TestShrinkEnds: a minimum cannot be shrunk further, whatever the sequence
// that it came from.
func TestShrinkEnds(t *testing.T) {
	s := newTestShared(t, 0)
	for i := range 24 {
		m, err := s.generate(Options{Seed: 6, Length: DefaultLength}, serving.StaleReplay, i)
		if err != nil {
			t.Fatal(err)
		}
		if m.violation == nil {
			continue
		}
		out, err := Shrink(context.Background(), m.sequence, serving.StaleReplay, m.violation, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Sequence.Steps) > 3 {
			t.Errorf("sequence %d is shrunk to %d steps: %+v", i, len(out.Sequence.Steps), out.Sequence)
		}
		again, err := Shrink(context.Background(), out.Sequence, serving.StaleReplay, out.Violation, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(out.Sequence, again.Sequence); diff != "" || again.Kept != 0 {
			t.Errorf("shrunk again:\n%s", diff)
		}
	}
}

func TestOptionErrors(t *testing.T) {
	for _, o := range []Options{{Steps: -1}, {Length: -1}, {Workers: -1}, {KernelEvery: -1}} {
		if _, err := Fuzz(context.Background(), o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	bad := serving.Sequence{Steps: make([]serving.Step, 1)}
	if _, err := Run(context.Background(), bad, serving.NoFault, 0); err == nil {
		t.Error("an engine of nothing: no error")
	}
	if _, err := Replay(context.Background(), &corpus.Entry{Property: "mask"}); err == nil {
		t.Error("an entry without a sequence: no error")
	}
	if _, err := Replay(context.Background(), &corpus.Entry{Sequence: &bad, Fault: "B01"}); err == nil {
		t.Error("a fault that is none: no error")
	}
}
