package calibrate

import (
	"math"
	"math/bits"

	"mqaproof/model/fp8"
	"mqaproof/model/matrixcore"
)

// output is one observed dot product: want is the bits that came out for
// c + a*b.
type output struct {
	in   Instruction
	a, b []byte
	c    float32
	want uint32

	tile, row, col int
}

// wide is the fraction bits in which every sum is kept: those of the widest
// cut, so that sums of different rules can be compared.
const wide = maxBits

// number is sig * 2^(exp-frac), as in package matrixcore.
type number struct {
	sig  int64
	frac int
	exp  int
}

const (
	zeroExp = -126 // of a zero, by definition of the rules
	minExp  = -126 // of a float32
)

// need is the fraction bits below 2^at that x takes to lose nothing.
func (x number) need(at int) int {
	if x.sig == 0 {
		return 0
	}
	return at - x.exp + x.frac - bits.TrailingZeros64(uint64(x.sig))
}

// cut is x rounded by c to a multiple of 2^(at-c.Bits), in units of
// 2^(at-wide).
func (x number) cut(c matrixcore.Cut, at int) int64 {
	left := c.Bits - x.frac + x.exp - at
	if left >= 0 {
		return x.sig << left << (wide - c.Bits)
	}
	right := min(-left, 62)
	q := x.sig >> right
	switch rest := x.sig - q<<right; c.Rounding {
	case matrixcore.Trunc:
		if x.sig < 0 && rest != 0 {
			q++
		}
	case matrixcore.Nearest:
		if half := int64(1) << (right - 1); rest > half || rest == half && q&1 == 1 {
			q++
		}
	}
	return q << (wide - c.Bits)
}

// exact is x in units of 2^(at-wide); it must need no more than wide bits.
func (x number) exact(at int) int64 {
	shift := wide - x.frac + x.exp - at
	if shift >= 0 {
		return x.sig << shift
	}
	return x.sig >> -shift
}

// value is x rounded once to float32.
func (x number) value() float32 { return float32(math.Ldexp(float64(x.sig), x.exp-x.frac)) }

// split32 is a finite float32.
func split32(x float32) number {
	b := math.Float32bits(x)
	sig, exp := int64(b&(1<<23-1)), int(b>>23&0xff)
	switch {
	case exp > 0:
		sig |= 1 << 23
		exp -= 127
	case sig != 0:
		exp = minExp
	default:
		exp = zeroExp
	}
	if b>>31 == 1 {
		sig = -sig
	}
	return number{sig, 23, exp}
}

// class is the cuts that lead to the same sums.
type class struct {
	sums [maxLanes]int64
	cuts cutSet
}

// term is a product that is not zero, and its sub-sum.
type term struct {
	number
	lane int
}

// group is the products of one group.
type group struct {
	terms []term
	lanes int
	at    [maxLanes]int // largest exponent of each sub-sum, zeros included
}

// narrower runs outputs through a shape. One goroutine uses it.
type narrower struct {
	shape *shape
	o     *output
	c     float32
	out   []box

	groups  []group
	terms   []term
	classes []class

	effort int // group results that may still be computed for this output
}

// narrow appends to out the parts of the boxes whose rules give the output. It
// gives up, and says so, when that takes more than so much effort: with many
// rules left an output with many products has too many ways to come about.
func (n *narrower) narrow(s *shape, o *output, boxes []box, out []box, effort int) (left []box, done bool) {
	n.shape, n.o, n.out, n.effort = s, o, out, effort
	special, is := n.load()
	for i := range boxes {
		if is {
			n.finish(special, &boxes[i])
			continue
		}
		acc := number{0, 23, zeroExp}
		if !s.addC {
			acc = split32(n.c)
		}
		n.group(0, acc, &boxes[i])
	}
	return n.out, n.effort >= 0
}

// load takes the output's products apart by group and sub-sum. When NaN or
// infinity settles the result, it gives it.
func (n *narrower) load() (special float32, is bool) {
	s, o := n.shape, n.o
	f := o.in.Format
	for k := range o.a {
		if f.IsNaN(o.a[k]) || f.IsNaN(o.b[k]) {
			return float32(math.NaN()), true
		}
	}
	n.c = n.flush(o.c)
	if n.c != n.c || math.IsInf(float64(n.c), 0) {
		return n.c, true
	}
	count := (len(o.a) + s.group - 1) / s.group
	n.groups, n.terms = n.groups[:0], n.terms[:0]
	for range count {
		g := group{}
		for l := range g.at {
			g.at[l] = math.MinInt
		}
		n.groups = append(n.groups, g)
	}
	if cap(n.terms) < len(o.a) {
		n.terms = make([]term, 0, len(o.a))
	}
	// Products of a group are neighbours in k: walk k, find the byte.
	for i := range n.groups {
		g := &n.groups[i]
		from := len(n.terms)
		for k := range min(s.group, len(o.a)-i*s.group) {
			b := o.byteOf(s.order, i*s.group+k)
			lane := s.lane(k)
			g.lanes = max(g.lanes, lane+1)
			p := n.product(f, o.a[b], o.b[b])
			g.at[lane] = max(g.at[lane], p.exp)
			if p.sig != 0 {
				n.terms = append(n.terms, term{p, lane})
			}
		}
		g.terms = n.terms[from:]
	}
	return 0, false
}

