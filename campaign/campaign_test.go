package campaign

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqaproof/corpus"
	"mqaproof/kernels"
	"mqaproof/model"
	"mqaproof/report"
	"mqaproof/shrink"
)

func builtin(t *testing.T, glob string) []*kernels.Subject {
	t.Helper()
	all, err := kernels.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	some, err := kernels.Match(glob, all)
	if err != nil {
		t.Fatal(err)
	}
	return some
}

// Every announced fault is found, nothing else is, and the case that started
// it all shrinks to two tokens.
func TestFuzzBuiltin(t *testing.T) {
	dir := t.TempDir()
	all := Fuzz(context.Background(), Options{Subjects: builtin(t, "*"), Cases: 25, Seed: 1, Corpus: dir, Tool: "test"}, func(o *report.Outcome) {
		if o.Err != nil {
			t.Errorf("%s: %v", o.Subject, o.Err)
		}
		if o.Surprise() {
			t.Errorf("%s: a surprise: %+v", o.Subject, o.Find)
		}
		if o.Find != nil && o.Find.Minimal.Case.Validate() != nil {
			t.Errorf("%s: the minimal case is not valid: %v", o.Subject, o.Find.Minimal.Case.Validate())
		}
	})
	n := report.Count(all)
	if n.Announced == 0 || n.Hold == 0 || n.Announced+n.Hold != len(all) {
		t.Errorf("outcomes %+v of %d subjects", n, len(all))
	}
	faults := map[string]bool{}
	for _, o := range all {
		faults[o.Subject.Fault()] = true
		if o.Subject.String() != "hip/mfma-split gfx942 table" {
			continue
		}
		want := model.Case{Seed: 1, Data: model.Exact, NextN: 2, Heads: 16, HeadDim: 32, Page: 1, Layout: model.BlockFlat, MaxModelLen: 2,
			Requests: []model.Request{{Context: 2}}}
		if d := cmp.Diff(want.Canonical(), o.Find.Minimal.Case.Canonical()); d != "" {
			t.Errorf("the minimal case of the table wiring (-want +got):\n%s", d)
		}
	}
	for _, fault := range []string{"B01", "B02", "B04", "B05", "B06", "B12", "B15", "B19"} {
		if !faults[fault] {
			t.Errorf("no built-in subject announces %s", fault)
		}
	}
	// What was saved can be replayed and shows the same again.
	entries, problems, err := corpus.All(dir)
	if err != nil || len(problems) > 0 || len(entries) != n.Announced {
		t.Fatalf("%d entries saved, problems %v, error %v; want %d", len(entries), problems, err, n.Announced)
	}
	replayAll(t, entries)
}

// The repository's own corpus shows what it says, wherever the subject is
// installed.
func TestSavedCorpusReplays(t *testing.T) {
	entries, problems, err := corpus.Dir(corpus.Saved(), "corpus")
	if err != nil || len(problems) > 0 {
		t.Fatalf("problems %v, error %v", problems, err)
	}
	replayAll(t, entries)
	for _, s := range builtin(t, "*") {
		found := s.Fault() == ""
		for _, e := range entries {
			found = found || e.Subject.Name == s.Name && e.Subject.Target == s.Target && e.Subject.Wiring == s.Wiring
		}
		if !found {
			t.Errorf("the corpus has no case for %s: run `mqaproof fuzz`, which saves one", s)
		}
	}
}

