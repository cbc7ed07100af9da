package fp8

import (
	"bytes"
	"encoding/binary"
	"math"
	"os/exec"
	"testing"

	"mqaproof/internal/needtool"
)

// judge is a Python program around the ml_dtypes package. It reads float32
// values and writes, for each format, the values of all 256 codes, the code of
// each float32, and the code of each float32 after clipping to the format's
// largest value.
const judge = `
import sys
import ml_dtypes
import numpy as np

x = np.frombuffer(sys.stdin.buffer.read(), np.float32)
for dtype in (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz):
    top = float(ml_dtypes.finfo(dtype).max)
    codes = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32)
    with np.errstate(all="ignore"):
        plain = x.astype(dtype).view(np.uint8)
        clipped = np.clip(x, np.float32(-top), np.float32(top)).astype(dtype).view(np.uint8)
    for part in (codes, plain, clipped):
        sys.stdout.buffer.write(part.tobytes())
`

// TestAgreesWithMLDtypes compares every code, every tie with its neighbours,
// and floats from all over with an implementation that others use.
func TestAgreesWithMLDtypes(t *testing.T) {
	python := needtool.Python(t, "ml_dtypes")
	x := append(ties(), sweep(1<<32/1_500_007)...)
	for _, special := range []float64{math.NaN(), -math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat32, -math.MaxFloat32} {
		x = append(x, float32(special))
	}
	var in bytes.Buffer
	if err := binary.Write(&in, binary.LittleEndian, x); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", judge)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = &in, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	if want := 2 * (4*256 + 2*len(x)); len(out) != want {
		t.Fatalf("%d bytes from ml_dtypes, want %d", len(out), want)
	}
	take := func(n int) (part []byte) {
		part, out = out[:n], out[n:]
		return part
	}
	for _, f := range both {
		codes, plain, clipped := take(4*256), take(len(x)), take(len(x))
		for code := range 256 {
			got, want := f.Decode(byte(code)), math.Float32frombits(binary.LittleEndian.Uint32(codes[4*code:]))
			if math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
				t.Errorf("%v %#02x decodes to %v, ml_dtypes says %v", f, code, got, want)
			}
		}
		equal := func(a, b byte) bool { return a == b || f.IsNaN(a) && f.IsNaN(b) }
		wrong := 0
		for i, v := range x {
			if got := f.EncodeNonSaturating(v); !equal(got, plain[i]) {
				t.Errorf("%v: EncodeNonSaturating(%x) = %#02x, ml_dtypes says %#02x", f, math.Float32bits(v), got, plain[i])
				wrong++
			}
			if got := f.Encode(v); !equal(got, clipped[i]) {
				t.Errorf("%v: Encode(%x) = %#02x, ml_dtypes after clipping says %#02x", f, math.Float32bits(v), got, clipped[i])
				wrong++
			}
			if wrong > 20 {
				t.FailNow()
			}
		}
	}
	t.Logf("%d floats in both formats", len(x))
}
