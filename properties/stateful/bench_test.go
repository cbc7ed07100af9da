package stateful

import (
	"context"
	"fmt"
	"testing"

	"mqaproof/sim/serving"
)

// BenchmarkEngine is the engine with every property checked after every step,
// but for those that run kernels.
func BenchmarkEngine(b *testing.B) {
	for _, world := range []int{1, 2, 4} {
		c := serving.Config{
			NextN: 3, Rows: serving.Native, World: world, Interleave: 1, Ratio: 1, Page: 8, Pages: 128, MaxSeqs: 8, MaxModelLen: 96,
			Chunk: 16, Captures: []int{1, 2, 4, 8},
		}
		b.Run(fmt.Sprintf("steps/world=%d", world), func(b *testing.B) {
			s := newTestShared(b, 0)
			m, err := s.machine(c, serving.NoFault)
			if err != nil {
				b.Fatal(err)
			}
			steps := busySteps()
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if m.do(steps[i%len(steps)]); m.err != nil || m.violation != nil {
					b.Fatal(m.err, m.violation)
				}
				m.sequence.Steps = m.sequence.Steps[:0]
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}

// BenchmarkFuzz is the whole search, generation included.
func BenchmarkFuzz(b *testing.B) {
	steps := 0
	for i := range b.N {
		outs, err := Fuzz(context.Background(), Options{Faults: []serving.Fault{serving.NoFault}, Steps: 3000, Seed: uint64(i), Workers: 1})
		if err != nil {
			b.Fatal(err)
		}
		if outs[0].Surprise() {
			b.Fatal(outs[0].Find.Violation)
		}
		steps += outs[0].Steps
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
}

func busySteps() []serving.Step {
	var steps []serving.Step
	for i := range 64 {
		s := serving.Step{Accept: []int{i % 3, 2, 1, 0, 2, i % 2, 1, 2}}
		switch {
		case i%4 == 0:
			s.Arrive = []int{1 + i%40}
		case i%31 == 7:
			s.Preempt = []int{3}
		case i%13 == 5:
			s.Finish = []int{0}
		}
		steps = append(steps, s)
	}
	return steps
}
