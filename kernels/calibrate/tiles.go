package calibrate

import (
	"math"
	"math/rand/v2"

	"mqaproof/model/fp8"
)

// Tile is one run of a matrix instruction: A [N][K] row by row, B [N][K]
// column by column, C [N][N] row by row.
type Tile struct {
	A, B []byte
	C    []float32
}

// experiment is one row of A, one column of B and one C.
type experiment struct {
	in   Instruction
	rng  *rand.Rand
	a, b []byte
	c    float32

	top int // exponent of the large products
}

// Inputs is the instruction's tiles, the same ones on every call.
//
// Most are chosen: row i and column i of such a tile are an experiment in
// which a few products stand out, and C[i][i] is chosen for them; what is not
// on the diagonal is one experiment's A against another's B. Experiments are
// drawn from templates (draw), a tile from a seed. The first tiles are enough
// to tell most rules apart; those of the seeds in seeds.go were searched for,
// each because it tells apart two rules that all tiles before it did not (see
// TestChooseTiles). Then come dense tiles, and one with NaN and infinity.
func (in Instruction) Inputs() []Tile {
	var out []Tile
	for seed := range in.tiles.drawn {
		out = append(out, in.chosen(uint64(seed)))
	}
	for _, seed := range in.tiles.searched {
		out = append(out, in.chosen(seed))
	}
	rng := in.random(1 << 40)
	for i := range in.tiles.dense {
		out = append(out, in.dense(rng, i))
	}
	return append(out, in.special(rng))
}

func (in Instruction) random(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(in.N)<<32|uint64(in.K)<<8|uint64(in.Format)))
}

func (in Instruction) empty() Tile {
	return Tile{make([]byte, in.N*in.K), make([]byte, in.N*in.K), make([]float32, in.N*in.N)}
}

// chosen is a tile of N experiments.
func (in Instruction) chosen(seed uint64) Tile {
	rng := in.random(seed)
	t := in.empty()
	for i := range in.N {
		e := experiment{in: in, rng: rng, a: t.A[i*in.K:][:in.K], b: t.B[i*in.K:][:in.K]}
		e.draw()
		t.C[i*in.N+i] = e.c
	}
	for i := range in.N {
		for j := range in.N {
			if i != j {
				t.C[i*in.N+j] = in.between(rng, t.A[i*in.K:][:in.K], t.B[j*in.K:][:in.K])
			}
		}
	}
	return t
}

// between is a C for one experiment's A and another's B: zero, the negative of
// the dot product, or near its exponent.
func (in Instruction) between(rng *rand.Rand, a, b []byte) float32 {
	var dot float64
	for k := range a {
		dot += float64(in.Format.Decode(a[k])) * float64(in.Format.Decode(b[k]))
	}
	switch rng.IntN(4) {
	case 0:
		return 0
	case 1:
		return float32(-dot)
	}
	_, exp := math.Frexp(dot)
	return significand(rng, exp+rng.IntN(60)-30)
}

// significand is a float32 of exponent exp, of a few or of many bits.
func significand(rng *rand.Rand, exp int) float32 {
	s := uint32(1 << 23)
	switch rng.IntN(4) {
	case 0:
	case 1:
		s |= 1 << rng.IntN(23)
	case 2:
		s |= 1 | 1<<rng.IntN(23)
	default:
		s |= rng.Uint32N(1 << 23)
	}
	v := math.Ldexp(float64(s), exp-23)
	if rng.IntN(2) == 0 {
		v = -v
	}
	return float32(v)
}

// draw fills the experiment: large products that cancel or do not, small ones
// at a chosen distance below them, and C at a chosen distance.
func (e *experiment) draw() {
	rng, f := e.rng, e.in.Format
	lowest, highest := 2*f.MinExp(), 2*maxExp(f)
	e.top = highest - rng.IntN(8)
	if rng.IntN(6) == 0 {
		e.top = lowest + rng.IntN(highest-lowest)
	}
	home := rng.IntN(e.in.K)
	switch rng.IntN(32) {
	case 0:
		e.tiny(home)
		return
	case 1, 2, 3, 4, 5:
		e.tie(home)
		return
	case 6, 7, 8:
		e.reach(home)
		return
	case 9, 10, 11, 12, 13, 14:
		e.chain(home)
		return
	}
	switch rng.IntN(8) {
	case 0, 1, 2: // the large ones cancel each other
		k := e.near(home)
		e.put(home, e.top, false)
		if k != home {
			e.a[k], e.b[k] = negate(e.a[home]), e.b[home]
		}
	case 3, 4: // C cancels the large one
		e.put(home, e.top, false)
		e.c = -f.Decode(e.a[home]) * f.Decode(e.b[home])
	case 5, 6: // one stands
		e.put(home, e.top, rng.IntN(2) == 0)
	case 7: // none: C alone, or the small ones
	}
	for range rng.IntN(4) {
		if k := e.near(home); e.a[k] == 0 {
			e.put(k, max(lowest-fp8.MantissaBits*2, e.top-rng.IntN(highest-lowest+8)), rng.IntN(4) == 0)
		}
	}
	switch {
	case e.c != 0:
		if rng.IntN(3) == 0 { // a little beside the cancellation
			e.c = math.Float32frombits(math.Float32bits(e.c) ^ 1<<rng.IntN(12))
		}
	case rng.IntN(3) == 0:
		e.c = significand(rng, e.top+rng.IntN(64)-36)
	}
}

