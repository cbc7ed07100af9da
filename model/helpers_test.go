package model

import (
	"testing"

	"mqaproof/model/fp8"

	"pgregory.net/rapid"
)

// small is a case that every test may change.
func small() Case {
	return Case{
		Seed: 7, Data: Exact, NextN: 2, Heads: 4, HeadDim: 16, Page: 4, MaxModelLen: 64,
		Requests: []Request{{ID: 3, Context: 11}, {ID: 1, Context: 0}, {ID: 8, Context: 20}},
	}
}

func with(change func(*Case)) Case {
	c := small()
	change(&c)
	return c
}

func build(t testing.TB, c Case) *Inputs {
	t.Helper()
	in, err := Build(c, fp8.E4M3FNUZ)
	if err != nil {
		t.Fatalf("%s: %v", c, err)
	}
	return in
}

// cases draws small valid cases of every kind.
func cases(t *rapid.T) Case {
	c := Case{
		Seed:         rapid.Uint64().Draw(t, "seed"),
		Data:         rapid.SampledFrom([]Style{Exact, Normal, Adversarial, NaN}).Draw(t, "data"),
		NextN:        rapid.IntRange(1, 4).Draw(t, "next_n"),
		Heads:        rapid.IntRange(1, 5).Draw(t, "heads"),
		HeadDim:      4 * rapid.IntRange(1, 5).Draw(t, "head_dim/4"),
		Page:         rapid.IntRange(1, 9).Draw(t, "page"),
		Layout:       rapid.SampledFrom([]Layout{"", BlockFlat, Interleaved, Preshuffled}).Draw(t, "layout"),
		MaxModelLen:  rapid.IntRange(8, 90).Draw(t, "max_model_len"),
		ShufflePages: rapid.Bool().Draw(t, "shuffle"),
		PageSeed:     rapid.Uint64Range(0, 3).Draw(t, "page_seed"),
		ExtraPages:   rapid.IntRange(0, 2).Draw(t, "extra"),
		Ratio:        rapid.IntRange(0, 4).Draw(t, "ratio"),
	}
	if c.Layout == Preshuffled {
		c.HeadDim, c.Page = 32, 16
	}
	if w := rapid.IntRange(1, 4).Draw(t, "world"); w > 1 {
		c.DCP = DCP{
			World: w, Rank: rapid.IntRange(0, w-1).Draw(t, "rank"),
			Interleave: max(c.Ratio, 1) * rapid.IntRange(1, 4).Draw(t, "interleave/ratio"),
		}
	}
	for i := range rapid.IntRange(1, 5).Draw(t, "requests") {
		context := 0
		if rapid.IntRange(0, 5).Draw(t, "padding") > 0 {
			context = rapid.IntRange(c.NextN, c.MaxModelLen).Draw(t, "context")
		}
		c.Requests = append(c.Requests, Request{ID: uint32(i*i + 5), Context: context})
	}
	return c
}

func formats(t *rapid.T) fp8.Format {
	return rapid.SampledFrom([]fp8.Format{fp8.E4M3FN, fp8.E4M3FNUZ}).Draw(t, "format")
}
