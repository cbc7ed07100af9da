package proof

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// A term over one length L, with positive constants as divisors and constant
// factors, is quasi-periodic: there are a start N, a period P and a rise S with
//
//	f(L+P) = f(L) + S   for all L >= N.
//
// Proof, by the cases of eval, each of which computes N, P and S:
//
//   - L itself has P = 1, S = 1; a constant P = 1, S = 0.
//   - Sums, differences and multiples of quasi-periodic functions are: take the
//     later start and the least common multiple of the periods.
//   - floor(f/c): over P' = P*c/gcd(S, c) the rise of f is a multiple of c, and
//     floor((f + k*c)/c) = floor(f/c) + k. Rounding toward zero is the floor
//     where f >= 0 and minus the floor of -f elsewhere; from some start on each
//     residue keeps its sign, and then the same holds.
//   - min, max, <= and =: the difference d of both sides is quasi-periodic. With
//     rise 0 it is periodic and so is the choice. Otherwise each residue moves
//     away from 0 steadily; from the start on where all have passed it the
//     choice is constant.
//   - The states below f, counted, are periodic in f (Rule.period) where
//     f >= 0, and 0 below; over a multiple of P that makes f rise by whole
//     periods the count rises evenly.
//
// So f is known for all lengths by its values on the N - lo lengths from the
// lowest and on one period: a table of finite size. A truth value holds for
// every length when its table does. Nothing is sampled.

// fn is a quasi-periodic function of a length from lo on.
type fn struct {
	pre  []int64 // values at lo, lo+1, ...
	per  []int64 // and from lo+len(pre) on, one period
	rise int64   // what a period adds
}

// maxTable bounds a table. Grids within the usual bounds stay far below.
const maxTable = 1 << 22

var errTable = errors.New("proof: a table of values would be too large: use a smaller domain")

// at is the value at lo+i.
func (f fn) at(i int64) int64 {
	if i < int64(len(f.pre)) {
		return f.pre[i]
	}
	i -= int64(len(f.pre))
	n := int64(len(f.per))
	return f.per[i%n] + i/n*f.rise
}

// arena hands out values that live until the next setting.
type arena struct {
	values []int64
	used   int
}

func (a *arena) take(n int) []int64 {
	if a.used+n > len(a.values) {
		a.values = make([]int64, max(1<<16, n, 2*len(a.values)))
		a.used = 0
	}
	v := a.values[a.used : a.used+n : a.used+n]
	a.used += n
	return v
}

// fn is a function with a start of n values and a period of p, to be filled.
func (a *arena) fn(n, p int, rise int64) fn { return fn{a.take(n), a.take(p), rise} }

// stretch is f with a start of n values and a period of p; n is at least f's
// and p a multiple of f's.
func (a *arena) stretch(f fn, n, p int) fn {
	if n == len(f.pre) && p == len(f.per) {
		return f
	}
	g := a.fn(n, p, f.rise*int64(p/len(f.per)))
	copy(g.pre, f.pre)
	later := n - len(f.pre)
	f.unroll(g.pre[len(f.pre):], 0)
	f.unroll(g.per, later)
	return g
}

// unroll writes the values from the i-th of the first period on.
func (f fn) unroll(out []int64, i int) {
	up := int64(i/len(f.per)) * f.rise
	i %= len(f.per)
	for len(out) > 0 {
		n := min(len(out), len(f.per)-i)
		for j, v := range f.per[i : i+n] {
			out[j] = v + up
		}
		out, i, up = out[n:], 0, up+f.rise
	}
}

// align stretches both to one start and one period.
func (a *arena) align(f, g fn) (fn, fn, error) {
	n := max(len(f.pre), len(g.pre))
	p := lcm(int64(len(f.per)), int64(len(g.per)))
	if n > maxTable || p > maxTable {
		return fn{}, fn{}, errTable
	}
	return a.stretch(f, n, int(p)), a.stretch(g, n, int(p)), nil
}

// settle is how many more periods it takes until every residue of d is beyond
// 0 on the side to which it rises or falls.
func settle(d fn) int64 {
	if d.rise == 0 {
		return 0
	}
	var periods int64
	for _, v := range d.per {
		if d.rise < 0 {
			v = -v
		}
		if v <= 0 { // v + k*|rise| >= 1
			step := max(d.rise, -d.rise)
			periods = max(periods, (-v)/step+1)
		}
	}
	return periods
}

