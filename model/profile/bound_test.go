package profile

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"mqaproof/model/fp8"
	"mqaproof/model/matrixcore"
)

const precision = 1200 // bits: any logit of finite float32s and fp8s fits

func exactNumber(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

// exactLogit is the logit without any rounding. A dot is a whole number of
// smallest products.
func exactLogit(f fp8.Format, s sample, t int) *big.Float {
	sum := exactNumber(0)
	for h, w := range s.row.Weights {
		dot := int64(0)
		for d := range s.dim {
			dot += int64(f.Fixed(s.row.Q[h*s.dim+d])) * int64(f.Fixed(s.token(t)[d]))
		}
		if dot > 0 {
			x := new(big.Float).SetPrec(precision).SetInt64(dot)
			sum.Add(sum, x.Mul(x, exactNumber(float64(w))))
		}
	}
	sum.SetMantExp(sum, 2*(f.MinExp()-fp8.MantissaBits))
	return sum.Mul(sum, exactNumber(float64(s.scales[t])))
}

// off is |logit - exact|.
func off(bits uint32, exact *big.Float) float64 {
	d := exactNumber(float64(math.Float32frombits(bits)))
	d.Sub(d, exact)
	v, _ := d.Abs(d).Float64()
	return v
}

// boundFor is the bound of a token for kernels with the rule.
func boundFor(t *testing.T, rule *matrixcore.Rule, f fp8.Format, s sample, token int) float64 {
	t.Helper()
	sizes, err := MeasureRow(f, s.row, s.token(token))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Bound(rule, f, s.dim, sizes, s.row.Weights, s.scales[token])
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// testProfiles is the named profiles and some more orders of operations: on
// Hopper, and head by head from the last fold to the first.
func testProfiles() []*Profile {
	ps := All()
	for _, p := range All() {
		if p.Rule == nil || p.Target != "gfx950" {
			continue
		}
		hopper := *p
		hopper.Target, hopper.Rule, hopper.Step = "sm_90", matrixcore.Hopper, 32
		other := *p
		other.Name += "-other"
		other.Sum = HeadSum{Partials: 8, Folds: []Fold{{2, 4}, {1, 2}}}
		other.Scale = ScaleLast - p.Scale + ScaleBeforeRelu
		ps = append(ps, &hopper, &other)
	}
	return ps
}

func TestBoundHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, p := range testProfiles() {
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		t.Run(p.Name+"/"+p.Target, func(t *testing.T) {
			for style, st := range styles {
				if !st.finite {
					continue
				}
				closest, checked := 0.0, 0
				for _, shape := range [][2]int{{16, 32}, {16, 128}, {64, 128}, {1, 64}} {
					const tokens = 12
					s := draw(rng, style, p.Format, shape[0], shape[1], tokens)
					out := make([]uint32, tokens)
					if err := p.Logits(s.row, s.k, s.scales, out); err != nil {
						t.Fatal(err)
					}
					for token := range tokens {
						bound := boundFor(t, p.Rule, p.Format, s, token)
						e := off(out[token], exactLogit(p.Format, s, token))
						if !(e <= bound) || math.IsInf(bound, 0) {
							t.Fatalf("%s, %v: error %g is beyond the bound %g", st.name, shape, e, bound)
						}
						if bound > 0 {
							closest = max(closest, e/bound)
						}
						checked++
					}
				}
				t.Logf("%-11s largest error is %.2g of the bound (%d logits)", st.name, closest, checked)
			}
		})
	}
}

// hostile are vectors made to lose as much as a rule can lose: every product
// but one just below the cut, and sums that nearly cancel.
func hostile(r *rand.Rand, f fp8.Format, dim int) (q, k []byte) {
	q, k = make([]byte, dim), make([]byte, dim)
	large, small := r.IntN(3), 1+r.IntN(12)
	for d := range q {
		switch {
		case d%16 < large:
			q[d], k[d] = f.Top()-byte(r.IntN(2)), f.Top()-byte(r.IntN(2))
		default:
			q[d], k[d] = byte(1+r.IntN(small)), byte(1+r.IntN(8*small))
		}
		if r.IntN(2) == 0 {
			q[d] |= 0x80
		}
	}
	if r.IntN(2) == 0 { // the second half takes the large products back
		for d := range dim / 2 {
			if q[d]&0x7f >= f.Top()-1 {
				q[dim/2+d], k[dim/2+d] = q[d]^0x80, k[d]
			}
		}
	}
	return q, k
}

func TestDotBoundHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	for _, m := range machines {
		closest, inexact := 0.0, 0
		for range 20000 {
			dim := 32 << rng.IntN(3)
			q, k := hostile(rng, m.Format, dim)
			size, err := Measure(m.Format, q, k)
			if err != nil {
				t.Fatal(err)
			}
			d := []float32{0}
			m.Rule.MulAdd(m.Format, m.Format, 1, 1, dim, q, k, d, d)
			e := math.Abs(float64(d[0]) - size.Dot) // exact: both are multiples of 2^-60 below 2^25
			bound := matrixBound(m.Rule, (dim+m.Rule.Group-1)/m.Rule.Group, &size)
			side := bound.up
			if float64(d[0]) < size.Dot {
				side = bound.down
			}
			if e > side {
				t.Fatalf("%s, dim %d: %g instead of %g is beyond the bound %+v for %+v", m.Target, dim, d[0], size.Dot, bound, size)
			}
			if e > 0 {
				inexact++
				closest = max(closest, e/side)
			}
		}
		t.Logf("%s: largest error is %.2g of the bound; %d of 20000 dots inexact", m.Target, closest, inexact)
		if inexact == 0 || closest < 0.01 {
			t.Errorf("%s: the largest error is only %.2g of the bound", m.Target, closest)
		}
	}
}

