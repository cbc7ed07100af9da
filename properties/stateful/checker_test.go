package stateful

import (
	"context"
	"strings"
	"testing"
	"unsafe"

	"mqaproof/sim/serving"
)

// busy is an engine after enough steps that a replayed, padded step of two
// decodes with the contexts 7 and 6 is its last.
func busy(t *testing.T, change func(*serving.Config)) (*Checker, *serving.Record) {
	t.Helper()
	c := serving.Config{
		NextN: 2, Rows: serving.Native, World: 2, Interleave: 1, Ratio: 1, Page: 2, Pages: 12, MaxSeqs: 4, MaxModelLen: 12,
		Chunk: 4, Captures: []int{3},
	}
	if change != nil {
		change(&c)
	}
	s := newTestShared(t, 1)
	e, err := serving.New(c, serving.NoFault)
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.machine(c, serving.NoFault)
	if err != nil {
		t.Fatal(err)
	}
	var rec *serving.Record
	for _, step := range []serving.Step{{Arrive: []int{3, 2}}, {}, {}} {
		if rec, err = e.Step(step); err != nil {
			t.Fatal(err)
		}
		if v, err := m.checker.Check(rec); v != nil || err != nil {
			t.Fatal(v, err)
		}
	}
	if rec.Kind != serving.Replayed || rec.Padded != 3 || len(rec.Batch) != 2 {
		t.Fatalf("the last step is %s, of %d requests padded to %d", rec.Kind, len(rec.Batch), rec.Padded)
	}
	return m.checker, rec
}

