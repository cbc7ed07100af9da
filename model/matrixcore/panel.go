package matrixcore

import (
	"encoding/binary"
	"math/bits"

	"mqaproof/model/fp8"
)

// The fast path works in integers: an fp8 value is a multiple of its format's
// smallest subnormal, below 2^18 of them, so a product is an exact int64 in
// units of the product of both smallest subnormals, 2^(base-6) with
// base = MinExp(fa)+MinExp(fb). Exponents are counted from base as well
// ("relative"): a product's relative exponent is 0 to 30, and its last
// significand bit is unit bit (relative exponent).
const (
	productFrac = 2 * fp8.MantissaBits // fraction bits of a product's significand

	blockK    = 16 // products of a block
	panelRows = 32
	panelK    = 4 // blocks of a row: 64 products
)

// block is 16 consecutive k of one row, ready for use. With two sub-sums the
// even k come first, then the odd ones.
type block struct {
	fixed [blockK]int32
	// exp is nonZero plus the exponent above MinExp; 0 for a zero. Two of them
	// add without a carry into the next byte of a word, and a sum of at least
	// 2*nonZero means that neither factor is zero.
	exp [blockK]uint8
	// hi bounds the exponents of the block from above, lo the lowest set bits
	// of fixed from below.
	hi, lo int8
}

const nonZero = 32

// code is what a panel needs to know of one fp8 code.
type code struct {
	fixed    int32
	exp, low uint8
	nan      bool
}

var codes = [...][256]code{fp8.E4M3FN: buildCodes(fp8.E4M3FN), fp8.E4M3FNUZ: buildCodes(fp8.E4M3FNUZ)}

func buildCodes(f fp8.Format) (t [256]code) {
	for i := range t {
		b := byte(i)
		c := code{fixed: f.Fixed(b), low: noBits, nan: f.IsNaN(b)}
		if sig, exp := f.Split(b); sig != 0 {
			c.exp = uint8(nonZero + exp - f.MinExp())
			c.low = uint8(bits.TrailingZeros32(uint32(c.fixed)))
		}
		t[i] = c
	}
	return t
}

// noBits is the lowest set bit of a block of zeros: high enough that no cut
// reaches it.
const noBits = 40

// panel is up to 32 rows of up to 64 k.
type panel struct {
	blocks [panelRows][panelK]block
	nan    [panelRows]bool
}

// load fills the panel with rows of k codes each, of which it takes those from
// k0 on, up to 64, and returns how many blocks a row has. What is left of the
// last block, and of the last group of so many blocks, is zeros.
func (p *panel) load(f fp8.Format, codesOf []byte, rows, k, k0, subSums, blocksOfGroup int) int {
	n := min(panelK*blockK, k-k0)
	groupK := blockK * blocksOfGroup
	blocks := (n + groupK - 1) / groupK * blocksOfGroup
	table := &codes[f]
	for r := range rows {
		row := codesOf[r*k+k0:][:n]
		p.nan[r] = false
		for g := range blocks {
			part := row[min(g*blockK, n):min((g+1)*blockK, n)]
			if p.blocks[r][g].load(table, part, subSums) {
				p.nan[r] = true
			}
		}
	}
	return blocks
}

// load takes up to 16 codes and reports whether a NaN is among them.
func (b *block) load(table *[256]code, part []byte, subSums int) (nan bool) {
	if len(part) < blockK {
		*b = block{}
	}
	hi, lo := uint8(0), uint8(noBits)
	for i, x := range part {
		c := &table[x]
		at := i
		if subSums == 2 {
			at = i&1*(blockK/2) + i>>1
		}
		b.fixed[at&(blockK-1)] = c.fixed
		b.exp[at&(blockK-1)] = c.exp
		hi, lo = max(hi, c.exp), min(lo, c.low)
		nan = nan || c.nan
	}
	b.hi, b.lo = int8(max(hi, nonZero)-nonZero), int8(lo)
	return nan
}

// dot16 is the exact sum of the block's products.
func dot16(x, y *[blockK]int32) int64 {
	s := int64(x[0])*int64(y[0]) + int64(x[1])*int64(y[1]) + int64(x[2])*int64(y[2]) + int64(x[3])*int64(y[3])
	s += int64(x[4])*int64(y[4]) + int64(x[5])*int64(y[5]) + int64(x[6])*int64(y[6]) + int64(x[7])*int64(y[7])
	s += int64(x[8])*int64(y[8]) + int64(x[9])*int64(y[9]) + int64(x[10])*int64(y[10]) + int64(x[11])*int64(y[11])
	s += int64(x[12])*int64(y[12]) + int64(x[13])*int64(y[13]) + int64(x[14])*int64(y[14]) + int64(x[15])*int64(y[15])
	return s
}

// dotCut8 is the sum of eight products, each cut toward zero to a multiple of
// 2^drop units.
func dotCut8(x, y *[8]int32, drop int) int64 {
	low := lowMask(drop)
	var s int64
	for i := range x {
		p := int64(x[i]) * int64(y[i])
		s += (p + p>>63&low) &^ low
	}
	return s
}

// lowMask is the mask of the lowest drop bits; none when drop is not positive.
func lowMask(drop int) int64 {
	return 1<<uint(max(drop, 0)&63) - 1
}

// exponents is the biased exponents of eight products, a byte each.
func exponents(x, y []uint8) uint64 {
	return binary.LittleEndian.Uint64(x) + binary.LittleEndian.Uint64(y)
}

const highBits = 0x8080808080808080

// max8 is the larger of each pair of bytes, all below 128.
func max8(x, y uint64) uint64 {
	ge := ((x | highBits) - y) & highBits // no byte borrows from the next
	mask := ge - ge>>7                    // 0x7f where x >= y
	return x&mask | y&^mask
}

// top is the largest of eight bytes, all below 128.
func top(x uint64) int {
	x = max8(x, x>>32)
	x = max8(x, x>>16)
	x = max8(x, x>>8)
	return int(x & 0x7f)
}
