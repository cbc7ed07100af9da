package serving

import (
	"fmt"
	"testing"
)

// BenchmarkEngine runs a busy engine: requests come and go, decode with
// drafts of which some are kept, and one is preempted now and then.
func BenchmarkEngine(b *testing.B) {
	for _, world := range []int{1, 2, 4} {
		c := Config{
			NextN: 3, Rows: Native, World: world, Interleave: 1, Ratio: 1, Page: 8, Pages: 128, MaxSeqs: 8, MaxModelLen: 96,
			Chunk: 16, Captures: []int{1, 2, 4, 8},
		}
		b.Run(fmt.Sprintf("steps/world=%d", world), func(b *testing.B) {
			e, err := New(c, NoFault)
			if err != nil {
				b.Fatal(err)
			}
			steps := busySteps()
			b.ReportAllocs()
			kinds := map[Kind]int{}
			for i := range b.N {
				rec, err := e.Step(steps[i%len(steps)])
				if err != nil {
					b.Fatal(err)
				}
				kinds[rec.Kind]++
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
			b.ReportMetric(float64(kinds[Replayed])/float64(b.N), "replayed/step")
		})
	}
}

// busySteps is a round of steps that keeps about eight requests running.
func busySteps() []Step {
	var steps []Step
	for i := range 64 {
		s := Step{Accept: []int{i % 3, 2, 1, 0, 2, i % 2, 1, 2}}
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
