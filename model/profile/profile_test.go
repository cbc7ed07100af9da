package profile

import (
	"strings"
	"testing"

	"mqaproof/model/fp8"
	"mqaproof/model/matrixcore"
)

func TestNamedProfiles(t *testing.T) {
	want := map[string]bool{ // verified
		"scalar-seq on gfx942": true, "scalar-seq on gfx950": true,
		"mfma16-tree on gfx942": true, "mfma16-tree on gfx950": false,
		"mfma16-heads on gfx942": true, "mfma16-heads on gfx950": false,
		"mfma32-lanes on gfx942": true, "mfma32-lanes on gfx950": false,
		"mfma32x64-lanes on gfx950": false,
	}
	for _, p := range All() {
		if err := p.Check(); err != nil {
			t.Error(err)
		}
		found, err := Find(p.Name, p.Target)
		if err != nil || found != p {
			t.Errorf("Find(%q, %q) = %v, %v", p.Name, p.Target, found, err)
		}
		id := p.Name + " on " + p.Target
		verified, known := want[id]
		if !known || p.Verified() != verified {
			t.Errorf("%s: verified %v, want %v (known %v)", id, p.Verified(), verified, known)
		}
		delete(want, id)
		if said := strings.Contains(p.String(), "unverified"); said == p.Verified() || strings.Contains(p.Caveat(), "unverified") != said {
			t.Errorf("%s: verified %v, but it reads %q", id, p.Verified(), p)
		}
		m, err := MachineOf(p.Target)
		if err != nil || m.Format != p.Format {
			t.Errorf("%s: format %v, its machine has %v (%v)", id, p.Format, m.Format, err)
		}
	}
	if len(want) > 0 {
		t.Errorf("missing profiles: %v", want)
	}
}

func TestFindErrors(t *testing.T) {
	for _, test := range []struct{ name, target, says string }{
		{"mfma17", "gfx942", "mfma16-tree"},
		{"mfma32x64-lanes", "gfx942", "gfx950"},
	} {
		if _, err := Find(test.name, test.target); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("Find(%q, %q): error %v does not say %q", test.name, test.target, err, test.says)
		}
	}
	if _, err := MachineOf("gfx90a"); err == nil {
		t.Error("MachineOf knows gfx90a")
	}
}

func TestCheckRejects(t *testing.T) {
	good, err := Find("mfma16-tree", "gfx942")
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Profile){
		"no format":       func(p *Profile) { p.Format = 0 },
		"broken rule":     func(p *Profile) { p.Rule = &matrixcore.Rule{} },
		"step of 24":      func(p *Profile) { p.Step = 24 },
		"unknown scale":   func(p *Profile) { p.Scale = 9 },
		"no partial sums": func(p *Profile) { p.Sum.Partials = 0 },
		"fused from none": func(p *Profile) { p.Sum.FromZero = false },
		"missing fold":    func(p *Profile) { p.Sum.Folds = p.Sum.Folds[1:] },
		"repeated fold":   func(p *Profile) { p.Sum.Folds = []Fold{{1, 2}, {1, 2}, {4, 2}, {8, 2}} },
		"too few folds":   func(p *Profile) { p.Sum.Folds = p.Sum.Folds[:3] },
		"skewed fold":     func(p *Profile) { p.Sum.Folds = []Fold{{1, 4}, {3, 4}} },
	} {
		p := *good
		spoil(&p)
		if p.Check() == nil {
			t.Errorf("Check accepts a profile with %s", name)
		}
	}
	sequential := *good
	sequential.Sum.Folds = []Fold{{4, 4}, {1, 4}} // registers last, one after the other
	if err := sequential.Check(); err != nil {
		t.Errorf("Check rejects folds of four: %v", err)
	}
}

func TestFoldsInOrder(t *testing.T) {
	// (1 + 2^24) - 2^24 shows the order of three additions.
	p := &Profile{Name: "test", Target: "none", Format: fp8.E4M3FN, Scale: ScaleLast}
	one := []byte{fp8.E4M3FN.Encode(1)}
	row := Row{Q: []byte{one[0], one[0], one[0]}, Weights: []float32{1, 0x1p24, -0x1p24}}
	const one32 = 0x3f800000
	tests := []struct {
		sum  HeadSum
		want uint32
	}{
		{HeadSum{Partials: 1}, 0},                                                     // (1 + 2^24) - 2^24
		{HeadSum{Partials: 4, Folds: []Fold{{1, 2}, {2, 2}}}, 0},                      // (1 + 2^24) - 2^24; the fourth does not exist
		{HeadSum{Partials: 4, Folds: []Fold{{2, 2}, {1, 2}}}, one32},                  // (1 - 2^24) + 2^24
		{HeadSum{Partials: 2, FromZero: true, Folds: []Fold{{1, 2}}}, one32},          // (1 - 2^24) + 2^24
		{HeadSum{Partials: 4, FromZero: true, Fused: true, Folds: []Fold{{1, 4}}}, 0}, // ((1 + 2^24) - 2^24) + 0
	}
	for i, test := range tests {
		p.Sum = test.sum
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		got, err := p.Logit(row, one, 1)
		if err != nil || got != test.want {
			t.Errorf("order %d: got %#x, %v, want %#x", i, got, err, test.want)
		}
	}
}

func TestShapesAreChecked(t *testing.T) {
	p, err := Find("scalar-seq", "gfx942")
	if err != nil {
		t.Fatal(err)
	}
	good := Row{Q: make([]byte, 8), Weights: make([]float32, 2)}
	for name, call := range map[string]func() error{
		"no heads": func() error { _, err := p.Logit(Row{Q: make([]byte, 8)}, make([]byte, 4), 1); return err },
		"no dims":  func() error { _, err := p.Logit(Row{Weights: make([]float32, 2)}, nil, 1); return err },
		"uneven heads": func() error {
			_, err := p.Logit(Row{make([]byte, 7), make([]float32, 2)}, make([]byte, 3), 1)
			return err
		},
		"short k":       func() error { _, err := p.Logit(good, make([]byte, 3), 1); return err },
		"short results": func() error { return p.Logits(good, make([]byte, 8), make([]float32, 2), make([]uint32, 1)) },
	} {
		if call() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := p.Logit(good, make([]byte, 4), 1); err != nil {
		t.Error(err)
	}
}
