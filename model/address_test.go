package model

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestSplitMix: a place is splitmix64; these are its published first outputs
// from the state 1234567.
func TestSplitMix(t *testing.T) {
	want := []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821}
	for i, w := range want {
		if got := at(1234567, i); got != w {
			t.Errorf("output %d is %d, want %d", i, got, w)
		}
	}
}

func TestShuffle(t *testing.T) {
	for n := range 30 {
		perm := shuffle(uint64(n), n)
		sorted := slices.Clone(perm)
		slices.Sort(sorted)
		for i, v := range sorted {
			if v != i {
				t.Fatalf("shuffle of %d is no permutation: %v", n, perm)
			}
		}
	}
	if slices.Equal(shuffle(1, 20), shuffle(2, 20)) {
		t.Error("two seeds gave one order")
	}
}

// token is all that belongs to a request, by what it is.
type token struct {
	id          uint32
	kind        byte // q, w, k, s
	place, h, d int
}

func tokens(in *Inputs) map[token]uint32 {
	c, all := in.Case, map[token]uint32{}
	bits := math.Float32bits
	for i, r := range c.Requests {
		for j := range c.NextN {
			row, back := i*c.NextN+j, c.NextN-1-j
			for h := range c.Heads {
				all[token{r.ID, 'w', back, h, 0}] = bits(in.WeightAt(row, h))
				for d := range c.HeadDim {
					all[token{r.ID, 'q', back, h, d}] = bits(in.QAt(row, h, d))
				}
			}
		}
		for pos := range in.LocalLen(i) {
			state := in.LocalState(i, pos)
			all[token{r.ID, 's', state, 0, 0}] = bits(in.ScaleAt(i, pos))
			for d := range c.HeadDim {
				all[token{r.ID, 'k', state, 0, d}] = bits(in.KAt(i, pos, d))
			}
		}
	}
	return all
}

// TestShrinkingKeepsValues: a smaller case has a part of the larger one's
// values, unchanged, and no others. (NaN data place their NaNs by shape.)
func TestShrinkingKeepsValues(t *testing.T) {
	shrinks := map[string]func(*Case){
		"remove a request":  func(c *Case) { c.Requests = slices.Delete(slices.Clone(c.Requests), 0, 1) },
		"shorten a context": func(c *Case) { c.Requests = slices.Clone(c.Requests); c.Requests[0].Context = c.NextN },
		"next_n":            func(c *Case) { c.NextN = 1 },
		"heads":             func(c *Case) { c.Heads = 1 },
		"head_dim":          func(c *Case) { c.HeadDim -= 16 },
		"page":              func(c *Case) { c.Page += 16 },
		"max_model_len":     func(c *Case) { c.MaxModelLen += 7 },
		"pages in order":    func(c *Case) { c.ShufflePages = false },
		"another layout":    func(c *Case) { c.Layout = Interleaved },
	}
	rapid.Check(t, func(t *rapid.T) {
		large := cases(t)
		if large.Data == NaN {
			large.Data = Normal
		}
		large.HeadDim, large.Page = 32, 16
		large.Requests = append(large.Requests, Request{ID: 99, Context: large.NextN})
		name := rapid.SampledFrom(slices.Sorted(func(yield func(string) bool) {
			for k := range shrinks {
				if !yield(k) {
					return
				}
			}
		})).Draw(t, "shrink")
		reduced := large
		shrinks[name](&reduced)
		f := formats(t)
		a, err := Build(large, f)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Build(reduced, f)
		if err != nil {
			t.Fatal(err)
		}
		before := tokens(a)
		for k, v := range tokens(b) {
			w, ok := before[k]
			if !ok && name == "shorten a context" {
				continue // a padding request may have been lengthened
			}
			if !ok || v != w {
				t.Fatalf("%s: %c of request %d place %d head %d dim %d: %#x, was %#x (present %t)", name, k.kind, k.id, k.place, k.h, k.d, v, w, ok)
			}
		}
	})
}

// TestRankValues: the ranks of a DCP group hold parts of what one rank without
// DCP holds.
func TestRankValues(t *testing.T) {
	whole := tokens(build(t, with(func(c *Case) { c.Ratio = 2 })))
	n := 0
	for rank := range 3 {
		part := tokens(build(t, with(func(c *Case) { c.Ratio, c.DCP = 2, DCP{3, rank, 4} })))
		for k, v := range part {
			if v != whole[k] {
				t.Fatalf("rank %d: %+v is %#x, without DCP %#x", rank, k, v, whole[k])
			}
			if k.kind == 's' {
				n++
			}
		}
	}
	if want := 11/2 + 20/2; n != want {
		t.Errorf("the ranks hold %d states, want %d", n, want)
	}
}

func TestPermuteRequests(t *testing.T) {
	c := small()
	a := build(t, c)
	p, order := PermuteRequests(c, 5)
	b := build(t, p)
	if diff := cmp.Diff(tokens(a), tokens(b)); diff != "" {
		t.Errorf("a permutation changed values:\n%s", diff)
	}
	for i, o := range order {
		if p.Requests[i] != c.Requests[o] {
			t.Errorf("request %d is %v, want request %d, %v", i, p.Requests[i], o, c.Requests[o])
		}
		if !bytes.Equal(a.QCodes(o*c.NextN), b.QCodes(i*c.NextN)) {
			t.Errorf("row of request %d is not that of %d", i, o)
		}
	}
	if diff := cmp.Diff(small(), c); diff != "" {
		t.Errorf("the original changed:\n%s", diff)
	}
}

// TestSeedMatters: another seed gives other values everywhere.
func TestSeedMatters(t *testing.T) {
	a, b := tokens(build(t, small())), tokens(build(t, with(func(c *Case) { c.Seed = 8 })))
	same := 0
	for k, v := range a {
		if b[k] == v {
			same++
		}
	}
	if same*2 > len(a) {
		t.Errorf("%d of %d values are the same under two seeds", same, len(a))
	}
}
