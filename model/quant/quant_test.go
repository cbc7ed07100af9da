package quant

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"mqaproof/internal/needtool"
	"mqaproof/model/fp8"
)

var formats = []fp8.Format{fp8.E4M3FN, fp8.E4M3FNUZ}

// quantizers is every kind for both formats.
func quantizers() (out []Quantizer) {
	for _, f := range formats {
		for _, ue8m0 := range []bool{false, true} {
			out = append(out, VLLM(f, ue8m0), AITER(f, ue8m0))
		}
		out = append(out, Quantizer{f, f.Max(), PowerOfTwo, false}, Quantizer{f, 100, PowerOfTwo, true})
	}
	return out
}

// bfloat16 cuts x to the values of keys.
func bfloat16(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ 0xffff) }

// tokens are keys of 32 values: of many sizes, with zeros, near powers of two,
// below the least scale, with NaN and with infinities.
func tokens() (out [][]float32) {
	rng := rand.New(rand.NewPCG(4, 4))
	for i := range 600 {
		x := make([]float32, 32)
		size := math.Ldexp(1, rng.IntN(40)-20)
		for j := range x {
			x[j] = bfloat16(float32(rng.NormFloat64() * size))
		}
		switch i % 6 {
		case 1: // the largest is just above or at a power of two times a divisor
			d := []float32{448, 240, 224, 100}[rng.IntN(4)]
			v := d * float32(math.Ldexp(1, rng.IntN(16)-14))
			x[rng.IntN(32)] = math.Float32frombits(math.Float32bits(v) + rng.Uint32N(6))
			for j := range x {
				x[j] = min(x[j], v)
			}
		case 2:
			for j := range x {
				x[j] = float32(math.Copysign(float64(x[j])*1e-9, float64(x[j])))
			}
		case 3:
			x[rng.IntN(32)] = float32(math.NaN())
			x[rng.IntN(32)] = float32(math.Copysign(0, -1))
		case 4:
			if i%5 == 0 {
				x[rng.IntN(32)] = float32(math.Inf(rng.IntN(2)*2 - 1))
			}
		}
		out = append(out, x)
	}
	return append(out, make([]float32, 32))
}

// exactToken does one token in rational arithmetic, rounding where the order of
// operations says so, and finds codes by search.
func exactToken(q Quantizer, x []float32) (scale float32, codes []byte) {
	amax := new(big.Rat).SetFloat64(float64(float32(1e-4)))
	for _, v := range x {
		if r := new(big.Rat).SetFloat64(math.Abs(float64(v))); r != nil && r.Cmp(amax) > 0 {
			amax = r
		}
	}
	scale, _ = new(big.Rat).Quo(amax, new(big.Rat).SetFloat64(float64(q.Divisor))).Float32()
	if q.Scale == PowerOfTwo {
		p := float32(0x1p-126)
		for p < scale {
			p *= 2
		}
		scale = p
	}
	s := new(big.Rat).SetFloat64(float64(scale))
	inverse, _ := new(big.Rat).Inv(s).Float32()
	for _, v := range x {
		r := new(big.Rat).SetFloat64(float64(v))
		if r == nil { // NaN
			codes = append(codes, q.Format.NaN())
			continue
		}
		var y float32
		if q.Reciprocal {
			y, _ = r.Mul(r, new(big.Rat).SetFloat64(float64(inverse))).Float32()
		} else {
			y, _ = r.Quo(r, s).Float32()
		}
		best, least := byte(0), math.Inf(1)
		for c := 0; c <= int(q.Format.Top()); c++ {
			d := math.Abs(float64(q.Format.Decode(byte(c))) - math.Abs(float64(y)))
			if d < least || d == least && c&1 == 0 {
				best, least = byte(c), d
			}
		}
		if math.Signbit(float64(v)) && (best != 0 || q.Format == fp8.E4M3FN) {
			best |= 0x80
		}
		codes = append(codes, best)
	}
	return scale, codes
}

func TestTokenInExactArithmetic(t *testing.T) {
	for _, q := range quantizers() {
		if q.Scale == PowerOfTwoByLog {
			continue // judged below
		}
		for i, x := range tokens() {
			if infinite(x) {
				continue
			}
			wantScale, want := exactToken(q, x)
			got := make([]byte, len(x))
			if scale := q.Token(x, got); scale != wantScale {
				t.Fatalf("%+v: token %d has scale %v, want %v", q, i, scale, wantScale)
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("%+v: token %d has codes %x, want %x\n%v", q, i, got, want, x)
			}
		}
	}
}

func infinite(x []float32) bool {
	for _, v := range x {
		if math.IsInf(float64(v), 0) {
			return true
		}
	}
	return false
}

// judge is the same in Python with numpy's float32 and the ml_dtypes package.
// It reads tokens of 32 float32, and writes scales and codes for each
// quantizer of its arguments: format, divisor, kind, reciprocal.
const judge = `
import sys
import ml_dtypes
import numpy as np

x = np.frombuffer(sys.stdin.buffer.read(), np.float32).reshape(-1, 32)
np.seterr(all="ignore")
for spec in sys.argv[1:]:
    name, divisor, kind, reciprocal = spec.split(",")
    dtype = {"e4m3fn": ml_dtypes.float8_e4m3fn, "e4m3fnuz": ml_dtypes.float8_e4m3fnuz}[name]
    amax = np.fmax.reduce(np.abs(x), axis=1)
    scale = np.fmax(amax, np.float32(1e-4)) / np.float32(divisor)
    if kind == "ue8m0":
        mantissa, exponent = np.frexp(scale)
        power = np.ldexp(np.float32(1), exponent - (mantissa == 0.5)).astype(np.float32)
        scale = np.where(np.isinf(scale), scale, power)
    elif kind == "ue8m0-by-log":
        scale = np.exp2(np.ceil(np.log2(scale.astype(np.float64)).astype(np.float32))).astype(np.float32)
    s = scale[:, None]
    y = x * (np.float32(1) / s) if reciprocal == "true" else x / s
    top = np.float32(float(ml_dtypes.finfo(dtype).max))
    codes = np.clip(y, -top, top).astype(dtype).view(np.uint8)
    sys.stdout.buffer.write(scale.tobytes() + codes.tobytes())
`

