package profile

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"mqaproof/model/fp8"
)

func TestTreeText(t *testing.T) {
	for _, text := range []string{
		"0", "(0 1)", "(0 *1)", "(1 *0)", "(0 1 2 3)", "((0 1) (2 3))", "(0 *16 *32)", "((2 *0) (1 3))", "((0 2) (1 3) 4)",
		"(((0 1) (2 3)) ((4 5) (6 7)))",
	} {
		p := treeParser{rest: text}
		tree, err := p.part()
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := tree.String(); got != text {
			t.Errorf("%s reads as %s", text, got)
		}
	}
	for text, says := range map[string]string{
		"":            "bracket should stand",
		"()":          "empty",
		"(0 1":        "not closed",
		"(0 1) 2":     "follows the end",
		"(0 x)":       "term's number",
		"(0 2)":       "no term 1",
		"(0 0)":       "no term 1",
		"(*0 *1)":     "both fused",
		"*0":          "nothing to add",
		"(0 1 99999)": "no term 2",
		"(0 (1 *))":   "term's number",
	} {
		if _, err := ParseTree(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("ParseTree(%q): error %v does not say %q", text, err, says)
		}
	}
}

func TestTreesAreEqualWhateverTheSides(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"((0 1) (2 3))", "((3 2) (1 0))", true},
		{"(0 1 2)", "(2 (1 0))", true},
		{"(0 *1 2)", "(2 (*1 0))", true},
		{"(0 1 2)", "(1 2 0)", false},
		{"(0 *1)", "(1 *0)", false},
		{"(0 *1)", "(0 1)", false},
	} {
		a, errA := ParseTree(test.a)
		b, errB := ParseTree(test.b)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if got := a.Equal(b); got != test.want {
			t.Errorf("%s equals %s: %v, want %v", a, b, got, test.want)
		}
	}
}

// TestTreesOfRules holds the trees of all named sums to the sums themselves.
func TestTreesOfRules(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	draw := func() float32 { return float32(math.Ldexp(rng.NormFloat64(), rng.IntN(20)-10)) }
	for _, d := range designs {
		for _, heads := range []int{1, 2, 3, 5, 15, 16, 17, 31, 48, 64, 100} {
			rule := &Profile{Name: d.name, Scale: d.scale, Sum: d.sum}
			tree := &Profile{Name: d.name, Scale: d.scale, Sum: d.sum, Heads: map[int]*Tree{heads: d.sum.Tree(heads)}}
			if err := tree.Heads[heads].check(heads); err != nil {
				t.Fatalf("%s, %d heads: %v", d.name, heads, err)
			}
			for round := range 200 {
				w, dots := make([]float32, heads), make([]float32, heads)
				for i := range w {
					w[i], dots[i] = draw(), draw()
					if round%4 == 0 { // signed zeros show where sums start
						w[i], dots[i] = float32(math.Copysign(0, -1)), 1
					}
				}
				scale := float32(math.Abs(float64(draw())))
				a, b := rule.newSum(w).logit(dots, scale), tree.newSum(w).logit(dots, scale)
				if math.Float32bits(a) != math.Float32bits(b) {
					t.Fatalf("%s, %d heads: %v by rule, %v by tree %s", d.name, heads, a, b, tree.Heads[heads])
				}
			}
		}
	}
}

func TestPlacesOfTheScale(t *testing.T) {
	const x, w, s = 3, 1 + 0x1p-23, 1 + 0x1p-22
	r := func(x float64) float64 { return float64(float32(x)) }
	want := map[Scale]float64{
		ScaleLast:        r(r(x*w) * s),
		ScaleBeforeRelu:  r(r(x*s) * w),
		ScaleAfterRelu:   r(r(x*s) * w),
		ScaleIntoWeight:  r(x * r(w*s)),
		ScaleAfterWeight: r(r(x*w) * s),
	}
	one := &Profile{Sum: HeadSum{Partials: 1}}
	for scale, want := range want {
		one.Scale = scale
		if got := one.newSum([]float32{w}).logit([]float32{x}, s); float64(got) != want {
			t.Errorf("scale %v: %x, want %x", scale, got, want)
		}
	}
	// What a scale of -1 and a NaN give tells the places before and after relu apart.
	nan := float32(math.NaN())
	for _, test := range []struct {
		scale Scale
		relu  Relu
		dot   float32
		s     float32
		want  float32
	}{
		{ScaleBeforeRelu, ReluZero, 1, -1, 0},
		{ScaleBeforeRelu, ReluZero, -1, -1, 1},
		{ScaleAfterRelu, ReluZero, 1, -1, -1},
		{ScaleAfterRelu, ReluZero, nan, 2, 0},
		{ScaleAfterRelu, ReluNaN, nan, 2, nan},
		{ScaleBeforeRelu, ReluZero, 1, nan, 0},
		{ScaleBeforeRelu, ReluNaN, 1, nan, nan},
		{ScaleLast, ReluZero, 1, nan, nan},
	} {
		one.Scale, one.Relu = test.scale, test.relu
		got := one.newSum([]float32{1}).logit([]float32{test.dot}, test.s)
		if !Same(math.Float32bits(got), math.Float32bits(test.want)) {
			t.Errorf("scale %v, relu where %v, dot %v, scale %v: %v, want %v", test.scale, test.relu, test.dot, test.s, got, test.want)
		}
	}
}

