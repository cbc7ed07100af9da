package calibrate

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"mqaproof/model/matrixcore"
)

// read is the report on what the rule gives.
func read(t *testing.T, target Target, r *matrixcore.Rule, order Order) *Report {
	t.Helper()
	var text bytes.Buffer
	if err := Encode(&text, target, "a test", "0", synthetic(target, r, order)); err != nil {
		t.Fatal(err)
	}
	report, err := Read(t.Context(), &text)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// plausible is rules that somebody might build; the first three are known.
func plausible() []*matrixcore.Rule {
	var out []*matrixcore.Rule
	add := func(name string, base *matrixcore.Rule, change func(*matrixcore.Rule)) {
		r := *base
		r.Name = name
		change(&r)
		out = append(out, &r)
	}
	cut := func(bits int, rounding matrixcore.Rounding) matrixcore.Cut {
		return matrixcore.Cut{Bits: bits, Rounding: rounding}
	}
	c, h := matrixcore.CDNA3, matrixcore.Hopper
	add("cdna3", c, func(*matrixcore.Rule) {})
	add("hopper", h, func(*matrixcore.Rule) {})
	add("tensor core, 25 bits", h, func(r *matrixcore.Rule) { r.Product, r.ResultBits, r.AddC = cut(25, matrixcore.Trunc), 23, false })
	add("one bit less", c, func(r *matrixcore.Rule) { r.Product.Bits = 23 })
	add("one bit more", c, func(r *matrixcore.Rule) { r.SubSum.Bits = 25 })
	add("sum of 30 bits", c, func(r *matrixcore.Rule) { r.Sum.Bits = 29 })
	add("accumulator of 23 bits", c, func(r *matrixcore.Rule) { r.Acc.Bits = 23 })
	add("reach of 24", c, func(r *matrixcore.Rule) { r.AccReach = 24 })
	add("reach without end", c, func(r *matrixcore.Rule) { r.AccReach = unlimited })
	add("floored products", c, func(r *matrixcore.Rule) { r.Product.Rounding = matrixcore.Floor })
	add("truncated sub-sums", c, func(r *matrixcore.Rule) { r.SubSum.Rounding = matrixcore.Trunc })
	add("rounded sub-sums", c, func(r *matrixcore.Rule) { r.SubSum.Rounding = matrixcore.Nearest })
	add("rounded accumulator", c, func(r *matrixcore.Rule) { r.Acc.Rounding = matrixcore.Nearest })
	add("groups of 8", c, func(r *matrixcore.Rule) { r.Group = 8 })
	add("groups of 32", c, func(r *matrixcore.Rule) { r.Group = 32 })
	add("four sub-sums", c, func(r *matrixcore.Rule) { r.SubSums = 4 })
	add("one sum", c, func(r *matrixcore.Rule) { r.SubSums, r.SubSum = 1, matrixcore.Cut{} })
	add("halves", c, func(r *matrixcore.Rule) { r.Lanes = matrixcore.Consecutive })
	add("truncated result", c, func(r *matrixcore.Rule) { r.ResultBits = 23 })
	add("normalised products", c, func(r *matrixcore.Rule) { r.Normalise = true })
	add("fp8 subnormals flushed", c, func(r *matrixcore.Rule) { r.FlushFP8 = true })
	add("float32 subnormals flushed", c, func(r *matrixcore.Rule) { r.FlushFloat32 = true })
	add("early, float32", h, func(r *matrixcore.Rule) { r.Product, r.ResultBits, r.AddC = cut(26, matrixcore.Floor), 0, false })
	add("fused pairs", c, func(r *matrixcore.Rule) {
		r.Group, r.SubSums, r.SubSum = 2, 1, matrixcore.Cut{}
		r.Product, r.Sum, r.Acc, r.AccReach = cut(40, matrixcore.Trunc), cut(40, matrixcore.Trunc), cut(40, matrixcore.Trunc), unlimited
	})
	return out
}

// TestRulesAreRecovered: what a rule of the family gives is read back as that
// rule, or as one that gives the same bits on other tiles too.
func TestRulesAreRecovered(t *testing.T) {
	rules := plausible()
	if os.Getenv("CI") != "true" { // the rest takes half a minute
		rules = rules[:4]
	}
	for _, r := range rules {
		t.Run(r.Name, func(t *testing.T) {
			if err := r.Check(); err != nil {
				t.Fatal(err)
			}
			report := read(t, GFX942, r, InOrder)
			if !report.Explained() {
				t.Fatal("no rule fits")
			}
			if n := len(report.Fits); n != 1 {
				t.Errorf("%d rules fit that differ elsewhere, want one", n)
			}
			got := &report.Fits[0].Rule
			if known := r.Name == "cdna3" || r.Name == "hopper"; known != slices.Contains(report.Fits[0].Names, r.Name) {
				t.Errorf("named %v", report.Fits[0].Names)
			}
			differ, outputs := 0, 0
			for _, in := range GFX942.Instructions() {
				for seed := range uint64(300) {
					tile := in.chosen(1<<60 + seed)
					if seed >= 200 {
						tile = in.dense(in.random(1<<60+seed), int(seed))
					}
					a, b := InOrder.mulAdd(in, got, tile), InOrder.mulAdd(in, r, tile)
					for i := range a {
						outputs++
						if !same(math.Float32bits(a[i]), math.Float32bits(b[i])) {
							differ++
						}
					}
				}
			}
			if differ > 0 {
				t.Errorf("differs in %d of %d outputs of other tiles:\n%s\nfrom\n%s", differ, outputs, GoValue(got), GoValue(r))
			}
			t.Logf("%.6g of %.3g rules fit; %v", float64(report.Fits[0].Members), float64(report.Tried), report.Fits[0].Open)
		})
	}
}

// TestRandomRules: any rule of the family is among those that fit what it
// gives, and the one that is reported is it in all but a few outputs in 100,000
// of other tiles. Its fields are drawn one by one, so that most combinations
// make no sense, such as a sum of fewer bits than the result.
func TestRandomRules(t *testing.T) {
	all := shapes(GFX942)
	rng := rand.New(rand.NewPCG(11, 12))
	rounds := 2
	if os.Getenv("CI") == "true" {
		rounds = 5
	}
	in := GFX942.Instructions()[0]
	for i := range rounds {
		s, c := randomRule(rng, all)
		r := s.rule(c)
		outputs := inOrder(outputsOf(t, GFX942, &r))
		found, _, err := search(t.Context(), all, outputs)
		if err != nil {
			t.Fatal(err)
		}
		held := 0
		for _, f := range found {
			for j := range f.boxes {
				if f.shape == s && f.boxes[j].has(c) {
					held++
				}
			}
		}
		if held != 1 {
			t.Errorf("rule %d is in %d boxes, want one: %s", i, held, GoValue(&r))
			continue
		}
		m := &Measured{Target: GFX942, outputs: outputs}
		got := m.fits(found, GFX942.Instructions())[0].Rule
		differ, compared := 0, 0
		for seed := range uint64(300) {
			tile := in.chosen(1<<60 + seed)
			a, b := InOrder.mulAdd(in, &got, tile), InOrder.mulAdd(in, &r, tile)
			for k := range a {
				if compared++; !same(math.Float32bits(a[k]), math.Float32bits(b[k])) {
					differ++
				}
			}
		}
		if differ*10_000 > compared {
			t.Errorf("rule %d differs in %d of %d outputs of other tiles:\n%s\nfrom\n%s", i, differ, compared, GoValue(&got), GoValue(&r))
		}
		t.Logf("rule %d: %d of %d outputs of other tiles differ", i, differ, compared)
	}
}

// TestOrderIsRecovered: the order of k in the wide instructions is told apart.
func TestOrderIsRecovered(t *testing.T) {
	report := read(t, GFX950, matrixcore.CDNA4Assumed, InHalves)
	if len(report.Fits) != 1 || report.Fits[0].Order != InHalves.String() || !slices.Contains(report.Fits[0].Names, "cdna3") {
		t.Errorf("fits %+v", report.Fits)
	}
}

// TestOneWrongBit: no rule fits, the nearest is the one that was changed, and
// the changed output is shown. The other instruction still fits.
func TestOneWrongBit(t *testing.T) {
	results := synthetic(GFX942, matrixcore.CDNA3, InOrder)
	const output = 16*16*57 + 16*3 + 9 // tile 57 of 16x16x32, row 3, column 9
	results[0][4*output] ^= 1
	var text bytes.Buffer
	if err := Encode(&text, GFX942, "a test", "0", results); err != nil {
		t.Fatal(err)
	}
	r, err := Read(t.Context(), &text)
	if err != nil {
		t.Fatal(err)
	}
	if r.Explained() || r.Nearest == nil {
		t.Fatalf("some rule fits: %+v", r.Fits)
	}
	if r.Nearest.Equal != r.Outputs-1 || !slices.Contains(r.Nearest.Names, "cdna3") {
		t.Errorf("the nearest is %+v, with %d of %d", r.Nearest.Rule, r.Nearest.Equal, r.Outputs)
	}
	if f := r.Nearest.Refuted; f.Instruction != "16x16x32" || f.Tile != 57 || f.Row != 3 || f.Col != 9 || f.Got == f.Want {
		t.Errorf("refuted by %+v", f)
	}
	if len(r.Instructions) != 2 || len(r.Instructions[0].Fits) != 0 || len(r.Instructions[1].Fits) == 0 {
		t.Errorf("by instruction: %+v", r.Instructions)
	}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"No rule of the family", "First refuted by tile 57 of 16x16x32, row 3, column 9", "32x32x16 alone: every output is what cdna3"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, b.String())
		}
	}
}

