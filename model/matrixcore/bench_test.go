package matrixcore

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"mqaproof/model/fp8"
)

// BenchmarkMulAdd is the products per second of one core: of the vector code,
// of the portable path and of the reference loop, which the others are compared
// with in the same run (x-reference).
func BenchmarkMulAdd(b *testing.B) {
	targets := []struct {
		rule   *Rule
		format fp8.Format
		tile   [3]int
	}{
		{CDNA3, fp8.E4M3FNUZ, [3]int{16, 16, 32}},
		{CDNA3, fp8.E4M3FNUZ, [3]int{32, 32, 16}},
		{CDNA3, fp8.E4M3FNUZ, [3]int{64, 64, 128}},
		{Hopper, fp8.E4M3FN, [3]int{16, 16, 32}},
		{Hopper, fp8.E4M3FN, [3]int{64, 64, 128}},
		{CDNA4Assumed, fp8.E4M3FN, [3]int{16, 16, 128}},
		{CDNA4Assumed, fp8.E4M3FN, [3]int{32, 32, 64}},
	}
	draws := []struct {
		name string
		kind int // in kinds
	}{{"normal", 1}, {"adversarial", 4}, {"nan", 7}}
	for _, target := range targets {
		for _, data := range draws {
			m, n, k := target.tile[0], target.tile[1], target.tile[2]
			rng := rand.New(rand.NewPCG(1, 2))
			draw := kinds[data.kind].draw
			a, bt := make([]byte, m*k), make([]byte, n*k)
			for i := range a {
				a[i] = draw(rng, target.format)
			}
			for i := range bt {
				bt[i] = draw(rng, target.format)
			}
			c, d := make([]float32, m*n), make([]float32, m*n)
			for i := range c {
				c[i] = float32(rng.NormFloat64())
			}
			run := func() { target.rule.MulAdd(target.format, target.format, m, n, k, a, bt, c, d) }
			reference := func() {
				target.rule.mulAddReference(target.format, target.format, m, n, k, a, bt, c, d)
			}
			for _, path := range []string{"wide", "narrow", "reference"} {
				run, has := run, vectors
				switch path {
				case "wide":
					if !has {
						continue
					}
				case "narrow":
					vectors = false
				case "reference":
					run = reference
				}
				b.Run(fmt.Sprintf("rule=%s/tile=%dx%dx%d/data=%s/path=%s", target.rule.Name, m, n, k, data.name, path), func(b *testing.B) {
					b.ReportAllocs()
					before := spent()
					for b.Loop() {
						run()
					}
					each := (spent() - before).Seconds() / float64(b.N)
					products := float64(m * n * k)
					b.ReportMetric(products/(b.Elapsed().Seconds()/float64(b.N)), "products/s")
					b.ReportMetric(products/each, "products/cpu-s")
					if path != "reference" {
						b.ReportMetric(secondsOf(reference)/each, "x-reference")
					}
				})
				vectors = has
			}
		}
	}
}

// secondsOf is the processor time of one run, over enough of them to tell.
func secondsOf(run func()) float64 {
	before, runs := spent(), 0
	for spent()-before < 30*time.Millisecond {
		run()
		runs++
	}
	return (spent() - before).Seconds() / float64(runs)
}

// spent is the processor time of this process, or the clock where that is not
// known.
func spent() time.Duration {
	if t, ok := cpuTime(); ok {
		return t
	}
	return time.Since(start)
}

var start = time.Now()
