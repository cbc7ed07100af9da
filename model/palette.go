package model

import "mqaproof/model/fp8"

// A palette maps 12 bits to an fp8 code: a distribution of q or k elements.
type palette [1 << 12]byte

// Exact data. q and k are integers of at most exactQK, weights of exactWeight,
// scales powers of two from 2^exactScaleMin over exactScales binades.
const (
	exactQK       = 4
	exactWeight   = 7
	exactScaleMin = -2
	exactScales   = 4
)

// exactPalette is 0 once in 16, else 1 to 4 in magnitude, positive in
// sixteenths of the draws.
func exactPalette(f fp8.Format, positive int) *palette {
	var p palette
	for i := range p {
		magnitude := i >> 4 & (exactQK - 1)
		v := float32(magnitude + 1)
		if i&15 >= positive {
			v = -v
		}
		if i>>8 == 0 {
			v = 0
		}
		p[i] = f.Encode(v)
	}
	return &p
}

// normalPalette is for an index that is the sum of four 16-bit draws, cut to
// 12 bits: nearly normal (Irwin and Hall), deviation 1, at most 3.46. No
// transcendental function is involved, so every machine has the same values.
func normalPalette(f fp8.Format) *palette {
	const (
		mean      = 4 * 65535 / 2.0
		deviation = 37837.227 // 65536 * sqrt(4/12)
	)
	var p palette
	for i := range p {
		sum := float64(i)*64 + 31.5
		p[i] = f.Encode(float32((sum - mean) / deviation))
	}
	return &p
}

// adversarialPalette is, by draws of 16: 4 the largest value, 4 a subnormal, 2
// a zero (of either sign where there is a -0), 6 any finite code.
func adversarialPalette(f fp8.Format) *palette {
	var p palette
	for i := range p {
		kind, sign, rest := i>>8, byte(i&1)<<7, byte(i>>1)&0x7f
		var code byte
		switch {
		case kind < 4:
			code = f.Top() | sign
		case kind < 8:
			code = 1 + rest%(1<<fp8.MantissaBits-1) | sign
		case kind < 10:
			code = sign
		default:
			code = rest | sign
		}
		if f.IsNaN(code) {
			code &^= 0x80 // e4m3fnuz: what would be -0 is NaN
		}
		if f.IsNaN(code) {
			code = f.Top() // e4m3fn: one beyond the largest value
		}
		p[i] = code
	}
	return &p
}

// uniform and summed are the two ways to draw an index.
func uniform(h uint64) int { return int(h >> 52) }

func summed(h uint64) int {
	return int((h&0xffff + h>>16&0xffff + h>>32&0xffff + h>>48) >> 6)
}
