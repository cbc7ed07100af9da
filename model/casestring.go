package model

import (
	"fmt"
	"strconv"
	"strings"
)

// String is the case in one line, for people: "1 request, next_n 2, context 2,
// 16 heads, head_dim 32, page 1", then whatever is not at its default.
func (c Case) String() string {
	c = c.normaliseKeepLayout()
	parts := []string{
		plural(len(c.Requests), "request"),
		"next_n " + strconv.Itoa(c.NextN),
		c.contexts(),
		plural(c.Heads, "head"),
		"head_dim " + strconv.Itoa(c.HeadDim),
		"page " + strconv.Itoa(c.Page),
	}
	if c.Layout != "" && c.Layout != BlockFlat {
		parts = append(parts, string(c.Layout))
	}
	if c.DCP.World != 1 {
		parts = append(parts, fmt.Sprintf("DCP world %d rank %d interleave %d", c.DCP.World, c.DCP.Rank, c.DCP.Interleave))
	}
	if c.Ratio != 1 {
		parts = append(parts, "ratio "+strconv.Itoa(c.Ratio))
	}
	if c.LengthsStride != c.NextN {
		parts = append(parts, "lengths stride "+strconv.Itoa(c.LengthsStride))
	}
	if c.ShufflePages {
		parts = append(parts, "pages shuffled")
	}
	if c.ExtraPages != 0 {
		parts = append(parts, plural(c.ExtraPages, "extra page"))
	}
	if c.Data != Exact {
		parts = append(parts, string(c.Data)+" data")
	}
	return strings.Join(parts, ", ")
}

// contexts lists up to four contexts and gives the range of more.
func (c Case) contexts() string {
	if len(c.Requests) == 0 {
		return "no context"
	}
	if len(c.Requests) == 1 {
		return "context " + strconv.Itoa(c.Requests[0].Context)
	}
	if len(c.Requests) <= 4 {
		each := make([]string, len(c.Requests))
		for i, r := range c.Requests {
			each[i] = strconv.Itoa(r.Context)
		}
		return "contexts " + strings.Join(each, " ")
	}
	lo, hi := c.Requests[0].Context, c.Requests[0].Context
	for _, r := range c.Requests {
		lo, hi = min(lo, r.Context), max(hi, r.Context)
	}
	return fmt.Sprintf("contexts %d to %d", lo, hi)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
