package gpu

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"mqaproof/sim/isa"
)

// laneReference is what one lane of an instruction gives, written down from
// the ISA text for its sources, which are the low dwords of v1, v2 and v3, or
// pairs from v10, v12 and v14 for 64-bit operands.
type laneReference struct {
	op   string // without operands
	form string // operands: "i=ii" and so on, l for 64 bits
	f    func(x, y, z uint64) uint64
}

func i32(x uint64) int64 { return int64(int32(x)) }

var laneReferences = []laneReference{
	{"v_mov_b32", "i=i", func(x, y, z uint64) uint64 { return x }},
	{"v_not_b32", "i=i", func(x, y, z uint64) uint64 { return ^x }},
	{"v_bfrev_b32", "i=i", func(x, y, z uint64) uint64 {
		var r uint64
		for i := range 32 {
			r |= x >> i & 1 << (31 - i)
		}
		return r
	}},
	{"v_ffbh_u32", "i=i", func(x, y, z uint64) uint64 {
		for i := range 32 {
			if x>>(31-i)&1 == 1 {
				return uint64(i)
			}
		}
		return ^uint64(0)
	}},
	{"v_ffbl_b32", "i=i", func(x, y, z uint64) uint64 {
		for i := range 32 {
			if x>>i&1 == 1 {
				return uint64(i)
			}
		}
		return ^uint64(0)
	}},
	{"v_ffbh_i32", "i=i", func(x, y, z uint64) uint64 {
		for i := 1; i < 32; i++ {
			if x>>(31-i)&1 != x>>31&1 {
				return uint64(i)
			}
		}
		return ^uint64(0)
	}},
	{"v_and_b32", "i=ii", func(x, y, z uint64) uint64 { return x & y }},
	{"v_or_b32", "i=ii", func(x, y, z uint64) uint64 { return x | y }},
	{"v_xor_b32", "i=ii", func(x, y, z uint64) uint64 { return x ^ y }},
	{"v_xnor_b32", "i=ii", func(x, y, z uint64) uint64 { return ^(x ^ y) }},
	{"v_and_or_b32", "i=iii", func(x, y, z uint64) uint64 { return x&y | z }},
	{"v_or3_b32", "i=iii", func(x, y, z uint64) uint64 { return x | y | z }},
	{"v_bfi_b32", "i=iii", func(x, y, z uint64) uint64 { return x&y | ^x&z }},
	{"v_bfe_u32", "i=iii", func(x, y, z uint64) uint64 {
		var r uint64
		for i := range z & 31 {
			if at := y&31 + i; at < 32 {
				r |= x >> at & 1 << i
			}
		}
		return r
	}},
	{"v_bfe_i32", "i=iii", func(x, y, z uint64) uint64 {
		var r, last uint64
		n := z & 31
		for i := range n {
			at := min(y&31+i, 31) // the shift is arithmetic
			last = x >> at & 1
			r |= last << i
		}
		if last == 1 {
			r |= ^uint64(0) << n
		}
		return r
	}},
	{"v_bfm_b32", "i=ii", func(x, y, z uint64) uint64 { return (1<<(x&31) - 1) << (y & 31) }},
	{"v_bcnt_u32_b32", "i=ii", func(x, y, z uint64) uint64 { return uint64(bits.OnesCount64(x)) + y }},
	{"v_alignbit_b32", "i=iii", func(x, y, z uint64) uint64 { return (x<<32 | y) >> (z & 31) }},
	{"v_alignbyte_b32", "i=iii", func(x, y, z uint64) uint64 { return (x<<32 | y) >> (8 * (z & 3)) }},
	{"v_perm_b32", "i=iii", func(x, y, z uint64) uint64 {
		var in [8]uint64
		for i := range 4 {
			in[i], in[i+4] = y>>(8*i)&255, x>>(8*i)&255
		}
		pick := func(s uint64) uint64 {
			switch {
			case s >= 13:
				return 255
			case s == 12:
				return 0
			case s >= 8:
				return in[2*(s-8)+1] >> 7 * 255
			}
			return in[s]
		}
		return pick(z&255) | pick(z>>8&255)<<8 | pick(z>>16&255)<<16 | pick(z>>24&255)<<24
	}},
	{"v_lshrrev_b32", "i=ii", func(x, y, z uint64) uint64 { return y >> (x & 31) }},
	{"v_ashrrev_i32", "i=ii", func(x, y, z uint64) uint64 { return uint64(i32(y) >> (x & 31)) }},
	{"v_lshlrev_b32", "i=ii", func(x, y, z uint64) uint64 { return y << (x & 31) }},
	{"v_lshl_or_b32", "i=iii", func(x, y, z uint64) uint64 { return x<<(y&31) | z }},
	{"v_add_u32", "i=ii", func(x, y, z uint64) uint64 { return x + y }},
	{"v_sub_u32", "i=ii", func(x, y, z uint64) uint64 { return x - y }},
	{"v_subrev_u32", "i=ii", func(x, y, z uint64) uint64 { return y - x }},
	{"v_add_i32", "i=ii", func(x, y, z uint64) uint64 { return x + y }},
	{"v_sub_i32", "i=ii", func(x, y, z uint64) uint64 { return x - y }},
	{"v_add3_u32", "i=iii", func(x, y, z uint64) uint64 { return x + y + z }},
	{"v_lshl_add_u32", "i=iii", func(x, y, z uint64) uint64 { return x<<(y&31) + z }},
	{"v_add_lshl_u32", "i=iii", func(x, y, z uint64) uint64 { return (x + y) << (z & 31) }},
	{"v_xad_u32", "i=iii", func(x, y, z uint64) uint64 { return (x ^ y) + z }},
	{"v_mul_lo_u32", "i=ii", func(x, y, z uint64) uint64 { return x * y }},
	{"v_mul_hi_u32", "i=ii", func(x, y, z uint64) uint64 { return x * y >> 32 }},
	{"v_mul_hi_i32", "i=ii", func(x, y, z uint64) uint64 { return uint64(i32(x) * i32(y) >> 32) }},
	{"v_mul_u32_u24", "i=ii", func(x, y, z uint64) uint64 { return (x & 0xffffff) * (y & 0xffffff) }},
	{"v_mul_i32_i24", "i=ii", func(x, y, z uint64) uint64 { return uint64(int64(x<<40) >> 40 * (int64(y<<40) >> 40)) }},
	{"v_mul_hi_u32_u24", "i=ii", func(x, y, z uint64) uint64 { return (x & 0xffffff) * (y & 0xffffff) >> 32 }},
	{"v_mul_hi_i32_i24", "i=ii", func(x, y, z uint64) uint64 { return uint64(int64(x<<40) >> 40 * (int64(y<<40) >> 40) >> 32) }},
	{"v_mad_u32_u24", "i=iii", func(x, y, z uint64) uint64 { return (x&0xffffff)*(y&0xffffff) + z }},
	{"v_mad_i32_i24", "i=iii", func(x, y, z uint64) uint64 { return uint64(int64(x<<40)>>40*(int64(y<<40)>>40)) + z }},
	{"v_mad_u32_u16", "i=iii", func(x, y, z uint64) uint64 { return (x&0xffff)*(y&0xffff) + z }},
	{"v_mad_i32_i16", "i=iii", func(x, y, z uint64) uint64 { return uint64(int64(int16(x))*int64(int16(y))) + z }},
	{"v_min_i32", "i=ii", func(x, y, z uint64) uint64 { return uint64(min(i32(x), i32(y))) }},
	{"v_max_i32", "i=ii", func(x, y, z uint64) uint64 { return uint64(max(i32(x), i32(y))) }},
	{"v_min_u32", "i=ii", func(x, y, z uint64) uint64 { return min(x, y) }},
	{"v_max_u32", "i=ii", func(x, y, z uint64) uint64 { return max(x, y) }},
	{"v_min3_i32", "i=iii", func(x, y, z uint64) uint64 { return uint64(min(i32(x), i32(y), i32(z))) }},
	{"v_max3_u32", "i=iii", func(x, y, z uint64) uint64 { return max(x, y, z) }},
	{"v_min3_u32", "i=iii", func(x, y, z uint64) uint64 { return min(x, y, z) }},
	{"v_max3_i32", "i=iii", func(x, y, z uint64) uint64 { return uint64(max(i32(x), i32(y), i32(z))) }},
	{"v_med3_i32", "i=iii", func(x, y, z uint64) uint64 {
		return uint64(i32(x) + i32(y) + i32(z) - min(i32(x), i32(y), i32(z)) - max(i32(x), i32(y), i32(z)))
	}},
	{"v_med3_u32", "i=iii", func(x, y, z uint64) uint64 { return x + y + z - min(x, y, z) - max(x, y, z) }},
	{"v_sad_u8", "i=iii", func(x, y, z uint64) uint64 { return sad(x, y, 8, false) + z }},
	{"v_sad_hi_u8", "i=iii", func(x, y, z uint64) uint64 { return sad(x, y, 8, false)<<16 + z }},
	{"v_sad_u16", "i=iii", func(x, y, z uint64) uint64 { return sad(x, y, 16, false) + z }},
	{"v_sad_u32", "i=iii", func(x, y, z uint64) uint64 { return sad(x, y, 32, false) + z }},
	{"v_msad_u8", "i=iii", func(x, y, z uint64) uint64 { return sad(x, y, 8, true) + z }},
	{"v_lerp_u8", "i=iii", func(x, y, z uint64) uint64 {
		var r uint64
		for i := 0; i < 32; i += 8 {
			r |= (x>>i&255 + y>>i&255 + z>>i&1) / 2 << i
		}
		return r
	}},
	{"v_cvt_pk_u16_u32", "i=ii", func(x, y, z uint64) uint64 { return min(x, 65535) | min(y, 65535)<<16 }},
	{"v_cvt_pk_i16_i32", "i=ii", func(x, y, z uint64) uint64 {
		return uint64(uint16(max(min(i32(x), 32767), -32768))) | uint64(uint16(max(min(i32(y), 32767), -32768)))<<16
	}},
	{"v_add_u16", "i=ii", func(x, y, z uint64) uint64 { return uint64(uint16(x + y)) }},
	{"v_sub_u16", "i=ii", func(x, y, z uint64) uint64 { return uint64(uint16(x - y)) }},
	{"v_subrev_u16", "i=ii", func(x, y, z uint64) uint64 { return uint64(uint16(y - x)) }},
	{"v_mul_lo_u16", "i=ii", func(x, y, z uint64) uint64 { return uint64(uint16(x * y)) }},
	{"v_lshlrev_b16", "i=ii", func(x, y, z uint64) uint64 { return uint64(uint16(y << (x & 15))) }},
	{"v_lshrrev_b16", "i=ii", func(x, y, z uint64) uint64 { return uint64(uint16(y) >> (x & 15)) }},
	{"v_ashrrev_i16", "i=ii", func(x, y, z uint64) uint64 { return uint64(uint16(int16(y) >> (x & 15))) }},
	{"v_max_u16", "i=ii", func(x, y, z uint64) uint64 { return uint64(max(uint16(x), uint16(y))) }},
	{"v_min_i16", "i=ii", func(x, y, z uint64) uint64 { return uint64(uint16(min(int16(x), int16(y)))) }},
	{"v_max_i16", "i=ii", func(x, y, z uint64) uint64 { return uint64(uint16(max(int16(x), int16(y)))) }},
	{"v_min_u16", "i=ii", func(x, y, z uint64) uint64 { return uint64(min(uint16(x), uint16(y))) }},
	{"v_mad_u16", "i=iii", func(x, y, z uint64) uint64 { return uint64(uint16(x*y + z)) }},
	{"v_mov_b64", "l=l", func(x, y, z uint64) uint64 { return x }},
	{"v_lshlrev_b64", "l=il", func(x, y, z uint64) uint64 { return y << (x & 63) }},
	{"v_lshrrev_b64", "l=il", func(x, y, z uint64) uint64 { return y >> (x & 63) }},
	{"v_ashrrev_i64", "l=il", func(x, y, z uint64) uint64 { return uint64(int64(y) >> (x & 63)) }},
	{"v_lshl_add_u64", "l=lil", func(x, y, z uint64) uint64 { return x<<(y&7) + z }},
}

