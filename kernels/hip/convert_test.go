package hip_test

import (
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mqaproof/internal/needtool"
	"mqaproof/model/fp8"
	"mqaproof/sim/codeobject"
	"mqaproof/sim/gpu"
)

// convertObject compiles testdata/convert.hip for the target.
func convertObject(t *testing.T, target string) *codeobject.File {
	t.Helper()
	out := filepath.Join(t.TempDir(), "convert.hsaco")
	cmd := exec.Command(needtool.Path(t, "clang-22"), "-x", "hip", "--offload-arch="+target, "--offload-device-only",
		"--no-gpu-bundle-output", "-nogpuinc", "-nogpulib", "-O2", "-ffp-contract=off", "testdata/convert.hip", "-o", out)
	if log, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	f, err := codeobject.ReadTarget(data, target)
	if err != nil {
		t.Fatal(err)
	}
	// The compiler must not have found another way.
	dump, err := exec.Command(needtool.Path(t, "llvm-objdump-22"), "-d", out).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range []string{"v_cvt_pk_fp8_f32", "v_cvt_f32_fp8", "v_cvt_pk_f32_fp8"} {
		if !strings.Contains(string(dump), op) {
			t.Fatalf("the code for %s has no %s", target, op)
		}
	}
	return f
}

// words puts 32-bit values into a read-only buffer.
func words(t *testing.T, m *gpu.Memory, name string, values []uint32) *gpu.Buffer {
	t.Helper()
	var data []byte
	for _, v := range values {
		data = binary.LittleEndian.AppendUint32(data, v)
	}
	return buffer(t, m, gpu.Spec{Name: name, Size: uint64(len(data)), Data: data, ReadOnly: true})
}

func buffer(t *testing.T, m *gpu.Memory, s gpu.Spec) *gpu.Buffer {
	t.Helper()
	b, err := m.Alloc(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// launch runs a kernel whose arguments are addresses and then 32-bit values.
func launch(t *testing.T, m *gpu.Memory, f *codeobject.File, kernel string, grid int, buffers []*gpu.Buffer, values ...uint32) {
	t.Helper()
	p, err := gpu.Load(f, kernel)
	if err != nil {
		t.Fatal(err)
	}
	var kernarg []byte
	for _, b := range buffers {
		kernarg = binary.LittleEndian.AppendUint64(kernarg, b.Addr())
	}
	for _, v := range values {
		kernarg = binary.LittleEndian.AppendUint32(kernarg, v)
	}
	r, err := m.Run(t.Context(), p, gpu.Launch{Grid: [3]uint32{uint32(grid), 1, 1}, Block: [3]uint32{64, 1, 1}, Kernarg: kernarg})
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range r.Faults {
		t.Errorf("%s: %v", kernel, fault)
	}
}

var native = map[string]fp8.Format{"gfx942": fp8.E4M3FNUZ, "gfx950": fp8.E4M3FN}

// sameFloat compares bits; any NaN equals any NaN.
func sameFloat(a, b uint32) bool { return a == b || a<<1 > 0xff<<24 && b<<1 > 0xff<<24 }

// TestDecodeInstructions: every code by every form of the instructions.
func TestDecodeInstructions(t *testing.T) {
	for target, f := range native {
		t.Run(target, func(t *testing.T) {
			object := convertObject(t, target)
			codes := make([]uint32, 64)
			for i := range 256 {
				codes[i/4] |= uint32(i) << (i % 4 * 8)
			}
			m := gpu.NewMemory()
			y := buffer(t, m, gpu.Spec{Name: "y", Size: 64 * 12 * 4})
			launch(t, m, object, "decode", 1, []*gpu.Buffer{words(t, m, "codes", codes), y})
			got, _ := y.Words()
			for code := range 256 {
				want := math.Float32bits(f.Decode(byte(code)))
				for way, name := range []string{"v_cvt_f32_fp8", "v_cvt_pk_f32_fp8", "arithmetic"} {
					if bits := got[code/4*12+way*4+code%4]; !sameFloat(bits, want) {
						t.Errorf("%s: %#02x is %x, want %x", name, code, bits, want)
					}
				}
			}
		})
	}
}

// TestEncodeInstructions: every tie with its neighbours, and floats from all
// over. The instructions do not saturate unless the mode says so.
func TestEncodeInstructions(t *testing.T) {
	var x []uint32
	add := func(v float32) {
		for d := range uint32(3) {
			b := math.Float32bits(v) + d - 1
			x = append(x, b, b^1<<31)
		}
	}
	for _, f := range native {
		for c := 0; c <= int(f.Top()); c++ {
			v := f.Decode(byte(c))
			next := 2 * f.Max()
			if c < int(f.Top()) {
				next = f.Decode(byte(c + 1))
			}
			if v > 0 {
				add(v)
			}
			add(v/2 + next/2)
		}
		add(f.Max() * 31 / 30) // between the largest value and the next there would be
		add(f.Max() * 29 / 28)
	}
	for b := uint64(0); b < 1<<32; b += 1 << 32 / 40_009 {
		x = append(x, uint32(b))
	}
	x = append(x, 0, 1<<31, 1, 0x7f800000, 0xff800000, 0x7f800001, 0xffc00000)
	for len(x)%4 != 0 {
		x = append(x, 0)
	}
	for target, f := range native {
		t.Run(target, func(t *testing.T) {
			object := convertObject(t, target)
			n := len(x) / 4
			m := gpu.NewMemory()
			hard := buffer(t, m, gpu.Spec{Name: "hard", Size: uint64(4 * n)})
			soft := buffer(t, m, gpu.Spec{Name: "soft", Size: uint64(4 * n)})
			launch(t, m, object, "encode", (n+63)/64, []*gpu.Buffer{words(t, m, "x", x), hard, soft}, uint32(n))
			h, _ := hard.Words()
			s, _ := soft.Words()
			for i, bits := range x {
				want := f.EncodeNonSaturating(math.Float32frombits(bits))
				for name, w := range map[string]uint32{"v_cvt_pk_fp8_f32": h[i/4], "arithmetic": s[i/4]} {
					if got := byte(w >> (i % 4 * 8)); got != want && !(f.IsNaN(got) && f.IsNaN(want)) {
						t.Errorf("%s of %x is %#02x, want %#02x", name, bits, got, want)
					}
				}
			}
			t.Logf("%d floats", len(x))
		})
	}
}
