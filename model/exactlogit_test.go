package model

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestExactLogitAgainstRationals: the same number as rational arithmetic on the
// decoded values gives, on every style; not ok exactly when one is not finite.
func TestExactLogitAgainstRationals(t *testing.T) {
	rat := func(v float32) (*big.Rat, bool) {
		r := new(big.Rat).SetFloat64(float64(v))
		return r, r != nil
	}
	rapid.Check(t, func(t *rapid.T) {
		c := cases(t)
		in, err := Build(c, formats(t))
		if err != nil {
			t.Fatal(err)
		}
		for row := range in.Rows {
			r := row / c.NextN
			for pos := range min(in.LocalLen(r), 3) {
				ok := true
				take := func(v float32) *big.Rat {
					x, finite := rat(v)
					if !finite {
						ok = false
						return new(big.Rat)
					}
					return x
				}
				want := new(big.Rat)
				for h := range c.Heads {
					dot := new(big.Rat)
					for d := range c.HeadDim {
						p := take(in.QAt(row, h, d))
						dot.Add(dot, p.Mul(p, take(in.KAt(r, pos, d))))
					}
					w := take(in.WeightAt(row, h))
					if dot.Sign() > 0 {
						want.Add(want, dot.Mul(dot, w))
					}
				}
				want.Mul(want, take(in.ScaleAt(r, pos)))
				got, gotOK := ExactLogit(in, row, pos)
				if gotOK != ok {
					t.Fatalf("row %d position %d: ok %t, want %t", row, pos, gotOK, ok)
				}
				if !ok {
					continue
				}
				if exact, _ := got.Rat(nil); exact.Cmp(want) != 0 {
					t.Fatalf("row %d position %d: %s, want %s", row, pos, exact, want)
				}
			}
		}
	})
}

func TestExactRowRefusesOtherData(t *testing.T) {
	in := build(t, with(func(c *Case) { c.Data = Normal }))
	if _, err := in.ExactRow(0); err == nil || !strings.Contains(err.Error(), "data is normal") {
		t.Errorf("error %v; want one that names the style", err)
	}
}