// zip applies a binary operation to the values of both, which are aligned.
func (a *arena) zip(k kind, f, g fn, rise int64) fn {
	h := a.fn(len(f.pre), len(f.per), rise)
	apply(k, h.pre, f.pre, g.pre)
	apply(k, h.per, f.per, g.per)
	return h
}

// apply is the inner loop of every operation.
func apply(k kind, out, a, b []int64) {
	a, b = a[:len(out)], b[:len(out)]
	switch k {
	case add:
		for i := range out {
			out[i] = a[i] + b[i]
		}
	case sub:
		for i := range out {
			out[i] = a[i] - b[i]
		}
	case mul:
		for i := range out {
			out[i] = a[i] * b[i]
		}
	case minimum:
		for i := range out {
			out[i] = min(a[i], b[i])
		}
	case maximum:
		for i := range out {
			out[i] = max(a[i], b[i])
		}
	case equal:
		for i := range out {
			out[i] = truth(a[i] == b[i])
		}
	case lessEqual:
		for i := range out {
			out[i] = truth(a[i] <= b[i])
		}
	case and:
		for i := range out {
			out[i] = a[i] & b[i]
		}
	case or:
		for i := range out {
			out[i] = a[i] | b[i]
		}
	}
}

// with applies to each value of f.
func (a *arena) with(f fn, rise int64, op func(int64) int64) fn {
	h := a.fn(len(f.pre), len(f.per), rise)
	for i, v := range f.pre {
		h.pre[i] = op(v)
	}
	for i, v := range f.per {
		h.per[i] = op(v)
	}
	return h
}

// settled drops the end of a start that already follows the rule of a period
// of one length, so that equal functions of that kind look equal.
func (f fn) settled() fn {
	for len(f.per) == 1 && len(f.pre) > 0 && f.pre[len(f.pre)-1] == f.per[0]-f.rise {
		f.per = f.pre[len(f.pre)-1:]
		f.pre = f.pre[:len(f.pre)-1]
	}
	return f
}

// compared aligns both and moves their start to where each residue of f - g
// keeps its sign. The sign is that of f - g in the end, 0 if the rise is equal.
func (a *arena) compared(f, g fn) (f2, g2 fn, sign int64, err error) {
	f, g, err = a.align(f, g)
	if err != nil {
		return
	}
	d := a.zip(sub, f, g, f.rise-g.rise)
	n := int64(len(f.pre)) + settle(d)*int64(len(f.per))
	if n > maxTable {
		err = errTable
		return
	}
	f, g = a.stretch(f, int(n), len(f.per)), a.stretch(g, int(n), len(f.per))
	switch {
	case d.rise > 0:
		sign = 1
	case d.rise < 0:
		sign = -1
	}
	return f, g, sign, nil
}

// tables makes the tables of terms over one length from lo on. Terms that have
// one operation and the same operands share a table, and so do those that are
// the same sum of the length and a constant.
type tables struct {
	arena
	lo    int64
	done  []entry // by the id of the term
	fns   []fn    // by number
	known map[key]int
	lines map[line]int
}

// entry is what is known of a term.
type entry struct {
	number int   // of its table, from 1; 0: not made yet
	over   *Term // the variable, nil if none
}

// key is an operation on numbered tables.
type key struct {
	kind    kind
	a, b, c int
	rule    *Rule
}

// line is value + rise * (L - lo).
type line struct{ value, rise int64 }

// reset makes tb empty, for the terms made so far.
func (tb *tables) reset(ts *Terms, lo int64) {
	if tb.known == nil {
		tb.known, tb.lines = map[key]int{}, map[line]int{}
	}
	tb.used, tb.lo, tb.fns = 0, lo, tb.fns[:0]
	tb.done = slices.Grow(tb.done[:0], ts.made)[:ts.made]
	clear(tb.done)
	clear(tb.known)
	clear(tb.lines)
}

// errVariables says that a term depends on more than one length.
var errVariables = errors.New("depends on more than one length")

func (tb *tables) eval(t *Term) (fn, error) {
	if err := tb.number(t); err != nil {
		return fn{}, err
	}
	return tb.fns[tb.done[t.id].number-1], nil
}

