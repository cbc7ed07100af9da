package stateful

import (
	"context"
	"encoding/json"
	"testing"
	"time"

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
