package model

import (
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	for _, tc := range []struct {
		name string
		c    Case
		want string // in the error; empty: valid
	}{
		{"small", small(), ""},
		{"upstream shape", with(func(c *Case) { c.NextN, c.Heads, c.HeadDim, c.Page, c.MaxModelLen = 3, 64, 128, 64, 163840 }), ""},
		{"one token a page", with(func(c *Case) { c.Page = 1 }), ""},
		{"dcp and ratio", with(func(c *Case) { c.DCP, c.Ratio = DCP{4, 3, 8}, 4 }), ""},
		{"ratio alone needs no interleave", with(func(c *Case) { c.Ratio = 4 }), ""},
		{"stride", with(func(c *Case) { c.LengthsStride = 5 }), ""},
		{"no style", with(func(c *Case) { c.Data = "" }), `data "" is no data style`},
		{"no layout", with(func(c *Case) { c.Layout = "flat" }), `layout "flat"`},
		{"no request", with(func(c *Case) { c.Requests = nil }), "number of requests is 0; it must be 1 to 1024"},
		{"many requests", with(func(c *Case) { c.Requests = make([]Request, 1025) }), "number of requests is 1025"},
		{"next_n 0", with(func(c *Case) { c.NextN = 0 }), "next_n is 0; it must be 1 to 8"},
		{"next_n 9", with(func(c *Case) { c.NextN = 9 }), "next_n is 9"},
		{"heads 0", with(func(c *Case) { c.Heads = 0 }), "heads is 0"},
		{"heads 257", with(func(c *Case) { c.Heads = 257 }), "heads is 257; it must be 1 to 256"},
		{"head_dim 6", with(func(c *Case) { c.HeadDim = 6 }), "head_dim is 6; it must be a multiple of 4"},
		{"head_dim 516", with(func(c *Case) { c.HeadDim = 516 }), "head_dim is 516"},
		{"page 0", with(func(c *Case) { c.Page = 0 }), "page is 0"},
		{"page huge", with(func(c *Case) { c.Page = 1 << 40 }), "page is"},
		{"max_model_len", with(func(c *Case) { c.MaxModelLen = 1<<24 + 1 }), "max_model_len is 16777217"},
		{"extra", with(func(c *Case) { c.ExtraPages = -1 }), "extra_pages is -1"},
		{"short stride", with(func(c *Case) { c.LengthsStride = 1 }), "lengths_stride is 1; it must be 2 to"},
		{"world", with(func(c *Case) { c.DCP.World = -2 }), "dcp.world is -2"},
		{"rank", with(func(c *Case) { c.DCP = DCP{2, 2, 1} }), "dcp.rank is 2; it must be 0 to 1"},
		{"rank without dcp", with(func(c *Case) { c.DCP.Rank = 1 }), "dcp.rank is 1"},
		{"interleave", with(func(c *Case) { c.DCP = DCP{2, 1, -1} }), "dcp.interleave is -1"},
		{"interleave and ratio", with(func(c *Case) { c.DCP, c.Ratio = DCP{2, 1, 6}, 4 }), "dcp.interleave is 6; with ratio 4 it must be a multiple"},
		{"ratio", with(func(c *Case) { c.Ratio = -1 }), "ratio is -1"},
		{"preshuffled page", with(func(c *Case) { c.Layout = Preshuffled }), "page 4 must be multiples of 16 and 16"},
		{"preshuffled dims", with(func(c *Case) { c.Layout, c.Page, c.HeadDim = Preshuffled, 16, 20 }), "head_dim 20"},
		{"context below next_n", with(func(c *Case) { c.Requests[0].Context = 1 }), "requests[0].context is 1; it must be 0 (padding) or from next_n 2 to max_model_len 64"},
		{"negative context", with(func(c *Case) { c.Requests[2].Context = -5 }), "requests[2].context is -5"},
		{"context beyond", with(func(c *Case) { c.Requests[2].Context = 65 }), "requests[2].context is 65"},
		{"same id", with(func(c *Case) { c.Requests[2].ID = 3 }), "requests 0 and 2 have the same id 3"},
		{"large q", with(func(c *Case) {
			c.NextN, c.Heads, c.HeadDim, c.Requests = 8, 256, 512, manyRequests(1024, 8)
		}), "q bytes"},
		{"large cache", with(func(c *Case) {
			c.HeadDim, c.MaxModelLen, c.Requests = 512, 1<<20, manyRequests(2, 1<<20)
		}), "cache bytes"},
		{"large pages", with(func(c *Case) { c.Page, c.Requests = 1<<16, manyRequests(1024, 8) }), "cache bytes"},
		{"long walk", with(func(c *Case) {
			c.MaxModelLen, c.Ratio, c.Requests = 1<<24, 4096, manyRequests(3, 1<<23)
		}), "contexts add up to"},
		{"large block table", with(func(c *Case) {
			c.Page, c.HeadDim, c.ExtraPages, c.MaxModelLen, c.Requests = 1, 4, 4096, 1<<15, manyRequests(512, 1<<15)
		}), "block table entries"},
		{"large logits", with(func(c *Case) { c.MaxModelLen, c.Requests = 1<<24, manyRequests(5, 8) }), "logits"},
		{"largest logits", with(func(c *Case) { c.MaxModelLen, c.Requests = 1<<24, manyRequests(4, 8) }), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := tc.c.Validate()
			if tc.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil {
				t.Fatalf("valid; want an error with %q", tc.want)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %q; want it to hold %q", err, tc.want)
			}
		})
	}
}

func manyRequests(n, context int) []Request {
	r := make([]Request, n)
	for i := range r {
		r[i] = Request{ID: uint32(i), Context: context}
	}
	return r
}
