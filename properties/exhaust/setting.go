package exhaust

import (
	"fmt"

	"mqaproof/model"
)

// Setting is one point of the grid.
type Setting struct {
	World      int `json:"world"`
	Rank       int `json:"rank"`
	Interleave int `json:"interleave"`
	Ratio      int `json:"ratio"`
	NextN      int `json:"next_n"`         // query tokens of a request
	Page       int `json:"page,omitempty"` // states of a page, where pages bear on the result
}

func (s Setting) String() string {
	t := fmt.Sprintf("W=%d R=%d I=%d r=%d n=%d", s.World, s.Rank, s.Interleave, s.Ratio, s.NextN)
	if s.Page > 0 {
		t += fmt.Sprintf(" page=%d", s.Page)
	}
	return t
}

// check refuses what would not be a setting; ranges are the subject's to say.
func (s Setting) check() error {
	for _, f := range []struct {
		name string
		got  int
	}{{"world", s.World}, {"interleave", s.Interleave}, {"ratio", s.Ratio}, {"next_n", s.NextN}} {
		if f.got < 1 {
			return fmt.Errorf("exhaust: the grid's %s is %d: it must be positive", f.name, f.got)
		}
	}
	return nil
}

// example is a case of the setting, to ask a subject whether it takes such.
func (s Setting) example() model.Case {
	return model.Case{
		Data: model.Exact, NextN: s.NextN, Heads: 1, HeadDim: 4, Page: max(s.Page, 1), MaxModelLen: s.NextN,
		Requests: []model.Request{{ID: 0, Context: s.NextN}},
		DCP:      model.DCP{World: s.World, Rank: s.Rank, Interleave: s.Interleave}, Ratio: s.Ratio,
	}
}

// Axes are the values that a grid is made of.
type Axes struct {
	Ranks      [][2]int // world and rank
	Interleave []int    // under DCP; multiples of the ratio are used
	Ratio      []int
	NextN      []int
	Page       []int // states of a page, for slots; nil elsewhere
}

// settings are all points; without DCP the interleave is 1.
func (a Axes) settings() []Setting {
	var all []Setting
	pages := a.Page
	if pages == nil {
		pages = []int{0}
	}
	for _, w := range a.Ranks {
		for _, r := range a.Ratio {
			interleaves := a.Interleave
			if w[0] == 1 {
				interleaves = []int{1}
			}
			for _, i := range interleaves {
				if w[0] > 1 && r > 0 && i%r != 0 {
					continue
				}
				for _, n := range a.NextN {
					for _, p := range pages {
						all = append(all, Setting{w[0], w[1], i, r, n, p})
					}
				}
			}
		}
	}
	return all
}
