package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestOracleEqualsTable: counting gives what the builder's formulas give, row
// by row, under every mixture of DCP and compression.
func TestOracleEqualsTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := cases(t)
		in, err := Build(c, formats(t))
		if err != nil {
			t.Fatal(err)
		}
		table := make([]int, len(in.Table))
		for i, n := range in.Table {
			table[i] = int(n)
		}
		if diff := cmp.Diff(in.Visible, table); diff != "" {
			t.Fatalf("(-counted +builder):\n%s", diff)
		}
	})
}

// TestOracleByHand pins what the oracle counts.
func TestOracleByHand(t *testing.T) {
	for _, tc := range []struct {
		name    string
		nextN   int
		context int
		dcp     DCP
		ratio   int
		visible []int
		states  []int32
	}{
		{"plain", 2, 2, DCP{}, 0, []int{1, 2}, []int32{0, 1}},
		{"padding", 3, 0, DCP{}, 0, []int{0, 0, 0}, nil},
		// Localizing 10 first and expanding would give 3, 4, 5.
		{"localized after expansion", 3, 10, DCP{2, 1, 1}, 0, []int{4, 4, 5}, []int32{1, 3, 5, 7, 9}},
		{"the other rank", 3, 10, DCP{2, 0, 1}, 0, []int{4, 5, 5}, []int32{0, 2, 4, 6, 8}},
		{"interleave", 2, 11, DCP{2, 1, 4}, 0, []int{4, 4}, []int32{4, 5, 6, 7}},
		{"compressed", 3, 10, DCP{}, 4, []int{2, 2, 2}, []int32{0, 1}},
		{"a state completes", 3, 9, DCP{}, 4, []int{1, 2, 2}, []int32{0, 1}},
		{"both", 2, 16, DCP{2, 1, 4}, 2, []int{3, 4}, []int32{2, 3, 6, 7}},
		{"nothing complete", 2, 3, DCP{}, 8, []int{0, 0}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := Case{NextN: tc.nextN, DCP: tc.dcp, Ratio: tc.ratio}.Normalise()
			got := c.count(tc.context)
			if diff := cmp.Diff(tc.visible, got.visible); diff != "" {
				t.Errorf("visible (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.states, got.states); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRanksShareStates: every complete state lives on exactly one rank.
func TestRanksShareStates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := cases(t).Normalise()
		for _, r := range c.Requests {
			owners := make([]int, r.Context/c.Ratio)
			for rank := range c.DCP.World {
				c.DCP.Rank = rank
				for _, s := range c.count(r.Context).states {
					owners[s]++
				}
			}
			for s, n := range owners {
				if n != 1 {
					t.Fatalf("state %d of %d has %d owners", s, len(owners), n)
				}
			}
		}
	})
}