// number makes the table of t unless it is there.
func (tb *tables) number(t *Term) error {
	if tb.done[t.id].number > 0 {
		return nil
	}
	var e entry
	if t.kind == variable {
		e.over = t
	}
	k := key{kind: t.kind, rule: t.rule}
	for i, p := range [...]*Term{t.a, t.b, t.c} {
		if p == nil {
			break
		}
		if err := tb.number(p); err != nil {
			return err
		}
		done := tb.done[p.id]
		if e.over != nil && done.over != nil && e.over != done.over {
			return errVariables
		}
		if done.over != nil {
			e.over = done.over
		}
		*[...]*int{&k.a, &k.b, &k.c}[i] = done.number
	}
	leaf := t.kind == constant || t.kind == variable
	if n := tb.known[k]; n > 0 && !leaf {
		e.number = n
		tb.done[t.id] = e
		return nil
	}
	f, err := tb.make(t, k)
	if err != nil {
		return err
	}
	f = f.settled()
	straight := len(f.pre) == 0 && len(f.per) == 1
	if straight {
		e.number = tb.lines[line{f.per[0], f.rise}]
	}
	if e.number == 0 {
		tb.fns = append(tb.fns, f)
		e.number = len(tb.fns)
		if straight {
			tb.lines[line{f.per[0], f.rise}] = e.number
		}
	}
	if !leaf {
		tb.known[k] = e.number
	}
	tb.done[t.id] = e
	return nil
}

// make makes the table of t from those of its parts, which k numbers.
func (tb *tables) make(t *Term, k key) (fn, error) {
	switch t.kind {
	case constant:
		return fn{nil, []int64{t.val}, 0}, nil
	case variable:
		return fn{nil, []int64{tb.lo}, 1}, nil
	case equal:
		if k.a == k.b {
			return fn{nil, []int64{1}, 0}, nil
		}
	}
	f := tb.fns[k.a-1]
	switch t.kind {
	case not:
		return tb.with(f, 0, func(a int64) int64 { return 1 - a }), nil
	case counted:
		return tb.count(f, *t.rule)
	}
	g := tb.fns[k.b-1]
	switch t.kind {
	case add, sub, mul:
		return tb.linear(t.kind, f, g)
	case floorDiv, truncDiv:
		if !isConstant(g) || g.per[0] <= 0 {
			return fn{}, errors.New("a divisor must be a positive constant")
		}
		return tb.divide(f, g.per[0], t.kind == truncDiv)
	case and, or:
		f, g, err := tb.align(f, g)
		if err != nil {
			return fn{}, err
		}
		return tb.zip(t.kind, f, g, 0), nil
	case choose:
		return tb.pick(f, g, tb.fns[k.c-1])
	}
	f, g, sign, err := tb.compared(f, g)
	if err != nil {
		return fn{}, err
	}
	switch t.kind {
	case minimum:
		rise := f.rise
		if sign > 0 {
			rise = g.rise
		}
		return tb.zip(minimum, f, g, rise), nil
	case maximum:
		rise := f.rise
		if sign < 0 {
			rise = g.rise
		}
		return tb.zip(maximum, f, g, rise), nil
	case equal, lessEqual:
		return tb.zip(t.kind, f, g, 0), nil
	}
	return fn{}, fmt.Errorf("no rule for terms of kind %d", t.kind)
}

// linear is a sum, a difference, or a product with a constant.
func (a *arena) linear(k kind, f, g fn) (fn, error) {
	if k == mul && !isConstant(g) {
		f, g = g, f
	}
	if isConstant(g) {
		c := g.per[0]
		switch k {
		case add:
			return a.with(f, f.rise, func(v int64) int64 { return v + c }), nil
		case sub:
			return a.with(f, f.rise, func(v int64) int64 { return v - c }), nil
		}
		return a.with(f, f.rise*c, func(v int64) int64 { return v * c }), nil
	}
	if k == mul {
		return fn{}, errors.New("a product of two lengths is not quasi-periodic")
	}
	f, g, err := a.align(f, g)
	if err != nil {
		return fn{}, err
	}
	if k == sub {
		return a.zip(sub, f, g, f.rise-g.rise), nil
	}
	return a.zip(add, f, g, f.rise+g.rise), nil
}

