package kernels

import (
	"strings"
	"testing"

	"mqaproof/model"

	"github.com/google/go-cmp/cmp"
)

func smallCase(change func(*model.Case)) model.Case {
	c := model.Case{
		Seed: 1, Data: model.Exact, NextN: 2, Heads: 16, HeadDim: 32, Page: 64, Layout: model.BlockFlat, MaxModelLen: 300,
		Requests: []model.Request{{ID: 1, Context: 9}, {ID: 2, Context: 0}},
	}
	if change != nil {
		change(&c)
	}
	return c
}

func TestAccepts(t *testing.T) {
	tests := []struct {
		name   string
		change func(*model.Case)
		want   string
		fits   bool // without asking the wiring
	}{
		{"as limited", nil, "", true},
		{"the kernel's own layout", func(c *model.Case) { c.Layout = "" }, "", true},
		{"heads", func(c *model.Case) { c.Heads = 32 }, "test/small gfx942 last-column: accepts heads 16, 64; the case has 32", false},
		{"page", func(c *model.Case) { c.Page = 16 }, "test/small gfx942 last-column: accepts page 1, 64; the case has 16", false},
		{"layout", func(c *model.Case) { c.Layout = model.Interleaved }, "test/small gfx942 last-column: accepts layout block-flat; the case has interleaved", false},
		{"where", func(c *model.Case) { c.Page, c.MaxModelLen = 1, 200 }, "test/small gfx942 last-column: accepts only cases with splits < 100", false},
		{"where, just", func(c *model.Case) { c.Page, c.MaxModelLen = 1, 198 }, "", true},
		{"wiring", func(c *model.Case) { c.DCP = model.DCP{World: 2, Interleave: 1} }, "test/small gfx942 last-column: wiring last-column is meant for cases with world == 1", true},
		{"a wrong case", func(c *model.Case) { c.NextN = 0 }, "case: next_n is 0", false},
	}
	s := smallSubjects(t)["last-column"]
	for _, test := range tests {
		c := smallCase(test.change)
		if got := message(s.Accepts(c)); test.want == "" && got != "" || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: got  %s\nwant %s", test.name, got, test.want)
		}
		if got := s.runs(c) == nil; got != test.fits {
			t.Errorf("%s: runs is %v, want %v", test.name, got, test.fits)
		}
		if got, want := s.Meant(c), test.name != "wiring"; got != want {
			t.Errorf("%s: meant is %v, want %v", test.name, got, want)
		}
	}
}

func TestFit(t *testing.T) {
	tests := []struct {
		name   string
		change func(*model.Case)
		want   func(*model.Case) // from smallCase after change
		err    string
	}{
		{name: "fits as it is"},
		{name: "no layout", change: func(c *model.Case) { c.Layout = "" }, want: func(c *model.Case) { c.Layout = model.BlockFlat }},
		{name: "another layout", change: func(c *model.Case) { c.Layout, c.Page = model.Interleaved, 1 }, want: func(c *model.Case) { c.Layout, c.Page = model.BlockFlat, 64 }},
		{name: "another page, the first that the condition allows", change: func(c *model.Case) { c.Page = 16 }, want: func(c *model.Case) { c.Page = 64 }},
		{name: "another page, the first of all", change: func(c *model.Case) { c.Page, c.MaxModelLen = 16, 100 }, want: func(c *model.Case) { c.Page = 1 }},
		{name: "open heads and dims", change: func(c *model.Case) { c.Heads, c.HeadDim = 0, 0 }, want: func(c *model.Case) { c.Heads, c.HeadDim = 64, 128 }},
		{name: "heads", change: func(c *model.Case) { c.Heads = 48 }, err: "test/small gfx942 table: accepts heads 16, 64; the case has 48"},
		{name: "DCP is the wiring's matter", change: func(c *model.Case) { c.DCP = model.DCP{World: 2, Interleave: 1} }},
	}
	s := smallSubjects(t)["table"]
	for _, test := range tests {
		c := smallCase(test.change)
		got, err := s.Fit(c)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: got  %v\nwant %s", test.name, err, test.err)
			}
			continue
		}
		if test.want != nil {
			test.want(&c)
		}
		if diff := cmp.Diff(c, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", test.name, err, diff)
		}
	}
}
