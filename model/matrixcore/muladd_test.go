package matrixcore

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"mqaproof/model/fp8"
)

// kinds are ways to draw fp8 codes, from dull to hostile.
var kinds = []struct {
	name string
	draw func(r *rand.Rand, f fp8.Format) byte
}{
	{"uniform", func(r *rand.Rand, f fp8.Format) byte { return finite(r, f, byte(r.Uint32())) }},
	{"normal", func(r *rand.Rand, f fp8.Format) byte { return f.Encode(float32(r.NormFloat64())) }},
	{"small", func(r *rand.Rand, f fp8.Format) byte { return byte(r.IntN(8)) | signBit(r, f) }},
	{"large", func(r *rand.Rand, f fp8.Format) byte { return f.Top() - byte(r.IntN(16)) | signBit(r, f) }},
	{"extreme", func(r *rand.Rand, f fp8.Format) byte {
		switch r.IntN(4) {
		case 0:
			return 0
		case 1:
			return byte(1+r.IntN(3)) | signBit(r, f)
		}
		return f.Top() - byte(r.IntN(4)) | signBit(r, f)
	}},
	{"sparse", func(r *rand.Rand, f fp8.Format) byte {
		if r.IntN(8) > 0 {
			return 0
		}
		return finite(r, f, byte(r.Uint32()))
	}},
	{"zero", func(*rand.Rand, fp8.Format) byte { return 0 }},
	{"nan", func(r *rand.Rand, f fp8.Format) byte {
		if r.IntN(100) == 0 {
			return f.NaN()
		}
		return f.Encode(float32(r.NormFloat64()))
	}},
}

func finite(_ *rand.Rand, f fp8.Format, b byte) byte {
	if f.IsNaN(b) {
		return f.Top()
	}
	return b
}

// signBit is a random sign; with it, a code other than 0 stays finite.
func signBit(r *rand.Rand, f fp8.Format) byte {
	if f == fp8.E4M3FNUZ {
		return 0 // a zero code with a sign would be NaN
	}
	return byte(r.Uint32()) & 0x80
}

var accKinds = []struct {
	name string
	draw func(r *rand.Rand) float32
}{
	{"zero", func(*rand.Rand) float32 { return 0 }},
	{"minus zero", func(*rand.Rand) float32 { return float32(math.Copysign(0, -1)) }},
	{"rand", func(r *rand.Rand) float32 { return float32(r.NormFloat64() * 100) }},
	{"round", func(r *rand.Rand) float32 { return float32(r.IntN(64)-32) / 8 }},
	{"wide", func(r *rand.Rand) float32 { return float32(math.Ldexp(r.NormFloat64(), r.IntN(80)-40)) }},
	{"bits", func(r *rand.Rand) float32 { return math.Float32frombits(r.Uint32()) }},
	{"tiny", func(r *rand.Rand) float32 { return math.Float32frombits(r.Uint32() & 0x8fffffff) }},
	{"infinite", func(r *rand.Rand) float32 { return float32(math.Inf(r.IntN(2)*2 - 1)) }},
	{"huge", func(r *rand.Rand) float32 { return math.Float32frombits(0x7f7fffff - r.Uint32N(4) | r.Uint32()<<31) }},
}

// otherRules exercise the fields that the named rules leave alone.
func otherRules() []*Rule {
	narrow := *CDNA3
	narrow.Name, narrow.Product.Bits, narrow.SubSum.Bits, narrow.Acc.Bits, narrow.AccReach = "narrow", 12, 10, 14, 16
	wide := *CDNA3
	wide.Name, wide.Product.Bits, wide.SubSum.Bits, wide.Sum.Bits = "wide", 30, 28, 40
	early := *Hopper
	early.Name, early.Group, early.Product.Bits, early.ResultBits = "early-16", 16, 20, 23
	four := *CDNA3
	four.Name, four.SubSums = "four-sub-sums", 4
	fromC := *Hopper
	fromC.Name, fromC.AddC = "early-from-c", false
	coarse := *CDNA3 // the accumulator and the sum lose what the products keep
	coarse.Name, coarse.Product.Bits, coarse.SubSum.Bits, coarse.Sum.Bits, coarse.Acc.Bits, coarse.AccReach = "coarse", 20, 17, 19, 11, 13
	tight := *CDNA3
	tight.Name, tight.Sum.Bits, tight.AccReach = "tight", 24, 24
	short := *Hopper
	short.Name, short.Group, short.Product.Bits, short.ResultBits = "early-short", 64, 9, 7
	sixteen := *Hopper
	sixteen.Name, sixteen.Group, sixteen.Product.Bits, sixteen.ResultBits = "early-16-wide", 16, 17, 22
	return []*Rule{&narrow, &wide, &early, &four, &fromC, &coarse, &tight, &short, &sixteen}
}

