package profile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Covers says why the profile tells nothing of rows of that shape; nil when it
// does. A profile that was derived from a kernel covers the shapes it was
// derived at, unless one rule describes them all.
func (p *Profile) Covers(heads, dim int) error {
	if p.Heads != nil && p.Heads[heads] == nil {
		return fmt.Errorf("profile %s: no order is known for %d heads, only for %s", p, heads, keys(p.Heads))
	}
	if p.Rule != nil && p.Dims != nil && p.Dims[dim] == nil {
		return fmt.Errorf("profile %s: no order is known for head_dim %d, only for %s", p, dim, keys(p.Dims))
	}
	if p.Rule == nil && p.Dots != nil && p.Dots[dim] == nil {
		return fmt.Errorf("profile %s: no order is known for head_dim %d, only for %s", p, dim, keys(p.Dots))
	}
	return nil
}

func keys[V any](m map[int]V) string {
	var s []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		s = append(s, fmt.Sprint(k))
	}
	return strings.Join(s, ", ")
}

// checkDims reports what makes Dims or Dots no order.
func (p *Profile) checkDims() error {
	if p.Rule == nil {
		if p.Dims != nil {
			return fmt.Errorf("dims is for a matrix core")
		}
		for dim, t := range p.Dots {
			if err := t.check(dim); err != nil {
				return fmt.Errorf("dots of head_dim %d: %w", dim, err)
			}
		}
		return nil
	}
	for dim, chains := range p.Dims {
		if err := p.checkChains(dim, chains); err != nil {
			return err
		}
	}
	for dim := range p.Dots {
		if len(p.Dims[dim]) < 2 {
			return fmt.Errorf("dots of head_dim %d: one chain of the matrix core needs no tree", dim)
		}
	}
	return nil
}

func (p *Profile) checkChains(dim int, chains [][]int) error {
	sorted := slices.Sorted(slices.Values(slices.Concat(chains...)))
	for i, d := range sorted {
		if i != d || len(sorted) != dim {
			return fmt.Errorf("dims of head_dim %d is no order of 0 to %d", dim, dim-1)
		}
	}
	if len(sorted) != dim {
		return fmt.Errorf("dims of head_dim %d is empty", dim)
	}
	for _, c := range chains {
		if len(c) == 0 {
			return fmt.Errorf("dims of head_dim %d has an empty chain", dim)
		}
	}
	if len(chains) == 1 {
		return nil
	}
	t := p.Dots[dim]
	if t == nil {
		return fmt.Errorf("dots of head_dim %d: missing: the tree of %d chains", dim, len(chains))
	}
	if err := t.check(len(chains)); err != nil {
		return fmt.Errorf("dots of head_dim %d: %w", dim, err)
	}
	if strings.Contains(t.String(), "*") {
		return fmt.Errorf("dots of head_dim %d: a chain cannot be fused", dim)
	}
	return nil
}