// byteOf is the index in a and b of product k.
func (o *output) byteOf(order Order, k int) int {
	if order == InOrder || o.in.bytesOfLane() != 32 {
		return k
	}
	half, rest := k/(o.in.K/2), k%(o.in.K/2)
	return rest/16*32 + half*16 + rest%16
}

func (n *narrower) product(f fp8.Format, a, b byte) number {
	x, y := n.split8(f, a), n.split8(f, b)
	p := number{x.sig * y.sig, x.frac + y.frac, x.exp + y.exp}
	if n.shape.normalise && p.sig != 0 {
		frac := bits.Len64(uint64(max(p.sig, -p.sig))) - 1
		p.frac, p.exp = frac, p.exp-p.frac+frac
	}
	return p
}

func (n *narrower) split8(f fp8.Format, b byte) number {
	sig, exp := f.Split(b)
	if n.shape.flush8 && max(sig, -sig) < 1<<fp8.MantissaBits {
		sig = 0
	}
	if sig == 0 {
		exp = zeroExp
	}
	return number{int64(sig), fp8.MantissaBits, exp}
}

func (n *narrower) flush(x float32) float32 {
	if n.shape.flush32 && max(x, -x) < 0x1p-126 {
		return 0
	}
	return x
}

// group runs group g on top of acc for the rules of b.
func (n *narrower) group(g int, acc number, b *box) {
	if n.effort < 0 {
		return
	}
	if g == len(n.groups) {
		d := acc.value()
		if n.shape.addC {
			d = n.flush(n.c + d)
		}
		n.finish(d, b)
		return
	}
	gr := &n.groups[g]
	at := gr.at
	early := n.shape.join == matrixcore.JoinEarly
	if early {
		at[0] = max(at[0], acc.exp)
	}
	// The least bits with which no cut of the products loses anything.
	need := 0
	for i := range gr.terms {
		need = max(need, gr.terms[i].need(at[gr.terms[i].lane]))
	}
	if early {
		need = max(need, acc.need(at[0]))
	}
	from := len(n.classes)
	if whole := b.product.keeping(need); !whole.empty() {
		c := class{cuts: whole}
		for i := range gr.terms {
			t := &gr.terms[i]
			c.sums[t.lane] += t.exact(at[t.lane])
		}
		if early {
			c.sums[0] += acc.exact(at[0])
		}
		n.classes = append(n.classes, c)
	}
	b.product.each(func(i int) {
		cut := cutAt(i)
		if cut.Bits >= need {
			return
		}
		var sums [maxLanes]int64
		for i := range gr.terms {
			t := &gr.terms[i]
			sums[t.lane] += t.cut(cut, at[t.lane])
		}
		if early {
			sums[0] += acc.cut(cut, at[0])
		}
		n.classify(from, i, &sums)
	})
	to := len(n.classes)
	for i := from; i < to; i++ {
		part := *b
		part.product = n.classes[i].cuts
		sums := n.classes[i].sums
		n.subSums(g, acc, &sums, &at, &part)
	}
	n.classes = n.classes[:from]
}

// classify adds cut i, which leads to the sums, to the classes from one on.
func (n *narrower) classify(from, i int, sums *[maxLanes]int64) {
	for j := len(n.classes) - 1; j >= from; j-- {
		if n.classes[j].sums == *sums {
			n.classes[j].cuts.add(i)
			return
		}
	}
	c := class{sums: *sums}
	c.cuts.add(i)
	n.classes = append(n.classes, c)
}

// subSums adds the sub-sums of a group, each in units of 2^(at-wide).
func (n *narrower) subSums(g int, acc number, sums *[maxLanes]int64, at *[maxLanes]int, b *box) {
	lanes := n.groups[g].lanes
	if n.shape.subSums == 1 {
		n.join(g, acc, number{sums[0], wide, at[0]}, b)
		return
	}
	top := at[0]
	for l := range lanes {
		top = max(top, at[l])
	}
	need := 0
	for l := range lanes {
		need = max(need, number{sums[l], wide, at[l]}.need(top))
	}
	from := len(n.classes)
	if whole := b.subSum.keeping(need); !whole.empty() {
		c := class{cuts: whole}
		for l := range lanes {
			c.sums[0] += number{sums[l], wide, at[l]}.exact(top)
		}
		n.classes = append(n.classes, c)
	}
	b.subSum.each(func(i int) {
		cut := cutAt(i)
		if cut.Bits >= need {
			return
		}
		var total [maxLanes]int64
		for l := range lanes {
			total[0] += number{sums[l], wide, at[l]}.cut(cut, top)
		}
		n.classify(from, i, &total)
	})
	to := len(n.classes)
	for i := from; i < to; i++ {
		part := *b
		part.subSum = n.classes[i].cuts
		n.join(g, acc, number{n.classes[i].sums[0], wide, top}, &part)
	}
	n.classes = n.classes[:from]
}