func TestTokenAgreesWithNumpy(t *testing.T) {
	python := needtool.Python(t, "ml_dtypes")
	all := tokens()
	var in bytes.Buffer
	for _, x := range all {
		if err := binary.Write(&in, binary.LittleEndian, x); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"-c", judge}
	for _, q := range quantizers() {
		args = append(args, fmt.Sprintf("%v,%v,%v,%v", q.Format, q.Divisor, q.Scale, q.Reciprocal))
	}
	cmd := exec.Command(python, args...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = &in, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	for _, q := range quantizers() {
		scales, codes := out[:4*len(all)], out[4*len(all):][:32*len(all)]
		out = out[36*len(all):]
		for i, x := range all {
			got := make([]byte, len(x))
			scale, want := q.Token(x, got), math.Float32frombits(binary.LittleEndian.Uint32(scales[4*i:]))
			if scale != want {
				t.Fatalf("%+v: token %d has scale %v, numpy says %v", q, i, scale, want)
			}
			for j := range got {
				if want := codes[32*i+j]; got[j] != want && !(q.Format.IsNaN(got[j]) && q.Format.IsNaN(want)) {
					t.Fatalf("%+v: value %v of token %d, scale %v, is %#02x, numpy says %#02x", q, x[j], i, scale, got[j], want)
				}
			}
		}
	}
}

// TestPowersOfTwo: exactly the next power of two, and by the logarithm the same
// except just above a power.
func TestPowersOfTwo(t *testing.T) {
	differ := 0
	for e := -100; e <= 100; e++ {
		p := float32(math.Ldexp(1, e))
		for d := range uint32(64) {
			s := math.Float32frombits(math.Float32bits(p) + d)
			want := p
			if d > 0 {
				want = 2 * p
			}
			if got := powerOfTwo(s); got != want {
				t.Errorf("powerOfTwo(%x) = %v, want %v", s, got, want)
			}
			// The exact logarithm is e + d*2^-23/ln 2 - ..., and float32 keeps it apart
			// from e when that is more than half a unit in e's last place.
			byLog := want
			if above := math.Log1p(float64(d)*0x1p-23) / math.Ln2; d > 0 && float32(e) == nearestSum(e, above) {
				byLog = p
				differ++
			}
			if got := powerOfTwoByLog(s); got != byLog {
				t.Errorf("powerOfTwoByLog(%x) = %v, want %v", s, got, byLog)
			}
		}
	}
	if differ == 0 {
		t.Error("the two ways never differ")
	}
	t.Logf("%d of the floats next to a power of two get the smaller power by the logarithm", differ)
	if inf := float32(math.Inf(1)); powerOfTwo(inf) != inf || powerOfTwoByLog(inf) != inf {
		t.Error("infinity is not kept")
	}
}

// nearestSum is e + above rounded to float32, above being far smaller than e.
func nearestSum(e int, above float64) float32 {
	sum := new(big.Float).SetPrec(200).Add(big.NewFloat(float64(e)), big.NewFloat(above))
	v, _ := sum.Float32()
	return v
}

// TestErrorOfAToken: what comes back is within half a step of fp8 of what went
// in, and the largest value is not lost.
func TestErrorOfAToken(t *testing.T) {
	for _, q := range quantizers() {
		for _, x := range tokens() {
			if infinite(x) {
				continue
			}
			codes := make([]byte, len(x))
			scale := float64(q.Token(x, codes))
			for i, v := range x {
				back := float64(q.Format.Decode(codes[i])) * scale
				if v != v {
					if back == back {
						t.Fatalf("%+v: a NaN comes back as %v", q, back)
					}
					continue
				}
				bound := math.Max(math.Abs(float64(v))/16*(1+1e-6), float64(q.Format.MinSubnormal())*scale/2*(1+1e-6))
				if math.Abs(back-float64(v)) > bound {
					t.Fatalf("%+v: %v comes back as %v with scale %v", q, v, back, scale)
				}
			}
		}
	}
}

func TestMistakes(t *testing.T) {
	good := VLLM(fp8.E4M3FN, false)
	for name, test := range map[string]struct {
		change func(*Quantizer)
		says   string
	}{
		"no format":     {func(q *Quantizer) { q.Format = 0 }, "no fp8 format"},
		"no divisor":    {func(q *Quantizer) { q.Divisor = 0 }, "divisor is 0"},
		"NaN divisor":   {func(q *Quantizer) { q.Divisor = float32(math.NaN()) }, "divisor is NaN"},
		"large divisor": {func(q *Quantizer) { q.Divisor = 449 }, "at most 448"},
		"unknown scale": {func(q *Quantizer) { q.Scale = 3 }, "scale is ScaleKind(3)"},
	} {
		q := good
		test.change(&q)
		if err := q.Check(); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", name, err, test.says)
		}
	}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	defer func() {
		if said := fmt.Sprint(recover()); !strings.Contains(said, "3 codes for 4 values") {
			t.Errorf("panic says %q", said)
		}
	}()
	good.Token(make([]float32, 4), make([]byte, 3))
}