// tie puts the sum of C and the products on the middle between two float32, or
// a little off it: what is lost below then shows in the last bit.
func (e *experiment) tie(home int) {
	rng := e.rng
	above := rng.IntN(28) // C's exponent above the largest product's
	e.put(home, e.top, rng.IntN(4) == 0)
	e.c = significand(rng, e.top+above)
	for _, exp := range []int{e.top + above - 23 - rng.IntN(3), e.top - rng.IntN(40)} {
		if k := e.near(home); e.a[k] == 0 {
			e.put(k, exp, false)
		}
	}
	if rng.IntN(3) == 0 { // no large product: the tie alone
		e.a[home], e.b[home] = 0, 0
	}
}

// reach is products that cancel, and a C any distance below them: what is left
// is what the accumulator was cut to.
func (e *experiment) reach(home int) {
	e.cancel(home)
	e.c = significand(e.rng, e.top-e.rng.IntN(72))
}

// chain is a sum of many bits, and products that cancel far from it in k: with
// groups smaller than K, the sum is cut as the accumulator of theirs.
func (e *experiment) chain(home int) {
	rng := e.rng
	e.cancel(home)
	far := home ^ 1<<(log2(e.in.K)-1-rng.IntN(4))
	exp := e.top - rng.IntN(36)
	for i := range 2 + rng.IntN(4) {
		if k := (far ^ rng.IntN(8)) % e.in.K; e.a[k] == 0 {
			e.put(k, exp-i*(1+rng.IntN(8)), true)
		}
	}
	if rng.IntN(4) == 0 {
		e.c = significand(rng, exp+rng.IntN(40)-20)
	}
}

// cancel puts the large product into home and its negative near it.
func (e *experiment) cancel(home int) {
	e.put(home, e.top, e.rng.IntN(4) == 0)
	k := home ^ 1<<e.rng.IntN(log2(e.in.K))
	e.a[k], e.b[k] = negate(e.a[home]), e.b[home]
}

// tiny is a C about the smallest normal float32, with products that are zero,
// that cancel, or that are as small as they get.
func (e *experiment) tiny(home int) {
	rng := e.rng
	e.top = 2 * e.in.Format.MinExp()
	e.c = math.Float32frombits(rng.Uint32N(1<<25) | rng.Uint32()&(1<<31))
	if rng.IntN(4) != 0 {
		return
	}
	e.put(home, e.top, false)
	if k := e.near(home); k != home && rng.IntN(4) != 0 {
		e.a[k], e.b[k] = negate(e.a[home]), e.b[home]
	}
}

// near is a k that differs from home in one or two bits, so that products meet
// in groups and sub-sums of every size.
func (e *experiment) near(home int) int {
	k := home ^ 1<<e.rng.IntN(log2(e.in.K))
	if e.rng.IntN(3) == 0 {
		k ^= 1 << e.rng.IntN(log2(e.in.K))
	}
	return k
}

func log2(k int) int {
	n := 0
	for ; k > 1; k /= 2 {
		n++
	}
	return n
}

// maxExp is the exponent of the largest values.
func maxExp(f fp8.Format) int {
	_, exp := f.Split(f.Top())
	return exp
}

// put makes product k have the exponent exp, or the nearest below that a
// product can have; its significand is 1, or anything.
func (e *experiment) put(k, exp int, anything bool) {
	f, rng := e.in.Format, e.rng
	lo, hi := f.MinExp()-fp8.MantissaBits, maxExp(f)
	exp = min(max(exp, 2*lo), 2*hi)
	x := max(lo, exp-hi) + rng.IntN(min(hi, exp-lo)-max(lo, exp-hi)+1)
	e.a[k], e.b[k] = e.code(x, anything), e.code(exp-x, anything)
}

// code is a finite code of value 2^exp, below the normal numbers too, with a
// random sign and if wanted a random mantissa.
func (e *experiment) code(exp int, anything bool) byte {
	f := e.in.Format
	b := f.Encode(float32(math.Ldexp(1, exp)))
	if anything && exp >= f.MinExp() {
		if with := b | byte(e.rng.IntN(8)); !f.IsNaN(with) {
			b = with
		}
	}
	if e.rng.IntN(2) == 0 {
		b = negate(b)
	}
	return b
}

// negate is the code of the negative; zero stays.
func negate(b byte) byte {
	if b == 0 {
		return 0
	}
	return b ^ 0x80
}

// dense is a tile of random codes: kinds of data in turn.
func (in Instruction) dense(rng *rand.Rand, kind int) Tile {
	t := in.empty()
	draw := func() byte {
		for {
			var b byte
			switch kind % 4 {
			case 0: // any finite value
				b = byte(rng.Uint32())
			case 1: // rounded from a normal distribution
				b = in.Format.Encode(float32(rng.NormFloat64()))
			case 2: // small, subnormals among them
				b = byte(rng.IntN(20)) | byte(rng.IntN(2))<<7
			default: // the largest, the smallest and zero
				b = [...]byte{in.Format.Top() - byte(rng.IntN(8)), byte(1 + rng.IntN(7)), 0}[rng.IntN(3)] | byte(rng.IntN(2))<<7
			}
			if !in.Format.IsNaN(b) {
				return b
			}
		}
	}
	for i := range t.A {
		t.A[i], t.B[i] = draw(), draw()
	}
	for i := range t.C {
		if kind/4%2 == 0 {
			t.C[i] = in.between(rng, t.A[i/in.N*in.K:][:in.K], t.B[i%in.N*in.K:][:in.K])
		}
	}
	return t
}

// special is a tile with NaN codes and with infinities and NaN in C.
func (in Instruction) special(rng *rand.Rand) Tile {
	t := in.dense(rng, 1)
	t.A[rng.IntN(in.N)*in.K+rng.IntN(in.K)] = in.Format.NaN()
	t.B[rng.IntN(in.N)*in.K+rng.IntN(in.K)] = in.Format.NaN()
	for _, v := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat32} {
		t.C[rng.IntN(len(t.C))] = float32(v)
	}
	return t
}
