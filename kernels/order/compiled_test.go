package order_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mqaproof/internal/needtool"
	"mqaproof/kernels"
	"mqaproof/kernels/order"
	"mqaproof/model/profile"
)

// compiled builds testdata/NAME.hip with the given definitions.
func compiled(t *testing.T, name string, defines map[string]string) *kernels.Subject {
	t.Helper()
	clang := needtool.Path(t, "clang-22")
	needtool.Path(t, "ld.lld-22")
	dir := t.TempDir()
	args := []string{"-x", "hip", "--offload-arch=gfx942", "--offload-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib",
		"-O2", "-ffp-contract=off"}
	for macro, value := range defines {
		args = append(args, "-D"+macro+"="+value)
	}
	args = append(args, "testdata/"+name+".hip", "-o", filepath.Join(dir, name+".hsaco"))
	if out, err := exec.Command(clang, args...).CombinedOutput(); err != nil {
		t.Fatalf("clang: %v\n%s", err, out)
	}
	text, err := os.ReadFile("testdata/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(dir, name+".yaml")
	if err := os.WriteFile(manifest, text, 0o666); err != nil {
		t.Fatal(err)
	}
	subjects, err := kernels.Load(manifest, "")
	if err != nil {
		t.Fatal(err)
	}
	return subjects[0]
}

// code is a tree in C: leaf gives a term that is rounded, fma a term that is
// fused into the text of its sibling.
func code(t *profile.Tree, leaf func(int) string, fma func(term int, rest string) string) string {
	if t.IsLeaf() {
		return leaf(t.Term)
	}
	a, b := t.A, t.B
	if a.IsLeaf() && a.Fused {
		a, b = b, a
	}
	if b.IsLeaf() && b.Fused {
		return fma(b.Term, code(a, leaf, fma))
	}
	return "(" + code(a, leaf, fma) + "+" + code(b, leaf, fma) + ")"
}

func product(t *profile.Tree) string {
	return code(t, func(d int) string { return fmt.Sprintf("p[%d]", d) }, nil)
}

// randomSum joins random partial sums; terms beside a sum are often fused.
func randomSum(rng *rand.Rand, terms int, fused bool) *profile.Tree {
	var parts []*profile.Tree
	for _, i := range rng.Perm(terms) {
		parts = append(parts, profile.Leaf(i))
	}
	for len(parts) > 1 {
		i := rng.IntN(len(parts) - 1)
		a, b := parts[i], parts[i+1]
		if fused && b.IsLeaf() && rng.IntN(2) == 0 {
			b.Fused = true
		}
		parts[i] = profile.Node(a, b)
		parts = append(parts[:i+1], parts[i+2:]...)
	}
	return parts[0]
}

// places is how each place of the scale is written: the last two factors of a
// term, and the logit of a sum.
var places = map[profile.Scale]struct{ a, b, logit string }{
	profile.ScaleLast:        {"RELU(dot[%d])", "w[%d]", "(%s)*s"},
	profile.ScaleBeforeRelu:  {"RELU(dot[%d]*s)", "w[%d]", "%s"},
	profile.ScaleAfterRelu:   {"(RELU(dot[%d])*s)", "w[%d]", "%s"},
	profile.ScaleIntoWeight:  {"RELU(dot[%d])", "(w[%d]*s)", "%s"},
	profile.ScaleAfterWeight: {"(RELU(dot[%d])*w[%[1]d])", "s", "%s"},
}

var relus = map[profile.Relu]string{
	profile.ReluZero: "__builtin_fmaxf(x,0.0f)",
	profile.ReluNaN:  "((x)<0.0f?0.0f:(x))",
}

// TestDeriveCompiled compiles kernels with random orders and finds each.
func TestDeriveCompiled(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for i := range 10 {
		scale := profile.Scale(i % 5)
		relu := profile.Relu(i / 5 % 2)
		fused, zero := i%3 != 0, i%2 == 0
		heads, dims := randomSum(rng, 8, fused), randomSum(rng, 8, false)
		t.Run(fmt.Sprintf("%d %v", i, scale), func(t *testing.T) {
			t.Parallel()
			place := places[scale]
			factor := func(pattern string, h int) string {
				if !strings.Contains(pattern, "%") {
					return pattern
				}
				return fmt.Sprintf(pattern, h)
			}
			sum := code(heads,
				func(h int) string { return factor(place.a, h) + "*" + factor(place.b, h) },
				func(h int, rest string) string {
					return "__builtin_fmaf(" + factor(place.a, h) + "," + factor(place.b, h) + "," + rest + ")"
				})
			if zero {
				sum = "(0.0f+" + sum + ")"
			}
			s := compiled(t, "orders", map[string]string{
				"RELU(x)": relus[relu],
				"DOT":     product(dims),
				"LOGIT":   fmt.Sprintf(place.logit, sum),
			})
			p, err := order.Derive(t.Context(), s, nil)
			if err != nil {
				t.Fatal(err)
			}
			if p.Scale != scale || p.Relu != relu || p.Sum.FromZero != zero || p.Rule != nil {
				t.Errorf("found %s; made with the scale %v, relu where %v, from zero %v", p.Summary(), scale, relu, zero)
			}
			got := p.Sum.Tree
			if p.Heads != nil {
				got = func(n int) *profile.Tree { return p.Heads[n] }
			}
			if !got(8).Equal(heads) {
				t.Errorf("heads: found %s, made %s", got(8), heads)
			}
			if p.Dots == nil || !p.Dots[8].Equal(dims) {
				t.Errorf("dims: found %v, made %s", p.Dots, dims)
			}
		})
	}
}

// TestDeriveRefuses compiles kernels that are outside the family: the error
// names the probe, and there is no profile.
func TestDeriveRefuses(t *testing.T) {
	const sum = "(((((((RELU(dot[0])*w[0]+RELU(dot[1])*w[1])+RELU(dot[2])*w[2])+RELU(dot[3])*w[3])+RELU(dot[4])*w[4])+RELU(dot[5])*w[5])+RELU(dot[6])*w[6])+RELU(dot[7])*w[7])"
	chain := product(profile.Chain(false, 0, 1, 2, 3, 4, 5, 6, 7))
	plain := map[string]string{"RELU(x)": relus[profile.ReluZero], "DOT": chain, "LOGIT": sum + "*s"}
	for _, test := range []struct{ name, define, value, says string }{
		{"a factor", "LOGIT", "(float)((double)" + sum + "*(double)s*1.0000001)", "not a count of terms"},
		{"heads summed in double", "LOGIT", "(float)(" + strings.ReplaceAll(sum, "RELU(", "(double)RELU(") + ")*s", "more than float32"},
		{"dots in double", "DOT", "(float)(" + strings.ReplaceAll(chain, "p[", "(double)p[") + ")", "the order of 8 dims"},
		{"an order by position", "LOGIT", "(pos%2?" + sum + ":" + "((RELU(dot[7])*w[7]+RELU(dot[6])*w[6])+((RELU(dot[0])*w[0]+RELU(dot[1])*w[1])+((RELU(dot[2])*w[2]+RELU(dot[3])*w[3])+(RELU(dot[4])*w[4]+RELU(dot[5])*w[5])))))*s", "depends on the position"},
		{"an order by position, late", "LOGIT", "(pos<64?" + sum + ":" + "((RELU(dot[7])*w[7]+RELU(dot[6])*w[6])+((RELU(dot[0])*w[0]+RELU(dot[1])*w[1])+((RELU(dot[2])*w[2]+RELU(dot[3])*w[3])+(RELU(dot[4])*w[4]+RELU(dot[5])*w[5])))))*s", "explains all probes"},
		{"no relu", "RELU(x)", "(x)", "place of the scale"},
		{"a square", "RELU(x)", "((x)>0.0f?(x)*(x):0.0f)", "place of the scale"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			defines := map[string]string{}
			for k, v := range plain {
				defines[k] = v
			}
			defines[test.define] = test.value
			p, err := order.Derive(t.Context(), compiled(t, "orders", defines), nil)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("profile %v, error %v: want one that says %q", p, err, test.says)
			}
		})
	}
}

