package proof

// value is the term's value with every variable at x: plain evaluation, apart
// from the tables, by which every counterexample is checked.
func value(t *Term, x int64) int64 {
	switch t.kind {
	case constant:
		return t.val
	case variable:
		return x
	case not:
		return 1 - value(t.a, x)
	case counted:
		var n int64
		for p := range int(max(0, value(t.a, x))) {
			if t.rule.completes(p) {
				n++
			}
		}
		return n
	case choose:
		if value(t.a, x) == 1 {
			return value(t.b, x)
		}
		return value(t.c, x)
	}
	a, b := value(t.a, x), value(t.b, x)
	switch t.kind {
	case add:
		return a + b
	case sub:
		return a - b
	case mul:
		return a * b
	case floorDiv:
		return floor(a, b)
	case truncDiv:
		return a / b
	case minimum:
		return min(a, b)
	case maximum:
		return max(a, b)
	case equal:
		return truth(a == b)
	case lessEqual:
		return truth(a <= b)
	case and:
		return a & b
	}
	return a | b
}
