package proof

// kind is what a term is: an integer, or a truth value (0 or 1).
type kind uint8

const (
	constant kind = iota // val
	variable             // name
	add
	sub
	mul
	floorDiv // b a positive constant
	truncDiv // b a positive constant
	minimum
	maximum
	counted // how many states of rule are complete and owned below a
	equal
	lessEqual
	and
	or
	not
	choose // b where a holds, else c
)

// Term is an expression over lengths. Terms are made by Terms and never
// change; one term may be part of many.
type Term struct {
	kind    kind
	id      int // its place in Terms
	val     int64
	name    string
	rule    *Rule
	a, b, c *Term
}

// isBool tells truth values.
func (t *Term) isBool() bool { return t.kind >= equal && t.kind <= not }

// parts are the terms that t is made of.
func (t *Term) parts() []*Term {
	switch {
	case t.a == nil:
		return nil
	case t.b == nil:
		return []*Term{t.a}
	case t.c == nil:
		return []*Term{t.a, t.b}
	}
	return []*Term{t.a, t.b, t.c}
}

// Terms makes terms. It is tensor arithmetic for package metadata
// (metadata.Arith): Div rounds down. Device is that of a device kernel.
type Terms struct {
	made   int
	blocks [][]Term
}

// blockSize is how many terms are allocated at once.
const blockSize = 256

// reset forgets all terms; their memory is used again.
func (ts *Terms) reset() { ts.made = 0 }

// Device is the arithmetic of a device kernel over terms: Div rounds toward
// zero.
type Device struct{ *Terms }

func (ts *Terms) new(t Term) *Term {
	if ts.made == len(ts.blocks)*blockSize {
		ts.blocks = append(ts.blocks, make([]Term, blockSize))
	}
	p := &ts.blocks[ts.made/blockSize][ts.made%blockSize]
	t.id = ts.made
	ts.made++
	*p = t
	return p
}

// Var is a new length of that name.
func (ts *Terms) Var(name string) *Term { return ts.new(Term{kind: variable, name: name}) }

func (ts *Terms) Int(v int) *Term      { return ts.new(Term{kind: constant, val: int64(v)}) }
func (ts *Terms) Add(a, b *Term) *Term { return ts.new(Term{kind: add, a: a, b: b}) }
func (ts *Terms) Sub(a, b *Term) *Term { return ts.new(Term{kind: sub, a: a, b: b}) }
func (ts *Terms) Mul(a, b *Term) *Term { return ts.new(Term{kind: mul, a: a, b: b}) }
func (ts *Terms) Div(a, b *Term) *Term { return ts.new(Term{kind: floorDiv, a: a, b: b}) }
func (ts *Terms) Min(a, b *Term) *Term { return ts.new(Term{kind: minimum, a: a, b: b}) }
func (ts *Terms) Max(a, b *Term) *Term { return ts.new(Term{kind: maximum, a: a, b: b}) }

// Div rounds toward zero.
func (d Device) Div(a, b *Term) *Term { return d.new(Term{kind: truncDiv, a: a, b: b}) }

func (ts *Terms) eq(a, b *Term) *Term { return ts.new(Term{kind: equal, a: a, b: b}) }
func (ts *Terms) le(a, b *Term) *Term { return ts.new(Term{kind: lessEqual, a: a, b: b}) }
func (ts *Terms) and(a, b *Term) *Term {
	return ts.new(Term{kind: and, a: a, b: b})
}
func (ts *Terms) or(a, b *Term) *Term      { return ts.new(Term{kind: or, a: a, b: b}) }
func (ts *Terms) not(a *Term) *Term        { return ts.new(Term{kind: not, a: a}) }
func (ts *Terms) implies(a, b *Term) *Term { return ts.or(ts.not(a), b) }
func (ts *Terms) iff(a, b *Term) *Term {
	return ts.and(ts.implies(a, b), ts.implies(b, a))
}
func (ts *Terms) choose(cond, yes, no *Term) *Term {
	return ts.new(Term{kind: choose, a: cond, b: yes, c: no})
}
func (ts *Terms) truth(v bool) *Term {
	if v {
		return ts.eq(ts.Int(0), ts.Int(0))
	}
	return ts.eq(ts.Int(0), ts.Int(1))
}

// all is the conjunction of some truth values.
func (ts *Terms) all(of ...*Term) *Term {
	all := of[0]
	for _, t := range of[1:] {
		all = ts.and(all, t)
	}
	return all
}

// variables are the distinct variables of t.
func variables(t *Term) []*Term {
	var vars []*Term
	seen := map[*Term]bool{}
	var walk func(*Term)
	walk = func(t *Term) {
		if seen[t] {
			return
		}
		seen[t] = true
		if t.kind == variable {
			vars = append(vars, t)
		}
		for _, p := range t.parts() {
			walk(p)
		}
	}
	walk(t)
	return vars
}