// TestPropertiesFail: each property tells each kind of damage to a good
// record, alone and with those before it.
func TestPropertiesFail(t *testing.T) {
	other := new(int32)
	flatten := func(c *serving.Config) { c.Rows = serving.Flatten }
	for _, tc := range []struct {
		property, says string
		config         func(*serving.Config)
		damage         func(rec *serving.Record)
		own            bool // an earlier property fails, too
	}{
		{"buffers", "has moved", nil, func(r *serving.Record) { r.Ranks[1].Buffers[2].At = unsafe.Pointer(other) }, false},
		{"fresh", "length that the kernel reads", nil, func(r *serving.Record) { r.Ranks[0].Reads[1].LengthsFresh[0] = false }, false},
		{"fresh", "per-request length that the kernel reads", nil, func(r *serving.Record) { r.Ranks[0].Reads[1].PerFresh[1] = false }, false},
		{"padding", "length of a padding row", nil, func(r *serving.Record) { r.Ranks[0].Reads[1].Lengths[4] = 1 }, false},
		{"padding", "length of a padding row", flatten, func(r *serving.Record) { r.Ranks[0].Reads[1].Lengths[5] = 1 }, false},
		{"padding", "per-request length of a padding row", nil, func(r *serving.Record) { r.Ranks[0].Reads[0].PerRequest[2] = 1 }, false},
		{"padding", "first page of a padding row", nil, func(r *serving.Record) { r.Ranks[0].Reads[0].BlockTable[2][0] = 1 }, false},
		{"padding", "slot of padding token", nil, func(r *serving.Record) { r.Ranks[1].Slots[5] = 3 }, false},
		{"pages", "in the block tables of requests", nil, func(r *serving.Record) { r.Batch[1].Pages[0] = r.Batch[0].Pages[0] }, false},
		{"pages", "twice in the block table", nil, func(r *serving.Record) { r.Batch[1].Pages[0] = r.Batch[1].Pages[1] }, false},
		{"pages", "and free", nil, func(r *serving.Record) { r.Pages[r.Batch[0].Pages[1]].InUse = false }, false},
		{"pages", "has page 0", nil, func(r *serving.Record) { r.Batch[0].Pages[0] = 0 }, false},
		{"pages", "tokens on 1 pages", nil, func(r *serving.Record) { r.Batch[0].Pages = r.Batch[0].Pages[:1] }, false},
		{"pages", "logical page 1", nil, func(r *serving.Record) { r.Ranks[1].Reads[1].BlockTable[0][1] = 9 }, false},
		{"pages", "logical page 1", flatten, func(r *serving.Record) { r.Ranks[1].Reads[1].BlockTable[1][1] = 9 }, false},
		{"slots", "padding token 6 writes", nil, func(r *serving.Record) { r.Ranks[0].Writes[0].Token = 6 }, false},
		{"slots", "on page 0", nil, func(r *serving.Record) { r.Ranks[0].Writes[0].Slot = 1 }, false},
		{"slots", "writes, on all ranks", nil, func(r *serving.Record) { r.Ranks[0].Writes = r.Ranks[0].Writes[1:] }, false},
		{"slots", "writes, on all ranks", nil, func(r *serving.Record) { r.Ranks[0].Writes = append(r.Ranks[0].Writes, r.Ranks[1].Writes[0]) }, false},
		{"slots", "since an earlier write", nil, func(r *serving.Record) {
			w, q := &r.Ranks[0].Writes[0], &r.Batch[0]
			w.Before, w.BeforeEpoch = serving.Cell{Owner: q.ID + 1, State: 1, Token: q.Tokens[1]}, w.Epoch
		}, false},
		{"slots", "holds a token of request 77", nil, func(r *serving.Record) {
			w := &r.Ranks[0].Writes[0]
			w.Before, w.BeforeEpoch = serving.Cell{Owner: 78, Token: 1}, w.Epoch
		}, false},
		{"visible", "states that position", nil, func(r *serving.Record) { lengthen(r, 0, 0, -1) }, false},
		{"visible", "sees position", nil, func(r *serving.Record) { lengthen(r, 0, 0, 1); lengthen(r, 1, 0, -1) }, false},
		{"visible", "holds state", nil, func(r *serving.Record) { r.Ranks[0].Cache[slotOf(r, 0)].Owner = 78 }, false},
		{"visible", "holds nothing", nil, func(r *serving.Record) { r.Ranks[0].Cache[slotOf(r, 0)] = serving.Cell{} }, false},
		{"visible", "padding token", nil, func(r *serving.Record) { r.Ranks[0].Cache[slotOf(r, 0)].Owner = 0 }, false},
		{"visible", "as an earlier step had it", nil, func(r *serving.Record) { r.Ranks[0].Cache[slotOf(r, 0)].Token++ }, false},
		{"visible", "seen twice", nil, func(r *serving.Record) { r.Ranks[0].Cache[slotOf(r, 1)] = r.Ranks[0].Cache[slotOf(r, 0)] }, false},
		{"visible", "below 0", nil, func(r *serving.Record) { both(r, func(x *serving.Read) { x.Lengths[0] = -1 }) }, false},
		{"visible", "the table 3 columns", nil, func(r *serving.Record) {
			both(r, func(x *serving.Read) { x.Columns, x.Rows, x.Lengths = 3, 2, append(x.Lengths, x.Lengths...) })
			r.Padded = 2
		}, true},
		{"match", "against the table's last column", nil, func(r *serving.Record) { r.Ranks[1].Reads[1].PerRequest[0]++ }, false},
		{"match", "per-request lengths", nil, func(r *serving.Record) { r.Ranks[1].Reads[1].PerRequest = nil }, false},
		{"logits", "the logit of position", nil, func(r *serving.Record) { r.Ranks[1].Reads[1].Lengths[0]-- }, true},
		{"logits", "the logit of position", nil, func(r *serving.Record) { r.Ranks[0].Cache[slotOf(r, 0)].State++ }, true},
		{"logits", "the logit of position", nil, func(r *serving.Record) { r.Ranks[0].Cache[slotOf(r, 0)].Owner++ }, true},
		{"logits", "the cache has", nil, func(r *serving.Record) { r.Ranks[0].Reads[1].BlockTable[0][0] = 99 }, true},
		{"kernel", "the logit of position", nil, func(r *serving.Record) { r.Ranks[1].Reads[1].Lengths[0]-- }, true},
		{"kernel", "the logit of position", nil, func(r *serving.Record) { r.Ranks[0].Cache[slotOf(r, 0)].State++ }, true},
		{"kernel", "hip/per-row", nil, func(r *serving.Record) { r.Ranks[0].Cache[slotOf(r, 0)] = serving.Cell{} }, true},
	} {
		t.Run(tc.property+" "+tc.says, func(t *testing.T) {
			ch, rec := busy(t, tc.config)
			tc.damage(rec)
			v, err := ch.Check(rec)
			if tc.own {
				v, err = byName(t, tc.property).check(ch, rec), ch.err
			}
			if err != nil {
				t.Fatal(err)
			}
			if v == nil {
				t.Fatal("no violation")
			}
			if !tc.own && (v.Property != tc.property || v.Step != rec.Index) {
				t.Errorf("found by %s in step %d: %s", v.Property, v.Step, v)
			}
			if !strings.Contains(v.String(), tc.says) {
				t.Errorf("%s: want %q in it", v, tc.says)
			}
		})
	}
}

