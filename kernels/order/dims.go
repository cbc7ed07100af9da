package order

import (
	"fmt"
	"math"
	"slices"

	"mqaproof/model/fp8"
	"mqaproof/model/matrixcore"
	"mqaproof/model/profile"
)

// dotOrder is how a dot is made.
type dotOrder struct {
	tree *profile.Tree // additions of float32: of the products, or of chains; nil: there is one chain
	dims [][]int       // the chains of the matrix core, each in the order in which it takes the dims; nil: there is none
}

// dot finds the order of the dims in one head's dot. rule is what the target's
// matrix core computes.
func (b *bench) dot(rule *matrixcore.Rule) (*dotOrder, error) {
	o, err := b.dotOf(rule)
	if err != nil {
		return nil, fmt.Errorf("the order of %d dims: %w", b.shape.HeadDim, err)
	}
	return o, nil
}

func (b *bench) dotOf(rule *matrixcore.Rule) (*dotOrder, error) {
	n, err := b.dimTree()
	if err != nil {
		return nil, err
	}
	if t := n.binary(); t != nil {
		return &dotOrder{tree: t}, nil
	}
	if rule == nil {
		return nil, fmt.Errorf("many products are added at once, and no matrix core is known of target %s", b.s.Target)
	}
	var chains [][][]int
	tree, err := matrixChains(n, &chains)
	if err != nil {
		return nil, err
	}
	o := new(dotOrder)
	if len(chains) > 1 {
		o.tree = tree
	}
	for _, groups := range chains {
		for i, g := range groups {
			if len(g) != rule.Group && (i < len(groups)-1 || len(g) > rule.Group) {
				return nil, fmt.Errorf("%d products are added at once, the matrix core of %s (%s) takes %d", len(g), b.s.Target, rule.Name, rule.Group)
			}
		}
		order, err := b.subSums(rule, groups)
		if err != nil {
			return nil, err
		}
		o.dims = append(o.dims, order)
	}
	return o, nil
}

// dimTree is the tree of one dot's products. Two of them are +M and -M, with M
// the square of the largest power of two, the others the square of the
// smallest value: 2^34 times as large, and more.
func (b *bench) dimTree() (*node, error) {
	dim := b.shape.HeadDim
	top, low := largestPower(b.format), b.format.MinSubnormal()
	k := token{k: slices.Repeat([]byte{b.code(low)}, dim), scale: 1}
	measure := func(i int, others []int) ([]int, error) {
		rows := make([]row, len(others))
		tokens := make([]token, len(others))
		for n, j := range others {
			rows[n] = b.oneHead()
			q := rows[n].q[:dim]
			for d := range q {
				q[d] = b.code(low)
			}
			q[i], q[j] = b.code(top), b.code(-top)
			tokens[n] = token{k: slices.Clone(k.k), scale: 1}
			tokens[n].k[i], tokens[n].k[j] = b.code(top), b.code(top)
		}
		sizes := make([]int, len(others))
		// A row needs a token of its own; so many in one run as a tile has.
		for from := 0; from < len(rows); from += positions {
			to := min(from+positions, len(rows))
			bits, err := b.run(rows[from:to], tokens[from:to])
			if err != nil {
				return nil, err
			}
			for n := range bits {
				outside := float64(math.Float32frombits(bits[n][n])) / (float64(low) * float64(low))
				if outside != math.Trunc(outside) || outside < 0 || outside > float64(dim-2) {
					return nil, fmt.Errorf("products %d and %d are %v and its negative, the others %v, and the dot is %v: not a multiple that counts them",
						i, others[from+n], float64(top)*float64(top), float64(low)*float64(low), math.Float32frombits(bits[n][n]))
				}
				sizes[from+n] = dim - int(outside)
			}
		}
		return sizes, nil
	}
	return reveal(count(dim), measure)
}

// oneHead is a row in which only head 0 counts; its q is all zero.
func (b *bench) oneHead() row {
	r := row{q: make([]byte, b.shape.Heads*b.shape.HeadDim), weights: b.weights(0)}
	r.weights[0] = 1
	return r
}

// largestPower is the largest power of two of a format.
func largestPower(f fp8.Format) float32 {
	_, exp := math.Frexp(float64(f.Max()))
	return float32(math.Ldexp(1, exp-1))
}

