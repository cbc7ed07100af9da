package order_test

import (
	"flag"
	"testing"

	"mqaproof/kernels"
	"mqaproof/kernels/order"
	"mqaproof/model"
)

var (
	cases = flag.Int("cases", 20, "generated cases for each kernel in TestProfilesEqualKernels")
	seed  = flag.Uint64("seed", 1, "seed of the generated cases")
)

// TestProfilesEqualKernels runs generated cases of random data on every
// built-in kernel, and on every imported one when MQAPROOF_CACHE says where
// they are: the logits are those of the kernel's profile, to the bit. For
// kernels whose manifest names no profile it is derived first. A night's run:
//
//	go test ./kernels/order -run ProfilesEqualKernels -cases 10000 -timeout 24h -v
func TestProfilesEqualKernels(t *testing.T) {
	all, err := kernels.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append(oneWiringEach(all), imported(t)...) {
		if p := s.FaultProperty(); p == "exact-value" || p == "writes" {
			continue // its values, or where it puts them, are wrong by intent
		}
		t.Run(s.Name+" "+s.Target, func(t *testing.T) {
			t.Parallel()
			p, err := s.NumericProfile()
			if s.Manifest.Profile == "" {
				p, err = order.Derive(t.Context(), s, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			compared, n := 0, *cases
			for i, c := range generated(t, s, *seed, n) {
				in, err := s.Inputs(c)
				if err != nil {
					t.Fatal(err)
				}
				r, err := s.Run(t.Context(), in, kernels.RunOptions{Workers: 1, Budget: 20_000_000})
				if err != nil {
					t.Fatalf("case %d: %s: %v", i, c, err)
				}
				if r.Trap != nil {
					t.Fatalf("case %d: %s: %v", i, c, r.Trap)
				}
				d, logits, err := order.Compare(s, p, in, r)
				if err != nil {
					t.Fatalf("case %d: %s: %v", i, c, err)
				}
				if d != nil {
					t.Fatalf("case %d: %s: %d of %d logits differ, first row %d position %d: profile %#08x, kernel %#08x", i, c, d.Count, logits, d.Row, d.Position, d.Want, d.Got)
				}
				compared += logits
			}
			if compared == 0 {
				t.Error("no logit was compared")
			}
			t.Logf("%d cases, %d logits equal", n, compared)
		})
	}
}

// TestCompareSeesADifference spoils one logit.
func TestCompareSeesADifference(t *testing.T) {
	s := builtin(t, "hip/naive", "gfx942")
	p, err := s.NumericProfile()
	if err != nil {
		t.Fatal(err)
	}
	in, err := s.Inputs(model.Case{
		Seed: 1, Data: model.Normal, NextN: 2, Heads: 4, HeadDim: 8, Page: 1, Layout: model.Interleaved, MaxModelLen: 16,
		Requests: []model.Request{{ID: 0, Context: 5}, {ID: 1, Context: 9}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(t.Context(), in, kernels.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if d, n, err := order.Compare(s, p, in, r); d != nil || err != nil || n != 4+5+8+9 {
		t.Fatalf("before: %v, %d compared, %v", d, n, err)
	}
	at := 2*r.Width + 3
	r.Logits[at] ^= 1
	d, _, err := order.Compare(s, p, in, r)
	if err != nil || d == nil || d.Row != 2 || d.Position != 3 || d.Count != 1 || d.Got != r.Logits[at] || d.Want != r.Logits[at]^1 {
		t.Errorf("one spoiled bit: %+v, %v", d, err)
	}
	r.Logits[at] = 0x7fc00001 // a NaN where none belongs
	if d, _, err := order.Compare(s, p, in, r); err != nil || d == nil {
		t.Errorf("a NaN: %+v, %v", d, err)
	}
}