// onEachPath runs a test with the vector code, where the processor has it, and
// without.
func onEachPath(t *testing.T, test func(t *testing.T)) {
	if has := vectors; has {
		t.Run("wide", test)
		defer func() { vectors = has }()
		vectors = false
	}
	t.Run("narrow", test)
}

func TestMulAddEqualsReference(t *testing.T) { onEachPath(t, testMulAddEqualsReference) }

func testMulAddEqualsReference(t *testing.T) {
	formats := [][2]fp8.Format{{fp8.E4M3FNUZ, fp8.E4M3FNUZ}, {fp8.E4M3FN, fp8.E4M3FN}, {fp8.E4M3FN, fp8.E4M3FNUZ}}
	shapes := [][3]int{{16, 16, 32}, {32, 32, 16}, {32, 32, 64}, {5, 3, 128}, {33, 35, 40}, {2, 2, 7}, {4, 4, 1}, {3, 3, 0}, {2, 3, 150}, {17, 48, 160}, {1, 16, 16}, {16, 1, 48}, {20, 18, 8}}
	for _, rule := range append(All(), otherRules()...) {
		if err := rule.Check(); err != nil {
			t.Fatal(err)
		}
		t.Run(rule.Name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(len(rule.Name))))
			outputs := 0
			for round := range 3 {
				for _, ka := range kinds {
					for _, kc := range accKinds {
						shape := shapes[rng.IntN(len(shapes))]
						f := formats[rng.IntN(len(formats))]
						kb := ka
						if round > 0 {
							kb = kinds[rng.IntN(len(kinds))]
						}
						m, n, k := shape[0], shape[1], shape[2]
						a, bt := make([]byte, m*k), make([]byte, n*k)
						for i := range a {
							a[i] = ka.draw(rng, f[0])
						}
						for i := range bt {
							bt[i] = kb.draw(rng, f[1])
						}
						c, want, got := make([]float32, m*n), make([]float32, m*n), make([]float32, m*n)
						for i := range c {
							c[i] = kc.draw(rng)
						}
						rule.mulAddReference(f[0], f[1], m, n, k, a, bt, c, want)
						rule.MulAdd(f[0], f[1], m, n, k, a, bt, c, got)
						rule.MulAdd(f[0], f[1], m, n, k, a, bt, c, c)
						for i := range want {
							outputs++
							if math.Float32bits(got[i]) != math.Float32bits(want[i]) || math.Float32bits(c[i]) != math.Float32bits(want[i]) {
								t.Fatalf("%dx%dx%d %v x %v, %s x %s, c %s: output %d is %x, in place %x, want %x", m, n, k, f[0], f[1], ka.name, kb.name, kc.name,
									i, math.Float32bits(got[i]), math.Float32bits(c[i]), math.Float32bits(want[i]))
							}
						}
					}
				}
			}
			t.Logf("%d outputs", outputs)
		})
	}
}

// TestMulAddByHand pins each clause of the rules to a number worked out by hand.
func TestMulAddByHand(t *testing.T) { onEachPath(t, testMulAddByHand) }

