package model

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// slot is what an independent reader finds in a token's place.
type slot struct {
	Values []byte
	Scale  float32
}

// readPage takes a page apart by the words of the layouts, front to back,
// without address formulas: each byte goes to whose turn it is.
func readPage(layout Layout, page []byte, tokens, dims int) []slot {
	slots := make([]slot, tokens)
	scale := func(t int) {
		slots[t].Scale = math.Float32frombits(binary.LittleEndian.Uint32(page))
		page = page[4:]
	}
	values := func(t, n int) {
		slots[t].Values = append(slots[t].Values, page[:n]...)
		page = page[n:]
	}
	switch layout {
	case Interleaved:
		for t := range slots {
			values(t, dims)
			scale(t)
		}
		return slots
	case BlockFlat:
		for t := range slots {
			values(t, dims)
		}
	case Preshuffled:
		for tile := 0; tile < tokens; tile += 16 {
			for d := 0; d < dims; d += 16 {
				for t := tile; t < tile+16; t++ {
					values(t, 16)
				}
			}
		}
	}
	for t := range slots {
		scale(t)
	}
	return slots
}

// TestCacheRoundTrip reads every request's cache through its block table with
// readPage and finds the values as drawn, NaN patterns included.
func TestCacheRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, f := cases(t), formats(t)
		in, err := Build(c, f)
		if err != nil {
			t.Fatal(err)
		}
		for r := range c.Requests {
			row := in.BlockTable[r*in.TableWidth:]
			var got []slot
			for n := 0; n < in.LocalLen(r); n += c.Page {
				page := in.Cache.Bytes[int(row[n/c.Page])*in.Cache.PageBytes:][:in.Cache.PageBytes]
				got = append(got, readPage(in.Case.Layout, page, c.Page, c.HeadDim)...)
			}
			for pos := range in.LocalLen(r) {
				want := slot{in.KCodes(r)[pos*c.HeadDim : (pos+1)*c.HeadDim], in.ScaleAt(r, pos)}
				same := cmp.Comparer(func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) })
				if diff := cmp.Diff(want, got[pos], same); diff != "" {
					t.Fatalf("request %d position %d (-drawn +read):\n%s", r, pos, diff)
				}
			}
		}
	})
}

// TestOffsetsCoverPage: every byte of a page is one value's or one scale's.
func TestOffsetsCoverPage(t *testing.T) {
	for _, g := range []Geometry{
		{BlockFlat, 1, 4}, {BlockFlat, 64, 128}, {Interleaved, 1, 128}, {Interleaved, 5, 12},
		{Preshuffled, 16, 16}, {Preshuffled, 64, 128}, {Preshuffled, 32, 48},
	} {
		owner := make([]int, g.PageBytes())
		base := 3 * g.PageBytes()
		for token := range g.Page {
			for d := range g.HeadDim {
				owner[g.ValueOffset(3, token, d)-base]++
			}
			for i := range 4 {
				owner[g.ScaleOffset(3, token)-base+i]++
			}
		}
		for i, n := range owner {
			if n != 1 {
				t.Fatalf("%+v: byte %d of a page belongs to %d things", g, i, n)
			}
		}
	}
}

// TestOffsets pins some addresses, worked out by hand.
func TestOffsets(t *testing.T) {
	for _, tc := range []struct {
		g                Geometry
		page, token, dim int
		value, scale     int
	}{
		{Geometry{BlockFlat, 64, 128}, 0, 0, 0, 0, 8192},
		{Geometry{BlockFlat, 64, 128}, 2, 3, 5, 2*8448 + 3*128 + 5, 2*8448 + 8192 + 12},
		{Geometry{Interleaved, 1, 128}, 7, 0, 9, 7*132 + 9, 7*132 + 128},
		{Geometry{Interleaved, 4, 32}, 1, 3, 31, 4*36 + 3*36 + 31, 4*36 + 3*36 + 32},
		{Geometry{Preshuffled, 64, 128}, 0, 17, 18, 16*128 + 256 + 16 + 2, 8192 + 68},
		{Geometry{Preshuffled, 16, 32}, 1, 15, 31, 16*36 + 256 + 15*16 + 15, 16*36 + 512 + 60},
	} {
		if got := tc.g.ValueOffset(tc.page, tc.token, tc.dim); got != tc.value {
			t.Errorf("%+v page %d token %d dim %d: value at %d, want %d", tc.g, tc.page, tc.token, tc.dim, got, tc.value)
		}
		if got := tc.g.ScaleOffset(tc.page, tc.token); got != tc.scale {
			t.Errorf("%+v page %d token %d: scale at %d, want %d", tc.g, tc.page, tc.token, got, tc.scale)
		}
	}
}