// TestDeriveChains compiles kernels that use the matrix core in several chains
// and with permuted dims.
func TestDeriveChains(t *testing.T) {
	// Instruction i takes 32 dims; half of it is a group, of 8 dims from each of
	// two lane groups.
	const (
		plain = "(4*(i)+(g))" // lane group g gives dims 32i+8g on
		wide  = "(8*((i)/2)+2*(g)+(i)%2)"
	)
	for _, test := range []struct {
		name, chunk, dot string
		dims             string // of 128; "": as they are
		dots             string
	}{
		{"one chain", plain, "a(3,a(2,a(1,a(0,zero))))", "", ""},
		{"backwards", plain, "a(0,a(1,a(2,a(3,zero))))", "96-127 64-95 32-63 0-31", ""},
		{"wide loads", wide, "a(3,a(2,a(1,a(0,zero))))", "0-7 16-23 32-39 48-55 8-15 24-31 40-47 56-71 80-87 96-103 112-119 72-79 88-95 104-111 120-127", ""},
		{"two chains", plain, "a(2,a(0,zero))+a(3,a(1,zero))", "0-31 64-95 | 32-63 96-127", "(0 1)"},
		{"four chains", plain, "(a(0,zero)+a(1,zero))+(a(2,zero)+a(3,zero))", "0-31 | 32-63 | 64-95 | 96-127", "((0 1) (2 3))"},
		{"uneven chains", wide, "a(3,a(0,a(1,zero)))+a(2,zero)", "8-15 24-31 40-47 56-63 0-7 16-23 32-39 48-55 72-79 88-95 104-111 120-127 | 64-71 80-87 96-103 112-119", "(0 1)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := compiled(t, "chains", map[string]string{"CHUNK(g,i)": test.chunk, "DOT(a)": test.dot})
			p, err := order.Derive(t.Context(), s, nil)
			if err != nil {
				t.Fatal(err)
			}
			data, err := p.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			var file struct {
				MatrixCore string `json:"matrix_core"`
				Dims, Dots map[string]string
			}
			if err := json.Unmarshal(data, &file); err != nil {
				t.Fatal(err)
			}
			if file.MatrixCore != "cdna3" || p.Step != 32 || file.Dims["128"] != test.dims || file.Dots["128"] != test.dots {
				t.Errorf("found rule %s, steps of %d, dims %q, dots %q\nwant cdna3, 32, %q, %q", file.MatrixCore, p.Step, file.Dims["128"], file.Dots["128"], test.dims, test.dots)
			}
		})
	}

	// A chain that goes on from the sum of two others is none that a profile has.
	s := compiled(t, "chains", map[string]string{"CHUNK(g,i)": plain, "DOT(a)": "a(3,a(2,zero)+a(1,a(0,zero)))"})
	if p, err := order.Derive(t.Context(), s, nil); err == nil || !strings.Contains(err.Error(), "goes on from 96 products") {
		t.Errorf("a chain on top of a sum: %v, %v", p, err)
	}
}