func testMulAddByHand(t *testing.T) {
	z := fp8.E4M3FNUZ
	one, low := z.Encode(1), byte(1) // 1 and 2^-10
	top := z.Top()                   // 240 = 1.875*2^7
	minusLow := byte(0x81)
	tests := []struct {
		name string
		rule *Rule
		a, b []byte
		c    float32
		want float32
	}{
		{"exact", CDNA3, []byte{one, one}, []byte{one, one}, 0.5, 2.5},
		// 240*240 has exponent 14, so the even sum keeps multiples of 2^-10: 2^-20 is lost.
		{"product cut", CDNA3, []byte{top, 0, low}, []byte{top, 0, low}, 0, 57600},
		// In the odd sum 2^-20 survives step 1; -2^-20 is then floored to -2^-10 in step 2,
		// and 57600 - 2^-10 rounds to float32 as 57600.
		{"sub-sum floor", CDNA3, []byte{top, minusLow}, []byte{top, low}, -57600, -0x1p-10},
		{"sub-sum floor, positive", CDNA3, []byte{top, low}, []byte{top, low}, -57600, 0},
		// The accumulator loses what lies below 2^-10 by floor.
		{"accumulator floor", CDNA3, []byte{top, top}, []byte{top, z.Encode(-240)}, -0x1p-11, -0x1p-10},
		{"accumulator out of reach", CDNA3, []byte{top, top}, []byte{top, z.Encode(-240)}, -0x1p-12, 0},
		{"nan code", CDNA3, []byte{z.NaN()}, []byte{0}, 1, nan32},
		{"infinite c", CDNA3, []byte{top}, []byte{top}, float32(math.Inf(-1)), float32(math.Inf(-1))},
		{"overflow", CDNA3, []byte{top}, []byte{top}, math.MaxFloat32, math.MaxFloat32},
		// Hopper keeps 13 bits at the largest exponent: 57600 = 1.75...*2^15 in e4m3fnuz terms has
		// exponent 14, so multiples of 2 stay and 1 goes.
		{"hopper cut", Hopper, []byte{top, one}, []byte{top, one}, 0, 57600},
		{"hopper adds c last", Hopper, []byte{top, one}, []byte{top, one}, 1, 57601},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := make([]float32, 4)
			want := test.want
			bt := bytes.Repeat(test.b, 4) // enough columns for every path
			run := func(way string, f func(fa, fb fp8.Format, m, n, k int, a, bt []byte, c, d []float32)) {
				f(z, z, 1, 4, len(test.a), test.a, bt, []float32{test.c, test.c, test.c, test.c}, d)
				for _, got := range d {
					if !sameBits(got, want) {
						t.Errorf("%s: got %v, want %v", way, got, want)
					}
				}
			}
			run("MulAdd", test.rule.MulAdd)
			run("reference", test.rule.mulAddReference)
		})
	}
}

func TestMulAddAllocatesNothing(t *testing.T) { onEachPath(t, testMulAddAllocatesNothing) }

func testMulAddAllocatesNothing(t *testing.T) {
	for _, rule := range All() {
		a, bt := make([]byte, 16*32), make([]byte, 16*32)
		c := make([]float32, 16*16)
		if n := testing.AllocsPerRun(20, func() { rule.MulAdd(fp8.E4M3FNUZ, fp8.E4M3FNUZ, 16, 16, 32, a, bt, c, c) }); n != 0 {
			t.Errorf("%s: %v allocations a tile", rule.Name, n)
		}
	}
}

func TestMistakesPanicWithAMessage(t *testing.T) {
	c := make([]float32, 256)
	tests := []struct {
		name string
		f    fp8.Format
		bt   int
		says string
	}{
		{"short slice", fp8.E4M3FN, 511, "16x16x32 needs 512, 512, 256 and 256"},
		{"no format", 0, 512, "want e4m3fn or e4m3fnuz"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, test.says) {
					t.Errorf("panic says %q, want %q", said, test.says)
				}
			}()
			CDNA3.MulAdd(fp8.E4M3FN, test.f, 16, 16, 32, make([]byte, 512), make([]byte, test.bt), c, c)
		})
	}
}

func TestFindAndCheck(t *testing.T) {
	for _, rule := range All() {
		got, err := Find(rule.Name)
		if err != nil || got != rule {
			t.Errorf("Find(%q) = %v, %v", rule.Name, got, err)
		}
	}
	if _, err := Find("cdna5"); err == nil {
		t.Error("Find of an unknown rule gives no error")
	}
	if CDNA4Assumed.Verified {
		t.Error("the assumption about CDNA4 is marked as verified")
	}
	for name, spoil := range map[string]func(*Rule){
		"no group":              func(r *Rule) { r.Group = 0 },
		"uneven sub-sums":       func(r *Rule) { r.SubSums = 3 },
		"early with sub-sums":   func(r *Rule) { r.Join = JoinEarly },
		"unknown lanes":         func(r *Rule) { r.Lanes = 2 },
		"unknown result cut":    func(r *Rule) { r.ResultRounding = 3 },
		"cut too wide":          func(r *Rule) { r.Sum.Bits = 60 },
		"unknown rounding":      func(r *Rule) { r.Acc.Rounding = 7 },
		"negative reach":        func(r *Rule) { r.AccReach = -1 },
		"result of 40 bits":     func(r *Rule) { r.ResultBits = 40 },
		"sub-sum without a cut": func(r *Rule) { r.SubSum = Cut{} },
	} {
		r := *CDNA3
		spoil(&r)
		if r.Check() == nil {
			t.Errorf("Check accepts a rule with %s", name)
		}
	}
}
