package proof

// Rule says whose a position is and when a state is complete.
type Rule struct {
	World, Rank, Interleave int // position p lives on rank (p / Interleave) % World
	Ratio                   int // a state is complete with position p where (p+1) % Ratio is 0
}

// completes says that position p completes a state on the rank.
func (r Rule) completes(p int) bool {
	return p/r.Interleave%r.World == r.Rank && (p+1)%r.Ratio == 0
}

// period is the number of positions after which completes repeats.
func (r Rule) period() int { return int(lcm(int64(r.World*r.Interleave), int64(r.Ratio))) }

// walk counts, position by position over one period, the states below each
// length from 0; total is the count of a whole period.
func (r Rule) walk() (below []int64, total int64) {
	below = make([]int64, r.period())
	for p := range below {
		below[p] = total
		if r.completes(p) {
			total++
		}
	}
	return below, total
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func lcm(a, b int64) int64 { return a / gcd(a, b) * b }
