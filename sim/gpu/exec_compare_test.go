package gpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"mqaproof/sim/isa"
)

func TestCompareIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	conditions := map[string]func(c int) bool{
		"lt": func(c int) bool { return c < 0 }, "eq": func(c int) bool { return c == 0 }, "le": func(c int) bool { return c <= 0 },
		"gt": func(c int) bool { return c > 0 }, "ne": func(c int) bool { return c != 0 }, "ge": func(c int) bool { return c >= 0 },
		"f": func(int) bool { return false }, "t": func(int) bool { return true },
	}
	order := func(lt, eq bool) int {
		if eq {
			return 0
		}
		if lt {
			return -1
		}
		return 1
	}
	types := map[string]func(x, y uint64) int{
		"i32": func(x, y uint64) int { return order(int32(x) < int32(y), int32(x) == int32(y)) },
		"u32": func(x, y uint64) int { return order(uint32(x) < uint32(y), uint32(x) == uint32(y)) },
		"i16": func(x, y uint64) int { return order(int16(x) < int16(y), int16(x) == int16(y)) },
		"u16": func(x, y uint64) int { return order(uint16(x) < uint16(y), uint16(x) == uint16(y)) },
		"i64": func(x, y uint64) int { return order(int64(x) < int64(y), x == y) },
		"u64": func(x, y uint64) int { return order(x < y, x == y) },
	}
	for typ, compare := range types {
		for cond, holds := range conditions {
			a, b := "v1", "v2"
			if typ[1:] == "64" {
				a, b = "v[2:3]", "v[4:5]"
			}
			lines := []string{
				fmt.Sprintf("v_cmp_%s_%s vcc, %s, %s", cond, typ, a, b),
				fmt.Sprintf("v_cmp_%s_%s s[10:11], %s, %s", cond, typ, b, a),
				fmt.Sprintf("v_cmpx_%s_%s s[12:13], %s, %s", cond, typ, a, b),
			}
			w := newWave(testProgram(t, isa.GFX942, append(lines, "s_endpgm")...))
			for v := 1; v < 6; v++ {
				for l := range Lanes {
					w.V[v][l] = randomInt(r) & 0x8000ffff
				}
			}
			for l := 0; l < Lanes; l += 3 {
				w.V[2][l], w.V[4][l], w.V[5][l] = w.V[1][l], w.V[2][l], w.V[3][l]
			}
			exec := r.Uint64()
			w.EXEC = exec
			w.run(10)
			for l := range Lanes {
				x, y := uint64(w.V[1][l]), uint64(w.V[2][l])
				if typ[1:] == "64" {
					x, y = uint64(w.V[2][l])|uint64(w.V[3][l])<<32, uint64(w.V[4][l])|uint64(w.V[5][l])<<32
				}
				on := exec>>l&1 == 1
				if got, want := w.VCC>>l&1 == 1, on && holds(compare(x, y)); got != want {
					t.Fatalf("%s of %#x and %#x, lane on %v: %v", lines[0], x, y, on, got)
				}
				if got, want := w.readS64(10)>>l&1 == 1, on && holds(compare(y, x)); got != want {
					t.Fatalf("%s of %#x and %#x, lane on %v: %v", lines[1], y, x, on, got)
				}
			}
			if w.EXEC != w.VCC || w.readS64(12) != w.VCC {
				t.Fatalf("%s: EXEC %#x, result %#x, want %#x", lines[2], w.EXEC, w.readS64(12), w.VCC)
			}
		}
	}
}

