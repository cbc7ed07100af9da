package kernels

import "math"

// sumHeads adds per-head logits [heads, words] in float32, head after head
// from the first, as AITER's caller does on the device (out.sum over dim 0,
// whose order there is not promised: exact data do not show it). A word that
// no head stored stays unwritten; one that some heads stored and others left
// is unwritten too, for the caller would add what the allocator left there.
func sumHeads(heads, words int, bits []uint32, written []bool) (sum []uint32, ok []bool) {
	acc := make([]float32, words)
	ok = make([]bool, words)
	for i := range ok {
		ok[i] = heads > 0
	}
	for h := range heads {
		part, stored := bits[h*words:(h+1)*words], written[h*words:(h+1)*words]
		for i, b := range part {
			if h == 0 {
				acc[i] = math.Float32frombits(b)
			} else {
				acc[i] += math.Float32frombits(b)
			}
			ok[i] = ok[i] && stored[i]
		}
	}
	sum = make([]uint32, words)
	for i, x := range acc {
		sum[i] = math.Float32bits(x)
	}
	return sum, ok
}
