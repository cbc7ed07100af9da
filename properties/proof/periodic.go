package proof

import (
	"errors"
	"fmt"
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

// stretch is f with a start of n values and a period of p; n is at least f's
// and p a multiple of f's.
func (f fn) stretch(n, p int) fn {
	if n == len(f.pre) && p == len(f.per) {
		return f
	}
	g := fn{make([]int64, n), make([]int64, p), f.rise * int64(p/len(f.per))}
	copy(g.pre, f.pre)
	var up int64
	r := 0
	next := func() int64 {
		v := f.per[r] + up
		if r++; r == len(f.per) {
			r, up = 0, up+f.rise
		}
		return v
	}
	for i := len(f.pre); i < n; i++ {
		g.pre[i] = next()
	}
	for i := range g.per {
		g.per[i] = next()
	}
	return g
}

// align stretches both to one start and one period.
func align(f, g fn) (fn, fn, error) {
	n := max(len(f.pre), len(g.pre))
	p := lcm(int64(len(f.per)), int64(len(g.per)))
	if n > maxTable || p > maxTable {
		return fn{}, fn{}, errTable
	}
	return f.stretch(n, int(p)), g.stretch(n, int(p)), nil
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

// zip applies op to the values of both, which are aligned.
func zip(f, g fn, rise int64, op func(a, b int64) int64) fn {
	h := fn{make([]int64, len(f.pre)), make([]int64, len(f.per)), rise}
	for i := range h.pre {
		h.pre[i] = op(f.pre[i], g.pre[i])
	}
	for i := range h.per {
		h.per[i] = op(f.per[i], g.per[i])
	}
	return h
}

// compared aligns both and moves their start to where each residue of f - g
// keeps its sign. The sign is that of f - g in the end, 0 if the rise is equal.
func compared(f, g fn) (f2, g2 fn, sign int64, err error) {
	f, g, err = align(f, g)
	if err != nil {
		return
	}
	d := zip(f, g, f.rise-g.rise, func(a, b int64) int64 { return a - b })
	n := int64(len(f.pre)) + settle(d)*int64(len(f.per))
	if n > maxTable {
		err = errTable
		return
	}
	f, g = f.stretch(int(n), len(f.per)), g.stretch(int(n), len(f.per))
	switch {
	case d.rise > 0:
		sign = 1
	case d.rise < 0:
		sign = -1
	}
	return f, g, sign, nil
}

// tables makes the tables of terms over one length from lo on.
type tables struct {
	lo   int64
	done []entry // by id
}

type entry struct {
	f    *fn
	over *Term // the variable, nil if none
}

func newTables(ts *Terms, lo int64) *tables {
	return &tables{lo: lo, done: make([]entry, ts.made)}
}

// errVariables says that a term depends on more than one length.
var errVariables = errors.New("depends on more than one length")

func (tb *tables) eval(t *Term) (fn, error) {
	if e := tb.done[t.id]; e.f != nil {
		return *e.f, nil
	}
	f, err := tb.make(t)
	if err != nil {
		return fn{}, err
	}
	e := entry{f: &f}
	if t.kind == variable {
		e.over = t
	}
	for _, p := range t.parts() {
		over := tb.done[p.id].over
		if e.over != nil && over != nil && e.over != over {
			return fn{}, errVariables
		}
		if over != nil {
			e.over = over
		}
	}
	tb.done[t.id] = e
	return f, nil
}

func (tb *tables) make(t *Term) (fn, error) {
	switch t.kind {
	case constant:
		return fn{nil, []int64{t.val}, 0}, nil
	case variable:
		return fn{nil, []int64{tb.lo}, 1}, nil
	case equal:
		if t.a == t.b {
			return fn{nil, []int64{1}, 0}, nil
		}
	}
	f, err := tb.eval(t.a)
	if err != nil {
		return fn{}, err
	}
	switch t.kind {
	case not:
		return zip(f, f, 0, func(a, _ int64) int64 { return 1 - a }), nil
	case counted:
		return count(f, *t.rule)
	}
	g, err := tb.eval(t.b)
	if err != nil {
		return fn{}, err
	}
	switch t.kind {
	case add:
		if f, g, err = align(f, g); err != nil {
			return fn{}, err
		}
		return zip(f, g, f.rise+g.rise, func(a, b int64) int64 { return a + b }), nil
	case sub:
		if f, g, err = align(f, g); err != nil {
			return fn{}, err
		}
		return zip(f, g, f.rise-g.rise, func(a, b int64) int64 { return a - b }), nil
	case mul:
		if !isConstant(f) {
			f, g = g, f
		}
		if !isConstant(f) {
			return fn{}, errors.New("a product of two lengths is not quasi-periodic")
		}
		k := f.per[0]
		return zip(g, g, k*g.rise, func(a, _ int64) int64 { return k * a }), nil
	case floorDiv, truncDiv:
		if !isConstant(g) || g.per[0] <= 0 {
			return fn{}, errors.New("a divisor must be a positive constant")
		}
		return divide(f, g.per[0], t.kind == truncDiv)
	case and:
		if f, g, err = align(f, g); err != nil {
			return fn{}, err
		}
		return zip(f, g, 0, func(a, b int64) int64 { return a & b }), nil
	case or:
		if f, g, err = align(f, g); err != nil {
			return fn{}, err
		}
		return zip(f, g, 0, func(a, b int64) int64 { return a | b }), nil
	case choose:
		return tb.choose(f, g, t.c)
	}
	f, g, sign, err := compared(f, g)
	if err != nil {
		return fn{}, err
	}
	switch t.kind {
	case minimum:
		rise := f.rise
		if sign > 0 {
			rise = g.rise
		}
		return zip(f, g, rise, func(a, b int64) int64 { return min(a, b) }), nil
	case maximum:
		rise := f.rise
		if sign < 0 {
			rise = g.rise
		}
		return zip(f, g, rise, func(a, b int64) int64 { return max(a, b) }), nil
	case equal:
		return zip(f, g, 0, func(a, b int64) int64 { return truth(a == b) }), nil
	case lessEqual:
		return zip(f, g, 0, func(a, b int64) int64 { return truth(a <= b) }), nil
	}
	return fn{}, fmt.Errorf("no rule for terms of kind %d", t.kind)
}

func truth(v bool) int64 {
	if v {
		return 1
	}
	return 0
}

func isConstant(f fn) bool { return len(f.pre) == 0 && len(f.per) == 1 && f.rise == 0 }

// choose is f ? g : h; both sides must rise alike.
func (tb *tables) choose(f, g fn, no *Term) (fn, error) {
	h, err := tb.eval(no)
	if err != nil {
		return fn{}, err
	}
	if g, h, err = align(g, h); err != nil {
		return fn{}, err
	}
	if g.rise != h.rise {
		return fn{}, errors.New("a choice between terms that rise unlike is not quasi-periodic")
	}
	if f, g, err = align(f, g); err != nil {
		return fn{}, err
	}
	h = h.stretch(len(g.pre), len(g.per))
	out := fn{slices.Clone(h.pre), slices.Clone(h.per), h.rise}
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

func divide(f fn, c int64, trunc bool) (fn, error) {
	p := int64(len(f.per)) * (c / gcd(max(f.rise, -f.rise), c))
	n := int64(len(f.pre))
	if trunc {
		n += settle(f) * int64(len(f.per))
	}
	if p > maxTable || n > maxTable {
		return fn{}, errTable
	}
	f = f.stretch(int(n), int(p))
	if trunc {
		return zip(f, f, f.rise/c, func(a, _ int64) int64 { return a / c }), nil
	}
	return zip(f, f, f.rise/c, func(a, _ int64) int64 { return floor(a, c) }), nil
}

func floor(a, c int64) int64 {
	q := a / c
	if a%c < 0 {
		q--
	}
	return q
}

// count is the number of r's states below f.
func count(f fn, r Rule) (fn, error) {
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
	f = f.stretch(int(n), int(p))
	return zip(f, f, f.rise/q*total, func(a, _ int64) int64 {
		if a < 0 {
			return 0
		}
		return below[a%q] + a/q*total
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
	first := true
	look := func(i int64) {
		v := f.at(i)
		if first || v < least {
			least, leastAt = v, tb.lo+i
		}
		if first || v > largest {
			largest, largestAt = v, tb.lo+i
		}
		first = false
	}
	last := hi - tb.lo
	for i := range min(int64(len(f.pre)), last+1) {
		look(i)
	}
	// A residue's values are in arithmetic progression: its ends are extreme.
	n, p := int64(len(f.pre)), int64(len(f.per))
	for i := range p {
		if n+i > last {
			break
		}
		look(n + i)
		look(n + i + (last-n-i)/p*p)
	}
	return
}
