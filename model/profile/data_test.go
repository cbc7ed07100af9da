package profile

import (
	"math"
	"math/rand/v2"

	"mqaproof/model/fp8"
)

// sample is a row and some tokens.
type sample struct {
	row    Row
	dim    int
	k      []byte // [tokens][dim]
	scales []float32
}

func (s sample) token(t int) []byte { return s.k[t*s.dim : (t+1)*s.dim] }

// styles are ways to draw a sample, finite ones first.
var styles = []struct {
	name   string
	finite bool
	code   func(r *rand.Rand, f fp8.Format) byte
	weight func(r *rand.Rand) float32
	scale  func(r *rand.Rand) float32
}{
	{"normal", true,
		func(r *rand.Rand, f fp8.Format) byte { return f.Encode(float32(r.NormFloat64())) },
		func(r *rand.Rand) float32 { return float32(r.NormFloat64()) },
		func(r *rand.Rand) float32 { return float32(math.Exp(r.NormFloat64()) / 100) }},
	{"adversarial", true,
		func(r *rand.Rand, f fp8.Format) byte {
			var b byte
			switch r.IntN(4) {
			case 0:
				return 0
			case 1:
				b = byte(1 + r.IntN(7))
			default:
				b = f.Top() - byte(r.IntN(5))
			}
			return b | byte(r.IntN(2))<<7
		},
		func(r *rand.Rand) float32 { return float32(math.Ldexp(r.Float64()*2-1, r.IntN(40)-20)) },
		func(r *rand.Rand) float32 { return float32(math.Ldexp(r.Float64(), r.IntN(40)-20)) }},
	{"large", true,
		func(r *rand.Rand, f fp8.Format) byte { return f.Top() - byte(r.IntN(8)) | byte(r.IntN(2))<<7 },
		func(r *rand.Rand) float32 { return float32(r.Float64()*2 - 1) },
		func(r *rand.Rand) float32 { return float32(r.Float64()) }},
	{"tiny", true,
		func(r *rand.Rand, f fp8.Format) byte {
			if r.IntN(3) == 0 {
				return 0
			}
			return byte(1+r.IntN(9)) | byte(r.IntN(2))<<7
		},
		func(r *rand.Rand) float32 { return float32(math.Ldexp(r.Float64()*2-1, -100)) },
		func(r *rand.Rand) float32 { return float32(math.Ldexp(r.Float64(), -30)) }},
	{"zero", true,
		func(*rand.Rand, fp8.Format) byte { return 0 },
		func(r *rand.Rand) float32 { return float32(r.NormFloat64()) },
		func(*rand.Rand) float32 { return 1 }},
	{"nan", false,
		func(r *rand.Rand, f fp8.Format) byte {
			if r.IntN(300) == 0 {
				return f.NaN()
			}
			return f.Encode(float32(r.NormFloat64()))
		},
		func(r *rand.Rand) float32 {
			if r.IntN(50) == 0 {
				return float32(math.NaN())
			}
			return float32(r.NormFloat64())
		},
		func(r *rand.Rand) float32 {
			if r.IntN(4) == 0 {
				return float32(math.Inf(1))
			}
			return float32(r.Float64())
		}},
}

func draw(r *rand.Rand, style int, f fp8.Format, heads, dim, tokens int) sample {
	st := styles[style]
	s := sample{dim: dim, k: make([]byte, tokens*dim), scales: make([]float32, tokens)}
	s.row = Row{Q: make([]byte, heads*dim), Weights: make([]float32, heads)}
	for i := range s.row.Q {
		s.row.Q[i] = st.code(r, f)
	}
	for i := range s.k {
		s.k[i] = st.code(r, f)
	}
	for i := range s.row.Weights {
		s.row.Weights[i] = st.weight(r)
	}
	for i := range s.scales {
		s.scales[i] = st.scale(r)
	}
	return s
}
