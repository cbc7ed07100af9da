package proof

import "iter"

// Theorem is a statement about the builder's arithmetic.
type Theorem struct {
	Name     string
	Sentence string
	Parts    []Part
}

// Part is a statement that holds at every setting and for every length, or one
// that a counterexample refutes at every setting.
type Part struct {
	Name     string
	Sentence string
	Refuted  bool // it is to be refuted

	// settings are those that the part is about; claims what it says at one.
	settings func(axes) iter.Seq[Setting]
	claims   func(*Terms, Setting, Domain) []claim
}

// claim is a truth value to be true for every value of its lengths from lo on.
type claim struct {
	lo     int64
	hi     int64 // the largest length; 0: none
	goal   *Term
	solver func() *Term // the same for solvers, where goal counts; nil: goal
	within []bound      // what goal says too: a solver gets only goal in 32-bit arithmetic
}

// bound is that a term is from lo to hi.
type bound struct {
	t      *Term
	lo, hi int64
}

// All is every theorem.
func All() []Theorem {
	return []Theorem{match(), oneLength(), impossible(), order(), partition(), intRange(), slots()}
}

// Find is the theorem of that name.
func Find(name string) (Theorem, bool) {
	for _, t := range All() {
		if t.Name == name {
			return t, true
		}
	}
	return Theorem{}, false
}

// where yields the settings that the builder accepts and ok keeps.
func where(ok func(Setting) bool) func(axes) iter.Seq[Setting] {
	return func(a axes) iter.Seq[Setting] {
		return a.grid(func(s Setting) bool { return valid(s) && ok(s) })
	}
}

func always(Setting) bool { return true }
