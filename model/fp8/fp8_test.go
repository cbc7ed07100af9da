package fp8

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

var both = []Format{E4M3FN, E4M3FNUZ}

// spec is the definition of a format in other words than the code's: the value
// of a code as a fraction of integers, (-1)^s * (1 + m/8) * 2^(e-bias) for e > 0
// and (-1)^s * m/8 * 2^(1-bias) for e = 0.
func spec(f Format, code int) (v *big.Rat, nan bool) {
	bias := 7
	if f == E4M3FNUZ {
		bias = 8
		if code == 128 {
			return nil, true
		}
	} else if code == 127 || code == 255 {
		return nil, true
	}
	s, rest := code/128, code%128
	e, m := rest/8, rest%8
	numerator, power := int64(8+m), e-bias
	if e == 0 {
		numerator, power = int64(m), 1-bias
	}
	if s == 1 {
		numerator = -numerator
	}
	v = big.NewRat(numerator, 8)
	for ; power > 0; power-- {
		v.Mul(v, big.NewRat(2, 1))
	}
	for ; power < 0; power++ {
		v.Mul(v, big.NewRat(1, 2))
	}
	return v, false
}

func TestAllCodesAgreeWithTheDefinition(t *testing.T) {
	for _, f := range both {
		for code := range 256 {
			b := byte(code)
			want, nan := spec(f, code)
			got := f.Decode(b)
			if f.IsNaN(b) != nan || (got != got) != nan {
				t.Errorf("%v %#02x: NaN is %v, decoded %v, want NaN %v", f, b, f.IsNaN(b), got, nan)
				continue
			}
			sig, exp := f.Split(b)
			if nan {
				if sig != 0 || f.Fixed(b) != 0 {
					t.Errorf("%v %#02x: a NaN has integer views %d and %d", f, b, sig, f.Fixed(b))
				}
				continue
			}
			if new(big.Rat).SetFloat64(float64(got)).Cmp(want) != 0 {
				t.Errorf("%v %#02x: decoded %v, want %v", f, b, got, want)
			}
			if math.Ldexp(float64(sig), exp-MantissaBits) != float64(got) {
				t.Errorf("%v %#02x: split %d * 2^(%d-3), want %v", f, b, sig, exp, got)
			}
			if normal := max(sig, -sig) >= 8; !normal && exp != f.MinExp() || max(sig, -sig) > 15 {
				t.Errorf("%v %#02x: split %d, %d is not normalised", f, b, sig, exp)
			}
			if float64(f.Fixed(b))*float64(f.MinSubnormal()) != float64(got) {
				t.Errorf("%v %#02x: fixed %d * %v, want %v", f, b, f.Fixed(b), f.MinSubnormal(), got)
			}
		}
	}
}

// TestKnownCodes holds codes published with the formats (OFP8 table 1, arXiv
// 2206.02915 table 2).
func TestKnownCodes(t *testing.T) {
	tests := []struct {
		f    Format
		code byte
		want float32
	}{
		{E4M3FN, 0x7e, 448}, {E4M3FN, 0xfe, -448}, {E4M3FN, 0x08, 0x1p-6}, {E4M3FN, 0x07, 0.875 * 0x1p-6}, {E4M3FN, 0x01, 0x1p-9}, {E4M3FN, 0x38, 1},
		{E4M3FNUZ, 0x7f, 240}, {E4M3FNUZ, 0xff, -240}, {E4M3FNUZ, 0x08, 0x1p-7}, {E4M3FNUZ, 0x07, 0.875 * 0x1p-7}, {E4M3FNUZ, 0x01, 0x1p-10}, {E4M3FNUZ, 0x40, 1},
	}
	for _, test := range tests {
		if got := test.f.Decode(test.code); got != test.want {
			t.Errorf("%v %#02x decodes to %v, want %v", test.f, test.code, got, test.want)
		}
		if got := test.f.Encode(test.want); got != test.code {
			t.Errorf("%v: %v encodes to %#02x, want %#02x", test.f, test.want, got, test.code)
		}
	}
	if b := math.Float32bits(E4M3FN.Decode(0x80)); b != 1<<31 {
		t.Errorf("e4m3fn 0x80 decodes to bits %#x, want -0", b)
	}
}

func TestLimits(t *testing.T) {
	for _, f := range both {
		largest, smallest := float32(0), float32(math.Inf(1))
		for code := range 128 {
			v := f.Decode(byte(code))
			largest = max(largest, notNaN(v))
			if v > 0 {
				smallest = min(smallest, v)
			}
		}
		if f.Max() != largest || f.MinSubnormal() != smallest || f.Decode(f.Top()) != largest {
			t.Errorf("%v: Max %v, MinSubnormal %v, Top %v; want %v, %v, %v", f, f.Max(), f.MinSubnormal(), f.Decode(f.Top()), largest, smallest, largest)
		}
		if !f.IsNaN(f.NaN()) {
			t.Errorf("%v: NaN %#02x is none", f, f.NaN())
		}
		if g, ok := Parse(f.String()); !ok || g != f {
			t.Errorf("Parse(%q) = %v, %v", f, g, ok)
		}
	}
	if _, ok := Parse("e5m2"); ok {
		t.Error("Parse accepts e5m2")
	}
	if none := Format(0); none.Valid() || !none.IsNaN(0) || none.Decode(56) == none.Decode(56) || none.Encode(1) != 0 {
		t.Error("the zero Format behaves like a format")
	}
}

