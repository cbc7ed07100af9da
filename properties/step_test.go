package properties

import (
	"path/filepath"
	"strings"
	"testing"

	"mqaproof/kernels"
	"mqaproof/model"
)

// stepSubjects are our kernels for parts of the builder's work.
func stepSubjects(t *testing.T, name string) []*kernels.Subject {
	t.Helper()
	s, err := kernels.Load(filepath.Join("..", "kernels", "hip", "steps", name+".yaml"), "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSteps holds every property of our kernels of the builder's steps on
// generated cases, and finds each planted fault by the property metadata alone.
func TestSteps(t *testing.T) {
	const cases = 60
	for _, name := range []string{"uniform", "varlen", "prefill", "slots", "fault-uniform", "fault-varlen", "fault-prefill", "fault-slots"} {
		for _, s := range stepSubjects(t, name) {
			t.Run(s.String(), func(t *testing.T) {
				t.Parallel()
				gen := Cases(s)
				found := 0
				for i := range cases {
					c, err := Case(s, gen, 5, i)
					if err != nil {
						t.Fatal(err)
					}
					if name == "fault-varlen" { // wrong from 2^12 on
						c.Requests[0].Context, c.MaxModelLen = 4200, 4200
					}
					vs, err := Check(t.Context(), s, c, All(), kernels.RunOptions{Workers: 1})
					if err != nil {
						t.Fatal(err)
					}
					for _, v := range vs {
						found++
						if v.Property != "metadata" || !strings.HasPrefix(name, "fault-") {
							t.Fatalf("case %d (%s): %s", i, c, v)
						}
					}
				}
				if strings.HasPrefix(name, "fault-") && found == 0 {
					t.Errorf("the fault was not found in %d cases", cases)
				}
			})
		}
	}
}

// TestStepCanFail: an output element that is wrong, missing, or written behind
// the kernel's part breaks the property, which names it.
func TestStepCanFail(t *testing.T) {
	s := stepSubjects(t, "uniform")[0]
	for _, test := range []struct {
		flaw   string
		tamper func(*kernels.Output)
		want   string
	}{
		{"wrong", func(o *kernels.Output) { o.Values[3]++ }, "metadata: expected 0, got 1: 1 of "},
		{"missing", func(o *kernels.Output) { o.Written[5] = false }, "metadata: expected 21, got unwritten: 1 of "},
		{"too many", func(o *kernels.Output) { o.Values[7], o.Written[7] = 4, true }, "metadata: expected unwritten, got 4: 1 of "},
		{"two", func(o *kernels.Output) { o.Values[1], o.Values[0] = -1, -1 }, "metadata: expected 8, got -1: 2 of "},
	} {
		c := testCase(model.Exact)
		for c.Seed = 0; ; c.Seed++ { // one with a tail behind the rows
			in, err := s.Inputs(c)
			if err != nil {
				t.Fatal(err)
			}
			if step, err := in.NewStep(model.UniformStep, 0); err != nil {
				t.Fatal(err)
			} else if step.Config.MaxNumBatchedTokens > 8 {
				break
			}
		}
		e, err := newEvidence(t.Context(), s, c, kernels.RunOptions{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if vs := failing(t, e, false); len(vs) > 0 {
			t.Fatalf("%s: before the flaw: %s", test.flaw, vs[0])
		}
		test.tamper(&e.base.Outputs[0])
		vs := failing(t, e, true)
		if len(vs) != 1 || !strings.HasPrefix(vs[0].String(), test.want) || !strings.Contains(vs[0].String(), "first decode_seq_lens_out[") {
			t.Errorf("%s: %v, want %q", test.flaw, vs, test.want)
		}
		// What is tampered with differs from another run.
		if v, err := determinism.check(t.Context(), e); v == nil || err != nil {
			t.Errorf("%s: determinism: %v, %v", test.flaw, v, err)
		}
		if v, err := invariance.check(t.Context(), e); v == nil || err != nil {
			t.Errorf("%s: invariance: %v, %v", test.flaw, v, err)
		}
	}
}
