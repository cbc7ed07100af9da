package profile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Summary is the profile in one line.
func (p *Profile) Summary() string {
	var parts []string
	switch {
	case p.Rule != nil && p.Dots != nil:
		parts = append(parts, fmt.Sprintf("matrix core %s in steps of %d, in several chains", p.Rule.Name, p.Step))
	case p.Rule != nil && p.Dims != nil:
		parts = append(parts, fmt.Sprintf("matrix core %s in steps of %d, dims permuted", p.Rule.Name, p.Step))
	case p.Rule != nil:
		parts = append(parts, fmt.Sprintf("matrix core %s in steps of %d", p.Rule.Name, p.Step))
	case p.Dots != nil:
		parts = append(parts, "float32 tree over dims")
	default:
		parts = append(parts, "float32 chain over dims")
	}
	parts = append(parts, fmt.Sprintf("scale %v", p.Scale), fmt.Sprintf("relu where %v", p.Relu))
	if p.Heads != nil {
		for _, n := range slices.Sorted(maps.Keys(p.Heads)) {
			parts = append(parts, fmt.Sprintf("%d heads %s", n, p.Heads[n]))
		}
	} else {
		how := "rounded terms"
		if p.Sum.Fused {
			how = "fused terms"
		}
		sum := fmt.Sprintf("%d partial sums of %s", p.Sum.Partials, how)
		for _, f := range p.Sum.Folds {
			sum += fmt.Sprintf(", fold %dx at %d", f.Count, f.Stride)
		}
		parts = append(parts, sum)
	}
	if p.Sum.FromZero {
		parts = append(parts, "never -0")
	}
	if c := p.Caveat(); c != "" {
		parts = append(parts, c)
	}
	return strings.Join(parts, "; ")
}
