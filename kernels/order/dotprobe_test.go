package order

import (
	"strings"
	"testing"

	"mqaproof/kernels"
	"mqaproof/model/matrixcore"
)

// TestDotProbesSeeEveryClause changes each clause of the matrix core's rule by
// as little as there is: the probes must show each.
func TestDotProbesSeeEveryClause(t *testing.T) {
	s := kernel(t, "hip/mfma-split", "gfx942")
	right, err := s.NumericProfile()
	if err != nil {
		t.Fatal(err)
	}
	b, err := newBench(t.Context(), s, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.checkDots(right); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(r *matrixcore.Rule){
		"product bits -1":      func(r *matrixcore.Rule) { r.Product.Bits-- },
		"product floor":        func(r *matrixcore.Rule) { r.Product.Rounding = matrixcore.Floor },
		"sub-sum bits -1":      func(r *matrixcore.Rule) { r.SubSum.Bits-- },
		"sub-sum trunc":        func(r *matrixcore.Rule) { r.SubSum.Rounding = matrixcore.Trunc },
		"sum bits -1":          func(r *matrixcore.Rule) { r.Sum.Bits-- },
		"sum bits +1":          func(r *matrixcore.Rule) { r.Sum.Bits++ },
		"sum trunc":            func(r *matrixcore.Rule) { r.Sum.Rounding = matrixcore.Trunc },
		"accumulator bits -1":  func(r *matrixcore.Rule) { r.Acc.Bits-- },
		"accumulator bits +1":  func(r *matrixcore.Rule) { r.Acc.Bits++ },
		"accumulator trunc":    func(r *matrixcore.Rule) { r.Acc.Rounding = matrixcore.Trunc },
		"accumulator reach -1": func(r *matrixcore.Rule) { r.AccReach-- },
		"accumulator reach +1": func(r *matrixcore.Rule) { r.AccReach++ },
		"one sub-sum":          func(r *matrixcore.Rule) { r.SubSums = 1 },
		"four sub-sums":        func(r *matrixcore.Rule) { r.SubSums = 4 },
		"groups of 8":          func(r *matrixcore.Rule) { r.Group = 8 },
		"groups of 32":         func(r *matrixcore.Rule) { r.Group = 32 },
	} {
		mutant := *right
		r := *right.Rule
		r.Name = "mutant"
		change(&r)
		mutant.Rule = &r
		err := b.checkDots(&mutant)
		if err == nil || !strings.Contains(err.Error(), "dots of 64 dims are not those of matrix-core rule mutant") {
			t.Errorf("%s: %v", name, err)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}

func kernel(t *testing.T, name, target string) *kernels.Subject {
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
