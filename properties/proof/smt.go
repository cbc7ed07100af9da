package proof

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// theory is how a solver understands integers.
type theory struct {
	name  string // ends the prover's name
	logic string
	sort  string
	keep  func(int) bool // which values of the axes are given to it
	grid  string         // that in words
	bits  bool
}

var (
	integers = theory{"int", "ALL", "Int", func(v int) bool { return v <= 3 || powerOfTwo(v) }, "powers of two and 3", false}
	// Division by other constants is multiplied out bit by bit, which takes
	// solvers minutes a claim.
	vectors32 = theory{"bv32", "QF_BV", "(_ BitVec 32)", powerOfTwo, "powers of two", true}
)

// number writes a constant.
func (th theory) number(v int64) string {
	switch {
	case th.bits:
		return fmt.Sprintf("(_ bv%d 32)", uint32(v))
	case v < 0:
		return fmt.Sprintf("(- %d)", -v)
	}
	return fmt.Sprint(v)
}

// operator writes the operation of a kind on written operands.
func (th theory) operator(k kind, args []string) string {
	names := map[kind][2]string{ // integers, vectors
		add: {"+", "bvadd"}, sub: {"-", "bvsub"}, mul: {"*", "bvmul"}, lessEqual: {"<=", "bvsle"},
		equal: {"=", "="}, and: {"and", "and"}, or: {"or", "or"}, not: {"not", "not"}, choose: {"ite", "ite"},
	}
	if n, ok := names[k]; ok {
		i := 0
		if th.bits {
			i = 1
		}
		return "(" + n[i] + " " + strings.Join(args, " ") + ")"
	}
	return "(" + map[kind]string{floorDiv: "floor-div", truncDiv: "trunc-div", minimum: "least", maximum: "largest"}[k] + " " + strings.Join(args, " ") + ")"
}

// prelude opens an input: the logic, and the operations that SMT-LIB lacks.
func (th theory) prelude() string {
	if th.bits {
		return `(set-logic QF_BV)
(define-fun least ((a (_ BitVec 32)) (b (_ BitVec 32))) (_ BitVec 32) (ite (bvsle a b) a b))
(define-fun largest ((a (_ BitVec 32)) (b (_ BitVec 32))) (_ BitVec 32) (ite (bvsle a b) b a))
; a / b for b > 0, rounded down; bvudiv rounds down what is not negative.
(define-fun floor-div ((a (_ BitVec 32)) (b (_ BitVec 32))) (_ BitVec 32)
  (ite (bvsle (_ bv0 32) a) (bvudiv a b) (bvneg (bvudiv (bvadd (bvneg a) (bvsub b (_ bv1 32))) b))))
(define-fun trunc-div ((a (_ BitVec 32)) (b (_ BitVec 32))) (_ BitVec 32)
  (ite (bvsle (_ bv0 32) a) (bvudiv a b) (bvneg (bvudiv (bvneg a) b))))
`
	}
	return `(set-logic ALL)
(define-fun least ((a Int) (b Int)) Int (ite (<= a b) a b))
(define-fun largest ((a Int) (b Int)) Int (ite (<= a b) b a))
; SMT-LIB's div rounds down for positive divisors.
(define-fun floor-div ((a Int) (b Int)) Int (div a b))
(define-fun trunc-div ((a Int) (b Int)) Int (ite (<= 0 a) (div a b) (- (div (- a) b))))
`
}

// script is an input for a solver in the making. Every query stands between
// push and pop.
type script struct {
	theory
	text    strings.Builder
	queries []query
}

// query is what a check-sat of the script is about.
type query struct {
	part    int // of the theorem
	setting Setting
	claims  int
	sat     bool   // the expected answer
	what    string // in words
	text    string // the query alone
}

// byRemainder is several queries in place of one about one integer length: for
// each remainder r by the period world*interleave*ratio of the builder's
// formulas, the length is period*k + r. Together they say the same. There are
// none for a query about no length or several.
func (q query) byRemainder() []string {
	const declare = "(declare-const "
	if strings.Count(q.text, declare) != 1 {
		return nil
	}
	_, after, _ := strings.Cut(q.text, declare)
	name, _, _ := strings.Cut(after, " ")
	period := q.setting.World * q.setting.Interleave * q.setting.Ratio
	parts := make([]string, period)
	for r := range parts {
		is := fmt.Sprintf("; %s is %d more than a multiple of %d\n(declare-const multiple Int)\n(define-fun %s () Int (+ (* %d multiple) %d))\n", name, r, period, name, period, r)
		parts[r] = strings.Replace(q.text, declare+name+" Int)\n", is, 1)
	}
	return parts
}

func newScript(th theory) *script {
	s := &script{theory: th}
	s.text.WriteString(th.prelude())
	return s
}