func byName(t *testing.T, name string) Property {
	t.Helper()
	for _, p := range Properties() {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("no property %s", name)
	return Property{}
}

// both changes what rank 0 finds in both layers.
func both(r *serving.Record, change func(*serving.Read)) {
	for layer := range r.Ranks[0].Reads {
		change(&r.Ranks[0].Reads[layer])
	}
}

// lengthen changes a length of a rank in both layers.
func lengthen(r *serving.Record, rank, row int, by int32) {
	for layer := range r.Ranks[rank].Reads {
		r.Ranks[rank].Reads[layer].Lengths[row] += by
	}
}

// slotOf is the slot of local state n of the first request on rank 0, whose
// pages hold two.
func slotOf(r *serving.Record, n int) int { return int(r.Batch[0].Pages[n/2])*2 + n%2 }

// TestSentences: every property says what it claims.
func TestSentences(t *testing.T) {
	for _, p := range Properties() {
		if p.Name == "" || len(p.Sentence) < 20 || p.check == nil {
			t.Errorf("%+v", p)
		}
	}
}

// TestKernelsHold: the built-in kernels give the right logits on the buffers
// of live engines, on every path.
func TestKernelsHold(t *testing.T) {
	for _, c := range []serving.Config{
		{NextN: 3, Rows: serving.Native, World: 1, Interleave: 1, Ratio: 1, Page: 4, Pages: 24, MaxSeqs: 3, MaxModelLen: 40, Chunk: 8, Captures: []int{2, 3}},
		{NextN: 2, Rows: serving.Native, World: 3, Interleave: 2, Ratio: 2, Page: 4, Pages: 24, MaxSeqs: 3, MaxModelLen: 40, Chunk: 8, Captures: []int{2}},
		{NextN: 2, Rows: serving.Flatten, World: 2, Interleave: 1, Ratio: 1, Page: 1, Pages: 60, MaxSeqs: 3, MaxModelLen: 40, Chunk: 8, Captures: []int{3}},
		{NextN: 4, Rows: serving.Varlen, World: 1, Interleave: 1, Ratio: 4, Page: 8, Pages: 24, MaxSeqs: 3, MaxModelLen: 40, Chunk: 8, Captures: []int{3}},
		{NextN: 1, Rows: serving.Native, World: 2, Interleave: 4, Ratio: 4, Page: 8, Pages: 24, MaxSeqs: 3, MaxModelLen: 40, Chunk: 8, Captures: []int{3}},
	} {
		t.Run(string(c.Rows), func(t *testing.T) {
			s := newTestShared(t, 3)
			m, err := s.machine(c, serving.NoFault)
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range []serving.Step{
				{Arrive: []int{3, 17}}, {}, {Accept: []int{0, 1}}, {Arrive: []int{9}}, {}, {Accept: []int{1}}, {Preempt: []int{0}}, {}, {}, {Finish: []int{0}},
				{}, {}, {Short: []int{0}}, {},
			} {
				m.do(step)
			}
			if m.err != nil || m.violation != nil {
				t.Fatal(m.err, m.violation)
			}
			if m.checker.kernels.runs < 3 {
				t.Errorf("only %d kernels were run", m.checker.kernels.runs)
			}
		})
	}
}

// TestStops: a run, a search and a shrink end with their context.
func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	seq := serving.Sequence{Engine: serving.Config{
		NextN: 1, Rows: serving.Native, World: 1, Interleave: 1, Ratio: 1, Page: 1, Pages: 3, MaxSeqs: 1, MaxModelLen: 2, Chunk: 1,
	}, Steps: make([]serving.Step, 2)}
	if _, err := Run(ctx, seq, serving.NoFault, 0); err != context.Canceled {
		t.Errorf("run: %v", err)
	}
	if _, err := Fuzz(ctx, Options{Faults: []serving.Fault{serving.NoFault}}); err != context.Canceled {
		t.Errorf("fuzz: %v", err)
	}
	out, err := Shrink(ctx, seq, serving.NoFault, &Violation{Property: "pages", Step: 1}, nil)
	if err != context.Canceled || len(out.Sequence.Steps) != 2 {
		t.Errorf("shrink: %v, %+v", err, out)
	}
}
