package order_test

import (
	"os"
	"testing"

	"mqaproof/kernels"
	"mqaproof/model"
	"mqaproof/properties"
)

// builtin is one of our own kernels, with any wiring.
func builtin(t testing.TB, name, target string) *kernels.Subject {
	t.Helper()
	all, err := kernels.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.Name == name && s.Target == target {
			return s
		}
	}
	t.Fatalf("no built-in kernel %s for %s", name, target)
	return nil
}

// imported is every imported kernel, each with one wiring; none where the user
// did not say where they are.
func imported(t testing.TB) []*kernels.Subject {
	t.Helper()
	if os.Getenv(kernels.CacheEnv) == "" {
		return nil
	}
	all, problems := kernels.Imported("")
	for _, err := range problems {
		t.Error(err)
	}
	return oneWiringEach(all)
}

// oneWiringEach keeps the kernels that give logits, each once: a profile does
// not depend on the wiring.
func oneWiringEach(all []*kernels.Subject) (out []*kernels.Subject) {
	seen := map[string]bool{}
	for _, s := range all {
		id := s.Name + " " + s.Target
		if s.Manifest.Kind == kernels.Logits && !seen[id] {
			seen[id] = true
			out = append(out, s)
		}
	}
	return out
}

// generated yields n generated cases with random data: normal, adversarial and
// NaN in turn.
func generated(t testing.TB, s *kernels.Subject, seed uint64, n int) func(yield func(int, model.Case) bool) {
	gen := properties.Cases(s)
	styles := []model.Style{model.Normal, model.Adversarial, model.NaN}
	return func(yield func(int, model.Case) bool) {
		for i := range n {
			c, err := properties.Case(s, gen, seed, i)
			if err != nil {
				t.Fatal(err)
			}
			c.Data = styles[i%len(styles)]
			if !yield(i, c) {
				return
			}
		}
	}
}
