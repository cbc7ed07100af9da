package calibrate

import (
	"mqaproof/model/matrixcore"
)

// Order says which k a byte of a lane's registers is, where a lane holds 32
// bytes of a row (the f8f6f4 instructions): the public documents leave it open.
type Order uint8

const (
	// InOrder: a lane holds 32 consecutive k.
	InOrder Order = iota
	// InHalves: a lane's first 16 bytes belong to the first half of k, the other
	// 16 to the second half.
	InHalves
)

func (o Order) String() string {
	if o == InHalves {
		return "in-halves"
	}
	return "in-order"
}

// at is the k of the operand's byte b, counted in the order of lanes and
// registers.
func (o Order) at(in Instruction, b int) int {
	if o == InOrder || in.bytesOfLane() != 32 {
		return b
	}
	lane, i := b/32, b%32
	return i/16*(in.K/2) + lane*16 + i%16
}

// shape is the fields of a rule that say which numbers meet where. Each value
// is tried.
type shape struct {
	group, subSums int
	lanes          matrixcore.Lanes
	join           matrixcore.Join
	addC           bool
	normalise      bool
	flush8         bool
	flush32        bool
	order          Order
}

// shapes is all of them for a target, the plain ones first.
func shapes(t Target) []shape {
	var out []shape
	orders := []Order{InOrder}
	largest := 0
	for _, in := range t.Instructions() {
		largest = max(largest, in.K)
		if in.bytesOfLane() == 32 {
			orders = []Order{InOrder, InHalves}
		}
	}
	for _, order := range orders {
		for flags := range 16 {
			s := shape{order: order, normalise: flags&1 != 0, flush8: flags&2 != 0, flush32: flags&4 != 0, addC: flags&8 != 0}
			for s.group = 1; s.group <= largest; s.group *= 2 {
				s.join, s.subSums, s.lanes = matrixcore.JoinEarly, 1, matrixcore.Interleaved
				out = append(out, s)
				s.join = matrixcore.JoinLate
				out = append(out, s)
				for s.subSums = 2; s.subSums <= min(maxLanes, s.group/2); s.subSums *= 2 {
					s.lanes = matrixcore.Interleaved
					out = append(out, s)
					s.lanes = matrixcore.Consecutive
					out = append(out, s)
				}
			}
		}
	}
	return out
}

// maxLanes is the most sub-sums of a group.
const maxLanes = 8

// lane is the sub-sum of product k of a group.
func (s *shape) lane(k int) int {
	if s.lanes == matrixcore.Interleaved {
		return k % s.subSums
	}
	return k / (s.group / s.subSums)
}

// box is one set of values for each field that the shape leaves open. It
// stands for every rule that picks a member of each. A field without meaning
// in the shape has one member, number 0.
type box struct {
	product, subSum, sum, acc cutSet
	reach, result             uint64
}

// everything is the box of all rules of the shape.
func (s *shape) everything() box {
	var all, none cutSet
	for i := range allCuts {
		all.add(i)
	}
	none.add(0)
	b := box{product: all, subSum: none, sum: none, acc: none, reach: 1, result: 1<<allResults - 1}
	if s.subSums > 1 {
		b.subSum = all
	}
	if s.join == matrixcore.JoinLate {
		b.sum, b.acc, b.reach = all, all, ^uint64(0)
	}
	return b
}

// members is how many rules the box stands for.
func (b *box) members() float64 {
	return float64(b.product.size()) * float64(b.subSum.size()) * float64(b.sum.size()) * float64(b.acc.size()) *
		float64(count(b.reach)) * float64(count(b.result))
}

// choice is one member of a box: the number of each field's value.
type choice struct{ product, subSum, sum, acc, reach, result int }

// first is the simplest member: the fewest bits, toward zero if possible, and
// float32 results.
func (b *box) first() choice {
	return choice{b.product.first(), b.subSum.first(), b.sum.first(), b.acc.first(), lowest(b.reach), lowest(b.result)}
}

// rule is the member c of the shape as a rule.
func (s *shape) rule(c choice) matrixcore.Rule {
	res := resultAt(c.result)
	r := matrixcore.Rule{
		Group: s.group, SubSums: s.subSums, Product: cutAt(c.product), Join: s.join,
		ResultBits: res.bits, ResultRounding: res.rounding, AddC: s.addC,
		Lanes: s.lanes, Normalise: s.normalise, FlushFP8: s.flush8, FlushFloat32: s.flush32,
	}
	if s.subSums > 1 {
		r.SubSum = cutAt(c.subSum)
	}
	if s.join == matrixcore.JoinLate {
		r.Sum, r.Acc, r.AccReach = cutAt(c.sum), cutAt(c.acc), reachAt(c.reach)
	}
	return r
}

// place is the shape and the choice that a rule is, with the order; ok is
// false when the family does not hold it.
func place(r *matrixcore.Rule, order Order) (s shape, c choice, ok bool) {
	s = shape{
		group: r.Group, subSums: r.SubSums, lanes: r.Lanes, join: r.Join, addC: r.AddC,
		normalise: r.Normalise, flush8: r.FlushFP8, flush32: r.FlushFloat32, order: order,
	}
	ok = r.Check() == nil
	index := func(cut matrixcore.Cut) int {
		i, in := cutIndex(cut)
		ok = ok && in
		return i
	}
	c.product = index(r.Product)
	if r.SubSums > 1 {
		c.subSum = index(r.SubSum)
	}
	if r.Join == matrixcore.JoinLate {
		c.sum, c.acc, c.reach = index(r.Sum), index(r.Acc), reachIndex(r.AccReach)
	}
	res, in := resultIndex(result{r.ResultBits, r.ResultRounding})
	c.result = res
	return s, c, ok && in
}

// has reports whether the box stands for the choice.
func (b *box) has(c choice) bool {
	return b.product.has(c.product) && b.subSum.has(c.subSum) && b.sum.has(c.sum) && b.acc.has(c.acc) &&
		b.reach>>c.reach&1 == 1 && b.result>>c.result&1 == 1
}

// merge joins boxes that differ in one field, until none do.
func merge(boxes []box) []box {
	for again := len(boxes) > 1; again; {
		again = false
		for i := 0; i < len(boxes); i++ {
			for j := i + 1; j < len(boxes); j++ {
				if !boxes[i].join(&boxes[j]) {
					continue
				}
				boxes[j] = boxes[len(boxes)-1]
				boxes = boxes[:len(boxes)-1]
				j = i
				again = true
			}
		}
	}
	return boxes
}

// join makes b the union with o where that is a box, and reports whether it is.
func (b *box) join(o *box) bool {
	differ := 0
	if b.result != o.result {
		differ++
	}
	if b.reach != o.reach {
		differ++
	}
	if b.sum != o.sum {
		differ++
	}
	if differ > 1 {
		return false
	}
	if b.product != o.product {
		differ++
	}
	if b.subSum != o.subSum {
		differ++
	}
	if b.acc != o.acc {
		differ++
	}
	if differ > 1 {
		return false
	}
	b.product, b.subSum, b.sum, b.acc = b.product.or(o.product), b.subSum.or(o.subSum), b.sum.or(o.sum), b.acc.or(o.acc)
	b.reach |= o.reach
	b.result |= o.result
	return true
}