// TestBoundIsTight holds the bound to what it is for: small beside the size of
// the logit's terms, so that wrong kernels do not hide below it.
func TestBoundIsTight(t *testing.T) {
	tests := []struct {
		target string
		limit  float64 // bound / sum of |weight*dot*scale| magnitudes, dims 128
	}{
		{"gfx942", 160e-7}, // 128 float32 roundings are 76e-7
		{"gfx950", 160e-7},
		{"sm_90", 0.03}, // 13 bits in each of 4 steps
	}
	rng := rand.New(rand.NewPCG(15, 16))
	for _, test := range tests {
		m, err := MachineOf(test.target)
		if err != nil {
			t.Fatal(err)
		}
		for style, name := range []string{"normal", "adversarial", "large"} {
			s := draw(rng, style, m.Format, 64, 128, 10)
			for token := range s.scales {
				sizes, err := MeasureRow(m.Format, s.row, s.token(token))
				if err != nil {
					t.Fatal(err)
				}
				terms := 0.0
				for h, size := range sizes {
					terms += math.Abs(float64(s.row.Weights[h])) * size.Sum * float64(s.scales[token])
				}
				if b := boundFor(t, m.Rule, m.Format, s, token); b > test.limit*terms {
					t.Errorf("%s, %s: bound %g is %.3g of the terms, want at most %g", test.target, name, b, b/terms, test.limit)
				}
			}
		}
	}
}

// TestBoundCatchesFaults plants small faults in a correct kernel. The weights
// have both signs, so some logits are small beside their terms and hide a fault;
// most must show.
func TestBoundCatchesFaults(t *testing.T) {
	p, err := Find("mfma16-tree", "gfx942")
	if err != nil {
		t.Fatal(err)
	}
	faults := map[string]func(r *rand.Rand, s *sample, head int){
		"a dim is left out":          func(r *rand.Rand, s *sample, _ int) { clearDim(s, r.IntN(s.dim)) },
		"two weights are swapped":    func(_ *rand.Rand, s *sample, h int) { swap(s.row.Weights, h, (h+1)%16) },
		"a head is left out":         func(_ *rand.Rand, s *sample, h int) { s.row.Weights[h] = 0 },
		"the scale is off by 2^-10":  func(_ *rand.Rand, s *sample, _ int) { s.scales[0] *= 1 + 0x1p-10 },
		"k is rotated by one dim":    func(_ *rand.Rand, s *sample, _ int) { s.k = append(s.k[1:], s.k[0]) },
		"one k value is one ulp off": func(r *rand.Rand, s *sample, _ int) { s.k[r.IntN(s.dim)] ^= 1 },
	}
	for name, plant := range faults {
		rng := rand.New(rand.NewPCG(17, uint64(len(name))))
		const runs = 100
		caught := 0
		for range runs {
			s := draw(rng, 0, p.Format, 16, 64, 1)
			exact, bound := exactLogit(p.Format, s, 0), boundFor(t, p.Rule, p.Format, s, 0)
			plant(rng, &s, largestHead(t, p.Format, s))
			got, err := p.Logit(s.row, s.k, s.scales[0])
			if err != nil {
				t.Fatal(err)
			}
			if off(got, exact) > bound {
				caught++
			}
		}
		if caught < runs*85/100 {
			t.Errorf("%s: caught %d of %d", name, caught, runs)
		}
	}
}

// largestHead is the head with the largest dot, which relu lets through.
func largestHead(t *testing.T, f fp8.Format, s sample) int {
	t.Helper()
	sizes, err := MeasureRow(f, s.row, s.k)
	if err != nil {
		t.Fatal(err)
	}
	best := 0
	for h, size := range sizes {
		if size.Dot > sizes[best].Dot {
			best = h
		}
	}
	return best
}

func swap(w []float32, i, j int) { w[i], w[j] = w[j], w[i] }

func clearDim(s *sample, dim int) {
	for h := range s.row.Weights {
		s.row.Q[h*s.dim+dim] = 0
	}
}

