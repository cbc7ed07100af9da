package matrixcore

import (
	"math"
	"math/rand/v2"
	"testing"

	"mqaproof/model/fp8"
)

// TestRandomRules compares MulAdd with the reference loop for rules that no
// hardware has, over the whole range of fields that the fast paths take.
func TestRandomRules(t *testing.T) { onEachPath(t, testRandomRules) }

func testRandomRules(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	wide := 0
	const rules = 1500
	for range rules {
		rule := randomRule(rng)
		if err := rule.Check(); err != nil {
			t.Fatal(err)
		}
		m, n, k := 1+rng.IntN(3), 1+rng.IntN(20), 1+rng.IntN(100)
		if rule.fitsWideLate(n, k) || rule.fitsWideEarly(n, k) {
			wide++
		}
		ka, kb, kc := kinds[rng.IntN(len(kinds))], kinds[rng.IntN(len(kinds))], accKinds[rng.IntN(len(accKinds))]
		f := fp8.E4M3FN + fp8.Format(rng.IntN(2))
		a, bt := make([]byte, m*k), make([]byte, n*k)
		for i := range a {
			a[i] = ka.draw(rng, f)
		}
		for i := range bt {
			bt[i] = kb.draw(rng, f)
		}
		c, got, want := make([]float32, m*n), make([]float32, m*n), make([]float32, m*n)
		for i := range c {
			c[i] = kc.draw(rng)
		}
		rule.MulAdd(f, f, m, n, k, a, bt, c, got)
		rule.mulAddReference(f, f, m, n, k, a, bt, c, want)
		for i := range want {
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
				t.Fatalf("%+v, %dx%dx%d, %s x %s, c %s: output %d is %x, want %x", rule, m, n, k, ka.name, kb.name, kc.name, i,
					math.Float32bits(got[i]), math.Float32bits(want[i]))
			}
		}
	}
	t.Logf("%d of %d rules in vector code", wide, rules)
	if vectors && wide < rules/2 {
		t.Errorf("only %d of %d rules take the vector code", wide, rules)
	}
}

// randomRule is a rule of the shape that a fast path has, with random bits.
func randomRule(rng *rand.Rand) *Rule {
	if rng.IntN(2) == 0 {
		return &Rule{
			Name: "random", Group: 16 << rng.IntN(3), SubSums: 1, Join: JoinEarly, AddC: true,
			Product: Cut{1 + rng.IntN(18), Trunc}, ResultBits: 1 + rng.IntN(23),
		}
	}
	r := &Rule{
		Name: "random", Group: 16, SubSums: 2, Join: JoinLate,
		Product: Cut{1 + rng.IntN(26), Trunc}, Sum: Cut{0, Floor}, Acc: Cut{1 + rng.IntN(30), Floor},
	}
	r.SubSum = Cut{max(1, r.Product.Bits-rng.IntN(4)), Floor}
	r.Sum = Cut{min(40, max(r.SubSum.Bits, r.Acc.Bits)+rng.IntN(12)), Floor}
	r.AccReach = r.Acc.Bits + rng.IntN(4)
	return r
}

// TestEveryCode takes all pairs of codes through each path, one product each.
func TestEveryCode(t *testing.T) { onEachPath(t, testEveryCode) }

func testEveryCode(t *testing.T) {
	for _, rule := range All() {
		for _, f := range []fp8.Format{fp8.E4M3FN, fp8.E4M3FNUZ} {
			codes := make([]byte, 256)
			for i := range codes {
				codes[i] = byte(i)
			}
			c, got, want := make([]float32, 256*256), make([]float32, 256*256), make([]float32, 256*256)
			rule.MulAdd(f, f, 256, 256, 1, codes, codes, c, got)
			rule.mulAddReference(f, f, 256, 256, 1, codes, codes, c, want)
			for i := range want {
				if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
					t.Fatalf("%s, %v: %#x * %#x is %v, want %v", rule.Name, f, i/256, i%256, got[i], want[i])
				}
			}
		}
	}
}
