package model

import (
	"math"

	"mqaproof/model/fp8"
)

// values draws the tensors of a case, a row at a time. Rows of q and weights
// are addressed by request id and by the query token counted from the last
// one, keys and scales by request id and global state: so removing a request
// or a query token, or shortening a context, leaves all other values as they
// are. Elements are addressed by head and dim as if every case had
// MaxHeadDim dims, so fewer heads or dims leave the others as they are, too.
type values struct {
	Case
	format fp8.Format
	index  func(uint64) int
	q      [4]*palette // by head%4
	k      *palette
}

func newValues(c Case, f fp8.Format) *values {
	v := &values{Case: c, format: f, index: uniform}
	same := func(p *palette) {
		v.k = p
		v.q = [4]*palette{p, p, p, p}
	}
	switch c.Data {
	case Exact:
		v.exact()
	case Adversarial:
		same(adversarialPalette(f))
	default:
		same(normalPalette(f))
		v.index = summed
	}
	return v
}

// exact sets up exact data: see the constants of palette.go for the ranges.
//
// Nothing is ever rounded, in whatever order a kernel adds and whether it
// fuses, up to MaxHeads heads of MaxHeadDim dims:
//
//   - A product q*k is an integer of at most 4*4 = 2^4, a sum of any of a
//     head's 512 products one of at most 2^13.
//   - w*relu(dot) is an integer of at most 7*2^13, and a sum of any of 256 such
//     one of at most 7*2^21 < 2^24: exact in float32's 24 bits.
//   - The scale is a power of two, 2^-2 to 2^1, and one for all terms of a
//     logit; multiplying the dot, a term or the sum by it changes exponents only,
//     far from either end of float32's range.
//
// No matrix core cuts anything, as all cuts lie at or below the unit 1, and no
// nonzero number is below it:
//
//   - CDNA3: products have exponents of at most 4, so cuts of them and of their
//     even and odd sums lie at 2^(4-24). With an accumulator of at most 2^13 the
//     cuts lie at 2^(13-24) or lower, and an accumulator that is not zero has an
//     exponent of at least 0, above 13-25, so it is never dropped.
//   - Hopper: the largest exponent is at most 13, so cuts lie at 2^(13-13) = 1.
//
// So that a wrong position or page shows, logits are to be nonzero and to
// differ: three in four keys' elements are positive; heads 0, 4, 8, ... mostly
// agree with them (positive dots), heads 3, 7, ... mostly disagree (dots that
// relu cuts off), the others have no tendency.
func (v *values) exact() {
	agree, none, disagree := exactPalette(v.format, 12), exactPalette(v.format, 8), exactPalette(v.format, 4)
	v.k = agree
	v.q = [4]*palette{agree, none, none, disagree}
}

func (v *values) place(tensor uint64, id uint32, where int) uint64 {
	return place(v.Seed, tensor, uint64(id), uint64(where))
}

// queryRow draws q of one query token, [Heads, HeadDim]; back is 0 for the
// request's last query token.
func (v *values) queryRow(id uint32, back int, dst []byte) {
	p := v.place(forQ, id, back)
	for h := range v.Heads {
		row, colours := dst[h*v.HeadDim:(h+1)*v.HeadDim], v.q[h%4]
		for d := range row {
			row[d] = colours[v.index(at(p, h*MaxHeadDim+d))]
		}
	}
	if v.Data == NaN {
		if h := at(p, -1); h%8 == 0 {
			dst[below(finish(h), len(dst))] = v.format.NaN()
		}
	}
}

// keyRow draws k of one state, [HeadDim].
func (v *values) keyRow(id uint32, state int, dst []byte) {
	p := v.place(forK, id, state)
	for d := range dst {
		dst[d] = v.k[v.index(at(p, d))]
	}
	if v.Data == NaN {
		if h := at(p, -1); h%16 == 0 {
			dst[below(finish(h), len(dst))] = v.format.NaN()
		}
	}
}

// weightRow draws the weights of one query token, [Heads].
func (v *values) weightRow(id uint32, back int, dst []float32) {
	p := v.place(forWeights, id, back)
	for i := range dst {
		h := at(p, i)
		switch v.Data {
		case Exact:
			dst[i] = signed(float32(1+below(h, exactWeight)), h&3 == 0)
		case Adversarial:
			dst[i] = adversarialWeight(h)
		default:
			dst[i] = deviate(h)
		}
	}
	if v.Data == NaN {
		if h := at(p, -1); h%16 == 0 {
			dst[below(finish(h), len(dst))] = notFinite(h)
		}
	}
}

// scale draws the scale of one state.
func (v *values) scale(id uint32, state int) float32 {
	h := at(v.place(forScale, id, state), 0)
	switch v.Data {
	case Exact:
		return power(exactScaleMin+below(h, exactScales), 0)
	case Adversarial:
		return adversarialScale(h)
	case NaN:
		if h%32 == 0 {
			return notFinite(h)
		}
	}
	// Eight binades, 2^-7 to 2, any mantissa.
	return power(-7+below(h, 8), h)
}

// adversarialWeight is zero once in 8, negative three times in 4, of exponents
// -20 to 20, every other one a power of two.
func adversarialWeight(h uint64) float32 {
	mantissa := h
	if h>>30&1 == 0 {
		mantissa = 0
	}
	w := power(-20+below(h, 41), mantissa)
	if h>>24&7 == 0 {
		w = 0
	}
	return signed(w, h>>27&3 != 0)
}

// adversarialScale is zero once in 16, and else tiny (exponents -120 to -61),
// huge (30 to 60) or ordinary (-8 to 1). The logits stay finite: a dot is below
// 2^27, a weight below 2^21, a scale below 2^61, and there are at most 2^8 heads.
func adversarialScale(h uint64) float32 {
	pick := finish(h)
	switch kind := h >> 23 & 15; {
	case kind == 0:
		return 0
	case kind < 6:
		return power(-120+below(pick, 60), h)
	case kind < 11:
		return power(30+below(pick, 31), h)
	default:
		return power(-8+below(pick, 10), h)
	}
}

// deviate is nearly normal, deviation 1, at most 3.46: the sum of four 32-bit
// draws. Integers and one division, so the same on every machine.
func deviate(h uint64) float32 {
	g := finish(h)
	sum := h&0xffffffff + h>>32 + g&0xffffffff + g>>32
	const deviation = 2479700524.8 // 2^32 * sqrt(4/12)
	return float32((float64(sum) - 2*0xffffffff) / deviation)
}

// power is 2^exponent times a mantissa below 2 of the low 23 bits; exponent is
// that of a normal float32.
func power(exponent int, mantissa uint64) float32 {
	return math.Float32frombits(uint32(exponent+127)<<23 | uint32(mantissa)&(1<<23-1))
}

func signed(v float32, negative bool) float32 {
	if negative {
		return -v
	}
	return v
}

// notFinite is a NaN, half as often an infinity of either sign.
func notFinite(h uint64) float32 {
	switch below(finish(h), 4) {
	case 0:
		return float32(math.Inf(1))
	case 1:
		return float32(math.Inf(-1))
	}
	return math.Float32frombits(0x7fc00000)
}
