package fp8

import (
	"flag"
	"math"
	"testing"
)

var long = flag.Bool("long", false, "try all 2^32 floats instead of a part")

// ties is every value of the formats, every middle between neighbours (the
// one past the largest value included), and their float32 neighbours.
func ties() (out []float32) {
	add := func(v float64) {
		x := float32(v)
		for _, y := range []float32{x, math.Nextafter32(x, 0), math.Nextafter32(x, math.MaxFloat32)} {
			out = append(out, y, -y)
		}
	}
	for _, f := range both {
		for c := 0; c <= int(f.Top()); c++ {
			add(float64(f.Decode(byte(c))))
			add(middle(f, c))
		}
	}
	return out
}

// middle is the tie between the code c and the next, by the spacing of values:
// 2^-4 of the binade's start, no less than that of the smallest normal one.
func middle(f Format, c int) float64 {
	v := float64(f.Decode(byte(c)))
	_, e := math.Frexp(v) // v is below 2^e
	if v == 0 {
		e = math.MinInt16
	}
	return v + math.Ldexp(1, max(e-1, f.MinExp())-4)
}

// sweep is every so manieth float of both signs, infinities and NaN included.
func sweep(stride uint64) (out []float32) {
	for b := uint64(0); b < 1<<32; b += stride {
		out = append(out, math.Float32frombits(uint32(b)))
	}
	return out
}

// TestEncodeIsTheStaircase walks the floats upward in step with the codes: the
// code goes up by one exactly at each middle, which the even code gets. With
// -long it walks all of them, which takes minutes.
func TestEncodeIsTheStaircase(t *testing.T) {
	stride := uint32(1009)
	if *long {
		stride = 1
	}
	const inf = 0x7f800000
	for _, f := range both {
		negative := byte(0x80)
		code, next := 0, middle(f, 0)
		n := 0
		for b := uint32(0); b <= inf; b += stride {
			x := math.Float32frombits(b)
			for v := float64(x); code <= int(f.Top()) && (v > next || v == next && code&1 == 1); {
				code++
				next = math.Inf(1)
				if code <= int(f.Top()) {
					next = middle(f, code)
				}
			}
			over := code > int(f.Top())
			saturated, plain := byte(code), byte(code)
			if over {
				saturated, plain = f.Top(), f.NaN()
			}
			n++
			minus := func(b byte, nan bool) byte {
				if f == E4M3FNUZ && (b == 0 || nan) {
					return b
				}
				return b | negative
			}
			if f.Encode(x) != saturated || f.Encode(-x) != minus(saturated, false) ||
				f.EncodeNonSaturating(x) != plain || f.EncodeNonSaturating(-x) != minus(plain, over) {
				t.Fatalf("%v: %x encodes to %#02x, %#02x, negated %#02x, %#02x; want %#02x, %#02x", f, b,
					f.Encode(x), f.EncodeNonSaturating(x), f.Encode(-x), f.EncodeNonSaturating(-x), saturated, plain)
			}
		}
		for b := uint32(inf + 1); b < 1<<31; b += stride {
			x := math.Float32frombits(b)
			for _, got := range []byte{f.Encode(x), f.Encode(-x), f.EncodeNonSaturating(x), f.EncodeNonSaturating(-x)} {
				if n++; !f.IsNaN(got) {
					t.Fatalf("%v: NaN %x encodes to %#02x", f, b, got)
				}
			}
		}
		t.Logf("%v: %d magnitudes, both signs, with and without saturation", f, n)
	}
}
