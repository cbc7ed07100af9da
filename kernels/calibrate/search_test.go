package calibrate

import (
	"math"
	"math/rand/v2"
	"testing"

	"mqaproof/model/matrixcore"
)

// outputsOf is what a rule gives for a target's tiles.
func outputsOf(t testing.TB, target Target, r *matrixcore.Rule) []output {
	t.Helper()
	var out []output
	for _, in := range target.Instructions() {
		for i, tile := range in.Inputs() {
			out = append(out, outputsOfTile(in, r, tile, i)...)
		}
	}
	return out
}

func outputsOfTile(in Instruction, r *matrixcore.Rule, tile Tile, number int) []output {
	d := make([]float32, in.N*in.N)
	r.MulAdd(in.Format, in.Format, in.N, in.N, in.K, tile.A, tile.B, tile.C, d)
	out := make([]output, len(d))
	for j := range d {
		row, col := j/in.N, j%in.N
		out[j] = output{in: in, a: tile.A[row*in.K:][:in.K], b: tile.B[col*in.K:][:in.K], c: tile.C[j],
			want: math.Float32bits(d[j]), tile: number, row: row, col: col}
	}
	return out
}

// randomRule draws a rule of the family.
func randomRule(rng *rand.Rand, all []shape) (shape, choice) {
	s := all[rng.IntN(len(all))]
	b := s.everything()
	pick := func(set cutSet) int {
		for {
			if i := rng.IntN(allCuts); set.has(i) {
				return i
			}
		}
	}
	c := choice{product: pick(b.product), subSum: pick(b.subSum), sum: pick(b.sum), acc: pick(b.acc)}
	if b.reach != 1 {
		c.reach = rng.IntN(reaches)
	}
	c.result = rng.IntN(allResults)
	return s, c
}

// TestNarrowIsTheRule: the outputs of a rule leave it in a box, and those of
// another rule do not, unless it gives the same bits.
func TestNarrowIsTheRule(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for _, target := range Targets() {
		all := shapes(target)
		var sample []output
		compared := 0
		var n narrower
		for range 100 {
			s, c := randomRule(rng, all)
			s.order = InOrder
			r := s.rule(c)
			if err := r.Check(); err != nil {
				t.Fatal(err)
			}
			if len(sample) == 0 {
				sample = inOrder(outputsOf(t, target, &r))
			}
			_, other := randomRule(rng, []shape{s})
			two := s.rule(other)
			for range 10 {
				o := sample[rng.IntN(len(sample))]
				bits := func(r *matrixcore.Rule) uint32 {
					d := make([]float32, 1)
					r.MulAdd(o.in.Format, o.in.Format, 1, 1, o.in.K, o.a, o.b, []float32{o.c}, d)
					return math.Float32bits(d[0])
				}
				o.want = bits(&r)
				left, done := n.narrow(&s, &o, []box{s.everything()}, nil, 20000)
				if !done {
					continue
				}
				compared++
				holds := func(c choice) (held int) {
					for i := range left {
						if left[i].has(c) {
							held++
						}
					}
					return held
				}
				if holds(c) != 1 {
					t.Fatalf("%+v: its own output leaves it in %d boxes, want one\n%+v", r, holds(c), o)
				}
				if got := holds(other); (got == 1) != same(bits(&two), o.want) || got > 1 {
					t.Fatalf("%+v: in %d boxes, gives %x, want %x of %+v", two, got, bits(&two), o.want, r)
				}
			}
		}
		if t.Logf("%s: %d comparisons", target, compared); compared < 300 {
			t.Errorf("%s: %d comparisons, want at least 300", target, compared)
		}
	}
}

func randomMember(rng *rand.Rand, b box) choice {
	pick := func(set cutSet) int {
		for {
			if i := rng.IntN(allCuts); set.has(i) {
				return i
			}
		}
	}
	pick64 := func(set uint64) int {
		for {
			if i := rng.IntN(64); set>>i&1 == 1 {
				return i
			}
		}
	}
	return choice{pick(b.product), pick(b.subSum), pick(b.sum), pick(b.acc), pick64(b.reach), pick64(b.result)}
}
