package profile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"mqaproof/model/fp8"
)

// The kernels as their sources say it, written out lane by lane and register by
// register with none of the profiles' data: what a profile must equal. A product
// that the kernel rounds is converted, so that no compiler fuses it.

// matrix is one matrix-core instruction for one output: acc + a*b over its k.
func (o oracle) matrix(a, b []byte, acc float32) float32 {
	d := []float32{acc}
	o.p.Rule.MulAdd(o.p.Format, o.p.Format, 1, 1, len(a), a, b, d, d)
	return d[0]
}

type oracle struct {
	p *Profile
}

func max0(x float32) float32 {
	if x != x || x <= 0 {
		return 0
	}
	return x
}

// naive is kernels/hip/naive.hip.
func (o oracle) naive(s sample, t int) float32 {
	var sum float32
	for h, w := range s.row.Weights {
		var dot float32
		for d := range s.dim {
			dot = exactOrNaN(o.p.Format.Decode(s.row.Q[h*s.dim+d]), o.p.Format.Decode(s.token(t)[d]), dot)
		}
		product := float32(max0(dot) * w)
		sum += product
	}
	return sum * s.scales[t]
}

func exactOrNaN(a, b, c float32) float32 {
	if !finite(a) || !finite(b) || !finite(c) {
		return float32(math.NaN())
	}
	return exactFMA(a, b, c)
}

// dotBySteps is a matrix-core dot, an instruction for each step dims.
func (o oracle) dotBySteps(q, k []byte, step int) float32 {
	var acc float32
	for d := 0; d < len(q); d += step {
		acc = o.matrix(q[d:d+step], k[d:d+step], acc)
	}
	return acc
}

// split is kernels/hip/mfma_split.hip.
func (o oracle) split(s sample, t int) float32 {
	heads := len(s.row.Weights)
	var lane [4]float32
	for g := range 4 {
		var part [4]float32
		for c := 0; c < heads; c += 16 {
			for i := range 4 {
				h := c + 4*g + i
				acc := o.dotBySteps(s.row.Q[h*s.dim:(h+1)*s.dim], s.token(t), 32)
				scaled := acc * s.scales[t]
				part[i] = FMA(max0(scaled), s.row.Weights[h], part[i])
			}
		}
		p01, p23 := part[0]+part[1], part[2]+part[3]
		lane[g] = p01 + p23
	}
	// After the exchange with lane^16 the groups 0 and 2 hold these, and the
	// exchange with lane^32 adds them.
	low, high := lane[0]+lane[1], lane[2]+lane[3]
	return low + high
}

// stage1 is mfma_split.hip with PER_HEAD, its heads added up by the caller.
func (o oracle) stage1(s sample, t int) float32 {
	var sum float32
	for h, w := range s.row.Weights {
		acc := o.dotBySteps(s.row.Q[h*s.dim:(h+1)*s.dim], s.token(t), 32)
		scaled := acc * s.scales[t]
		logit := float32(max0(scaled) * w)
		if h == 0 {
			sum = logit
		} else {
			sum += logit
		}
	}
	return sum
}

// perRow is kernels/hip/per_row.hip; step is 16, or 64 with WIDE.
func (o oracle) perRow(s sample, t, step int) float32 {
	heads := len(s.row.Weights)
	var part [32]float32
	for c := 0; c < heads; c += 32 {
		for column := range 32 {
			h := c + column
			q, w := make([]byte, s.dim), float32(0) // a head that does not exist
			if h < heads {
				q, w = s.row.Q[h*s.dim:(h+1)*s.dim], s.row.Weights[h]
			}
			product := float32(max0(o.dotBySteps(s.token(t), q, step)) * w)
			part[column] += product
		}
	}
	for _, x := range []int{1, 2, 4, 8, 16} {
		var next [32]float32
		for m := range part {
			next[m] = part[m] + part[m^x]
		}
		part = next
	}
	return part[0] * s.scales[t]
}

func (o oracle) logit(s sample, t int) (float32, error) {
	switch o.p.Name {
	case "scalar-seq":
		return o.naive(s, t), nil
	case "mfma16-tree":
		return o.split(s, t), nil
	case "mfma16-heads":
		return o.stage1(s, t), nil
	case "mfma32-lanes":
		return o.perRow(s, t, 16), nil
	case "mfma32x64-lanes":
		return o.perRow(s, t, 64), nil
	}
	return 0, fmt.Errorf("no oracle for profile %s", o.p.Name)
}

func TestProfilesEqualTheKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, p := range All() {
		t.Run(p.Name+"/"+p.Target, func(t *testing.T) {
			for style := range styles {
				for _, shape := range [][2]int{{16, 64}, {32, 128}, {64, 64}} {
					s := draw(rng, style, p.Format, shape[0], shape[1], 3)
					out := make([]uint32, 3)
					if err := p.Logits(s.row, s.k, s.scales, out); err != nil {
						t.Fatal(err)
					}
					for token := range out {
						want, err := oracle{p}.logit(s, token)
						if err != nil {
							t.Fatal(err)
						}
						if !Same(out[token], math.Float32bits(want)) {
							t.Fatalf("%s, %d heads, head_dim %d: got %#x, the kernel gives %#x", styles[style].name, shape[0], shape[1], out[token], math.Float32bits(want))
						}
						one, err := p.Logit(s.row, s.token(token), s.scales[token])
						if err != nil || one != out[token] {
							t.Fatalf("Logit gives %#x, %v; Logits %#x", one, err, out[token])
						}
					}
				}
			}
		})
	}
}

// TestProfilesDiffer makes sure that the test above could fail: on ordinary
// data each order of operations gives bits of its own now and then.
func TestProfilesDiffer(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	s := draw(rng, 0, fp8.E4M3FNUZ, 64, 128, 200)
	outs := map[string][]uint32{}
	for _, p := range All() {
		if p.Target != "gfx942" {
			continue
		}
		out := make([]uint32, len(s.scales))
		if err := p.Logits(s.row, s.k, s.scales, out); err != nil {
			t.Fatal(err)
		}
		for other, have := range outs {
			differ := 0
			for i := range out {
				if out[i] != have[i] {
					differ++
				}
			}
			if differ == 0 {
				t.Errorf("%s and %s agree on all of %d logits", p.Name, other, len(out))
			}
			t.Logf("%s and %s: %d of %d differ", p.Name, other, differ, len(out))
		}
		outs[p.Name] = out
	}
}
