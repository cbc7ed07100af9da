package model

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// TestPages: each page of 1..N is one request's, entries behind the needed
// ones lead out of the cache, exactly the null page and the tokens are
// defined, and the flat slots agree with the block table.
func TestPages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, f := cases(t), formats(t)
		in, err := Build(c, f)
		if err != nil {
			t.Fatal(err)
		}
		defined := make([]bool, len(in.Cache.Bytes))
		for i := range in.Cache.PageBytes {
			defined[i] = true
			if in.Cache.Bytes[i] != 0 {
				t.Fatalf("null page: byte %d is %#x", i, in.Cache.Bytes[i])
			}
		}
		used := make([]int, in.Cache.Pages)
		widest, last := 0, int32(0)
		for r := range c.Requests {
			row := in.BlockTable[r*in.TableWidth : (r+1)*in.TableWidth]
			needed := (in.LocalLen(r) + c.Page - 1) / c.Page
			widest = max(widest, needed)
			for i, page := range row {
				if i >= needed {
					if int(page) < in.Cache.Pages {
						t.Fatalf("request %d: spare entry %d is page %d of %d", r, i, page, in.Cache.Pages)
					}
					continue
				}
				used[page]++
				if !c.ShufflePages && page != last+1 {
					t.Fatalf("request %d: page %d after %d, not ascending", r, page, last)
				}
				last = page
			}
			for pos := range in.LocalLen(r) {
				page, token := int(row[pos/c.Page]), pos%c.Page
				if got := in.KVIndices[int(in.Prefix[r])+pos]; int(got) != page*c.Page+token {
					t.Fatalf("request %d position %d: flat slot %d, block table says %d", r, pos, got, page*c.Page+token)
				}
				for d := range c.HeadDim {
					defined[in.Cache.Geometry.ValueOffset(page, token, d)] = true
				}
				for i := range 4 {
					defined[in.Cache.Geometry.ScaleOffset(page, token)+i] = true
				}
			}
		}
		for p, n := range used[1:] {
			if n != 1 {
				t.Fatalf("page %d is used %d times", p+1, n)
			}
		}
		if used[0] != 0 {
			t.Fatal("a request uses the null page")
		}
		if want := max(widest+c.ExtraPages, 1); in.TableWidth != want {
			t.Fatalf("table width %d, want %d", in.TableWidth, want)
		}
		if int(in.Prefix[len(c.Requests)]) != len(in.KVIndices) {
			t.Fatalf("prefix ends at %d, %d flat slots", in.Prefix[len(c.Requests)], len(in.KVIndices))
		}
		for i := range defined {
			if defined[i] != in.Cache.Defined[i] {
				t.Fatalf("byte %d: defined %t, want %t", i, in.Cache.Defined[i], defined[i])
			}
		}
		checkPoison(t, in)
	})
}

// checkPoison: what no token wrote is NaN, values and scales.
func checkPoison(t *rapid.T, in *Inputs) {
	for page := 1; page < in.Cache.Pages; page++ {
		slots := readPage(in.Case.Layout, in.Cache.Bytes[page*in.Cache.PageBytes:][:in.Cache.PageBytes], in.Case.Page, in.Case.HeadDim)
		for token, s := range slots {
			if in.Cache.Defined[in.Cache.Geometry.ValueOffset(page, token, 0)] {
				continue
			}
			if s.Scale == s.Scale || !bytes.Equal(s.Values, bytes.Repeat([]byte{in.Format.NaN()}, in.Case.HeadDim)) {
				t.Fatalf("page %d token %d: an unwritten slot holds %v, scale %v", page, token, s.Values, s.Scale)
			}
		}
	}
}

// TestPageSeed: another seed, other places, the same tokens.
func TestPageSeed(t *testing.T) {
	a := build(t, RenamePages(small(), 1))
	b := build(t, RenamePages(small(), 2))
	if bytes.Equal(a.Cache.Bytes, b.Cache.Bytes) {
		t.Error("two page seeds gave the same cache")
	}
	if !bytes.Equal(a.keys, b.keys) || !bytes.Equal(a.Q, b.Q) {
		t.Error("the page seed changed values")
	}
}
