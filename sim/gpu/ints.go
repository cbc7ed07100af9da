package gpu

// Integer helpers of the vector instructions, one lane each.

func int24(x uint32) int32 { return int32(x<<8) >> 8 }

// bfeI32 is the signed bit field of x at offset y of z bits (both mod 32).
func bfeI32(x, y, z uint32) uint32 {
	offset, width := y&31, z&31
	v := int32(x) >> offset
	if width == 0 {
		return 0
	}
	return uint32(v << (32 - width) >> (32 - width))
}

// permB32 picks each byte of the result from the eight bytes of x (4..7) and
// y (0..3), or makes it a sign (8..11), zero (12) or ones (13 and up).
func permB32(x, y, sel uint32) uint32 {
	data := uint64(x)<<32 | uint64(y)
	if sel&0xf8f8f8f8 == 0 {
		return uint32(data>>(sel&7*8))&0xff |
			uint32(data>>(sel>>8&7*8))&0xff<<8 |
			uint32(data>>(sel>>16&7*8))&0xff<<16 |
			uint32(data>>(sel>>24&7*8))<<24
	}
	var r uint32
	for i := range 4 {
		s := sel >> (8 * i) & 0xff
		var b uint32
		switch {
		case s < 8:
			b = uint32(data>>(8*s)) & 0xff
		case s < 12: // the sign of byte 1, 3, 5 or 7
			b = -uint32(data>>(16*(s-8)+15)&1) & 0xff
		case s > 12:
			b = 0xff
		}
		r |= b << (8 * i)
	}
	return r
}

func absDiff(x, y uint32) uint32 { return max(x, y) - min(x, y) }

func sadU8(x, y uint32) uint32 {
	var s uint32
	for i := 0; i < 32; i += 8 {
		s += absDiff(x>>i&0xff, y>>i&0xff)
	}
	return s
}

// msadU8 is sadU8 without the bytes whose reference y is 0.
func msadU8(x, y uint32) uint32 {
	var s uint32
	for i := 0; i < 32; i += 8 {
		if r := y >> i & 0xff; r != 0 {
			s += absDiff(x>>i&0xff, r)
		}
	}
	return s
}

// lerpU8 averages bytes; bit 0 of each byte of z rounds up.
func lerpU8(x, y, z uint32) uint32 {
	var r uint32
	for i := 0; i < 32; i += 8 {
		r |= (x>>i&0xff + y>>i&0xff + z>>i&1) >> 1 << i
	}
	return r
}

// clampI16 is x cut to 16 signed bits, in the low half.
func clampI16(x uint32) uint32 {
	return uint32(uint16(min(max(int32(x), -0x8000), 0x7fff)))
}
