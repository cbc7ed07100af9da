package exhaust

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mqaproof/kernels"
	"mqaproof/model/metadata"
)

func builtin(t testing.TB, name string) *kernels.Subject {
	t.Helper()
	all, err := kernels.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.Name == name && s.Target == "gfx942" {
			return s
		}
	}
	t.Fatalf("there is no built-in %s", name)
	return nil
}

// step is one of our own kernels for a part of the builder's work.
func step(t testing.TB, name string) *kernels.Subject {
	t.Helper()
	all, err := kernels.Load(filepath.Join("..", "..", "kernels", "hip", "steps", name+".yaml"), "")
	if err != nil {
		t.Fatal(err)
	}
	return all[0] // gfx942
}

func mustExhaust(t *testing.T, s *kernels.Subject, o Options) *Result {
	t.Helper()
	r, err := Exhaust(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var (
	small    = Axes{[][2]int{{1, 0}, {2, 0}, {3, 2}}, []int{1, 4}, []int{1, 2}, []int{1, 3}, []int{0}}
	noTime   = cmpopts.IgnoreFields(Result{}, "Seconds")
	flatAxes = Axes{alone, nil, []int{1}, []int{1, 3}, []int{0}}
)

func TestHolds(t *testing.T) {
	slotAxes := small
	slotAxes.Ratio, slotAxes.Page = []int{2, 4}, []int{3, 64}
	for _, c := range []struct {
		subject  *kernels.Subject
		o        Options
		settings int
		lengths  uint64
		elements uint64 // 0: not counted here
	}{
		// W=1: r 1 and 2; W=2, 3: I=1 with r=1, I=4 with r 1 and 2; each with two
		// next_n. Tables and per-request lengths.
		{builtin(t, "hip/metadata"), Options{Short: 3000, Long: 3000, Axes: &small}, 16, 16 * 3001, 3001 * 8 * (1 + 3 + 2)},
		// Lengths, ones, and three block table columns of each token.
		{step(t, "uniform"), Options{Short: 700, Long: 900, Axes: &flatAxes}, 2, 701 + 901, 5 * (701 + 3*901)},
		{step(t, "varlen"), Options{Short: 300, Long: 400, Axes: &flatAxes}, 2, 301 + 401 + 2*301, 0},
		{step(t, "prefill"), Options{Short: 300, Long: 5000, Axes: &small}, 16, 15*301 + 5001 + 7*301 + 5001 + 5001, 0},
		{step(t, "slots"), Options{Short: 300, Long: 5000, Axes: &slotAxes}, 24, 23*301 + 5001 + 11*301 + 5001, 0},
	} {
		t.Run(c.subject.Name, func(t *testing.T) {
			r := mustExhaust(t, c.subject, c.o)
			if r.Settings != c.settings || !r.Complete || r.Done != r.Units || r.Counterexample != nil || r.Elements == 0 || r.Instructions == 0 {
				t.Errorf("%d settings, want %d; %+v", r.Settings, c.settings, r)
			}
			if r.Lengths != c.lengths || c.elements != 0 && r.Elements != c.elements {
				t.Errorf("%d lengths and %d elements, want %d and %d", r.Lengths, r.Elements, c.lengths, c.elements)
			}
			c.o.Workers = 1
			if d := cmp.Diff(r, mustExhaust(t, c.subject, c.o), noTime); d != "" {
				t.Errorf("one worker gives another result (-many +one):\n%s", d)
			}
		})
	}
}

// TestFaults finds each planted fault at the smallest length that has it.
func TestFaults(t *testing.T) {
	slotAxes := small
	slotAxes.Ratio, slotAxes.Page = []int{2}, []int{3}
	for _, c := range []struct {
		subject *kernels.Subject
		o       Options
		want    string
	}{
		// Two rows of a request of two tokens: rank 0 holds one token of the first
		// one and of the first two.
		{builtin(t, "hip/fault-b06"), Options{Short: 3000, Long: 3000, Axes: &small},
			"length 2, W=2 R=0 I=1 r=1 n=3 (table): table_out[1]: expected 1, got 0"},
		{step(t, "fault-uniform"), Options{Short: 3000, Axes: &flatAxes},
			"length 0, W=1 R=0 I=1 r=1 n=3 (uniform): decode_seq_lens_out[0]: expected 0, got -2"},
		{step(t, "fault-varlen"), Options{Short: 3000, Long: 5000, Axes: &flatAxes},
			"length 4096, W=1 R=0 I=1 r=1 n=3 (uniform depth): decode_seq_lens_out[2]: expected 4096, got 0"},
		// Rank 0 of 2 with an interleave of 4 tokens holds states 0, 1, 4, 5, ... of
		// 2 tokens; taken for 4 states, it would have the third.
		{step(t, "fault-prefill"), Options{Short: 3000, Long: 3000, Axes: &small},
			"length 6, W=2 R=0 I=4 r=2 n=1 (query tokens): row_ends_out[0]: expected 48, got 49"},
		// The last of 3 ranks holds nothing of the first positions.
		{step(t, "fault-slots"), Options{Short: 3000, Long: 3000, Axes: &slotAxes},
			"length 2, W=3 R=2 I=4 r=2 n=1 page=3 (query tokens): compressed_slots_out[0]: expected -1, got 9"},
	} {
		t.Run(c.subject.Name, func(t *testing.T) {
			for _, c.o.Workers = range []int{1, 2, 7} {
				r := mustExhaust(t, c.subject, c.o)
				if !r.Complete || r.Counterexample == nil || !strings.HasPrefix(r.Counterexample.String(), c.want) {
					t.Errorf("%d workers: complete %v, got %v, want\n%s", c.o.Workers, r.Complete, r.Counterexample, c.want)
				}
			}
		})
	}
}

// TestSmallest asks the model for the smallest length at which localizing
// before expanding goes wrong, and where.
func TestSmallest(t *testing.T) {
	a := metadata.Int32{}
	for _, set := range small.settings() {
		want := -1
		local := func(x int32) int32 {
			return metadata.Localize(a, x, int32(set.World), int32(set.Rank), int32(set.Interleave))
		}
		for length := int32(0); length < 100 && want < 0; length++ {
			for j := range int32(set.NextN) {
				n := int32(set.NextN)
				right := metadata.Compress(a, local(metadata.Expand(a, length, n, j)), int32(set.Ratio))
				if wrong := metadata.Compress(a, metadata.Expand(a, local(length), n, j), int32(set.Ratio)); wrong != right {
					want = int(length)
				}
			}
		}
		axes := Axes{[][2]int{{set.World, set.Rank}}, []int{set.Interleave}, []int{set.Ratio}, []int{set.NextN}, []int{0}}
		got := -1
		if r := mustExhaust(t, builtin(t, "hip/fault-b06"), Options{Short: 99, Long: 99, Axes: &axes}); r.Counterexample != nil {
			got = r.Counterexample.Length
		}
		if got != want {
			t.Errorf("%s: length %d, want %d", set, got, want)
		}
	}
}

// TestResume cancels a run again and again: what comes out in the end is what
// one run gives, and no unit is run twice.
func TestResume(t *testing.T) {
	for _, name := range []string{"hip/metadata", "hip/fault-b06"} {
		s := builtin(t, name)
		o := Options{Short: 1 << 17, Long: 1 << 17, Axes: &Axes{[][2]int{{1, 0}, {2, 1}}, []int{1}, []int{1}, []int{1, 2}, []int{0}}, Workers: 2}
		want := mustExhaust(t, s, o)

		o.Dir = t.TempDir()
		runs, units := 0, 0
		var got *Result
		for {
			runs++
			ctx, cancel := context.WithCancel(t.Context())
			o.Progress = func(Progress) { units++; cancel() }
			r, err := Exhaust(ctx, s, o)
			cancel()
			if err == nil {
				got = r
				break
			}
			if !errors.Is(err, context.Canceled) || r.Complete || runs > 100 {
				t.Fatalf("%s: run %d: %+v, %v", name, runs, r, err)
			}
		}
		if d := cmp.Diff(want.Counterexample, got.Counterexample); d != "" || !got.Complete {
			t.Errorf("%s: resumed %d times (-whole +resumed):\n%s", name, runs, d)
		}
		if want.Counterexample == nil {
			if d := cmp.Diff(want, got, noTime); d != "" || runs < 2 || units != got.Units {
				t.Errorf("%s: %d runs, %d units run (-whole +resumed):\n%s", name, runs, units, d)
			}
		}
		o.Progress = func(Progress) { t.Errorf("%s: a unit was run though all were done", name) }
		if d := cmp.Diff(got, mustExhaust(t, s, o), cmpopts.EquateApprox(0, 0)); d != "" {
			t.Errorf("%s: once more:\n%s", name, d)
		}
	}
}

func TestProgress(t *testing.T) {
	var last Progress
	o := Options{Short: 1 << 17, Long: 1 << 17, Axes: &Axes{alone, nil, []int{1}, []int{1}, []int{0}}, Workers: 3}
	calls := 0
	o.Progress = func(p Progress) {
		calls++
		if p.Units != calls || p.Of != 3 || p.Lengths <= last.Lengths || p.LastSweep != "table, W=1 R=0 I=1 r=1 n=1" {
			t.Errorf("call %d: %+v", calls, p)
		}
		last = p
	}
	r := mustExhaust(t, builtin(t, "hip/metadata"), o)
	if calls != 3 || last.Lengths != r.Lengths || r.Lengths != 1<<17+1 {
		t.Errorf("%d calls, last %+v, result %+v", calls, last, r)
	}
}

func TestCheckpointErrors(t *testing.T) {
	s := builtin(t, "hip/metadata")
	o := Options{Dir: t.TempDir(), Short: 10, Long: 10, Axes: &small}
	mustExhaust(t, s, o)
	files, err := filepath.Glob(filepath.Join(o.Dir, "*"))
	if err != nil || len(files) != 1 || !strings.HasPrefix(filepath.Base(files[0]), "exhaust-hip-metadata-gfx942-device-") {
		t.Fatalf("files %q, %v", files, err)
	}
	good, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"cut short", "}", "", "is damaged"},
		{"another code object", `"sha256": "`, `"sha256": "0`, "is of another run or damaged"},
		{"another format", `"format": 1`, `"format": 2`, "is of another run or damaged"},
		{"more units than there are", `"done": "0-15"`, `"done": "0-16"`, "is of another run or damaged"},
		{"units out of order", `"done": "0-15"`, `"done": "9,2"`, "is damaged"},
	} {
		text := string(good)
		if !strings.Contains(text, c.old) {
			t.Fatalf("%s: %q is not in\n%s", c.name, c.old, text)
		}
		if err := os.WriteFile(files[0], []byte(strings.Replace(text, c.old, c.new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Exhaust(t.Context(), s, o)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), files[0]) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one line with the file and %q", c.name, err, c.want)
		}
	}
	// Another plan is another file.
	if err := os.WriteFile(files[0], good, 0o600); err != nil {
		t.Fatal(err)
	}
	o.Short = 11
	mustExhaust(t, s, o)
	if files, _ = filepath.Glob(filepath.Join(o.Dir, "*")); len(files) != 2 {
		t.Errorf("files %q", files)
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		subject *kernels.Subject
		o       Options
		want    string
	}{
		{builtin(t, "hip/naive"), Options{}, "only on a metadata kernel, this is a logits kernel"},
		{builtin(t, "hip/metadata"), Options{Short: maxLength + 1}, "they can be up to"},
		{builtin(t, "hip/metadata"), Options{Long: -1}, "they can be up to"},
		{step(t, "slots"), Options{Axes: &small, Short: 10}, "steps/slots gfx942 device: no page size is given"},
		{builtin(t, "hip/metadata"), Options{Axes: &Axes{[][2]int{{2, 2}}, []int{1}, []int{1}, []int{1}, nil}}, "dcp.rank is 2"},
		{builtin(t, "hip/metadata"), Options{Axes: &Axes{alone, nil, []int{0}, []int{1}, nil}}, "ratio is 0: it must"},
		{builtin(t, "hip/metadata"), Options{Axes: &Axes{alone, nil, []int{1}, []int{0}, nil}}, "next_n is 0: it must"},
		{step(t, "slots"), Options{Axes: &Axes{alone, nil, []int{1}, []int{1}, []int{3}}}, "takes no setting of the grid"},
		{step(t, "slots"), Options{Axes: &Axes{}}, "the grid is empty"},
	} {
		_, err := Exhaust(t.Context(), c.subject, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.subject, err, c.want)
		}
	}
	if Applies(builtin(t, "hip/naive")) || !Applies(builtin(t, "hip/metadata")) {
		t.Error("only metadata kernels can be exhausted")
	}
}