// join adds the accumulator to the finished sum.
func (n *narrower) join(g int, acc, sum number, b *box) {
	if n.shape.join == matrixcore.JoinEarly {
		n.result(g, sum, b)
		return
	}
	at := max(sum.exp, acc.exp)
	from := len(n.classes)
	n.cutOne(sum, at, b.sum)
	middle := len(n.classes)
	inside := b.reach & reachesFrom(at-acc.exp)
	if acc.sig == 0 {
		inside = 0 // in reach or not, it adds nothing
	}
	if inside != 0 {
		n.cutOne(acc, at, b.acc)
	}
	to := len(n.classes)
	for i := from; i < middle; i++ {
		part := *b
		part.sum = n.classes[i].cuts
		total := n.classes[i].sums[0]
		if part.reach = b.reach &^ inside; part.reach != 0 {
			n.result(g, number{total, wide, at}, &part)
		}
		part.reach = inside
		for j := middle; j < to; j++ {
			part.acc = n.classes[j].cuts
			n.result(g, number{total + n.classes[j].sums[0], wide, at}, &part)
		}
	}
	n.classes = n.classes[:from]
}

// cutOne appends the classes of cutting x at 2^at by the cuts of the set.
func (n *narrower) cutOne(x number, at int, set cutSet) {
	from := len(n.classes)
	need := x.need(at)
	if whole := set.keeping(need); !whole.empty() {
		n.classes = append(n.classes, class{sums: [maxLanes]int64{x.exact(at)}, cuts: whole})
	}
	set.each(func(i int) {
		if cut := cutAt(i); cut.Bits < need {
			n.classify(from, i, &[maxLanes]int64{x.cut(cut, at)})
		}
	})
}

// result rounds a group's total to the next accumulator.
func (n *narrower) result(g int, total number, b *box) {
	if n.effort--; n.effort < 0 {
		return
	}
	if total.sig == 0 {
		n.group(g+1, number{0, 23, zeroExp}, b)
		return
	}
	length := bits.Len64(uint64(max(total.sig, -total.sig)))
	exp := total.exp - total.frac + length - 1
	if length-bits.TrailingZeros64(uint64(total.sig)) <= minResult+1 && exp > -100 && exp < 127 {
		n.group(g+1, number{total.sig, length - 1, exp}, b) // every result keeps all of it
		return
	}
	type rounded struct {
		acc  number
		inf  float32 // not 0: the float32 result overflowed
		rest uint64
	}
	var kinds [allResults]rounded
	found := 0
	for set := b.result; set != 0; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		var r rounded
		if i == 0 {
			v := n.flush(total.value())
			if math.IsInf(float64(v), 0) {
				r.inf = v
			} else {
				r.acc = split32(v)
			}
		} else {
			r.acc = n.round(total, exp, resultAt(i))
		}
		if r.acc.sig != 0 { // one form for equal accumulators
			r.acc.sig <<= wide - r.acc.frac
		}
		r.acc.frac = wide
		j := 0
		for j < found && (kinds[j].acc != r.acc || kinds[j].inf != r.inf) {
			j++
		}
		if j == found {
			kinds[found] = r
			found++
		}
		kinds[j].rest |= 1 << i
	}
	for j := range found {
		part := *b
		part.result = kinds[j].rest
		if inf := kinds[j].inf; inf != 0 {
			if n.shape.addC {
				inf += n.c
			}
			n.finish(inf, &part)
			continue
		}
		acc := kinds[j].acc
		if acc.sig != 0 {
			tz := min(bits.TrailingZeros64(uint64(acc.sig)), acc.frac)
			acc.sig, acc.frac = acc.sig>>tz, acc.frac-tz
		}
		n.group(g+1, acc, &part)
	}
}

// round is total, not zero, as an accumulator of res.bits fraction bits; exp is
// its exponent when normalised.
func (n *narrower) round(total number, exp int, res result) number {
	clamped := !n.shape.addC // the accumulator is a float32
	if clamped {
		exp = max(exp, minExp)
	}
	x := number{total.sig, total.frac - total.exp + exp, exp}
	sig := x.cut(matrixcore.Cut{Bits: res.bits, Rounding: res.rounding}, exp) >> (wide - res.bits)
	size := max(sig, -sig)
	switch {
	case sig == 0, n.shape.flush32 && clamped && exp == minExp && size < 1<<res.bits:
		return number{0, res.bits, zeroExp}
	case size == 2<<res.bits:
		return number{sig / 2, res.bits, exp + 1}
	}
	return number{sig, res.bits, exp}
}

// finish keeps b when d is what was observed.
func (n *narrower) finish(d float32, b *box) {
	if same(math.Float32bits(d), n.o.want) {
		n.out = append(n.out, *b)
	}
}

// same compares bits; any NaN equals any NaN, and zeros are equal whatever
// their sign, which no rule of the family says anything about.
func same(x, y uint32) bool {
	return x == y || x<<1 == 0 && y<<1 == 0 || x<<1 > 0xff<<24 && y<<1 > 0xff<<24
}

func count(set uint64) int  { return bits.OnesCount64(set) }
func lowest(set uint64) int { return bits.TrailingZeros64(set) }