func TestCompareFloats(t *testing.T) {
	nan := math.NaN()
	values := []float64{-1, math.Copysign(0, -1), 0, 1, 2, math.Inf(1), nan}
	conditions := map[string]func(x, y float64, ordered bool) bool{
		"lt": func(x, y float64, o bool) bool { return o && x < y }, "eq": func(x, y float64, o bool) bool { return o && x == y },
		"le": func(x, y float64, o bool) bool { return o && x <= y }, "gt": func(x, y float64, o bool) bool { return o && x > y },
		"lg": func(x, y float64, o bool) bool { return o && x != y }, "ge": func(x, y float64, o bool) bool { return o && x >= y },
		"o": func(x, y float64, o bool) bool { return o }, "u": func(x, y float64, o bool) bool { return !o },
		"nge": func(x, y float64, o bool) bool { return !o || x < y }, "nlg": func(x, y float64, o bool) bool { return !o || x == y },
		"ngt": func(x, y float64, o bool) bool { return !o || x <= y }, "nle": func(x, y float64, o bool) bool { return !o || x > y },
		"neq": func(x, y float64, o bool) bool { return !o || x != y }, "nlt": func(x, y float64, o bool) bool { return !o || x >= y },
		"f": func(x, y float64, o bool) bool { return false }, "tru": func(x, y float64, o bool) bool { return true },
	}
	for cond, holds := range conditions {
		w := runLines(t, isa.GFX942, func(w *Wave) {
			for l := range Lanes {
				x, y := values[l%7], values[l/7%7]
				w.V[1][l], w.V[2][l] = b32(float32(x)), b32(float32(y))
				w.V[3][l], w.V[4][l] = uint32(f32ToF16(float32(x))), uint32(f32ToF16(float32(y)))
				a, b := math.Float64bits(x), math.Float64bits(y)
				w.V[6][l], w.V[7][l], w.V[8][l], w.V[9][l] = uint32(a), uint32(a>>32), uint32(b), uint32(b>>32)
			}
		}, "v_cmp_"+cond+"_f32 vcc, v1, v2", "v_cmp_"+cond+"_f16 s[0:1], v3, v4", "v_cmp_"+cond+"_f64 s[2:3], v[6:7], v[8:9]")
		for l := range Lanes {
			x, y := values[l%7], values[l/7%7]
			want := holds(x, y, x == x && y == y)
			for i, m := range []uint64{w.VCC, w.readS64(0), w.readS64(2)} {
				if got := m>>l&1 == 1; got != want {
					t.Errorf("v_cmp_%s of %v and %v in format %d: %v", cond, x, y, i, got)
				}
			}
		}
	}
	// neg and abs of a source.
	w := runLines(t, isa.GFX942, func(w *Wave) { fill(&w.V[1], 0xc0000000) }, "v_cmp_gt_f32 s[0:1], |v1|, 1.0", "v_cmp_lt_f32 s[2:3], -|v1|, -1.0", "v_cmp_eq_f32 s[4:5], -v1, 2.0")
	if w.readS64(0)&w.readS64(2)&w.readS64(4) != allLanes {
		t.Errorf("with modifiers: %#x %#x %#x", w.readS64(0), w.readS64(2), w.readS64(4))
	}
}

func TestCompareClass(t *testing.T) {
	// In the order of the mask's bits.
	f32s := []uint32{0x7f800001, 0xffc00000, 0xff800000, 0xbf800000, 0x80000001, 0x80000000, 0, 0x007fffff, 0x00800000, 0x7f800000}
	f64s := []uint64{0x7ff0000000000001, 0xfff8000000000000, 0xfff0000000000000, 0xbff0000000000000, 0x8000000000000001, 0x8000000000000000, 0, 0x000fffffffffffff, 0x0010000000000000, 0x7ff0000000000000}
	f16s := []uint32{0x7c01, 0xfe00, 0xfc00, 0xbc00, 0x8001, 0x8000, 0, 0x03ff, 0x0400, 0x7c00}
	for class := range 10 {
		for mask := range 10 {
			w := runLines(t, isa.GFX942, func(w *Wave) {
				fill(&w.V[0], 1<<mask)
				fill(&w.V[1], f32s[class])
				fill(&w.V[2], uint32(f64s[class]))
				fill(&w.V[3], uint32(f64s[class]>>32))
				fill(&w.V[4], f16s[class])
			}, "v_cmp_class_f32 vcc, v1, v0", "v_cmp_class_f64 s[0:1], v[2:3], v0", "v_cmp_class_f16 s[2:3], v4, v0")
			want := uint64(0)
			if class == mask {
				want = allLanes
			}
			if w.VCC != want || w.readS64(0) != want || w.readS64(2) != want {
				t.Errorf("class %d, mask bit %d: %#x, %#x, %#x", class, mask, w.VCC, w.readS64(0), w.readS64(2))
			}
		}
	}
}

