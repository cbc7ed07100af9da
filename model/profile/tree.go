package profile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Tree is a sum of terms 0 .. n-1 written out: which two partial sums meet in
// which float32 addition. A leaf (A and B nil) is one term, the rounded product
// of two numbers; a node is round(A + B). Addition commutes, so the two sides
// have no order.
//
// As text a tree is chains in brackets. A chain is added from left to right,
// and a part is a term's number or another chain:
//
//	(0 1 2)           round(round(t0 + t1) + t2)
//	((0 1) (2 3))     round(round(t0 + t1) + round(t2 + t3))
//	(0 *16 *32)       fma(a32, b32, fma(a16, b16, t0))
//
// A star marks a term that is taken by one fused multiply-add, its product not
// being rounded. "+0 " before the whole says that the sum is never -0, which is
// all that can be seen of accumulators that start from zero: adding +0 changes
// nothing else.
type Tree struct {
	Term  int  // of a leaf
	Fused bool // leaf: its product is not rounded before it is added to its sibling
	A, B  *Tree
}

// Leaf is the tree of one term.
func Leaf(term int) *Tree { return &Tree{Term: term} }

// Node is the sum of two trees.
func Node(a, b *Tree) *Tree { return &Tree{A: a, B: b} }

// IsLeaf reports whether the tree is one term.
func (t *Tree) IsLeaf() bool { return t.A == nil }

// Chain adds terms one after the other.
func Chain(fused bool, terms ...int) *Tree {
	t := Leaf(terms[0])
	for _, term := range terms[1:] {
		t = Node(t, &Tree{Term: term, Fused: fused})
	}
	return t
}

// Terms are the numbers of the terms, ascending.
func (t *Tree) Terms() []int {
	terms := t.terms(nil)
	slices.Sort(terms)
	return terms
}

func (t *Tree) terms(to []int) []int {
	if t.IsLeaf() {
		return append(to, t.Term)
	}
	return t.B.terms(t.A.terms(to))
}

// check reports what makes the tree no sum of terms 0 .. n-1.
func (t *Tree) check(n int) error {
	if err := t.checkNodes(); err != nil {
		return err
	}
	for i, term := range t.Terms() {
		if term != i {
			return fmt.Errorf("a tree of %d terms has no term %d, or one twice", n, i)
		}
	}
	if got := len(t.Terms()); got != n {
		return fmt.Errorf("a tree of %d terms, want %d", got, n)
	}
	if t.IsLeaf() && t.Fused {
		return fmt.Errorf("a term is fused, but there is nothing to add it to")
	}
	return nil
}

func (t *Tree) checkNodes() error {
	if t.IsLeaf() {
		if t.B != nil {
			return fmt.Errorf("a node has one side")
		}
		return nil
	}
	if t.B == nil {
		return fmt.Errorf("a node has one side")
	}
	if t.Fused || t.A.IsLeaf() && t.A.Fused && t.B.IsLeaf() && t.B.Fused {
		return fmt.Errorf("terms %d and %d are both fused: one of them must be there first", t.A.Term, t.B.Term)
	}
	if err := t.A.checkNodes(); err != nil {
		return err
	}
	return t.B.checkNodes()
}

// sum is the tree's value for terms a[i]*b[i].
func (t *Tree) sum(a, b []float32) float32 {
	if t.IsLeaf() {
		return mul(a[t.Term], b[t.Term])
	}
	if t.B.IsLeaf() && t.B.Fused {
		return FMA(a[t.B.Term], b[t.B.Term], t.A.sum(a, b))
	}
	if t.A.IsLeaf() && t.A.Fused {
		return FMA(a[t.A.Term], b[t.A.Term], t.B.sum(a, b))
	}
	return add(t.A.sum(a, b), t.B.sum(a, b))
}

// Equal reports whether two trees are the same sum.
func (t *Tree) Equal(other *Tree) bool { return t.key() == other.key() }

// key is the same for the same sum whatever the order of sides.
func (t *Tree) key() string {
	if t.IsLeaf() {
		return t.leaf()
	}
	a, b := t.A.key(), t.B.key()
	return "(" + min(a, b) + " " + max(a, b) + ")"
}

func (t *Tree) leaf() string {
	if t.Fused {
		return "*" + strconv.Itoa(t.Term)
	}
	return strconv.Itoa(t.Term)
}

// first is the lowest term.
func (t *Tree) first() int {
	if t.IsLeaf() {
		return t.Term
	}
	return min(t.A.first(), t.B.first())
}

func (t *Tree) String() string {
	if t.IsLeaf() {
		return t.leaf()
	}
	return "(" + strings.Join(t.chain(), " ") + ")"
}

// chain is the parts of a node from left to right. A side that is one term
// continues the other side's chain; two sums side by side are two parts.
func (t *Tree) chain() []string {
	a, b := t.A, t.B
	if b.first() < a.first() {
		a, b = b, a
	}
	switch {
	case a.IsLeaf() && b.IsLeaf():
		if a.Fused {
			a, b = b, a
		}
		return []string{a.leaf(), b.leaf()}
	case b.IsLeaf():
		return append(a.chain(), b.leaf())
	case a.IsLeaf():
		return append(b.chain(), a.leaf())
	}
	return []string{a.String(), b.String()}
}

// ParseTree reads a tree as String writes it.
func ParseTree(text string) (*Tree, error) {
	p := treeParser{rest: text}
	t, err := p.part()
	if err == nil && p.next() != 0 {
		err = fmt.Errorf("%q follows the end", p.rest)
	}
	if err == nil {
		err = t.check(len(t.Terms()))
	}
	if err != nil {
		return nil, fmt.Errorf("tree %.60q: %w", text, err)
	}
	return t, nil
}

type treeParser struct{ rest string }

// next is the next character that is no space; 0 at the end.
func (p *treeParser) next() byte {
	p.rest = strings.TrimLeft(p.rest, " \n\t")
	if p.rest == "" {
		return 0
	}
	return p.rest[0]
}

func (p *treeParser) part() (*Tree, error) {
	if p.next() != '(' {
		return p.term()
	}
	p.rest = p.rest[1:]
	var t *Tree
	for p.next() != ')' {
		if p.next() == 0 {
			return nil, fmt.Errorf("a bracket is not closed")
		}
		part, err := p.part()
		if err != nil {
			return nil, err
		}
		if t == nil {
			t = part
		} else {
			t = Node(t, part)
		}
	}
	p.rest = p.rest[1:]
	if t == nil {
		return nil, fmt.Errorf("empty brackets")
	}
	return t, nil
}

func (p *treeParser) term() (*Tree, error) {
	t := &Tree{}
	if p.next() == '*' {
		t.Fused = true
		p.rest = p.rest[1:]
	}
	n := 0
	for n < len(p.rest) && p.rest[n] >= '0' && p.rest[n] <= '9' {
		n++
	}
	term, err := strconv.Atoi(p.rest[:n])
	if err != nil {
		return nil, fmt.Errorf("a term's number or a bracket should stand at %.20q", p.rest)
	}
	t.Term = term
	p.rest = p.rest[n:]
	return t, nil
}
