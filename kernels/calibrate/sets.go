package calibrate

import (
	"math/bits"

	"mqaproof/model/matrixcore"
)

// The range of each cut's fraction bits. More bits than maxBits hold nothing:
// a product's last bit is at most 36 bits below the largest exponent.
const (
	minBits  = 6
	maxBits  = 40
	bitsSpan = maxBits - minBits + 1
	allCuts  = 3 * bitsSpan // three roundings
)

// cutSet is a set of cuts: cut i has minBits + i%bitsSpan bits and rounding
// i/bitsSpan.
type cutSet [2]uint64

func cutAt(i int) matrixcore.Cut {
	return matrixcore.Cut{Bits: minBits + i%bitsSpan, Rounding: matrixcore.Rounding(i / bitsSpan)}
}

// cutIndex is the number of a cut; ok is false outside the family.
func cutIndex(c matrixcore.Cut) (i int, ok bool) {
	if c.Bits < minBits || c.Bits > maxBits || c.Rounding > matrixcore.Nearest {
		return 0, false
	}
	return int(c.Rounding)*bitsSpan + c.Bits - minBits, true
}

func (s *cutSet) add(i int)          { s[i>>6] |= 1 << (i & 63) }
func (s cutSet) has(i int) bool      { return s[i>>6]>>(i&63)&1 == 1 }
func (s cutSet) empty() bool         { return s[0]|s[1] == 0 }
func (s cutSet) size() int           { return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) }
func (s cutSet) and(o cutSet) cutSet { return cutSet{s[0] & o[0], s[1] & o[1]} }
func (s cutSet) or(o cutSet) cutSet  { return cutSet{s[0] | o[0], s[1] | o[1]} }

// first is the lowest member: toward zero before the other roundings, then the
// fewest bits.
func (s cutSet) first() int {
	if s[0] != 0 {
		return bits.TrailingZeros64(s[0])
	}
	return 64 + bits.TrailingZeros64(s[1])
}

// each calls f for every member.
func (s cutSet) each(f func(i int)) {
	for w, word := range s {
		for ; word != 0; word &= word - 1 {
			f(w*64 + bits.TrailingZeros64(word))
		}
	}
}

// atLeast[b] is the cuts of b bits and more.
var atLeast = func() (t [maxBits + 2]cutSet) {
	for b := range t {
		for i := range allCuts {
			if cutAt(i).Bits >= b {
				t[b].add(i)
			}
		}
	}
	return t
}()

// keeping is the members that keep so many bits or more.
func (s cutSet) keeping(bits int) cutSet {
	if bits > maxBits {
		return cutSet{}
	}
	return s.and(atLeast[max(bits, 0)])
}

// Reach i is an AccReach of i, and the last one is without an end.
const (
	reaches   = 64
	unlimited = 1000 // beyond the distance of any two exponents
)

func reachAt(i int) int {
	if i == reaches-1 {
		return unlimited
	}
	return i
}

// reachIndex is the number of an AccReach: beyond the largest, the unlimited.
func reachIndex(reach int) int { return min(reach, reaches-1) }

// reachesFrom is the reaches that get as far as distance.
func reachesFrom(distance int) uint64 {
	return ^uint64(0) << max(0, min(distance, reaches-1))
}

// The results: a float32 to nearest even, or so many fraction bits by a
// rounding. 23 bits to nearest is float32 again and left out.
const (
	minResult  = 8
	maxResult  = 23
	resultSpan = maxResult - minResult + 1
	allResults = 1 + 3*resultSpan - 1
)

// result is how a group's result becomes the next accumulator; bits 0 is
// float32.
type result struct {
	bits     int
	rounding matrixcore.Rounding
}

func resultAt(i int) result {
	if i == 0 {
		return result{}
	}
	return result{minResult + (i-1)%resultSpan, matrixcore.Rounding((i - 1) / resultSpan)}
}

// resultIndex is the number of a result; ok is false outside the family.
func resultIndex(r result) (i int, ok bool) {
	if r.bits == 0 {
		return 0, true
	}
	i = 1 + int(r.rounding)*resultSpan + r.bits - minResult
	return i, r.bits >= minResult && r.bits <= maxResult && i < allResults
}
