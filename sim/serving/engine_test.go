package serving

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

func small() Config {
	return Config{
		NextN: 3, Rows: Native, World: 1, Interleave: 1, Ratio: 1, Page: 4, Pages: 12, MaxSeqs: 3, MaxModelLen: 24,
		Chunk: 5, Captures: []int{2, 3},
	}
}

func mustNew(t *testing.T, c Config, f Fault) *Engine {
	t.Helper()
	e, err := New(c, f)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func mustStep(t *testing.T, e *Engine, s Step) *Record {
	t.Helper()
	rec, err := e.Step(s)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func TestValidate(t *testing.T) {
	for _, tc := range []struct {
		says   string
		change func(*Config)
	}{
		{"rows", func(c *Config) { c.Rows = "" }},
		{"next_n is 0", func(c *Config) { c.NextN = 0 }},
		{"world is 17", func(c *Config) { c.World = 17 }},
		{"interleave is 0", func(c *Config) { c.Interleave = 0 }},
		{"ratio is 0", func(c *Config) { c.Ratio = 0 }},
		{"page is 0", func(c *Config) { c.Page = 0 }},
		{"page is 4", func(c *Config) { c.Interleave = 3 }},
		{"page is 4", func(c *Config) { c.Ratio = 3 }},
		{"a state lives on one rank", func(c *Config) { c.World, c.Ratio, c.Interleave = 2, 4, 2 }},
		{"need 7", func(c *Config) { c.Pages = 6 }},
		{"max_seqs is 0", func(c *Config) { c.MaxSeqs = 0 }},
		{"max_model_len is 3", func(c *Config) { c.MaxModelLen = 3 }},
		{"chunk is 0", func(c *Config) { c.Chunk = 0 }},
		{"captures[1] is 2", func(c *Config) { c.Captures = []int{2, 2} }},
		{"captures[0] is 4", func(c *Config) { c.Captures = []int{4} }},
		{"caches have", func(c *Config) { c.Page, c.Pages = 1<<10, 1<<13 }},
		{"block tables, expanded", func(c *Config) { c.Page, c.MaxModelLen, c.Pages, c.MaxSeqs = 1, 1<<13, 1<<13+1, 256 }},
	} {
		c := small()
		tc.change(&c)
		if _, err := New(c, NoFault); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("want an error with %q: %v", tc.says, err)
		}
	}
	if _, err := New(small(), 99); err == nil {
		t.Error("fault 99: no error")
	}
}

// TestLife follows one request: chunks, drafts kept and not, the last page.
func TestLife(t *testing.T) {
	e := mustNew(t, small(), NoFault)
	for i, tc := range []struct {
		step                 Step
		start, query, drafts int
		kind                 Kind
		padded, pages        int
	}{
		{Step{Arrive: []int{7}}, 0, 5, 0, Eager, 1, 2},
		{Step{}, 5, 2, 0, Eager, 1, 2},
		{Step{Accept: []int{0}}, 7, 3, 2, Captured, 2, 3}, // grows by 1
		{Step{Accept: []int{1}}, 8, 3, 2, Replayed, 2, 3}, // by 2
		{Step{}, 10, 3, 2, Replayed, 2, 4},                // by 3
		{Step{Short: []int{0}}, 13, 1, 0, Eager, 1, 4},    // by 1: nothing was drafted
		{Step{}, 14, 3, 2, Replayed, 2, 5},
		{Step{}, 17, 3, 2, Replayed, 2, 5},
		{Step{}, 20, 3, 2, Replayed, 2, 6},
		{Step{}, 23, 1, 0, Eager, 1, 6}, // the model's length: no room for drafts
	} {
		rec := mustStep(t, e, tc.step)
		if len(rec.Batch) != 1 {
			t.Fatalf("step %d: %d requests", i, len(rec.Batch))
		}
		q := rec.Batch[0]
		if q.Start != tc.start || q.Query != tc.query || q.Drafts != tc.drafts || rec.Kind != tc.kind || rec.Padded != tc.padded || len(q.Pages) != tc.pages {
			t.Errorf("step %d: start %d, query %d, drafts %d, %s, padded to %d, %d pages; want %+v", i, q.Start, q.Query, q.Drafts, rec.Kind, rec.Padded, len(q.Pages), tc)
		}
	}
	rec := mustStep(t, e, Step{})
	if rec.Kind != Idle || rec.Running != 0 || len(e.pool.free) != 11 {
		t.Errorf("at the model's length: %s, %d running, %d pages free", rec.Kind, rec.Running, len(e.pool.free))
	}
}

// TestPreemption: a preempted request computes prompt and kept tokens again,
// on pages handed out anew, with the same names.
func TestPreemption(t *testing.T) {
	e := mustNew(t, small(), NoFault)
	mustStep(t, e, Step{Arrive: []int{5, 3}})
	rec := mustStep(t, e, Step{Accept: []int{1, 1}})
	names := append([]uint32(nil), rec.Batch[0].Tokens[:7]...)
	rec = mustStep(t, e, Step{Preempt: []int{0}})
	if len(rec.Batch) != 1 || rec.Batch[0].ID != 1 || rec.Waiting != 1 {
		t.Fatalf("after preemption: %+v, %d waiting", rec.Batch, rec.Waiting)
	}
	rec = mustStep(t, e, Step{})
	q := rec.Batch[1]
	if q.ID != 0 || q.Start != 0 || q.Query != 5 {
		t.Fatalf("resumed: %+v", q)
	}
	rec = mustStep(t, e, Step{})
	for _, q := range rec.Batch {
		if q.ID == 0 {
			for i, name := range names {
				if q.Tokens[i] != name {
					t.Errorf("token %d is called %d, before preemption %d", i, q.Tokens[i], name)
				}
			}
		}
	}
}

// TestPagesRunOut: the request that was admitted last is preempted, and all
// pages come back.
func TestPagesRunOut(t *testing.T) {
	c := small()
	c.Pages = 7
	e := mustNew(t, c, NoFault)
	mustStep(t, e, Step{Arrive: []int{5, 5, 5}})
	preempted := false
	for range 40 {
		rec := mustStep(t, e, Step{})
		preempted = preempted || rec.Waiting > 0
		used := 0
		for _, p := range rec.Pages {
			if p.InUse {
				used++
			}
		}
		if used > 6 || rec.Pages[nullPage].InUse {
			t.Fatalf("%d pages in use, the null page: %t", used, rec.Pages[nullPage].InUse)
		}
	}
	if !preempted || len(e.pool.free) != 6 || len(e.running)+len(e.waiting) != 0 {
		t.Errorf("preempted %t, %d pages free, %d running, %d waiting", preempted, len(e.pool.free), len(e.running), len(e.waiting))
	}
}

// TestNonsenseMeansNothing: places at which no request runs, numbers out of
// range, and more requests than may wait.
func TestNonsenseMeansNothing(t *testing.T) {
	e := mustNew(t, small(), NoFault)
	many := make([]int, 40)
	many[0] = 1000
	rec := mustStep(t, e, Step{Finish: []int{-1, 7}, Preempt: []int{0}, Short: []int{3}, Accept: []int{-4, 99}, Arrive: many})
	if rec.Running+rec.Waiting != 2*3 {
		t.Errorf("%d running, %d waiting", rec.Running, rec.Waiting)
	}
	if got := rec.Batch[len(rec.Batch)-1].Query; got != 5 {
		t.Errorf("a prompt of 1000: %d tokens in the first step", got)
	}
	// The same place named twice, and a request both finished and preempted.
	rec = mustStep(t, e, Step{Finish: []int{1, 1}, Preempt: []int{1, 2, 2}})
	if rec.Running+rec.Waiting != 5 {
		t.Errorf("%d running, %d waiting", rec.Running, rec.Waiting)
	}
}

// TestDeterminism: the same steps give the same records, buffers' places aside.
func TestDeterminism(t *testing.T) {
	c := small()
	c.World, c.Captures = 2, []int{1, 3}
	run := func() string {
		e := mustNew(t, c, NoFault)
		rng := rand.New(rand.NewPCG(1, 2))
		var all strings.Builder
		enc := json.NewEncoder(&all)
		for range 200 {
			s := Step{Accept: []int{rng.IntN(3), rng.IntN(3)}}
			switch rng.IntN(4) {
			case 0:
				s.Arrive = []int{1 + rng.IntN(12)}
			case 1:
				s.Preempt = []int{rng.IntN(3)}
			case 2:
				s.Finish = []int{rng.IntN(4)}
			}
			rec := mustStep(t, e, s)
			r := *rec
			r.Ranks = append([]RankRecord(nil), rec.Ranks...)
			for i := range r.Ranks {
				r.Ranks[i].Buffers = nil
			}
			if err := enc.Encode(r); err != nil {
				t.Fatal(err)
			}
		}
		return all.String()
	}
	if first, second := run(), run(); first != second {
		t.Error("two runs differ")
	}
}

func TestFaultNames(t *testing.T) {
	for _, f := range append(Faults(), NoFault) {
		got, err := ParseFault(f.String())
		if err != nil || got != f || len(f.Sentence()) < 10 {
			t.Errorf("%s: %s, %v", f, got, err)
		}
	}
	if f, err := ParseFault(""); f != NoFault || err != nil {
		t.Errorf("no name: %s, %v", f, err)
	}
	if _, err := ParseFault("B01"); err == nil || !strings.Contains(err.Error(), "stale-replay") {
		t.Errorf("an unknown name: %v", err)
	}
}

// TestReplayKeepsAddresses: a replayed step reads the views that were
// captured, with this step's contents.
func TestReplayKeepsAddresses(t *testing.T) {
	e := mustNew(t, small(), NoFault)
	mustStep(t, e, Step{Arrive: []int{5, 4}})
	rec := mustStep(t, e, Step{})
	if rec.Kind != Captured {
		t.Fatal(rec.Kind)
	}
	captured := *e.ranks[0].graphs[2]
	before := append([]int32(nil), rec.Ranks[0].Reads[0].PerRequest...)
	rec = mustStep(t, e, Step{})
	g := e.ranks[0].graphs[2]
	if rec.Kind != Replayed || &g.lengths[0] != &captured.lengths[0] || &g.per[0] != &captured.per[0] || &g.slots[0] != &captured.slots[0] {
		t.Errorf("%s: the captured views changed", rec.Kind)
	}
	for i, now := range rec.Ranks[0].Reads[0].PerRequest {
		if now != before[i]+3 {
			t.Errorf("per-request length %d: %d, a step before %d", i, now, before[i])
		}
	}
}