func truth(v bool) int64 {
	if v {
		return 1
	}
	return 0
}

func isConstant(f fn) bool { return len(f.pre) == 0 && len(f.per) == 1 && f.rise == 0 }

// pick is f ? g : h; both sides must rise alike.
func (a *arena) pick(f, g, h fn) (fn, error) {
	g, h, err := a.align(g, h)
	if err != nil {
		return fn{}, err
	}
	if g.rise != h.rise {
		return fn{}, errors.New("a choice between terms that rise unlike is not quasi-periodic")
	}
	if f, g, err = a.align(f, g); err != nil {
		return fn{}, err
	}
	h = a.stretch(h, len(g.pre), len(g.per))
	out := a.fn(len(h.pre), len(h.per), h.rise)
	copy(out.pre, h.pre)
	copy(out.per, h.per)
	for i, c := range f.pre {
		if c == 1 {
			out.pre[i] = g.pre[i]
		}
	}
	for i, c := range f.per {
		if c == 1 {
			out.per[i] = g.per[i]
		}
	}
	return out, nil
}

func (a *arena) divide(f fn, c int64, trunc bool) (fn, error) {
	p := int64(len(f.per)) * (c / gcd(max(f.rise, -f.rise), c))
	n := int64(len(f.pre))
	if trunc {
		n += settle(f) * int64(len(f.per))
	}
	if p > maxTable || n > maxTable {
		return fn{}, errTable
	}
	f = a.stretch(f, int(n), int(p))
	if trunc {
		return a.with(f, f.rise/c, func(v int64) int64 { return v / c }), nil
	}
	return a.with(f, f.rise/c, func(v int64) int64 { return floor(v, c) }), nil
}

func floor(a, c int64) int64 {
	q := a / c
	if a%c < 0 {
		q--
	}
	return q
}

// count is the number of r's states below f.
func (a *arena) count(f fn, r Rule) (fn, error) {
	below, total := r.walk()
	q := int64(len(below))
	if f.rise < 0 {
		return fn{}, errors.New("a count below a falling length is not needed")
	}
	p := int64(len(f.per)) * (q / gcd(f.rise, q))
	n := int64(len(f.pre)) + settle(f)*int64(len(f.per))
	if p > maxTable || n > maxTable {
		return fn{}, errTable
	}
	f = a.stretch(f, int(n), int(p))
	return a.with(f, f.rise/q*total, func(v int64) int64 {
		if v < 0 {
			return 0
		}
		return below[v%q] + v/q*total
	}), nil
}

// falseAt is the lowest length at which the truth value t is false; ok is
// false if there is none, at any length from lo on.
func (tb *tables) falseAt(t *Term) (length int64, ok bool, err error) {
	f, err := tb.eval(t)
	if err != nil {
		return 0, false, err
	}
	if i := slices.Index(f.pre, 0); i >= 0 {
		return tb.lo + int64(i), true, nil
	}
	if i := slices.Index(f.per, 0); i >= 0 {
		return tb.lo + int64(len(f.pre)+i), true, nil
	}
	return 0, false, nil
}

// extremes are the least and the largest value of t at lengths from lo to hi,
// with the lengths where they are.
func (tb *tables) extremes(t *Term, hi int64) (least, largest, leastAt, largestAt int64, err error) {
	f, err := tb.eval(t)
	if err != nil {
		return
	}
	least, largest = math.MaxInt64, math.MinInt64
	look := func(i, v int64) {
		if v < least {
			least, leastAt = v, tb.lo+i
		}
		if v > largest {
			largest, largestAt = v, tb.lo+i
		}
	}
	last := hi - tb.lo
	for i := range min(int64(len(f.pre)), last+1) {
		look(i, f.pre[i])
	}
	// A residue's values are in arithmetic progression: its ends are extreme.
	n, p := int64(len(f.pre)), int64(len(f.per))
	whole, rest := (last-n)/p, (last-n)%p
	for i := range min(p, last-n+1) {
		k := whole
		if i > rest {
			k--
		}
		look(n+i, f.per[i])
		look(n+i+k*p, f.per[i]+k*f.rise)
	}
	return
}
