package model

// Cases of the same meaning: what a kernel gives for a row must not depend on
// these, to the bit.

// PermuteRequests puts the requests in another order, picked by seed. order
// says which: request i of the new case is request order[i] of c.
func PermuteRequests(c Case, seed uint64) (permuted Case, order []int) {
	order = shuffle(place(seed, forOrder), len(c.Requests))
	requests := make([]Request, len(order))
	for i, o := range order {
		requests[i] = c.Requests[o]
	}
	c.Requests = requests
	return c, order
}

// RenamePages puts the same tokens on other physical pages, picked by seed.
func RenamePages(c Case, seed uint64) Case {
	c.ShufflePages, c.PageSeed = true, seed
	return c
}