func TestSelect(t *testing.T) {
	const mask, exec uint64 = 0x123456789abcdef0, 0xffffffff0000ffff
	w := runLines(t, isa.GFX942, func(w *Wave) { w.VCC, w.EXEC = mask, exec; w.writeS64(4, ^mask) },
		"v_cndmask_b32 v0, v1, v2, vcc", "v_cndmask_b32 v3, v3, 1.0, s[4:5]", "v_cndmask_b32 v5, -v1, |v2|, vcc")
	for l := range Lanes {
		v := func(r int) uint32 { return uint32(r)<<16 | uint32(l)<<8 | 0x5a }
		w0, w3, w5 := v(1), v(3), v(1)^signBit32
		if mask>>l&1 == 1 {
			w0, w5 = v(2), v(2)
		} else {
			w3 = 0x3f800000
		}
		if exec>>l&1 == 0 {
			w0, w3, w5 = v(0), v(3), v(5)
		}
		if w.V[0][l] != w0 || w.V[3][l] != w3 || w.V[5][l] != w5 {
			t.Fatalf("lane %d: %#x %#x %#x, want %#x %#x %#x", l, w.V[0][l], w.V[3][l], w.V[5][l], w0, w3, w5)
		}
	}
}

func TestCarry(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	ops := []struct {
		name  string
		carry bool
		f     func(x, y, c uint64) (r uint64, out bool)
	}{
		{"v_add_co_u32", false, func(x, y, c uint64) (uint64, bool) { return x + y, x+y > math.MaxUint32 }},
		{"v_sub_co_u32", false, func(x, y, c uint64) (uint64, bool) { return x - y, y > x }},
		{"v_subrev_co_u32", false, func(x, y, c uint64) (uint64, bool) { return y - x, x > y }},
		{"v_addc_co_u32", true, func(x, y, c uint64) (uint64, bool) { return x + y + c, x+y+c > math.MaxUint32 }},
		{"v_subb_co_u32", true, func(x, y, c uint64) (uint64, bool) { return x - y - c, y+c > x }},
		{"v_subbrev_co_u32", true, func(x, y, c uint64) (uint64, bool) { return y - x - c, x+c > y }},
	}
	for _, op := range ops {
		for _, exec := range []uint64{allLanes, 0x8f0f00ff12345671} {
			line := op.name + " v3, vcc, v1, v2"
			other := op.name + " v4, s[2:3], v1, v2"
			if op.carry {
				line += ", vcc"
				other += ", s[4:5]"
			}
			w := newWave(testProgram(t, isa.GFX942, other, line, "s_endpgm"))
			for l := range Lanes {
				w.V[1][l], w.V[2][l] = randomInt(r), randomInt(r)
				if l%4 == 0 {
					w.V[2][l] = w.V[1][l]
				}
			}
			in := r.Uint64()
			w.VCC, w.EXEC = in, exec
			w.writeS64(4, in)
			w.run(10)
			for l := range Lanes {
				want, out := op.f(uint64(w.V[1][l]), uint64(w.V[2][l]), in>>l&1)
				if exec>>l&1 == 0 {
					want, out = uint64(3<<16|l<<8|0x5a), false
				} else if uint32(want) != w.V[4][l] {
					t.Fatalf("%s lane %d: %#x, want %#x", other, l, w.V[4][l], uint32(want))
				}
				if w.V[3][l] != uint32(want) || w.VCC>>l&1 == 1 != out || w.readS64(2)>>l&1 == 1 != out {
					t.Fatalf("%s lane %d of %#x, %#x: %#x and carry %d, want %#x and %v", line, l, w.V[1][l], w.V[2][l], w.V[3][l], w.VCC>>l&1, uint32(want), out)
				}
			}
		}
	}
}

func TestMad64(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	for range 50 {
		w := newWave(testProgram(t, isa.GFX942, "v_mad_u64_u32 v[6:7], vcc, v1, v2, v[4:5]", "v_mad_i64_i32 v[4:5], s[0:1], v1, s9, v[4:5]", "s_endpgm"))
		for l := range Lanes {
			for _, v := range []int{1, 2, 4, 5} {
				w.V[v][l] = randomInt(r)
			}
		}
		w.S[9] = randomInt(r)
		c4, c5 := w.V[4], w.V[5]
		w.run(10)
		for l := range Lanes {
			add := uint64(c4[l]) | uint64(c5[l])<<32
			u := uint64(w.V[1][l]) * uint64(w.V[2][l])
			if got := uint64(w.V[6][l]) | uint64(w.V[7][l])<<32; got != u+add || w.VCC>>l&1 == 1 != (u+add < add) {
				t.Fatalf("unsigned lane %d: %#x carry %d, want %#x", l, got, w.VCC>>l&1, u+add)
			}
			s := int64(int32(w.V[1][l])) * int64(int32(w.S[9]))
			if got := uint64(w.V[4][l]) | uint64(w.V[5][l])<<32; got != uint64(s)+add {
				t.Fatalf("signed lane %d: %#x, want %#x", l, got, uint64(s)+add)
			}
		}
	}
}
