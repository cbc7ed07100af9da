// Package fp8 is the 8-bit floating-point formats of the KV cache: e4m3fn
// (OCP; NVIDIA, gfx950) and e4m3fnuz (gfx942).
//
// Both have one sign bit, four exponent bits and three mantissa bits. They
// differ in the bias, in where NaN lies, and in whether there is a -0; neither
// has an infinity. Sources: OCP 8-bit Floating Point Specification (OFP8) 1.0
// for e4m3fn; arXiv 2206.02915 and AMD's CDNA3 ISA for e4m3fnuz.
package fp8

// Format is one of the two e4m3 formats. The zero Format is not a format: it
// decodes every byte as NaN and encodes everything as 0.
type Format uint8

const (
	E4M3FN   Format = iota + 1 // bias 7, NaN 0x7f and 0xff, largest 448
	E4M3FNUZ                   // bias 8, NaN 0x80, no -0, largest 240
)

// MantissaBits is the number of stored fraction bits of both formats.
const MantissaBits = 3

func (f Format) String() string {
	switch f {
	case E4M3FN:
		return "e4m3fn"
	case E4M3FNUZ:
		return "e4m3fnuz"
	}
	return "fp8(?)"
}

// Parse is the format with that name ("e4m3fn", "e4m3fnuz"); ok is false for
// any other name.
func Parse(name string) (f Format, ok bool) {
	switch name {
	case "e4m3fn":
		return E4M3FN, true
	case "e4m3fnuz":
		return E4M3FNUZ, true
	}
	return 0, false
}

// Valid reports whether f is one of the two formats.
func (f Format) Valid() bool { return f == E4M3FN || f == E4M3FNUZ }

// params is what tells one format from the other.
type params struct {
	minExp int     // exponent of the smallest normal number, kept by subnormals
	top    byte    // code of the largest finite value
	nan    byte    // the canonical NaN
	max    float32 // value of top
	min    float32 // smallest positive value, 2^(minExp-3)
}

var formats = [...]params{
	E4M3FN:   {minExp: -6, top: 0x7e, nan: 0x7f, max: 448, min: 0x1p-9},
	E4M3FNUZ: {minExp: -7, top: 0x7f, nan: 0x80, max: 240, min: 0x1p-10},
}

func (f Format) params() params {
	if int(f) < len(formats) {
		return formats[f]
	}
	return params{}
}

// Max is the largest finite value: 448 or 240.
func (f Format) Max() float32 { return f.params().max }

// MinSubnormal is the smallest positive value: 2^-9 or 2^-10. Every finite
// value is a multiple of it; see Fixed.
func (f Format) MinSubnormal() float32 { return f.params().min }

// MinExp is the exponent of the smallest normal value (-6 or -7), which
// subnormals keep.
func (f Format) MinExp() int { return f.params().minExp }

// NaN is the canonical NaN: 0x7f for e4m3fn, 0x80 for e4m3fnuz.
func (f Format) NaN() byte { return f.params().nan }

// Top is the code of the largest finite value.
func (f Format) Top() byte { return f.params().top }

// IsNaN reports whether b is a NaN: 0x7f and 0xff in e4m3fn, 0x80 in e4m3fnuz.
func (f Format) IsNaN(b byte) bool {
	if f == E4M3FNUZ {
		return b == 0x80
	}
	return b&0x7f == 0x7f || !f.Valid()
}
