package matrixcore

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"mqaproof/model/fp8"
)

// vector is one tile of a vector set: see testdata/README.md.
type vector struct {
	Kind   string `json:"kind"`
	Op     string `json:"op"`
	C      string `json:"c"`
	M      int    `json:"M"`
	N      int    `json:"N"`
	K      int    `json:"K"`
	Offset int    `json:"offset"`

	a, bt []byte
	c, d  []float32
}

func loadVectors(t testing.TB, set string) []vector {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", set+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var vs []vector
	if err := json.Unmarshal(text, &vs); err != nil {
		t.Fatal(err)
	}
	blob, err := os.ReadFile(filepath.Join("testdata", set+".bin"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range vs {
		v := &vs[i]
		rest := blob[v.Offset:]
		bytes := func(n int) []byte {
			b := rest[:n:n]
			rest = rest[n:]
			return b
		}
		floats := func(n int) []float32 {
			fs := make([]float32, n)
			for i := range fs {
				fs[i] = math.Float32frombits(binary.LittleEndian.Uint32(rest[4*i:]))
			}
			rest = rest[4*n:]
			return fs
		}
		v.a, v.bt = bytes(v.M*v.K), bytes(v.N*v.K)
		v.c, v.d = floats(v.M*v.N), floats(v.M*v.N)
	}
	return vs
}

// sameBits compares float32 bit for bit; any NaN equals any NaN.
func sameBits(x, y float32) bool {
	return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y
}

func TestVectors(t *testing.T) { onEachPath(t, testVectors) }

func testVectors(t *testing.T) {
	sets := []struct {
		name    string
		rule    *Rule
		format  fp8.Format
		outputs int
	}{
		{"cdna3_mfma_fp8_model", CDNA3, fp8.E4M3FNUZ, 23040},
		{"hopper_wgmma_e4m3", Hopper, fp8.E4M3FN, 61440},
	}
	type mulAdd func(fa, fb fp8.Format, m, n, k int, a, bt []byte, c, d []float32)
	for _, set := range sets {
		vs := loadVectors(t, set.name)
		ways := map[string]mulAdd{"MulAdd": set.rule.MulAdd, "reference": set.rule.mulAddReference}
		for way, run := range ways {
			t.Run(set.rule.Name+"/"+way, func(t *testing.T) {
				var outputs, wrong int
				for _, v := range vs {
					d := append([]float32(nil), v.c...) // d aliases c
					run(set.format, set.format, v.M, v.N, v.K, v.a, v.bt, d, d)
					for i := range d {
						outputs++
						if sameBits(d[i], v.d[i]) {
							continue
						}
						if wrong++; wrong <= 5 {
							t.Errorf("%s %s K=%d c=%s: output [%d][%d] is %x, want %x (c %x)", v.Op, v.Kind, v.K, v.C, i/v.N, i%v.N,
								math.Float32bits(d[i]), math.Float32bits(v.d[i]), math.Float32bits(v.c[i]))
						}
					}
				}
				t.Logf("%d outputs in %d tiles, %d wrong", outputs, len(vs), wrong)
				if outputs != set.outputs {
					t.Errorf("%d outputs compared, want %d", outputs, set.outputs)
				}
			})
		}
	}
}
