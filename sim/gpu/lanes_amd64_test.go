package gpu

import (
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/cpu"
)

// goLoops are the Go loops that AVX2 loops replace, by name.
func goLoops(t *testing.T) map[string]any {
	t.Helper()
	m := map[string]any{}
	for _, f := range goLoopList {
		name := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
		m[name[strings.LastIndex(name, ".")+1:]] = f
	}
	return m
}

// TestVectorLoops holds the AVX2 loops to the Go loops, on bits of every kind
// and with the destination equal to each source.
func TestVectorLoops(t *testing.T) {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		t.Skip("no AVX2 or FMA on this processor")
	}
	r := rand.New(rand.NewPCG(13, 13))
	draw := func(v *vreg) {
		kind := r.IntN(5)
		for l := range v {
			switch {
			case kind == 0:
				v[l] = randomInt(r)
			case kind == 1: // no NaN
				v[l] = b32(float32(r.NormFloat64()))
			case kind == 4: // selectors of bytes, small shifts
				v[l] = []uint32{r.Uint32() & 0x07070707, 0x0c0c0000 | r.Uint32()&0x0707, 0x0c070c01}[r.IntN(3)]
			case kind == 2 && r.IntN(64) == 0:
				v[l] = 0x7f800000 | r.Uint32()
			case kind == 2:
				v[l] = uint32(r.IntN(2)) << 31
			default:
				v[l] = randomFloat32(r)
			}
		}
	}
	goLoops := goLoops(t)
	check := func(name string, fast narrowFn) {
		slow, ok := goLoops[strings.Replace(name, "avx", "lane", 1)].(func(d, a, b, c *vreg))
		if !ok {
			t.Fatalf("%s replaces no Go loop", name)
		}
		for range 400 {
			var v [4]vreg
			for i := range v {
				draw(&v[i])
			}
			for d := range v {
				got, want := v, v
				fast(&got[d], &got[1], &got[2], &got[3])
				slow(&want[d], &want[1], &want[2], &want[3])
				if got != want {
					for l := range Lanes {
						if got[d][l] != want[d][l] {
							t.Fatalf("%s of %#x, %#x, %#x = %#x, want %#x", name, v[1][l], v[2][l], v[3][l], got[d][l], want[d][l])
						}
					}
					t.Fatalf("%s changes a source", name)
				}
			}
		}
	}
	check("avxVPermB32", avxPermB32)
	n := 0
	for name, fast := range named(avxWides) {
		slow, ok := goLoops[strings.Replace(name, "avx", "lane", 1)].(func(d, e, a, p, b, q, c, r *vreg))
		if !ok {
			t.Fatalf("%s replaces no Go loop", name)
		}
		n++
		for range 200 {
			var v [8]vreg
			for i := range v {
				draw(&v[i])
			}
			for d := 0; d < len(v); d += 2 {
				got, want := v, v
				fast(&got[d], &got[d+1], &got[2], &got[3], &got[4], &got[5], &got[6], &got[7])
				slow(&want[d], &want[d+1], &want[2], &want[3], &want[4], &want[5], &want[6], &want[7])
				if got != want {
					t.Fatalf("%s with destination %d differs", name, d)
				}
			}
		}
	}
	for _, loops := range []map[string]narrowFn{named(avxLanes), named(avxLanesNonIEEE)} {
		for name, f := range loops {
			check(name, f)
			n++
		}
	}
	for name, fast := range named(avxCompares) {
		slow, ok := goLoops[strings.Replace(name, "avxCompare", "compare", 1)].(func(a, p, b, q *vreg) uint64)
		if !ok {
			t.Fatalf("%s replaces no Go loop", name)
		}
		n++
		for range 200 {
			var a, b vreg
			draw(&a)
			draw(&b)
			for l := 0; l < Lanes; l += 5 {
				b[l] = a[l]
			}
			if got, want := fast(&a, nil, &b, nil), slow(&a, nil, &b, nil); got != want {
				t.Fatalf("%s = %#x, want %#x", name, got, want)
			}
		}
	}
	if n < 60 {
		t.Errorf("only %d loops compared", n)
	}
	for range 300 {
		var v [3]vreg
		for i := range v {
			draw(&v[i])
		}
		for l := 0; l < Lanes; l += 5 {
			v[2][l] = v[1][l]
		}
		in := r.Uint64()
		for d := range v {
			got, want := v, v
			if g, w := avxAddCarry(&got[d], &got[1], &got[2], in), addCarryLoop(&want[d], &want[1], &want[2], in); g != w || got != want {
				t.Fatalf("addition with carries %#x gives carries %#x, want %#x", in, g, w)
			}
			got, want = v, v
			if g, w := avxSubBorrow(&got[d], &got[1], &got[2], in), subBorrowLoop(&want[d], &want[1], &want[2], in); g != w || got != want {
				t.Fatalf("subtraction with borrows %#x gives borrows %#x, want %#x", in, g, w)
			}
		}
	}
	for range 200 {
		var d, a, b vreg
		draw(&d)
		draw(&a)
		draw(&b)
		mask := r.Uint64()
		merged, selected, filled := d, d, d
		avxMerge(&merged, &a, mask)
		avxSelect(&selected, &a, &b, mask)
		avxFill(&filled, a[0])
		for l := range Lanes {
			m, s := d[l], a[l]
			if mask>>l&1 == 1 {
				m, s = a[l], b[l]
			}
			if merged[l] != m || selected[l] != s || filled[l] != a[0] {
				t.Fatalf("mask %#x lane %d: merge %#x, select %#x, fill %#x; want %#x, %#x, %#x", mask, l, merged[l], selected[l], filled[l], m, s, a[0])
			}
		}
	}
}

// named keys functions by their names.
func named[K comparable, F any](m map[K]F) map[string]F {
	r := map[string]F{}
	for _, f := range m {
		name := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
		r[name[strings.LastIndex(name, ".")+1:]] = f
	}
	return r
}
