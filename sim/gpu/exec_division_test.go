package gpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"mqaproof/sim/isa"
)

// The sequences are those that clang 22 makes of float and double division
// and of a square root. Whatever the reciprocal's last bit, they must give
// the correctly rounded result, which Go's operators give too.

var divide32 = []string{ // v1 / v2
	"v_div_scale_f32 v3, s[0:1], v2, v2, v1", "v_rcp_f32 v4, v3", "v_div_scale_f32 v5, vcc, v1, v2, v1",
	"v_fma_f32 v6, -v3, v4, 1.0", "v_fmac_f32 v4, v6, v4", "v_mul_f32 v6, v5, v4", "v_fma_f32 v7, -v3, v6, v5",
	"v_fmac_f32 v6, v7, v4", "v_fma_f32 v3, -v3, v6, v5", "v_div_fmas_f32 v3, v3, v4, v6", "v_div_fixup_f32 v1, v3, v2, v1",
}

var divide64 = []string{ // v[0:1] / v[2:3]
	"v_div_scale_f64 v[4:5], s[0:1], v[2:3], v[2:3], v[0:1]", "v_rcp_f64 v[6:7], v[4:5]",
	"v_div_scale_f64 v[8:9], vcc, v[0:1], v[2:3], v[0:1]", "v_fma_f64 v[10:11], -v[4:5], v[6:7], 1.0",
	"v_fmac_f64 v[6:7], v[6:7], v[10:11]", "v_fma_f64 v[10:11], -v[4:5], v[6:7], 1.0", "v_fmac_f64 v[6:7], v[6:7], v[10:11]",
	"v_mul_f64 v[10:11], v[8:9], v[6:7]", "v_fma_f64 v[4:5], -v[4:5], v[10:11], v[8:9]",
	"v_div_fmas_f64 v[4:5], v[4:5], v[6:7], v[10:11]", "v_div_fixup_f64 v[0:1], v[4:5], v[2:3], v[0:1]",
}

var root32 = []string{ // sqrt(v1)
	"s_mov_b32 s0, 0xf800000", "v_mov_b32 v3, 0x260", "v_mul_f32 v2, 0x4f800000, v1", "v_cmp_gt_f32 vcc, s0, v1",
	"v_cndmask_b32 v1, v1, v2, vcc", "v_sqrt_f32 v2, v1", "v_add_u32 v4, -1, v2", "v_add_u32 v5, 1, v2",
	"v_fma_f32 v6, -v4, v2, v1", "v_fma_f32 v7, -v5, v2, v1", "v_cmp_ge_f32 s[0:1], 0, v6", "v_cndmask_b32 v2, v2, v4, s[0:1]",
	"v_cmp_lt_f32 s[0:1], 0, v7", "v_cndmask_b32 v2, v2, v5, s[0:1]", "v_mul_f32 v4, 0x37800000, v2",
	"v_cndmask_b32 v2, v2, v4, vcc", "v_cmp_class_f32 vcc, v1, v3", "v_cndmask_b32 v1, v2, v1, vcc",
}

// lanesOf runs a compiled program on fresh data.
func lanesOf(t *testing.T, p *Program, setup func(w *Wave)) *Wave {
	t.Helper()
	w := newWave(p)
	setup(w)
	w.run(1 << 20)
	if w.trap != nil {
		t.Fatal(w.trap)
	}
	return w
}

func TestDivision32(t *testing.T) {
	p := testProgram(t, isa.GFX942, append(divide32, "s_endpgm")...)
	r := rand.New(rand.NewPCG(3, 3))
	for range 3000 {
		var x, y vreg
		for l := range x {
			x[l], y[l] = randomFloat32(r), randomFloat32(r)
		}
		w := lanesOf(t, p, func(w *Wave) { w.V[1], w.V[2] = x, y })
		for l := range x {
			if want := b32(f32(x[l]) / f32(y[l])); !sameFloat32(w.V[1][l], want) {
				t.Fatalf("%#x / %#x = %#x, want %#x", x[l], y[l], w.V[1][l], want)
			}
		}
	}
}

func TestDivision64(t *testing.T) {
	p := testProgram(t, isa.GFX942, append(divide64, "s_endpgm")...)
	r := rand.New(rand.NewPCG(4, 4))
	draw := func() float64 {
		switch r.IntN(6) {
		case 0:
			return math.Float64frombits(r.Uint64())
		case 1:
			return []float64{0, math.Copysign(0, -1), 5e-324, -0x1p-1022, 0x1p-1022, math.MaxFloat64, math.Inf(1), math.NaN(), 1, 3, 0x1p1023}[r.IntN(11)]
		case 2:
			return math.Ldexp(1+r.Float64(), -1074+r.IntN(120))
		case 3:
			return math.Ldexp(1+r.Float64(), 1023-r.IntN(120))
		case 4:
			return float64(r.Int64())
		}
		return r.NormFloat64()
	}
	for range 3000 {
		var x, y [Lanes]float64
		w := lanesOf(t, p, func(w *Wave) {
			for l := range x {
				x[l], y[l] = draw(), draw()
				a, b := math.Float64bits(x[l]), math.Float64bits(y[l])
				w.V[0][l], w.V[1][l], w.V[2][l], w.V[3][l] = uint32(a), uint32(a>>32), uint32(b), uint32(b>>32)
			}
		})
		for l := range x {
			got, want := double(&w.V[0], &w.V[1], l), x[l]/y[l]
			if got != got && want != want {
				continue
			}
			if math.Float64bits(got) != math.Float64bits(want) {
				t.Fatalf("%x / %x = %x, want %x", x[l], y[l], got, want)
			}
		}
	}
}

func TestSquareRoot32(t *testing.T) {
	p := testProgram(t, isa.GFX942, append(root32, "s_endpgm")...)
	r := rand.New(rand.NewPCG(5, 5))
	for range 2000 {
		var x vreg
		for l := range x {
			x[l] = randomFloat32(r)
		}
		w := lanesOf(t, p, func(w *Wave) { w.V[1] = x })
		for l := range x {
			if want := b32(float32(math.Sqrt(float64(f32(x[l]))))); !sameFloat32(w.V[1][l], want) {
				t.Fatalf("sqrt(%#x) = %#x, want %#x", x[l], w.V[1][l], want)
			}
		}
	}
}
