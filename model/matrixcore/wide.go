package matrixcore

import (
	"math/bits"

	"mqaproof/model/fp8"
)

// The wide path computes 16 outputs of a row at a time in vector registers: on
// processors with AVX2, see wide_amd64.s. It has no fast and no slow data. A
// product of two fp8 values, and that product in any unit near its exponent,
// is exact in float32, so a cut toward zero is one conversion to int32.
const (
	wideCols = 16
	wideRows = 16
	wideK    = 64 // k that are unpacked at a time
)

// wideColumns is up to 64 k of 16 columns: values, and exponents as in block.
type wideColumns struct {
	values [wideK][wideCols]float32
	exps   [wideK][wideCols]uint8
}

// wideTile is what one block of outputs needs.
type wideTile struct {
	y      wideColumns
	values [wideRows][wideK]float32
	exps   [wideRows][wideK]uint8
	acc    [wideRows][wideCols]float32
	pad    [max(wideRows, wideCols)][wideK]byte // codes of a panel that the matrix does not fill
	nans   uint16                               // columns that have a NaN code
	nan    [wideRows]bool                       // rows that have one
	tiny   [wideRows]bool                       // rows left to the narrow path
}

// wideFormat is how codes are unpacked.
type wideFormat struct {
	nanMask, nanValue uint8  // a code is NaN if code&nanMask == nanValue
	exp               uint32 // a float32's exponent, to be added to that of a code
}

var wideFormats = [...]wideFormat{
	fp8.E4M3FN:   {0x7f, 0x7f, uint32(127-1+fp8.E4M3FN.MinExp()-fp8.MantissaBits) << 23},
	fp8.E4M3FNUZ: {0xff, 0x80, uint32(127-1+fp8.E4M3FNUZ.MinExp()-fp8.MantissaBits) << 23},
}

// lateWide is a rule like CDNA3's in the constants of avxLate. A unit 2^(E-b)
// has the inverse 2^(b-E), a float32 whose exponent field is b-E+127.
type lateWide struct {
	unit   int32   // that field for exponent byte 0
	zeros  int32   // larger fields are those of groups of zeros
	extra  int32   // bits that a sub-sum has more than the sum of both
	most   int32   // minus a field: the exponent of the sum, plus 127
	tiny   int32   // bits of the smallest accumulator that is not tiny
	reach  int32   // AccReach + 1
	sum    int32   // the exponents of the three factors, as float64 fields
	acc    int32   // "
	result int32   // "
	weight float64 // of the accumulator's unit in the sum's
}

// fitsWideLate reports whether avxLate computes the rule: sums of eight
// products are below 2^(Product.Bits+5), and stay within int32.
func (r *Rule) fitsWideLate(n, k int) bool {
	return vectors && n >= wideLeast && r.fitsLate(k) && r.Product.Bits <= 24 && r.SubSum.Bits <= r.Product.Bits
}

// wideLeast is the fewest columns for which 16 at a time pay.
const wideLeast = 3

func (r *Rule) lateWide(base int) lateWide {
	unit := 127 + r.Product.Bits + 2*nonZero - base
	return lateWide{
		unit:   int32(unit),
		zeros:  int32(unit - 2*nonZero),
		extra:  int32(r.Product.Bits - r.SubSum.Bits),
		most:   int32(127 + 127 + r.Product.Bits),
		tiny:   tiny << 23,
		reach:  int32(r.AccReach + 1),
		sum:    int32(1023 + r.Sum.Bits - r.SubSum.Bits),
		acc:    int32(1023 + 127 + r.Acc.Bits),
		result: int32(1023 - 127 - r.Sum.Bits),
		weight: exp2(r.Sum.Bits - r.Acc.Bits),
	}
}

// earlyWide is a rule like Hopper's in the constants of avxEarly.
type earlyWide struct {
	unit int32  // as in lateWide
	acc  int32  // a float32's exponent field minus its exponent byte
	keep uint32 // mask of the bits of a float32 that a result keeps
	one  uint32 // minus a power of two's bits: its inverse's
}

// fitsWideEarly reports whether avxEarly computes the rule: the sum of a group,
// below Group+1 times 2^(Product.Bits+2), must be exact in float32.
func (r *Rule) fitsWideEarly(n, k int) bool {
	return vectors && n >= wideLeast && k > 0 && r.fitsEarly(k) && wideK%r.Group == 0 && r.Product.Bits+2+bits.Len(uint(r.Group+1)) <= 24
}

func (r *Rule) earlyWide(base int) earlyWide {
	return earlyWide{
		unit: int32(127 + r.Product.Bits + 2*nonZero - base),
		acc:  int32(127 + base - 2*nonZero),
		keep: ^uint32(1<<(23-r.ResultBits) - 1),
		one:  254 << 23,
	}
}

