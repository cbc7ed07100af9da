package profile

import (
	"reflect"
	"strings"
	"testing"
)

func mustTree(t *testing.T, text string) *Tree {
	t.Helper()
	tree, err := ParseTree(text)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// gluonLike has all that a file can hold besides a sum.
func gluonLike(t *testing.T) *Profile {
	p := *must(Find("mfma16-heads", "gfx942"))
	p.Name = "derived/gluon-like"
	p.Relu = ReluNaN
	p.Scale = ScaleIntoWeight
	p.Dims = map[int][][]int{4: {{0, 2, 1, 3}}, 32: {append(seq(16, 32), seq(0, 16)...)}, 64: {seq(32, 64), seq(0, 32)}}
	p.Dots = map[int]*Tree{64: mustTree(t, "(0 1)")}
	p.Heads = map[int]*Tree{4: mustTree(t, "((2 *0) (3 *1))"), 1: Leaf(0)}
	p.Sum = HeadSum{FromZero: true}
	return &p
}

func must(p *Profile, err error) *Profile {
	if err != nil {
		panic(err)
	}
	return p
}

func seq(from, to int) (s []int) {
	for i := from; i < to; i++ {
		s = append(s, i)
	}
	return s
}

func TestFilesKeepProfiles(t *testing.T) {
	scalar := *must(Find("scalar-seq", "gfx950"))
	scalar.Target = "elsewhere"
	scalar.Dots = map[int]*Tree{2: Node(Leaf(0), Leaf(1))}
	for _, p := range append(All(), gluonLike(t), &scalar) {
		data, err := Write(p)
		if err != nil {
			t.Errorf("%s: %v", p, err)
			continue
		}
		back, err := Read(data)
		if err != nil || len(back) != 1 {
			t.Errorf("%s: %v from\n%s", p, err, data)
			continue
		}
		if !reflect.DeepEqual(back[0], p) {
			t.Errorf("%s comes back as %+v from\n%s", p, back[0], data)
		}
		if strings.Contains(string(data), "unverified") == p.Verified() {
			t.Errorf("%s: verified %v, but its file is\n%s", p, p.Verified(), data)
		}
		if p.Summary() != back[0].Summary() || strings.Contains(p.Summary(), "unverified") == p.Verified() {
			t.Errorf("%s: summary %q", p, p.Summary())
		}
	}
}

func TestFileReadsAsText(t *testing.T) {
	data, err := Write(gluonLike(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`"matrix_core": "cdna3"`, `"64": "32-63 | 0-31"`, `"32": "16-31 0-15"`, `"4": "0 2 1 3"`, `"4": "((2 *0) (3 *1))"`, `"scale": "into weight"`, `"relu": "nan is nan"`,
	} {
		if !strings.Contains(string(data), line) {
			t.Errorf("no %s in\n%s", line, data)
		}
	}
}

func TestBadFiles(t *testing.T) {
	data, err := Write(gluonLike(t))
	if err != nil {
		t.Fatal(err)
	}
	good := string(data)
	for name, test := range map[string]struct{ old, with, says string }{
		"unknown field":     {`"scale"`, `"scales"`, "unknown field"},
		"unknown scale":     {"into weight", "somewhere", `"somewhere" is not known`},
		"unknown relu":      {"nan is nan", "nan is 7", `"nan is 7" is not known`},
		"unknown rule":      {`"cdna3"`, `"cdna9"`, "cdna9"},
		"unknown format":    {"e4m3fnuz", "e5m2", "e5m2"},
		"no order":          {"16-31 0-15", "16-31 0-14", "no order of 0 to 31"},
		"no run":            {"16-31 0-15", "16-x", "neither a dim nor a run"},
		"chains not summed": {`"64": "(0 1)"`, `"64": "0"`, "want 2"},
		"chains fused":      {`"64": "(0 1)"`, `"64": "(0 *1)"`, "cannot be fused"},
		"a tree too small":  {"((2 *0) (3 *1))", "(0 1)", "want 4"},
		"no tree":           {"((2 *0) (3 *1))", "((2 *0)", "not closed"},
		"step":              {`"step": 32`, `"step": 7`, "whole groups"},
		"both":              {`"heads": {`, `"sum": {"partials": 1, "fused": false}, "heads": {`, "either sum or heads"},
		"cut short":         {"]", "", "not a profile file"},
	} {
		bad := strings.Replace(good, test.old, test.with, 1)
		if bad == good {
			t.Errorf("%s: nothing replaced", name)
		}
		if _, err := Read([]byte(bad)); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: error %v does not say %q", name, err, test.says)
		}
	}
	twice := strings.Replace(good, "[\n", "[\n"+string(mustJSON(t))+",\n", 1)
	if _, err := Read([]byte(twice)); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a target that is there twice: %v", err)
	}
}

func mustJSON(t *testing.T) []byte {
	data, err := gluonLike(t).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestCovers(t *testing.T) {
	p := gluonLike(t)
	for _, test := range []struct {
		heads, dim int
		ok         bool
	}{{4, 32, true}, {1, 4, true}, {2, 32, false}, {4, 128, false}} {
		if err := p.Covers(test.heads, test.dim); (err == nil) != test.ok {
			t.Errorf("%d heads, head_dim %d: %v", test.heads, test.dim, err)
		}
	}
	row := Row{Q: make([]byte, 64), Weights: make([]float32, 2)}
	if _, err := p.Logit(row, make([]byte, 32), 1); err == nil || !strings.Contains(err.Error(), "2 heads, only for 1, 4") {
		t.Errorf("a logit of 2 heads: %v", err)
	}
	for _, p := range All() {
		if err := p.Covers(7, 24); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
}
