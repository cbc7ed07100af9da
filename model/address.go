package model

// Values are addressed: each is a hash of the seed and of what it belongs to,
// never the next of a stream. The hash is splitmix64 (Steele, Lea, Flood: Fast
// splittable pseudorandom number generators, OOPSLA 2014) used as a counter:
//
//	place(words...)   one step a word: h = finish(h + golden*(word+1))
//	at(h, i)          finish(h + golden*(i+1)), element i of that place
//
// so element i of a place is the i-th output of a splitmix64 that starts at h.
const golden = 0x9e3779b97f4a7c15

// finish is splitmix64's output function, a bijection of 64 bits.
func finish(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// What a place is for; part of its address, so that tensors are independent.
const (
	forQ = iota + 1
	forK
	forWeights
	forScale
	forPages
	forTable
	forOrder
	forStep
)

// place is the address of one row of a tensor: its words are the seed, what it
// is for, the request's id, and the query token counted from the end, the
// state, or the like.
func place(words ...uint64) uint64 {
	var h uint64
	for _, w := range words {
		h = finish(h + golden*(w+1))
	}
	return h
}

// at is element i of a place.
func at(place uint64, i int) uint64 { return finish(place + golden*(uint64(i)+1)) }

// below is a number from 0 to n-1 made of h; the bias is under n/2^32.
func below(h uint64, n int) int { return int(h >> 32 * uint64(n) >> 32) }

// shuffle permutes 0..n-1 (Fisher and Yates), addressed by a place.
func shuffle(place uint64, n int) []int {
	perm := make([]int, n)
	for i := range perm {
		perm[i] = i
	}
	for i := n - 1; i > 0; i-- {
		j := below(at(place, i), i+1)
		perm[i], perm[j] = perm[j], perm[i]
	}
	return perm
}