func TestOrdersOfDims(t *testing.T) {
	// In one group of CDNA3 the order only says which products share a sub-sum;
	// over groups it says which come first.
	p, err := Find("mfma16-heads", "gfx942")
	if err != nil {
		t.Fatal(err)
	}
	permuted := *p
	const dim = 32
	order := make([]int, dim) // the second 16 dims first
	for i := range order {
		order[i] = (i + 16) % dim
	}
	permuted.Dims = map[int][][]int{dim: {order}}
	if err := permuted.Check(); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	codes := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			if b[i] = byte(rng.Uint32()); p.Format.IsNaN(b[i]) {
				b[i] = 0
			}
		}
		return b
	}
	differ := 0
	for range 500 {
		row := Row{Q: codes(3 * dim), Weights: []float32{1, 1.5, 0.7}}
		k := codes(dim)
		turn := func(b []byte) []byte {
			var out []byte
			for at := 0; at < len(b); at += dim {
				out = append(append(out, b[at+16:at+dim]...), b[at:at+16]...)
			}
			return out
		}
		got, err1 := permuted.Logit(row, k, 1)
		want, err2 := p.Logit(Row{turn(row.Q), row.Weights}, turn(k), 1)
		plain, err3 := p.Logit(row, k, 1)
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatal(err1, err2, err3)
		}
		if got != want {
			t.Fatalf("permuted: %#x, want %#x", got, want)
		}
		if plain != want {
			differ++
		}
	}
	if differ == 0 {
		t.Error("the order of dims never shows")
	}

	// Two chains of 16 dims, added in float32.
	two := *p
	two.Dims = map[int][][]int{dim: {seq(0, 16), seq(16, 32)}}
	two.Dots = map[int]*Tree{dim: Node(Leaf(0), Leaf(1))}
	if err := two.Check(); err != nil {
		t.Fatal(err)
	}
	differ = 0
	for range 500 {
		row, k := Row{Q: codes(dim), Weights: []float32{1}}, codes(dim)
		got, err1 := two.Logit(row, k, 1)
		var parts [2]float32
		for i := range parts {
			p.Rule.MulAdd(p.Format, p.Format, 1, 1, 16, row.Q[16*i:16*i+16], k[16*i:16*i+16], []float32{0}, parts[i:i+1])
		}
		want := math.Float32bits(max(parts[0]+parts[1], 0))
		plain, err2 := p.Logit(row, k, 1)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if got != want {
			t.Fatalf("two chains: %#x, want %#x", got, want)
		}
		if plain != want {
			differ++
		}
	}
	if differ == 0 {
		t.Error("two chains never show")
	}

	// Without a matrix core the products are added as the tree says:
	// (1 + 2^34) - 2^34 and 1 + (2^34 - 2^34).
	f := fp8.E4M3FN
	top := f.Encode(256)
	scalar := &Profile{Name: "test", Format: f, Sum: HeadSum{Partials: 1}}
	q, k := []byte{1, top, top}, []byte{1, top, top | 0x80}
	for text, want := range map[string]float32{"(0 1 2)": 0, "(1 2 0)": 0x1p-18} {
		tree, err := ParseTree(text)
		if err != nil {
			t.Fatal(err)
		}
		scalar.Dots = map[int]*Tree{3: tree}
		got, err := scalar.Logit(Row{q, []float32{1}}, k, 1)
		if err != nil || got != math.Float32bits(want) {
			t.Errorf("%s: %v, %v, want %v", text, math.Float32frombits(got), err, want)
		}
	}
}
