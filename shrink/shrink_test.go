package shrink

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mqaproof/model"
)

func big() model.Case {
	return model.Case{
		Seed: 99, Data: model.NaN, NextN: 4, Heads: 64, HeadDim: 128, Page: 16, MaxModelLen: 512, ShufflePages: true, ExtraPages: 3,
		LengthsStride: 7, DCP: model.DCP{World: 4, Rank: 3, Interleave: 8}, Ratio: 4,
		Requests: []model.Request{{ID: 5, Context: 100}, {ID: 9, Context: 0}, {ID: 2, Context: 257}, {ID: 7, Context: 31}},
	}
}

func shrunk(t *testing.T, c model.Case, fails func(model.Case) bool) Outcome {
	t.Helper()
	runs := 0
	out, err := Case(context.Background(), c, func(_ context.Context, c model.Case) (bool, error) {
		runs++
		return fails(c), nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if out.Runs != runs {
		t.Errorf("%d runs reported, %d made", out.Runs, runs)
	}
	return out
}

func TestMinima(t *testing.T) {
	simplest := model.Case{Seed: 1, Data: model.Exact, NextN: 1, Heads: 1, HeadDim: 4, Page: 1, MaxModelLen: 1, Requests: []model.Request{{Context: 0}}}
	with := func(f func(*model.Case)) model.Case {
		c := simplest
		c.Requests = append([]model.Request(nil), simplest.Requests...)
		f(&c)
		return c
	}
	for _, test := range []struct {
		name  string
		fails func(model.Case) bool
		want  model.Case
	}{
		{"anything fails", func(model.Case) bool { return true }, simplest},
		{"two rows of a request", func(c model.Case) bool { return c.NextN >= 2 && longest(c) > 0 }, with(func(c *model.Case) {
			c.NextN, c.MaxModelLen, c.Requests[0].Context = 2, 2, 2
		})},
		{"two requests, the second padding", func(c model.Case) bool {
			return len(c.Requests) >= 2 && c.Requests[1].Context == 0
		}, with(func(c *model.Case) { c.Requests = append(c.Requests, model.Request{ID: 1}) })},
		{"a context of 33", func(c model.Case) bool { return longest(c) >= 33 }, with(func(c *model.Case) {
			c.MaxModelLen, c.Requests[0].Context = 33, 33
		})},
		{"a context one short of whole tiles", func(c model.Case) bool {
			for _, r := range c.Requests {
				if r.Context%64 == 63 || r.Context == 257 {
					return true
				}
			}
			return false
		}, with(func(c *model.Case) { c.MaxModelLen, c.Requests[0].Context = 63, 63 })},
		{"16 heads on two ranks", func(c model.Case) bool { return c.Heads >= 16 && c.DCP.World >= 2 }, with(func(c *model.Case) {
			c.Heads, c.DCP = 16, model.DCP{World: 2, Interleave: 1}
		})},
		{"compression on normal data", func(c model.Case) bool { return c.Ratio > 1 && c.Data != model.Exact }, with(func(c *model.Case) {
			c.Ratio, c.Data = 2, model.Normal
		})},
		{"logits of whole pages of 16", func(c model.Case) bool { return c.Page == 16 && c.MaxModelLen%16 == 0 }, with(func(c *model.Case) {
			c.Page, c.MaxModelLen = 16, 16
		})},
		{"a strided table", func(c model.Case) bool { return c.LengthsStride > c.NextN }, with(func(c *model.Case) { c.LengthsStride = 2 })},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := big()
			if !test.fails(c) && test.name != "two requests, the second padding" {
				t.Fatal("the test's own case does not fail")
			}
			out := shrunk(t, c, test.fails)
			if d := cmp.Diff(test.want, out.Case); d != "" {
				t.Errorf("not the minimum (-want +got):\n%s", d)
			}
			if out.Runs > 400 {
				t.Errorf("%d runs for one shrink", out.Runs)
			}
		})
	}
}

func longest(c model.Case) int {
	n := 0
	for _, r := range c.Requests {
		n = max(n, r.Context)
	}
	return n
}

// Whatever the test, the outcome still fails, is the same again, and no single
// proposal of any step still fails.
func TestFixedPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		minRequests := rapid.IntRange(1, 4).Draw(t, "requests")
		minNextN := rapid.IntRange(1, 4).Draw(t, "next_n")
		minTotal := rapid.IntRange(0, 300).Draw(t, "total")
		odd := rapid.Bool().Draw(t, "odd")
		fails := func(c model.Case) bool {
			total := 0
			for _, r := range c.Requests {
				total += r.Context
			}
			return len(c.Requests) >= minRequests && c.NextN >= minNextN && total >= minTotal && (!odd || total%2 == 0)
		}
		run := func() Outcome {
			out, err := Case(context.Background(), big(), func(_ context.Context, c model.Case) (bool, error) { return fails(c), nil }, nil)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		out := run()
		if !fails(out.Case) && fails(big()) {
			t.Fatalf("the outcome does not fail: %s", out.Case)
		}
		if d := cmp.Diff(out, run()); d != "" {
			t.Fatalf("shrunk twice, two outcomes:\n%s", d)
		}
		if !fails(big()) {
			return
		}
		for i, step := range steps {
			for c := range step(out.Case) {
				if key(c) != key(out.Case) && c.Validate() == nil && fails(c) {
					t.Fatalf("step %d still simplifies %s to %s", i, out.Case, c)
				}
			}
		}
	})
}

func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	runs := 0
	out, err := Case(ctx, big(), func(context.Context, model.Case) (bool, error) {
		if runs++; runs == 5 {
			cancel()
		}
		return true, nil
	}, nil)
	if !errors.Is(err, context.Canceled) || runs != 5 || out.Steps != 5 {
		t.Errorf("stopped after %d runs with %d steps kept, error %v", runs, out.Steps, err)
	}
	broken := errors.New("the kernel could not be run")
	if _, err := Case(context.Background(), big(), func(context.Context, model.Case) (bool, error) { return false, broken }, nil); !errors.Is(err, broken) {
		t.Errorf("error %v, want the test's", err)
	}
}