func sad(x, y uint64, width int, masked bool) uint64 {
	var s uint64
	for i := 0; i < 32; i += width {
		a, b := x>>i&(1<<width-1), y>>i&(1<<width-1)
		if masked && b == 0 {
			continue
		}
		s += max(a, b) - min(a, b)
	}
	return s
}

// randomInt draws 32 bits: any, small, or near the edges.
func randomInt(r *rand.Rand) uint32 {
	switch r.IntN(4) {
	case 0:
		return []uint32{0, 1, 31, 32, 63, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffff, 0x800000, 0xffffff, 0x7fffffff, 0x80000000, 0xffffffff}[r.IntN(17)]
	case 1:
		return uint32(r.IntN(64))
	case 2:
		return uint32(-r.IntN(64))
	}
	return r.Uint32()
}

// TestLaneIntegers runs each instruction with registers, with a scalar and
// with constants, with all lanes on and with some off, and with the
// destination equal to a source.
func TestLaneIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, ref := range laneReferences {
		dst, srcs, _ := strings.Cut(ref.form, "=")
		for shape := range 6 {
			var operands []string
			d := 20
			if shape == 4 {
				d = 1 // the first source, or its low dword
				if srcs[0] == 'l' {
					d = 10
				}
			}
			if dst == "l" {
				if shape == 4 && srcs[0] != 'l' {
					d = 12
				}
				operands = append(operands, fmt.Sprintf("v[%d:%d]", d, d+1))
			} else {
				operands = append(operands, fmt.Sprintf("v%d", d))
			}
			exec := uint64(allLanes)
			if shape == 3 || shape == 4 {
				exec = r.Uint64()
			}
			for i, s := range srcs {
				switch {
				case shape == 1 && i == 0 && s == 'l':
					operands = append(operands, "s[30:31]")
				case shape == 1 && i == 0:
					operands = append(operands, "s30")
				case shape == 2 && i == 0:
					operands = append(operands, "-7")
				case shape == 5 && i == len(srcs)-1 && len(srcs) == 3:
					operands = append(operands, "12")
				case s == 'l':
					operands = append(operands, fmt.Sprintf("v[%d:%d]", 10+2*i, 11+2*i))
				default:
					operands = append(operands, fmt.Sprintf("v%d", 1+i))
				}
			}
			line := ref.op + " " + strings.Join(operands, ", ")
			p := testProgram(t, isa.GFX942, line, "s_endpgm")
			for range 20 {
				w := newWave(p)
				w.EXEC = exec
				for v := range 40 {
					for l := range w.V[v] {
						w.V[v][l] = randomInt(r)
					}
				}
				w.S[30], w.S[31] = randomInt(r), randomInt(r)
				before := append([]vreg(nil), w.V[:40]...)
				w.run(10)
				if w.trap != nil {
					t.Fatalf("%s: %v", line, w.trap)
				}
				for l := range Lanes {
					var v [3]uint64
					for i, s := range srcs {
						switch {
						case shape == 1 && i == 0:
							v[i] = uint64(w.S[30])
							if s == 'l' {
								v[i] |= uint64(w.S[31]) << 32
							}
						case shape == 2 && i == 0:
							v[i] = uint64(0xfffffff9)
							if s == 'l' {
								v[i] = ^uint64(6)
							}
						case shape == 5 && i == len(srcs)-1 && len(srcs) == 3:
							v[i] = 12
						case s == 'l':
							v[i] = uint64(before[10+2*i][l]) | uint64(before[11+2*i][l])<<32
						default:
							v[i] = uint64(before[1+i][l])
						}
					}
					want := ref.f(v[0], v[1], v[2])
					got := uint64(w.V[d][l])
					if dst == "l" {
						got |= uint64(w.V[d+1][l]) << 32
					} else {
						want &= 0xffffffff
					}
					if exec>>l&1 == 0 {
						want = uint64(before[d][l])
						if dst == "l" {
							want |= uint64(before[d+1][l]) << 32
						}
					}
					if got != want {
						t.Fatalf("%s, EXEC %#x, lane %d of %#x: got %#x, want %#x", line, exec, l, v, got, want)
					}
				}
				for v := range before {
					if v != d && !(dst == "l" && v == d+1) && before[v] != w.V[v] {
						t.Fatalf("%s changed v%d", line, v)
					}
				}
			}
		}
	}
}