// TestPlans: the default plan of every kind has its lengths and no sweep twice.
func TestPlans(t *testing.T) {
	for name, want := range map[string]struct{ sweeps, long int }{
		"uniform": {8, 1}, "varlen": {16, 1}, "prefill": {0, 1}, "slots": {0, 1},
	} {
		sweeps, _, err := plan(step(t, name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		long := map[string]int{}
		for _, s := range sweeps {
			key := s.name + s.setting.String()
			if seen[key] {
				t.Errorf("%s: %s twice", name, key)
			}
			seen[key] = true
			if s.max == millionth {
				long[s.name]++
			}
		}
		if want.sweeps > 0 && len(sweeps) != want.sweeps {
			t.Errorf("%s: %d sweeps, want %d", name, len(sweeps), want.sweeps)
		}
		for _, first := range sweeps[:1] {
			if long[first.name] != 1 {
				t.Errorf("%s: %d of the settings of %s go to %d, want 1", name, long[first.name], first.name, millionth)
			}
		}
	}
	sweeps, settings, err := plan(builtin(t, "hip/metadata"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sweeps {
		if s.max != millionth {
			t.Errorf("hip/metadata: %s goes to %d", s.setting, s.max)
		}
	}
	if len(sweeps) != settings || settings < 200 {
		t.Errorf("hip/metadata: %d sweeps of %d settings", len(sweeps), settings)
	}
}

func TestRanges(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2, 3, 4, 6}, {6, 4, 3, 2, 1, 0}, {3, 0, 6, 1, 4, 2}} {
		var r ranges
		for i, n := range order {
			if r.has(n) {
				t.Errorf("%v has %d already", r, n)
			}
			r.add(n)
			if !r.has(n) || r.count() != i+1 {
				t.Errorf("%v: %d is missing or the count is not %d", r, n, i+1)
			}
		}
		text, err := r.MarshalText()
		if err != nil || string(text) != "0-4,6" || r.end() != 7 || r.has(5) {
			t.Errorf("%v is %q, %v", order, text, err)
		}
		var back ranges
		if err := back.UnmarshalText(text); err != nil || !cmp.Equal(back.list, r.list) {
			t.Errorf("%q is read as %v, %v", text, back, err)
		}
	}
	for _, bad := range []string{"x", "3-", "-3", "5-3", "1,1", "0-2,3", "0-2,2", " 1"} {
		if err := new(ranges).UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestWalk(t *testing.T) {
	// World 2, interleave 2, rank 1, states of 2 tokens, pages of 2 states.
	w := walk{s: Setting{World: 2, Rank: 1, Interleave: 2, Ratio: 2, NextN: 1, Page: 2}}
	var got []string
	for range 16 {
		owned, complete, page, offset := w.pass()
		s := "."
		if owned {
			s = "o"
		}
		if complete {
			s = string(rune('0'+page)) + string(rune('0'+offset))
		}
		got = append(got, s)
	}
	if want := ". . o 00 . . o 01 . . o 10 . . o 11"; strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}
