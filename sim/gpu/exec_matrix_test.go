package gpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"mqaproof/model/fp8"
	"mqaproof/model/matrixcore"
	"mqaproof/sim/isa"
)

// smallCodes are fp8 codes of small multiples of a half, exact in any order of
// summation, with their values: e4m3fnuz has bias 8, e4m3fn bias 7.
func smallCodes(fnuz bool) map[byte]float64 {
	m := map[byte]float64{0: 0}
	bias := 7
	if fnuz {
		bias = 8
	}
	for _, v := range []float64{0.5, 1, 1.5, 2, 3, 4} {
		man, exp := math.Frexp(v)
		code := byte(exp-1+bias)<<3 | byte((man*2-1)*8)
		m[code], m[code|0x80] = v, -v
	}
	return m
}

// TestMatrixLayout multiplies exact tiles, placed lane by lane as the ISA
// documents say, and reads the result the same way.
func TestMatrixLayout(t *testing.T) {
	for _, c := range []struct {
		target isa.Target
		op     string
		n, k   int
		a, b   string
		row    func(l, i int) int // of D
		kOf    func(l, byteOf int) int
	}{
		{isa.GFX942, "v_mfma_f32_16x16x32_fp8_fp8", 16, 32, "v[4:5]", "v[6:7]",
			func(l, i int) int { return 4*(l/16) + i }, func(l, b int) int { return 8*(l/16) + b }},
		{isa.GFX942, "v_mfma_f32_32x32x16_fp8_fp8", 32, 16, "v[4:5]", "v[6:7]",
			func(l, i int) int { return 8*(i/4) + 4*(l/32) + i%4 }, func(l, b int) int { return 8*(l/32) + b }},
		{isa.GFX950, "v_mfma_f32_16x16x32_fp8_fp8", 16, 32, "v[4:5]", "v[6:7]",
			func(l, i int) int { return 4*(l/16) + i }, func(l, b int) int { return 8*(l/16) + b }},
		{isa.GFX950, "v_mfma_f32_32x32x64_f8f6f4", 32, 64, "v[0:7]", "v[8:15]",
			func(l, i int) int { return 8*(i/4) + 4*(l/32) + i%4 }, func(l, b int) int { return 32*(l/32) + b }},
		{isa.GFX950, "v_mfma_f32_16x16x128_f8f6f4", 16, 128, "v[0:7]", "v[8:15]",
			func(l, i int) int { return 4*(l/16) + i }, func(l, b int) int { return 32*(l/16) + b }},
	} {
		values := smallCodes(c.target == isa.GFX942)
		var codes []byte
		for b := range 256 {
			if _, ok := values[byte(b)]; ok {
				codes = append(codes, byte(b))
			}
		}
		last := c.n*c.n/Lanes - 1
		for _, place := range []struct {
			d, c   string
			dr, cr int // in Wave.V; cr -1: a constant
		}{
			{fmt.Sprintf("v[64:%d]", 64+last), fmt.Sprintf("v[64:%d]", 64+last), 64, 64},
			{fmt.Sprintf("a[0:%d]", last), fmt.Sprintf("a[32:%d]", 32+last), firstAcc, firstAcc + 32},
			{fmt.Sprintf("v[64:%d]", 64+last), "0", 64, -1},
			{fmt.Sprintf("v[64:%d]", 64+last), "1.0", 64, -2},
		} {
			line := fmt.Sprintf("%s %s, %s, %s, %s", c.op, place.d, c.a, c.b, place.c)
			w := newWave(testProgram(t, c.target, line, "s_endpgm"))
			w.EXEC = 1 // the matrix core takes all lanes
			r := rand.New(rand.NewPCG(11, 11))
			a, b := make([]float64, c.n*c.k), make([]float64, c.n*c.k) // rows of A, columns of B
			var aReg, bReg int
			if _, err := fmt.Sscanf(c.a, "v[%d:", &aReg); err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Sscanf(c.b, "v[%d:", &bReg); err != nil {
				t.Fatal(err)
			}
			for _, side := range []struct {
				reg int
				m   []float64
			}{{aReg, a}, {bReg, b}} {
				for l := range Lanes {
					for at := range c.n * c.k / Lanes {
						code := codes[r.IntN(len(codes))]
						w.V[side.reg+at/4][l] = w.V[side.reg+at/4][l]&^(255<<(8*(at%4))) | uint32(code)<<(8*(at%4))
						side.m[l%c.n*c.k+c.kOf(l, at)] = values[code]
					}
				}
			}
			acc := make([]float64, c.n*c.n)
			for i := range last + 1 {
				for l := range Lanes {
					v := float64(r.IntN(64))
					at := c.row(l, i)*c.n + l%c.n
					switch {
					case place.cr >= 0:
						acc[at] = v
						w.V[place.cr+i][l] = b32(float32(v))
					case place.cr == -2:
						acc[at] = 1
					}
				}
			}
			w.run(10)
			if w.trap != nil {
				t.Fatal(w.trap)
			}
			for i := range last + 1 {
				for l := range Lanes {
					row, col := c.row(l, i), l%c.n
					want := acc[row*c.n+col]
					for k := range c.k {
						want += a[row*c.k+k] * b[col*c.k+k]
					}
					if got := float64(f32(w.V[place.dr+i][l])); got != want {
						t.Fatalf("%s %s: register %d of lane %d (row %d, column %d) = %v, want %v", c.target, line, i, l, row, col, got, want)
					}
				}
			}
		}
	}
}

