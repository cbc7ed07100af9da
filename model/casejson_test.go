package model

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCaseJSON(t *testing.T) {
	const want = `{"seed":7,"data":"exact","next_n":2,"heads":4,"head_dim":16,"page":4,"max_model_len":64,` +
		`"requests":[{"id":3,"context":11},{"id":1,"context":0},{"id":8,"context":20}]}`
	for name, c := range map[string]Case{
		"plain":        small(),
		"spelled out":  with(func(c *Case) { c.DCP, c.Ratio, c.LengthsStride = DCP{1, 0, 1}, 1, 2 }),
		"interleave":   with(func(c *Case) { c.DCP = DCP{World: 1, Interleave: 16} }),
		"unused pages": with(func(c *Case) { c.PageSeed = 5 }),
	} {
		got, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}

func TestCaseJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := cases(t)
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeCase(data)
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if diff := cmp.Diff(c.Canonical(), got); diff != "" {
			t.Fatalf("(-canonical +read):\n%s", diff)
		}
		if diff := cmp.Diff(c.Normalise(), got.Normalise()); diff != "" {
			t.Fatalf("meaning differs:\n%s", diff)
		}
	})
}

func TestDecodeCaseErrors(t *testing.T) {
	valid, err := json.Marshal(small())
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", "empty"},
		{"cut", string(valid[:40]), "unexpected EOF"},
		{"array", "[]", "cannot unmarshal"},
		{"unknown field", strings.Replace(string(valid), `"page"`, `"pages"`, 1), `unknown field "pages"`},
		{"unknown field inside", strings.Replace(string(valid), `"id":3`, `"idx":3`, 1), `unknown field "idx"`},
		{"more text", string(valid) + "{}", "more text"},
		{"invalid", strings.Replace(string(valid), `"heads":4`, `"heads":0`, 1), "heads is 0"},
		{"no integer", strings.Replace(string(valid), `"heads":4`, `"heads":4.5`, 1), "heads"},
	} {
		if _, err := DecodeCase([]byte(tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v; want one with %q", tc.name, err, tc.want)
		}
	}
	if _, err := DecodeCase(append(valid, '\n')); err != nil {
		t.Errorf("a newline at the end: %v", err)
	}
}

// TestUnknownFieldInLargerFile: strictness holds where a case is a part.
func TestUnknownFieldInLargerFile(t *testing.T) {
	var file struct{ Case Case }
	err := json.Unmarshal([]byte(`{"case":{"seed":1,"speed":2}}`), &file)
	if err == nil || !strings.Contains(err.Error(), `unknown field "speed"`) {
		t.Errorf("error %v; want unknown field", err)
	}
}

func TestCaseString(t *testing.T) {
	minimal := Case{Data: Exact, NextN: 2, Heads: 16, HeadDim: 32, Page: 1, MaxModelLen: 2, Requests: []Request{{Context: 2}}}
	for _, tc := range []struct {
		c    Case
		want string
	}{
		{minimal, "1 request, next_n 2, context 2, 16 heads, head_dim 32, page 1"},
		{small(), "3 requests, next_n 2, contexts 11 0 20, 4 heads, head_dim 16, page 4"},
		{with(func(c *Case) {
			c.Requests, c.DCP, c.Ratio = manyRequests(16, 5), DCP{2, 1, 8}, 4
			c.Requests[3].Context = 40
		}), "16 requests, next_n 2, contexts 5 to 40, 4 heads, head_dim 16, page 4, DCP world 2 rank 1 interleave 8, ratio 4"},
		{with(func(c *Case) {
			c.Heads, c.Data, c.Layout, c.LengthsStride, c.ShufflePages, c.ExtraPages = 1, NaN, Interleaved, 6, true, 1
		}), "3 requests, next_n 2, contexts 11 0 20, 1 head, head_dim 16, page 4, interleaved, lengths stride 6, pages shuffled, 1 extra page, nan data"},
		{Case{}, "0 requests, next_n 0, no context, 0 heads, head_dim 0, page 0,  data"},
	} {
		if got := tc.c.String(); got != tc.want {
			t.Errorf("\n got %s\nwant %s", got, tc.want)
		}
	}
}

// FuzzDecodeCase: whatever the bytes, an error or a case that builds.
func FuzzDecodeCase(f *testing.F) {
	for _, c := range []Case{small(), with(func(c *Case) { c.DCP, c.Ratio, c.Layout = DCP{2, 1, 8}, 4, Interleaved })} {
		data, err := json.Marshal(c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"requests":[{"context":9223372036854775807}],"max_model_len":9223372036854775807}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := DecodeCase(data)
		if err != nil {
			return
		}
		for _, r := range c.Requests {
			if r.Context > 1<<12 {
				return // valid, but slow
			}
		}
		if len(c.Requests)*c.NextN*c.Heads*c.HeadDim < 1<<16 && c.Page < 1<<10 {
			build(t, c)
		}
	})
}