// ask adds a query: can the negation of all of goals be true? Besides lengths
// within the bounds of the claims, which are alike, extra must hold.
func (s *script) ask(q query, cs []claim, ts *Terms, extra func(name string) string) {
	status := "unsat"
	if q.sat {
		status = "sat"
	}
	before := s.text.Len()
	fmt.Fprintf(&s.text, "(push 1)\n; %s; expected: %s\n", q.what, status)
	var goals []*Term
	for _, c := range cs {
		goals = append(goals, s.goal(c, ts))
	}
	all := ts.all(goals...)
	lengths := map[*Term]bool{} // those that the claims' bounds are about
	for _, c := range cs {
		if c.goal != nil {
			for _, v := range variables(c.goal) {
				lengths[v] = true
			}
		}
		for _, b := range c.within {
			for _, v := range variables(b.t) {
				lengths[v] = true
			}
		}
	}
	names := map[*Term]string{}
	taken := map[string]bool{}
	for _, v := range variables(all) {
		name := v.name
		for i := 1; taken[name]; i++ {
			name = fmt.Sprintf("%s_%d", v.name, i)
		}
		taken[name], names[v] = true, name
		fmt.Fprintf(&s.text, "(declare-const %s %s)\n", name, s.sort)
		s.bound(name, cs[0], lengths[v])
		if extra != nil && lengths[v] {
			fmt.Fprintf(&s.text, "(assert %s)\n", extra(name))
		}
	}
	s.define(all, names)
	fmt.Fprintf(&s.text, "(assert (not %s))\n(check-sat)\n(pop 1)\n", names[all])
	q.text = s.text.String()[before:]
	s.queries = append(s.queries, q)
}

// bound asserts the range of a length. Integers are bounded below by 0 only, or
// by the least length of the claim: one that is about negative ones is about
// all. In vectors, x + 1 must not wrap.
func (s *script) bound(name string, c claim, isLength bool) {
	if !isLength && !s.bits {
		return
	}
	if s.bits || c.lo >= 0 {
		s.text.WriteString("(assert " + s.operator(lessEqual, []string{s.number(c.lo), name}) + ")\n")
	}
	hi := c.hi
	if s.bits && hi == 0 {
		hi = math.MaxInt32 - 1
	}
	if hi != 0 {
		s.text.WriteString("(assert " + s.operator(lessEqual, []string{name, s.number(hi)}) + ")\n")
	}
}

// goal is what the claim says, for a solver. Bounds that are those of 32 bits
// mean nothing in 32-bit arithmetic.
func (s *script) goal(c claim, ts *Terms) *Term {
	var goals []*Term
	switch {
	case c.solver != nil:
		goals = append(goals, c.solver())
	case c.goal != nil:
		goals = append(goals, c.goal)
	}
	for _, b := range c.within {
		if !s.bits {
			goals = append(goals, ts.le(ts.Int(int(b.lo)), b.t), ts.le(b.t, ts.Int(int(b.hi))))
		}
	}
	if len(goals) == 0 {
		return ts.truth(true)
	}
	return ts.all(goals...)
}

// define writes a definition for every operation that t is made of, each once.
func (s *script) define(t *Term, names map[*Term]string) string {
	if name, ok := names[t]; ok {
		return name
	}
	if t.kind == constant {
		return s.number(t.val)
	}
	var args []string
	for _, p := range t.parts() {
		args = append(args, s.define(p, names))
	}
	sort := s.sort
	if t.isBool() {
		sort = "Bool"
	}
	name := fmt.Sprintf("t%d", t.id)
	names[t] = name
	fmt.Fprintf(&s.text, "(define-fun %s () %s %s)\n", name, sort, s.operator(t.kind, args))
	return name
}

// partQueries adds the queries of a part at every setting: one for the claims
// that are to hold and have the same bounds, one each for those to be refuted.
func (s *script) partQueries(part int, p Part, name string, d Domain) {
	for setting := range p.settings(d.axes(s.keep)) {
		ts := &Terms{}
		claims := p.claims(ts, setting, d)
		what := fmt.Sprintf("%s at %s", name, setting)
		if p.Refuted {
			for _, c := range claims {
				s.ask(query{part: part, setting: setting, claims: 1, sat: true, what: what}, []claim{c}, ts, nil)
			}
			continue
		}
		for len(claims) > 0 {
			alike := func(c claim) bool { return c.lo == claims[0].lo && c.hi == claims[0].hi }
			var now []claim
			for _, c := range claims {
				if alike(c) {
					now = append(now, c)
				}
			}
			s.ask(query{part: part, setting: setting, claims: len(now), what: what}, now, ts, nil)
			claims = slices.DeleteFunc(slices.Clone(claims), alike)
		}
	}
}