// TestMatrixRounding compares one instruction on any finite codes with the
// model that the target's arithmetic comes from.
func TestMatrixRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	w := newWave(testProgram(t, isa.GFX942, "v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[4:5], v[6:7], v[0:3]", "s_endpgm"))
	a, b := make([]byte, 16*32), make([]byte, 16*32)
	c, d := make([]float32, 256), make([]float32, 256)
	for i := range a {
		a[i], b[i] = byte(r.IntN(255)+129), byte(r.IntN(255)+129) // never 0x80, the NaN
	}
	for i := range c {
		c[i] = float32(r.NormFloat64())
	}
	for l := range Lanes {
		for i := range 4 {
			w.V[i][l] = b32(c[(4*(l/16)+i)*16+l%16])
		}
		for i := range 2 {
			at := l%16*32 + 8*(l/16) + 4*i
			w.V[4+i][l] = uint32(a[at]) | uint32(a[at+1])<<8 | uint32(a[at+2])<<16 | uint32(a[at+3])<<24
			w.V[6+i][l] = uint32(b[at]) | uint32(b[at+1])<<8 | uint32(b[at+2])<<16 | uint32(b[at+3])<<24
		}
	}
	matrixcore.CDNA3.MulAdd(fp8.E4M3FNUZ, fp8.E4M3FNUZ, 16, 16, 32, a, b, c, d)
	w.run(10)
	for l := range Lanes {
		for i := range 4 {
			if want := b32(d[(4*(l/16)+i)*16+l%16]); w.V[i][l] != want {
				t.Fatalf("register %d of lane %d: %#x, want %#x", i, l, w.V[i][l], want)
			}
		}
	}
}

func TestMatrixFloat32(t *testing.T) {
	for _, c := range []struct {
		line string
		n, k int
		row  func(l, i int) int
	}{
		{"v_mfma_f32_16x16x4_f32 v[64:67], v1, v2, v[64:67]", 16, 4, func(l, i int) int { return 4*(l/16) + i }},
		{"v_mfma_f32_32x32x2_f32 v[64:79], v1, v2, v[64:79]", 32, 2, func(l, i int) int { return 8*(i/4) + 4*(l/32) + i%4 }},
	} {
		w := newWave(testProgram(t, isa.GFX942, c.line, "s_endpgm"))
		for l := range Lanes {
			w.V[1][l], w.V[2][l] = b32(float32(l%7)-3), b32(float32(l%5)+0.5)
			for i := range c.n * c.n / Lanes {
				w.V[64+i][l] = b32(float32(i))
			}
		}
		w.run(10)
		for l := range Lanes {
			for i := range c.n * c.n / Lanes {
				want := float32(i)
				for k := range c.k {
					want += f32(w.V[1][k*c.n+c.row(l, i)]) * f32(w.V[2][k*c.n+l%c.n])
				}
				if got := f32(w.V[64+i][l]); got != want {
					t.Fatalf("%s: register %d of lane %d = %v, want %v", c.line, i, l, got, want)
				}
			}
		}
	}
}

func TestMatrixInt8(t *testing.T) {
	for _, c := range []struct {
		target isa.Target
		line   string
		n, k   int
		row    func(l, i int) int
	}{
		{isa.GFX942, "v_mfma_i32_16x16x32_i8 v[64:67], v[0:1], v[2:3], v[64:67]", 16, 32, func(l, i int) int { return 4*(l/16) + i }},
		{isa.GFX942, "v_mfma_i32_32x32x16_i8 v[64:79], v[0:1], v[2:3], v[64:79]", 32, 16, func(l, i int) int { return 8*(i/4) + 4*(l/32) + i%4 }},
	} {
		r := rand.New(rand.NewPCG(27, 27))
		w := newWave(testProgram(t, c.target, c.line, "s_endpgm"))
		for v := range 4 {
			for l := range Lanes {
				w.V[v][l] = r.Uint32()
			}
		}
		for i := range c.n * c.n / Lanes {
			for l := range Lanes {
				w.V[64+i][l] = randomInt(r)
			}
		}
		before := append([]vreg(nil), w.V[:80]...)
		element := func(reg, line, k int) int32 {
			lane, b := line+k/8*c.n, k%8
			return int32(int8(before[reg+b/4][lane] >> (8 * (b % 4))))
		}
		w.run(10)
		for l := range Lanes {
			for i := range c.n * c.n / Lanes {
				want := int32(before[64+i][l])
				for k := range c.k {
					want += element(0, c.row(l, i), k) * element(2, l%c.n, k)
				}
				if got := int32(w.V[64+i][l]); got != want {
					t.Fatalf("%s: register %d of lane %d = %d, want %d", c.line, i, l, got, want)
				}
			}
		}
	}
}
