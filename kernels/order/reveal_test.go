package order

import (
	"math/rand/v2"
	"strings"
	"testing"

	"mqaproof/model/profile"
)

// randomTree joins random partial sums until one is left; in every third tree
// up to four meet at a node.
func randomTree(rng *rand.Rand, terms int, wide bool) *node {
	var nodes []*node
	for _, t := range rng.Perm(terms) {
		nodes = append(nodes, &node{term: t, size: 1})
	}
	for len(nodes) > 1 {
		n := &node{}
		sides := 2
		if wide {
			sides = 2 + rng.IntN(3)
		}
		for range min(sides, len(nodes)) {
			i := rng.IntN(len(nodes))
			n.children = append(n.children, nodes[i])
			n.size += nodes[i].size
			nodes[i] = nodes[len(nodes)-1]
			nodes = nodes[:len(nodes)-1]
		}
		nodes = append(nodes, n)
	}
	return nodes[0]
}

// lost is the size of the smallest node with both terms: what a kernel with
// this tree shows.
func (n *node) lost(i, j int) int {
	for _, c := range n.children {
		if c.has(i) && c.has(j) {
			return c.lost(i, j)
		}
	}
	return n.size
}

func (n *node) has(term int) bool {
	if n.children == nil {
		return n.term == term
	}
	for _, c := range n.children {
		if c.has(term) {
			return true
		}
	}
	return false
}

func (n *node) text() string {
	if n.children == nil {
		return profile.Leaf(n.term).String()
	}
	// In the order of the first terms, as reveal finds them.
	var parts []string
	for term := 0; len(parts) < len(n.children); term++ {
		for _, c := range n.children {
			if c.lowest() == term {
				parts = append(parts, c.text())
			}
		}
	}
	return "(" + strings.Join(parts, " ") + ")"
}

func (n *node) lowest() int {
	if n.children == nil {
		return n.term
	}
	low := n.children[0].lowest()
	for _, c := range n.children[1:] {
		low = min(low, c.lowest())
	}
	return low
}

func TestRevealFindsTheTree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 500 {
		want := randomTree(rng, 1+rng.IntN(40), round%3 == 0)
		asked := 0
		got, err := reveal(count(want.size), func(i int, others []int) ([]int, error) {
			var sizes []int
			for _, j := range others {
				asked++
				sizes = append(sizes, want.lost(i, j))
			}
			return sizes, nil
		})
		if err != nil {
			t.Fatalf("%s: %v", want.text(), err)
		}
		if got.text() != want.text() {
			t.Fatalf("%s comes out as %s", want.text(), got.text())
		}
		if all := want.size * (want.size - 1) / 2; asked > all {
			t.Errorf("%s: asked %d times, there are %d pairs", want.text(), asked, all)
		}
	}
}

// TestRevealRefusesWhatIsNoTree gives sizes that no tree has.
func TestRevealRefusesWhatIsNoTree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	refused := 0
	const rounds = 300
	for range rounds {
		n := randomTree(rng, 8, false)
		i, j := rng.IntN(8), rng.IntN(8)
		wrong := 2 + rng.IntN(7)
		_, err := reveal(count(8), func(a int, others []int) ([]int, error) {
			var sizes []int
			for _, b := range others {
				if min(a, b) == min(i, j) && max(a, b) == max(i, j) {
					sizes = append(sizes, wrong)
				} else {
					sizes = append(sizes, n.lost(a, b))
				}
			}
			return sizes, nil
		})
		switch {
		case i == j || n.lost(i, j) == wrong:
			if err != nil {
				t.Fatalf("%s: %v", n.text(), err)
			}
		case err != nil:
			refused++
		}
	}
	// Pairs that reveal need not ask about cannot be refused.
	if refused < rounds/5 {
		t.Errorf("%d of %d wrong sizes were refused", refused, rounds)
	}
}

func TestFitFindsTheRuleOfNamedProfiles(t *testing.T) {
	for _, p := range profile.All() {
		trees, zero := map[int]*profile.Tree{}, map[int]bool{}
		for _, h := range []int{1, 2, 3, 16, 48, 64, 128} {
			trees[h], zero[h] = p.Sum.Tree(h), p.Sum.FromZero
		}
		var got profile.Profile
		if err := fitHeads(&got, trees, zero); err != nil {
			t.Errorf("%s: %v", p, err)
			continue
		}
		if got.Heads != nil {
			t.Errorf("%s: no rule was found for %s", p, trees[16])
			continue
		}
		for _, h := range []int{5, 17, 33, 96} {
			if a, b := p.Sum.Tree(h), got.Sum.Tree(h); !a.Equal(b) {
				t.Errorf("%s: the rule gives %s for %d heads, want %s", p, b, h, a)
			}
		}
	}
	// Two zeros that disagree, and a tree that no rule gives.
	var got profile.Profile
	two := map[int]*profile.Tree{1: profile.Leaf(0), 2: profile.Chain(false, 0, 1)}
	if err := fitHeads(&got, two, map[int]bool{1: true, 2: false}); err == nil {
		t.Error("sums that are -0 for some numbers of heads only: no error")
	}
	odd := map[int]*profile.Tree{3: profile.Chain(false, 1, 2, 0)}
	if err := fitHeads(&got, odd, map[int]bool{3: false}); err != nil || got.Heads == nil {
		t.Errorf("a tree of no rule: %v, %v", got.Heads, err)
	}
}