// TestOutsideTheFamily: a machine that adds one product after another from the
// last to the first, each sum rounded to float32, fits no rule.
func TestOutsideTheFamily(t *testing.T) {
	var results [][]byte
	for _, in := range GFX942.Instructions() {
		var data []byte
		for _, tile := range in.Inputs() {
			for i := range tile.C {
				sum := float64(tile.C[i])
				for k := in.K - 1; k >= 0; k-- {
					sum = float64(float32(sum)) + float64(in.Format.Decode(tile.A[i/in.N*in.K+k]))*float64(in.Format.Decode(tile.B[i%in.N*in.K+k]))
				}
				data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(sum)))
			}
		}
		results = append(results, data)
	}
	var text bytes.Buffer
	if err := Encode(&text, GFX942, "", "0", results); err != nil {
		t.Fatal(err)
	}
	r, err := Read(t.Context(), &text)
	if err != nil {
		t.Fatal(err)
	}
	if r.Explained() || r.Nearest == nil || r.Nearest.Equal >= r.Outputs {
		t.Fatalf("fits %+v, nearest %+v", r.Fits, r.Nearest)
	}
	t.Logf("nearest gives %d of %d", r.Nearest.Equal, r.Outputs)
}

func TestDamagedOutputs(t *testing.T) {
	var good bytes.Buffer
	if err := Encode(&good, GFX942, "a test", "0", synthetic(GFX942, matrixcore.CDNA3, InOrder)); err != nil {
		t.Fatal(err)
	}
	text := good.String()
	edit := func(change func(*file)) string {
		var f file
		if err := json.Unmarshal(good.Bytes(), &f); err != nil {
			t.Fatal(err)
		}
		change(&f)
		out, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	at := strings.Index(text, `"data":"`) + 5000
	other := "A"
	if text[at] == 'A' {
		other = "B"
	}
	for _, test := range []struct{ name, text, says string }{
		{"empty", "", "not JSON to its end"},
		{"cut off", text[:len(text)/2], "not JSON to its end"},
		{"a byte changed", text[:at] + other + text[at+1:], "checksum"},
		{"text", "hello", "not JSON to its end"},
		{"two values", text + text, "something follows"},
		{"other JSON", `{"a": 1}`, "not a probe's output"},
		{"another target", edit(func(f *file) { f.Target = "sm_90" }), `no probe for target "sm_90"`},
		{"other tiles", edit(func(f *file) { f.Inputs = digest(nil) }), "the probe ran other tiles"},
		{"a result missing", edit(func(f *file) { f.Results = f.Results[:1] }), "results of 1 instructions, want the 2"},
		{"results swapped", edit(func(f *file) { slices.Reverse(f.Results) }), `result 1 is of instruction "32x32x16"`},
		{"data too short", edit(func(f *file) { f.Results[0].Data = f.Results[0].Data[4:] }), "bytes of data, want"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Read(t.Context(), strings.NewReader(test.text))
			if err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, test.says)
			}
		})
	}
}

func TestGoValue(t *testing.T) {
	want := `&matrixcore.Rule{
	Name:           "hopper",
	Verified:       true,
	Source:         "measured on an H200: 122,880 of 122,880 outputs",
	Group:          32,
	SubSums:        1,
	Product:        matrixcore.Cut{Bits: 13, Rounding: matrixcore.Trunc},
	Join:           matrixcore.JoinEarly,
	ResultBits:     13,
	AddC:           true,
}`
	if got := GoValue(matrixcore.Hopper); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