// matrixChains reads chains of the matrix core off the tree, and the float32
// additions that join them: a node with two sums for sides is such an addition.
func matrixChains(n *node, chains *[][][]int) (*profile.Tree, error) {
	if len(n.children) == 2 && n.children[0].children != nil && n.children[1].children != nil {
		a, err := matrixChains(n.children[0], chains)
		if err != nil {
			return nil, err
		}
		b, err := matrixChains(n.children[1], chains)
		if err != nil {
			return nil, err
		}
		return profile.Node(a, b), nil
	}
	groups, err := matrixGroups(n)
	if err != nil {
		return nil, err
	}
	*chains = append(*chains, groups)
	return profile.Leaf(len(*chains) - 1), nil
}

// matrixGroups reads one chain's groups, the first group first: the sides of a
// node are the chain so far and the terms of one group.
func matrixGroups(n *node) ([][]int, error) {
	var group []int
	var sums []*node
	for _, c := range n.children {
		if c.children == nil {
			group = append(group, c.term)
		} else {
			sums = append(sums, c)
		}
	}
	if group == nil {
		return nil, fmt.Errorf("a chain of the matrix core goes on from %d products that are summed in several chains: profiles have chains from zero", n.size)
	}
	if len(sums) > 1 {
		return nil, fmt.Errorf("%d sums and %d products are added at once, which neither a matrix core nor float32 does", len(sums), len(group))
	}
	slices.Sort(group)
	if sums == nil {
		return [][]int{group}, nil
	}
	groups, err := matrixGroups(sums[0])
	return append(groups, group), err
}

// subSums orders the dims of each group such that a dim's place modulo
// rule.SubSums is its sub-sum.
//
// Beside a product of 2^e a product of -2^-20 or less is cut toward zero if it
// is in the same sub-sum and floored, to one unit below, if it is in another
// one, because sub-sums are cut by another rounding. The large product is such
// that the unit still fits float32.
func (b *bench) subSums(rule *matrixcore.Rule, groups [][]int) ([]int, error) {
	if rule.SubSums == 1 {
		return slices.Concat(groups...), nil
	}
	if rule.Product.Rounding != matrixcore.Trunc || rule.SubSum.Rounding != matrixcore.Floor || rule.SubSum.Bits > 24 {
		return nil, fmt.Errorf("no probe tells the sub-sums of matrix-core rule %s apart", rule.Name)
	}
	var order []int
	for _, group := range groups {
		if len(group) != rule.Group {
			return nil, fmt.Errorf("the last group has %d of %d products: no probe tells its sub-sums apart", len(group), rule.Group)
		}
		sums, err := b.subSumsOf(rule, group)
		if err != nil {
			return nil, err
		}
		for i := range rule.Group {
			order = append(order, sums[i%rule.SubSums][i/rule.SubSums])
		}
	}
	return order, nil
}

func (b *bench) subSumsOf(rule *matrixcore.Rule, group []int) ([][]int, error) {
	top, low := largestPower(b.format), b.format.MinSubnormal()
	high := float64(top) * float64(top)
	// One unit below high, as the sub-sum's cut leaves it.
	floored := float32(high - math.Ldexp(high, -rule.SubSum.Bits))
	left := slices.Clone(group)
	var sums [][]int
	for len(left) > 0 {
		first := left[0]
		r := b.oneHead()
		var tokens []token
		for _, d := range left {
			r.q[d] = b.code(-low)
			t := token{k: make([]byte, b.shape.HeadDim), scale: 1}
			t.k[first], t.k[d] = b.code(top), b.code(low)
			if d == first {
				t.k[d] = b.code(top)
			}
			tokens = append(tokens, t)
		}
		r.q[first] = b.code(top)
		bits, err := b.run([]row{r}, tokens)
		if err != nil {
			return nil, err
		}
		var same, others []int
		for i, d := range left {
			switch x := math.Float32frombits(bits[0][i]); x {
			case float32(high):
				same = append(same, d)
			case floored:
				others = append(others, d)
			default:
				return nil, fmt.Errorf("a product of %v at dim %d beside one of %v at dim %d gives %v, which matrix-core rule %s does not", -low*low, d, high, first, x, rule.Name)
			}
		}
		if len(same) != rule.Group/rule.SubSums {
			return nil, fmt.Errorf("dims %v are a sub-sum: %d dims, where matrix-core rule %s has %d", same, len(same), rule.Name, rule.Group/rule.SubSums)
		}
		sums = append(sums, same)
		left = others
	}
	return sums, nil
}
