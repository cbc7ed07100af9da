package order

import (
	"fmt"
	"maps"
	"slices"

	"mqaproof/model/profile"
)

// node is a sum of terms with as many sides as the hardware adds at once: two
// for additions, more for a matrix core.
type node struct {
	term     int // of a leaf
	children []*node
	size     int // leaves
}

// sizer measures, for term i and each of others, how many terms the smallest
// partial sum holds that has both.
type sizer func(i int, others []int) ([]int, error)

// reveal finds the tree of the terms, ascending, by FPRev's recursion: the
// sizes that the first term has with the others, in ascending order, are those
// of the partial sums on its way to the root; what joins it at each of them is
// a set of terms of its own. Where the sizes contradict each other no tree
// exists.
func reveal(terms []int, measure sizer) (*node, error) {
	if len(terms) == 1 {
		return &node{term: terms[0], size: 1}, nil
	}
	sizes, err := measure(terms[0], terms[1:])
	if err != nil {
		return nil, err
	}
	return grow(terms, sizes, measure)
}

// grow is reveal once the sizes of the first term with the others are known.
func grow(terms, sizes []int, measure sizer) (*node, error) {
	n := &node{term: terms[0], size: 1}
	joins := map[int][]int{}
	for i, size := range sizes {
		joins[size] = append(joins[size], terms[1+i])
	}
	for _, size := range slices.Sorted(maps.Keys(joins)) {
		joined := joins[size]
		if size != n.size+len(joined) {
			return nil, fmt.Errorf("the smallest partial sums with term %d and any of %v should hold %d terms, and %d were lost in it: no tree of additions does that",
				terms[0], joined, n.size+len(joined), size)
		}
		children, err := split(joined, size, measure)
		if err != nil {
			return nil, err
		}
		n = &node{children: append([]*node{n}, children...), size: size}
	}
	return n, nil
}

// split parts the terms that join at one node of the given size into the
// node's sides: those that meet before it.
func split(terms []int, at int, measure sizer) ([]*node, error) {
	var sides []*node
	for len(terms) > 0 {
		first, rest := terms[0], terms[1:]
		side, left, known := []int{first}, []int(nil), []int(nil)
		if len(rest) > 0 {
			sizes, err := measure(first, rest)
			if err != nil {
				return nil, err
			}
			for i, size := range sizes {
				switch {
				case size < at:
					side, known = append(side, rest[i]), append(known, size)
				case size == at:
					left = append(left, rest[i])
				default:
					return nil, fmt.Errorf("terms %d and %d meet in a partial sum of %d terms, though both are in one of %d", first, rest[i], size, at)
				}
			}
		}
		n, err := grow(side, known, measure)
		if err != nil {
			return nil, err
		}
		sides = append(sides, n)
		terms = left
	}
	return sides, nil
}

// binary is the tree as additions of two; nil when a node has more sides.
func (n *node) binary() *profile.Tree {
	if n.children == nil {
		return profile.Leaf(n.term)
	}
	if len(n.children) != 2 {
		return nil
	}
	a, b := n.children[0].binary(), n.children[1].binary()
	if a == nil || b == nil {
		return nil
	}
	return profile.Node(a, b)
}

// count is 0, 1, ... n-1.
func count(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}