// unpack takes k0 to k0+n of 16 columns.
func (t *wideTile) unpackColumns(f fp8.Format, codes []byte, cols, k, k0, n int) {
	from, stride := t.panel(codes, cols, k, k0, n)
	t.nans |= avxUnpackColumns(&wideFormats[f], from, stride, (n+blockK-1)/blockK, &t.y)
}

// unpackRows takes k0 to k0+n of up to 16 rows.
func (t *wideTile) unpackRows(f fp8.Format, codes []byte, rows, k, k0, n int) {
	const step = 32
	if n%step != 0 {
		t.fill(codes, rows, k, k0, n)
	}
	for i := range rows {
		from := &t.pad[i][0]
		if n%step == 0 {
			from = &codes[i*k+k0]
		}
		if avxUnpackRow(&wideFormats[f], from, (n+step-1)/step, &t.values[i][0], &t.exps[i][0]) {
			t.nan[i] = true
		}
	}
}

// panel is where to read 16 rows of n codes, a multiple of 16 made with zeros,
// and how far apart they are.
func (t *wideTile) panel(codes []byte, rows, k, k0, n int) (from *byte, stride int) {
	if rows == wideCols && n%blockK == 0 {
		return &codes[k0], k
	}
	t.fill(codes, rows, k, k0, n)
	return &t.pad[0][0], wideK
}

func (t *wideTile) fill(codes []byte, rows, k, k0, n int) {
	for i := range t.pad {
		if i < rows {
			copy(t.pad[i][:n], codes[i*k+k0:])
			clear(t.pad[i][n:])
		} else {
			clear(t.pad[i][:])
		}
	}
}

// mulAddWide is MulAdd for the rules that avxLate or avxEarly computes.
func (r *Rule) mulAddWide(fa, fb fp8.Format, m, n, k int, a, bt []byte, c, d []float32) {
	var t wideTile
	base := fa.MinExp() + fb.MinExp()
	late, early := r.lateWide(base), r.earlyWide(base)
	for i0 := 0; i0 < m; i0 += wideRows {
		rows := min(wideRows, m-i0)
		t.nan = [wideRows]bool{}
		for j0 := 0; j0 < n; j0 += wideCols {
			cols := min(wideCols, n-j0)
			t.nans, t.tiny = 0, [wideRows]bool{}
			for i := range rows {
				t.acc[i] = [wideCols]float32{}
				if r.Join == JoinLate {
					copy(t.acc[i][:cols], c[(i0+i)*n+j0:])
				}
			}
			for k0 := 0; k0 < k; k0 += wideK {
				ks := min(wideK, k-k0)
				if j0 == 0 || k > wideK {
					t.unpackRows(fa, a[i0*k:], rows, k, k0, ks)
				}
				// A last group that is not full goes on with zeros.
				whole := (ks + r.Group - 1) / r.Group * r.Group
				t.unpackColumns(fb, bt[j0*k:], cols, k, k0, ks)
				t.zeros(ks, whole)
				for i := range rows {
					if r.Join == JoinLate {
						if avxLate(&late, &t.y, &t.values[i][0], &t.exps[i][0], whole/r.Group, &t.acc[i][0]) {
							t.tiny[i] = true
						}
					} else {
						avxEarly(&early, &t.y, &t.values[i][0], &t.exps[i][0], whole/r.Group, r.Group/blockK, &t.acc[i][0])
					}
				}
			}
			for i := range rows {
				at := (i0+i)*n + j0
				if t.tiny[i] {
					r.mulAddLate(fa, fb, 1, cols, k, a[(i0+i)*k:], bt[j0*k:], c[at:at+cols], d[at:at+cols])
					continue
				}
				r.finishWide(&t, i, c[at:at+cols], d[at:at+cols])
			}
		}
	}
}

// zeros makes columns zero from the block after the last of n codes on, up to
// those of whole groups. What a row has there does not matter then.
func (t *wideTile) zeros(n, whole int) {
	for k := (n + blockK - 1) / blockK * blockK; k < whole; k++ {
		t.y.values[k], t.y.exps[k] = [wideCols]float32{}, [wideCols]uint8{}
	}
}

// nothing is what a late rule has left to add. It changes nothing: an
// accumulator that went through a group is never -0.
var nothing [wideCols]float32

// finishWide is a row's results.
func (r *Rule) finishWide(t *wideTile, i int, c, d []float32) {
	nans := t.nans
	if t.nan[i] {
		nans = 1<<wideCols - 1
	}
	acc := &t.acc[i]
	switch {
	case len(d) < wideCols:
		last := nothing
		if r.Join == JoinEarly {
			copy(last[:], c)
		}
		avxFinish(&acc[0], &last[0], &acc[0], nans)
		copy(d, acc[:])
	case r.Join == JoinLate:
		avxFinish(&d[0], &nothing[0], &acc[0], nans)
	default:
		avxFinish(&d[0], &c[0], &acc[0], nans)
	}
}
