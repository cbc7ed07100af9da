package calibrate

import (
	"math/rand/v2"
	"testing"

	"mqaproof/model/matrixcore"
)

// BenchmarkSearch is the whole search behind Read.
func BenchmarkSearch(b *testing.B) {
	for _, target := range Targets() {
		all := shapes(target)
		rng := rand.New(rand.NewPCG(2, 3))
		s, c := randomRule(rng, all)
		s.order = InOrder
		random := s.rule(c)
		for name, r := range map[string]*matrixcore.Rule{"cdna3": matrixcore.CDNA3, "hopper": matrixcore.Hopper, "random": &random} {
			outputs := inOrder(outputsOf(b, target, r))
			b.Run(string(target)+"/"+name, func(b *testing.B) {
				for b.Loop() {
					if _, _, err := search(b.Context(), all, outputs); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(outputs)), "outputs")
			})
		}
	}
}
