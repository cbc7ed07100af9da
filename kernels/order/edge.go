package order

import (
	"math"
	"math/rand/v2"

	"mqaproof/model/fp8"
)

// edge is four dims, two of one group and two of the next, all other factors
// being zero. Their products are powers of two at the edges of what an
// accumulation keeps, so that the last bit of what is kept decides a bit of the
// dot:
//
//	2^13 + 2^-10, then -2^-11 + 2^-e    a tie of float32, or just above it: how many bits of the group's sum are kept
//	-2^-e, then 2^14                    how far below the products an accumulator still counts
type edge struct {
	first, second [2]int
}

func newEdge(rng *rand.Rand, order []int, group int) *edge {
	g := rng.IntN(len(order)/group - 1)
	pick := func(g int) [2]int {
		i := rng.IntN(group)
		j := (i + 1 + rng.IntN(group-1)) % group
		return [2]int{order[g*group+i], order[g*group+j]}
	}
	return &edge{pick(g), pick(g + 1)}
}

// drawQ draws a row. A quarter of the rows has no large product in the first
// group.
func (e *edge) drawQ(rng *rand.Rand, f fp8.Format, q []byte) {
	power := powersOf(f)
	if rng.IntN(4) == 0 {
		q[e.first[1]] = power(-rng.IntN(5), true)
		q[e.second[0]] = power(7, false)
		return
	}
	q[e.first[0]] = power(6+rng.IntN(2), false)
	q[e.first[1]] = power(-rng.IntN(2), false)
	q[e.second[0]] = power(-rng.IntN(4), true)
	q[e.second[1]] = power(-20, rng.IntN(2) == 0)
}

func (e *edge) drawK(rng *rand.Rand, f fp8.Format, k []byte) {
	power := powersOf(f)
	k[e.first[0]] = power(7, false)
	k[e.first[1]] = power(-10+rng.IntN(3), false)
	k[e.second[0]] = power(-10+rng.IntN(3), false)
	if rng.IntN(4) == 0 {
		k[e.second[0]] = power(7, false)
	}
	k[e.second[1]] = power(-10+rng.IntN(7), false)
}

// powersOf gives the codes of powers of two, the smallest value for what is
// smaller.
func powersOf(f fp8.Format) func(exp int, negative bool) byte {
	return func(exp int, negative bool) byte {
		x := max(float32(math.Ldexp(1, exp)), f.MinSubnormal())
		if negative {
			x = -x
		}
		return f.Encode(x)
	}
}
