package proof

import (
	"fmt"
	"iter"
	"math"
)

// Domain bounds the settings at which theorems are proved, each from 1 up to
// and with its bound. Lengths are not bounded, but in the theorem range.
type Domain struct {
	World      int   `json:"world"`      // ranks of decode context parallelism
	Interleave int   `json:"interleave"` // positions that lie on a rank in a row
	Ratio      int   `json:"ratio"`      // tokens of a state
	NextN      int   `json:"next_n"`     // query tokens of a request
	MaxLen     int64 `json:"max_len"`    // longest request, for the theorem range
}

// DefaultDomain is that of the prover in Go, which takes less than a minute.
func DefaultDomain() Domain {
	return Domain{World: 8, Interleave: 64, Ratio: 128, NextN: 8, MaxLen: math.MaxInt32}
}

// SolverDomain is that of SMT solvers. Within it they get settings that are
// powers of two, and 3 where lengths are integers.
func SolverDomain() Domain {
	return Domain{World: 3, Interleave: 4, Ratio: 4, NextN: 3, MaxLen: math.MaxInt32}
}

func (d Domain) validate() error {
	for _, f := range []struct {
		name     string
		got, max int
	}{{"world", d.World, 64}, {"interleave", d.Interleave, 1024}, {"ratio", d.Ratio, 1024}, {"next_n", d.NextN, 16}} {
		if f.got < 1 || f.got > f.max {
			return fmt.Errorf("proof: the domain's %s is %d; it must be from 1 to %d", f.name, f.got, f.max)
		}
	}
	if d.MaxLen < int64(d.NextN) || d.MaxLen > math.MaxInt32 {
		return fmt.Errorf("proof: the domain's max_len is %d; it must be from next_n to %d", d.MaxLen, math.MaxInt32)
	}
	return nil
}

// Setting is one point of a domain.
type Setting struct {
	World      int `json:"world"`
	Ratio      int `json:"ratio"`
	NextN      int `json:"next_n"`
	Interleave int `json:"interleave"`
	Rank       int `json:"rank"`
}

func (s Setting) String() string {
	return fmt.Sprintf("W=%d R=%d I=%d r=%d n=%d", s.World, s.Rank, s.Interleave, s.Ratio, s.NextN)
}

func (s Setting) rule() Rule { return Rule{s.World, s.Rank, s.Interleave, s.Ratio} }

// axes are the values that settings are made of, ascending.
type axes struct{ world, interleave, ratio, nextN []int }

func upTo(n int, keep func(int) bool) []int {
	var vs []int
	for v := 1; v <= n; v++ {
		if keep(v) {
			vs = append(vs, v)
		}
	}
	return vs
}

func (d Domain) axes(keep func(int) bool) axes {
	return axes{upTo(d.World, keep), upTo(d.Interleave, keep), upTo(d.Ratio, keep), upTo(d.NextN, func(int) bool { return true })}
}

func every(int) bool        { return true }
func powerOfTwo(v int) bool { return v&(v-1) == 0 }

// grid yields the settings for which ok holds, in the order by which the
// smallest counterexample is meant: fewest ranks, then ratio, next_n,
// interleave and rank. Without DCP the interleave is 1: nothing reads it.
func (a axes) grid(ok func(Setting) bool) iter.Seq[Setting] {
	return func(yield func(Setting) bool) {
		for _, world := range a.world {
			interleaves := a.interleave
			if world == 1 {
				interleaves = []int{1}
			}
			for _, ratio := range a.ratio {
				for _, n := range a.nextN {
					for _, interleave := range interleaves {
						for rank := range world {
							s := Setting{world, ratio, n, interleave, rank}
							if ok(s) && !yield(s) {
								return
							}
						}
					}
				}
			}
		}
	}
}

// valid are the settings that the builder accepts.
func valid(s Setting) bool { return s.World == 1 || s.Interleave%s.Ratio == 0 }