func notNaN(x float32) float32 {
	if x != x {
		return 0
	}
	return x
}

// nearest is the code nearest to x by search: of all codes of x's sign, the one
// at the least distance, ties to the even code. next, the value after the
// largest, stands for what is out of range.
func nearest(f Format, x float32) (code byte, over bool) {
	next := 480.0
	if f == E4M3FNUZ {
		next = 256
	}
	magnitude := min(math.Abs(float64(x)), 1000) // so that float64 differences are exact
	best, least := 0, math.Inf(1)
	for c := 0; c <= int(f.Top())+1; c++ {
		v := next
		if c <= int(f.Top()) {
			v = float64(f.Decode(byte(c)))
		}
		d := math.Abs(v - magnitude)
		if d < least || d == least && c%2 == 0 {
			best, least = c, d
		}
	}
	return byte(best), best > int(f.Top())
}

func checkEncode(t *testing.T, f Format, x float32) {
	t.Helper()
	code, over := nearest(f, x)
	saturated, not := code, code
	if over {
		saturated, not = f.Top(), f.NaN()
	}
	if x < 0 || x == 0 && math.Signbit(float64(x)) {
		if saturated != 0 || f == E4M3FN {
			saturated |= 0x80
		}
		if not != 0 || f == E4M3FN {
			not |= 0x80
		}
	}
	if got := f.Encode(x); got != saturated {
		t.Errorf("%v: Encode(%v, bits %#x) = %#02x, want %#02x", f, x, math.Float32bits(x), got, saturated)
	}
	if got := f.EncodeNonSaturating(x); got != not {
		t.Errorf("%v: EncodeNonSaturating(%v, bits %#x) = %#02x, want %#02x", f, x, math.Float32bits(x), got, not)
	}
}

// TestEncodeAtTies tries every value, every midpoint of neighbours, and the
// float32 neighbours of both, with either sign.
func TestEncodeAtTies(t *testing.T) {
	for _, f := range both {
		points := []float64{480, 464, 256, 248, math.MaxFloat32, math.SmallestNonzeroFloat32, 0x1p-126}
		for c := 0; c <= int(f.Top()); c++ {
			v := float64(f.Decode(byte(c)))
			points = append(points, v)
			if c > 0 {
				points = append(points, (v+float64(f.Decode(byte(c-1))))/2)
			}
		}
		for _, p := range points {
			x := float32(p)
			if float64(x) != p {
				t.Fatalf("%v is not a float32", p)
			}
			for _, y := range []float32{x, math.Nextafter32(x, 0), math.Nextafter32(x, math.MaxFloat32)} {
				checkEncode(t, f, y)
				checkEncode(t, f, -y)
			}
		}
		checkEncode(t, f, float32(math.Copysign(0, -1)))
	}
}

func TestEncodeAnyBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50000 {
		x := math.Float32frombits(rng.Uint32())
		y := float32(rng.NormFloat64() * math.Ldexp(1, rng.IntN(24)-12))
		for _, f := range both {
			if x == x {
				checkEncode(t, f, x)
			}
			checkEncode(t, f, y)
		}
	}
}

func TestEncodeNaNAndInfinity(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, f := range both {
		if got := f.Encode(float32(math.NaN())); got != f.NaN() {
			t.Errorf("%v: NaN encodes to %#02x", f, got)
		}
		if got := f.EncodeNonSaturating(float32(math.NaN())); got != f.NaN() {
			t.Errorf("%v: NaN encodes to %#02x without saturation", f, got)
		}
		if f.Encode(inf) != f.Top() || f.Encode(-inf) != f.Top()|0x80 {
			t.Errorf("%v: infinities encode to %#02x and %#02x", f, f.Encode(inf), f.Encode(-inf))
		}
		if !f.IsNaN(f.EncodeNonSaturating(inf)) || !f.IsNaN(f.EncodeNonSaturating(-inf)) {
			t.Errorf("%v: infinities do not encode to NaN without saturation", f)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for _, f := range both {
		for code := range 256 {
			b := byte(code)
			if got := f.Encode(f.Decode(b)); got != b && !f.IsNaN(b) {
				t.Errorf("%v: %#02x comes back as %#02x", f, b, got)
			}
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	x := float32(1)
	for b.Loop() {
		x += float32(E4M3FNUZ.Encode(x)) * 0x1p-20
	}
}