func TestBoundOverflowsAndErrors(t *testing.T) {
	f := fp8.E4M3FN
	one, err := Measure(f, []byte{f.Encode(1)}, []byte{f.Encode(1)})
	if err != nil {
		t.Fatal(err)
	}
	size := []Size{one}
	tests := []struct {
		name   string
		format fp8.Format
		dim    int
		sizes  []Size
		w      []float32
		scale  float32
		says   string
	}{
		{"no heads", f, 32, nil, nil, 1, "at least one"},
		{"fewer weights", f, 32, size, nil, 1, "as many"},
		{"no format", 0, 32, size, []float32{1}, 1, "no fp8 format"},
		{"no dims", f, 0, size, []float32{1}, 1, "head_dim 0"},
		{"negative scale", f, 32, size, []float32{1}, -1, "not negative"},
		{"infinite scale", f, 32, size, []float32{1}, float32(math.Inf(1)), "finite"},
		{"sizes by hand", f, 32, []Size{{Dot: 1, Sum: 1, Top: 1}}, []float32{1}, 1, "not one of Measure's"},
		{"NaN weight", f, 32, size, []float32{float32(math.NaN())}, 1, "head 0"},
	}
	for _, test := range tests {
		if _, err := Bound(nil, test.format, test.dim, test.sizes, test.w, test.scale); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: error %v does not say %q", test.name, err, test.says)
		}
	}
	coarse := *matrixcore.CDNA3
	coarse.Acc.Bits = 1 // so few bits that no error is excluded
	many := make([]byte, 128)
	for i := range many {
		many[i] = f.Encode(1.125)
	}
	wide, err := Measure(f, many, many)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Bound(&coarse, f, 128, []Size{wide}, []float32{1}, 1); err != nil || !math.IsInf(got, 1) {
		t.Errorf("a rule of one bit: bound %v, %v, want +Inf", got, err)
	}
	for name, b := range map[string]struct{ w, scale float32 }{
		"weight":           {0x1p127, 2},
		"sum":              {math.MaxFloat32, 1},
		"weight and scale": {0x1p100, 0x1p100},
	} {
		if got, err := Bound(matrixcore.CDNA3, f, 32, size, []float32{b.w}, b.scale); err != nil || !math.IsInf(got, 1) {
			t.Errorf("overflow by %s: bound %v, %v, want +Inf", name, got, err)
		}
	}
}

func TestMeasure(t *testing.T) {
	f := fp8.E4M3FNUZ
	rng := rand.New(rand.NewPCG(19, 20))
	for style, st := range styles {
		if !st.finite {
			continue
		}
		s := draw(rng, style, f, 1, 64, 1)
		size, err := Measure(f, s.row.Q, s.k)
		if err != nil {
			t.Fatal(err)
		}
		var dot, sum, largest float64 // exact: 64 products of 36 bits
		for d := range s.k {
			p := float64(f.Decode(s.row.Q[d])) * float64(f.Decode(s.k[d]))
			dot += p
			sum += math.Abs(p)
			largest = max(largest, math.Abs(p))
		}
		// A product's significand is below 4, and at least 1/64 when both are subnormal.
		topFits := 4*size.Top > largest && size.Top <= 64*largest || largest == 0 && size.Top == 0
		if size.Dot != dot || size.Sum != sum || !topFits {
			t.Errorf("%s: %+v, want dot %g, sum %g, top about %g", st.name, size, dot, sum, largest)
		}
	}
	for name, test := range map[string]struct {
		f    fp8.Format
		q, k []byte
	}{
		"lengths": {f, make([]byte, 2), make([]byte, 3)},
		"NaN":     {f, []byte{f.NaN()}, []byte{0}},
		"format":  {0, []byte{1}, []byte{1}},
		"dims":    {f, make([]byte, maxDim+1), make([]byte, maxDim+1)},
	} {
		if _, err := Measure(test.f, test.q, test.k); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := MeasureRow(f, Row{Q: []byte{1, f.NaN()}, Weights: []float32{1, 1}}, []byte{1}); err == nil || !strings.Contains(err.Error(), "head 1") {
		t.Errorf("MeasureRow does not name the head: %v", err)
	}
}

func TestLog2(t *testing.T) {
	for _, x := range []float64{1, 2, 3, 0.75, 0x1p-1074, 0x1.8p-1040, 0x1p1000} {
		if got, want := log2(x), math.Ilogb(x); got != want {
			t.Errorf("log2(%g) = %d, want %d", x, got, want)
		}
	}
}

func BenchmarkLogits(b *testing.B) {
	rng := rand.New(rand.NewPCG(21, 22))
	for _, p := range All() {
		s := draw(rng, 0, p.Format, 64, 128, 64)
		out := make([]uint32, 64)
		b.Run(p.Name+"/"+p.Target, func(b *testing.B) {
			for b.Loop() {
				if err := p.Logits(s.row, s.k, s.scales, out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*64/b.Elapsed().Seconds(), "logits/s")
		})
	}
}

func BenchmarkBound(b *testing.B) {
	p := All()[2]
	s := draw(rand.New(rand.NewPCG(23, 24)), 0, p.Format, 64, 128, 1)
	for b.Loop() {
		sizes, err := MeasureRow(p.Format, s.row, s.k)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Bound(p.Rule, p.Format, s.dim, sizes, s.row.Weights, s.scales[0]); err != nil {
			b.Fatal(err)
		}
	}
}
