package report

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqaproof/kernels"
	"mqaproof/model"
	"mqaproof/properties"
	"mqaproof/shrink"
)

func subject(target, fault string) *kernels.Subject {
	m := &kernels.Manifest{Kind: kernels.Logits, Wirings: map[string]kernels.Wiring{"table": {Fault: fault, Property: "mask"}}}
	return &kernels.Subject{Name: "own/kernel", Target: target, Wiring: "table", Backend: "emu", Manifest: m}
}

func find(announced bool) *Find {
	c := model.Case{Seed: 1, Data: model.Exact, NextN: 2, Heads: 16, HeadDim: 32, Page: 1, MaxModelLen: 2, Requests: []model.Request{{Context: 2}}}
	return &Find{
		Violation: &properties.Violation{Property: "mask", Row: 0, Position: 0, Expected: "a value", Got: "-inf", WrongRows: 2, Rows: 2,
			Mask: &properties.MaskPicture{Expected: [][]bool{{true, false}, {true, true}}, Got: [][]bool{{false, false}, {true, false}}}},
		Minimal: shrink.Outcome{Case: c, Runs: 29}, Announced: announced, Path: "corpus/mask-1.json",
	}
}

func TestText(t *testing.T) {
	broken := errors.New("no such thing")
	for _, test := range []struct {
		name string
		o    Outcome
		want string
	}{
		{"holds", Outcome{Subject: subject("gfx942", ""), Cases: 200, Properties: 10, Time: 1234 * time.Millisecond},
			"own/kernel                   gfx942  table            200    1.2s  holds 10 properties\n"},
		{"unverified", Outcome{Subject: subject("gfx950", ""), Cases: 7, Properties: 9},
			"own/kernel                   gfx950  table              7    0.0s  holds 9 properties (unverified)\n"},
		{"not found", Outcome{Subject: subject("gfx942", "B01"), Cases: 200},
			"own/kernel                   gfx942  table            200    0.0s  announced fault B01 NOT FOUND\n"},
		{"not run", Outcome{Subject: subject("gfx942", ""), Err: broken},
			"own/kernel                   gfx942  table              0    0.0s  could not be run: no such thing\n"},
		{"stopped", Outcome{Subject: subject("gfx942", ""), Cases: 3, Properties: 10, Unfinished: true},
			"own/kernel                   gfx942  table              3    0.0s  stopped; 10 properties held so far\n"},
		{"found", Outcome{Subject: subject("gfx942", "B01"), Cases: 1, Find: find(true)}, `own/kernel                   gfx942  table              1    0.0s  FAULT B01 (announced): mask, 2 of 2 rows
    1 request, next_n 2, context 2, 16 heads, head_dim 32, page 1 (shrunk in 29 runs)
                       expected  got
    row 0 (j=0)        #.        ..
    row 1 (j=1)        ##        #.
    again: mqaproof replay corpus/mask-1.json
`},
	} {
		var b strings.Builder
		test.o.Text(&b)
		if d := cmp.Diff(test.want, b.String()); d != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, d)
		}
	}
}

// What was not saved is said, and counts as a failure of the campaign.
func TestUnsaved(t *testing.T) {
	o := Outcome{Subject: subject("gfx942", "B01"), Find: find(true)}
	o.Find.Unsaved = errors.New("disk full")
	var b strings.Builder
	o.Text(&b)
	if !strings.Contains(b.String(), "NOT SAVED: disk full") || Count([]*Outcome{&o}).Failed != 1 {
		t.Errorf("an unsaved find: %+v\n%s", Count([]*Outcome{&o}), b.String())
	}
}

func TestCount(t *testing.T) {
	all := []*Outcome{
		{Subject: subject("gfx942", "")},
		{Subject: subject("gfx942", ""), Find: find(false)},
		{Subject: subject("gfx942", "B01"), Find: find(true)},
		{Subject: subject("gfx942", "B01")},
		{Subject: subject("gfx942", "B01"), Unfinished: true},
		{Subject: subject("gfx942", ""), Err: errors.New("broken")},
		{Subject: subject("gfx942", ""), Err: errors.New("broken later"), Find: find(false)},
	}
	if got, want := Count(all), (Counts{Hold: 1, Announced: 1, Surprises: 3, Failed: 1, Unfinished: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A large mask is told, not drawn.
func TestLargeMask(t *testing.T) {
	f := find(true)
	f.Violation.Mask = &properties.MaskPicture{Expected: [][]bool{make([]bool, 100)}, Got: [][]bool{make([]bool, 100)}}
	var b strings.Builder
	Minimal(&b, f.Violation, f.Minimal)
	if strings.Contains(b.String(), "....") || !strings.Contains(b.String(), "2 of 2 rows, first at row 0 position 0: expected a value, got -inf") {
		t.Errorf("prints\n%s", b.String())
	}
}

func TestOutcomeJSON(t *testing.T) {
	for want, o := range map[string]*Outcome{
		"holds":           {Subject: subject("gfx942", "")},
		"announced fault": {Subject: subject("gfx942", "B01"), Find: find(true)},
		"counterexample":  {Subject: subject("gfx942", ""), Find: find(false)},
		"not found":       {Subject: subject("gfx942", "B01")},
		"stopped":         {Subject: subject("gfx942", ""), Unfinished: true},
		"error":           {Subject: subject("gfx942", ""), Err: errors.New("broken")},
	} {
		var b strings.Builder
		if err := JSON(&b, []*Outcome{o}, time.Second, 5); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Seed     int
			Subjects []struct {
				Result    string
				Violation *properties.Violation
			}
		}
		if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
			t.Fatal(err)
		}
		if got.Seed != 5 || got.Subjects[0].Result != want || (o.Find != nil) != (got.Subjects[0].Violation != nil) {
			t.Errorf("%s: %s", want, b.String())
		}
	}
}
