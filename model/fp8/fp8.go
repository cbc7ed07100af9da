// Package fp8 is the 8-bit floating-point formats of the KV cache: e4m3fn
// (OCP; NVIDIA, gfx950) and e4m3fnuz (gfx942).
package fp8

// Format is one of the two e4m3 formats.
type Format uint8

const (
	E4M3FN   Format = iota + 1 // bias 7, NaN 0x7f and 0xff, largest 448
	E4M3FNUZ                   // bias 8, NaN 0x80, no -0, largest 240
)

func (f Format) String() string {
	switch f {
	case E4M3FN:
		return "e4m3fn"
	case E4M3FNUZ:
		return "e4m3fnuz"
	}
	return "fp8(?)"
}