func replayAll(t *testing.T, entries []corpus.Named) {
	t.Helper()
	all := builtin(t, "*")
	for _, e := range entries {
		if !strings.HasPrefix(e.Subject.Name, "hip/") {
			continue // imported: replayed by the importer's users
		}
		subjects, err := SubjectsFor(e.Entry, all, Choice{}, false)
		if err != nil || len(subjects) != 1 {
			t.Errorf("%s: replays on %v, error %v", e.Path, subjects, err)
			continue
		}
		e.Also = nil
		err = Replay(context.Background(), e, subjects, kernels.RunOptions{}, func(r *report.Replayed) {
			v := r.Find(e.Property)
			if r.Err != nil || v == nil {
				t.Errorf("%s: %s does not show again: %v, error %v", e.Path, e.Property, r.Violations, r.Err)
				return
			}
			got := corpus.Expected{Row: v.Row, Position: v.Position, WrongRows: v.WrongRows, Rows: v.Rows, Detail: v.Detail}
			if d := cmp.Diff(e.Expected, got); d != "" {
				t.Errorf("%s: another violation (-saved +now):\n%s", e.Path, d)
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// The fix: per-request lengths make the upstream case right, and DCP or
// compression make it wrong again.
func TestUpstream(t *testing.T) {
	e, err := corpus.Open("", "upstream")
	if err != nil {
		t.Fatal(err)
	}
	subjects, err := SubjectsFor(e.Entry, builtin(t, "*"), Choice{}, true)
	if err != nil {
		t.Fatal(err)
	}
	wrong := map[string]int{}
	err = Replay(context.Background(), e, subjects, kernels.RunOptions{}, func(r *report.Replayed) {
		if r.Err != nil {
			t.Error(r.Err)
		}
		if r.Rows != 48 {
			t.Errorf("%d rows, want 48", r.Rows)
		}
		wrong[strings.TrimSpace(r.Subject.Wiring+" "+r.Setting.String())] = r.WrongRows
	})
	if err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]int{"table": 48, "last-column": 0} {
		if got, ok := wrong[what]; !ok || got != want {
			t.Errorf("%s: %d rows with a wrong mask, want %d", what, got, want)
		}
	}
	for _, what := range []string{"last-column DCP world 2 rank 0", "last-column DCP world 2 rank 1", "last-column ratio 4"} {
		// By counting which lengths break the chain of consecutive rows, not by running.
		if got := wrong[what]; got == 0 || got == 48 {
			t.Errorf("%s: %d rows with a wrong mask, want some and not all", what, got)
		}
	}
}

func TestWorkersDoNotMatter(t *testing.T) {
	find := func(workers int) (index int, c model.Case, o shrink.Outcome) {
		all := Fuzz(context.Background(), Options{Subjects: builtin(t, "hip/fault-b06:gfx942:device"), Cases: 60, Seed: 3, Workers: workers}, func(*report.Outcome) {})
		if len(all) != 1 || all[0].Find == nil {
			t.Fatalf("%d workers found nothing", workers)
		}
		return all[0].Find.Index, all[0].Find.Case, all[0].Find.Minimal
	}
	i1, c1, o1 := find(1)
	for _, workers := range []int{2, 7} {
		i, c, o := find(workers)
		if i != i1 || cmp.Diff(c1, c) != "" || cmp.Diff(o1, o) != "" {
			t.Errorf("%d workers: case %d %s, shrunk to %+v; one worker: case %d %s, %+v", workers, i, c, o, i1, c1, o1)
		}
	}
}

// A stopped campaign keeps what it has, at once.
func TestStop(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	start := time.Now()
	n := 0
	all := Fuzz(ctx, Options{Subjects: builtin(t, "hip/mfma-split"), Cases: 1 << 30, Seed: 1, Progress: func(Progress) {
		if n++; n == 3 {
			cancel()
		}
	}, Workers: 1}, func(*report.Outcome) {})
	if len(all) != 1 || !all[0].Unfinished || all[0].Cases < 3 || all[0].Err != nil || all[0].Surprise() {
		t.Errorf("stopped campaign: %+v", all)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %s to stop", took)
	}
}

func TestFor(t *testing.T) {
	all := Fuzz(context.Background(), Options{Subjects: builtin(t, "hip/metadata"), For: 300 * time.Millisecond, Seed: 1}, func(*report.Outcome) {})
	for _, o := range all {
		if o.Unfinished || o.Cases == 0 || o.Surprise() {
			t.Errorf("%s: %d cases, unfinished %v", o.Subject, o.Cases, o.Unfinished)
		}
	}
	if len(all) != 2 {
		t.Errorf("%d subjects ran, want 2", len(all))
	}
}
