package gpu

import (
	"bytes"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"mqaproof/internal/needtool"
	"mqaproof/sim/codeobject"
	"mqaproof/sim/isa"
)

var hipTargets = []isa.Target{isa.GFX942, isa.GFX950}

// hipProgram is a kernel of testdata/exec.hip, compiled for a target.
func hipProgram(t *testing.T, target isa.Target, kernel string) *Program {
	t.Helper()
	return hipFixture(t, "exec", target, kernel)
}

// hipFixture is a kernel of a source in testdata, compiled for a target.
func hipFixture(t *testing.T, source string, target isa.Target, kernel string) *Program {
	t.Helper()
	data, err := os.ReadFile("testdata/" + source + "." + target.String() + ".hsaco")
	if err != nil {
		t.Fatal(err)
	}
	f, err := codeobject.ReadTarget(data, target.String())
	if err != nil {
		t.Fatal(err)
	}
	p, err := Load(f, kernel)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestHIPFixturesAreCurrent(t *testing.T) {
	clang := needtool.Path(t, "clang-22")
	needtool.Path(t, "ld.lld-22")
	for source, level := range map[string]string{"exec": "-O3", "stack": "-O0"} {
		for _, target := range hipTargets {
			file := "testdata/" + source + "." + target.String() + ".hsaco"
			out := filepath.Join(t.TempDir(), "out.hsaco")
			cmd := exec.Command(clang, "-x", "hip", "--offload-arch="+target.String(), "--offload-device-only", "--no-gpu-bundle-output",
				"-nogpuinc", "-nogpulib", level, "-cuid="+source, "-o", out, source+".hip")
			cmd.Dir = "testdata"
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			built, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(file, built, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if have, err := os.ReadFile(file); err != nil || !bytes.Equal(have, built) {
				t.Errorf("%s is not what testdata/%s.hip compiles to (%v): run go test -run HIPFixtures -update", file, source, err)
			}
		}
	}
}

// hip runs a kernel, a thread an element of the first input, and gives its
// output, so many elements a thread.
func hip[Out, A any](t *testing.T, target isa.Target, kernel string, per int, a []A, more ...*hipInput) []Out {
	t.Helper()
	p := hipProgram(t, target, kernel)
	m := NewMemory()
	var zero Out
	out := output(t, m, "out", len(a)*per*len(bytesOf(t, []Out{zero})))
	args := []any{out, input(t, m, "a", a)}
	for _, x := range more {
		args = append(args, x.alloc(t, m))
	}
	noFaults(t, run(t, m, p, Launch{Grid: one(uint32(len(a) / 64)), Block: one(64), Kernarg: pack(args...)}))
	return valuesOf[Out](t, out)
}

// hipInput is a further argument of a kernel.
type hipInput struct {
	data []byte
	room int
	buf  *Buffer
}

func (x *hipInput) alloc(t *testing.T, m *Memory) *Buffer {
	if x.room > 0 {
		x.buf = output(t, m, "room", x.room)
	} else {
		x.buf = input(t, m, "b", x.data)
	}
	return x.buf
}

func and[T any](t *testing.T, values []T) *hipInput { return &hipInput{data: bytesOf(t, values)} }

const hipThreads = 64 * 40

func TestHIPIntegerDivision(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 20))
	for _, target := range hipTargets {
		a, b := make([]int32, hipThreads), make([]int32, hipThreads)
		for i := range a {
			a[i], b[i] = int32(randomInt(r)), int32(randomInt(r))
		}
		got := hip[int32](t, target, "int_division", 4, a, and(t, b))
		for i := range a {
			x, y := a[i], b[i]
			var want [4]int32
			if y != 0 {
				want = [4]int32{x / y, x % y, int32(uint32(x) / uint32(y)), int32(uint32(x) % uint32(y))}
			}
			if x == math.MinInt32 && y == -1 {
				want[0], want[1] = 0, 0
			}
			if have := [4]int32(got[4*i:]); have != want {
				t.Fatalf("%s: %d and %d give %v, want %v", target, x, y, have, want)
			}
		}
	}
}

func randomLong(r *rand.Rand) int64 {
	switch r.IntN(3) {
	case 0:
		return int64(int32(randomInt(r)))
	case 1:
		return int64(r.Uint64() >> r.IntN(64))
	}
	return int64(uint64(randomInt(r))<<32 | uint64(randomInt(r)))
}

func TestHIPLongDivision(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 21))
	for _, target := range hipTargets {
		a, b := make([]int64, hipThreads), make([]int64, hipThreads)
		for i := range a {
			a[i], b[i] = randomLong(r), randomLong(r)
		}
		got := hip[int64](t, target, "long_division", 4, a, and(t, b))
		for i := range a {
			x, y := a[i], b[i]
			want := [4]int64{3: x * y}
			if y != 0 {
				want = [4]int64{x / y, x % y, int64(uint64(x) / uint64(y)), x * y}
			}
			if x == math.MinInt64 && y == -1 {
				want[0], want[1] = 0, 0
			}
			if have := [4]int64(got[4*i:]); have != want {
				t.Fatalf("%s: %d and %d give %v, want %v", target, x, y, have, want)
			}
		}
	}
}

func TestHIPBits(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 22))
	for _, target := range hipTargets {
		a, b := make([]uint64, hipThreads), make([]uint64, hipThreads)
		for i := range a {
			a[i], b[i] = uint64(randomLong(r)), uint64(randomLong(r))
		}
		got := hip[uint64](t, target, "bits", 8, a, and(t, b))
		for i := range a {
			x, y := a[i], b[i]
			lo, hi, s := uint32(x), uint32(x>>32), uint32(y&31)
			want := [8]uint64{
				uint64(bits.OnesCount64(x) + 100*bits.OnesCount32(lo)),
				uint64(bits.LeadingZeros64(x) + 100*bits.TrailingZeros32(lo)),
				bits.Reverse64(x),
				x<<(y&63) ^ x>>(y&63) ^ uint64(int64(x)>>(y&63)),
				uint64(lo) * uint64(hi),
				uint64(int64(int32(lo)) * int64(int32(hi))),
				uint64(lo<<s|hi>>(32-s)) + uint64(bits.ReverseBytes32(hi))<<32,
				max(x, y) - min(x, y),
			}
			if int64(x) < int64(y) {
				want[7] += 7
			}
			if have := [8]uint64(got[8*i:]); have != want {
				t.Fatalf("%s: %#x and %#x give %#x, want %#x", target, x, y, have, want)
			}
		}
	}
}

func TestHIPFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 23))
	for _, target := range hipTargets {
		a, b := make([]uint32, hipThreads), make([]uint32, hipThreads)
		for i := range a {
			a[i], b[i] = randomFloat32(r), randomFloat32(r)
		}
		got := hip[uint32](t, target, "floats", 8, a, and(t, b))
		for i := range a {
			x, y := f32(a[i]), f32(b[i])
			wide := float64(x)
			want := [8]uint32{
				0: b32(x / y),
				1: b32(float32(math.Sqrt(wide))),
				2: fmaReference(x, y, x),
				3: b32(float32(math.Floor(wide)) + float32(math.Trunc(float64(y)))),
				4: 0x7fc00000,
				5: b32(x + f16ToF32(f32ToF16(y))),
				6: b32(float32(wide / float64(y))),
				7: 0,
			}
			switch {
			case x == x && y == y:
				want[4] = b32(max(x, y) - min(x, y))
			case x == x:
				want[4] = b32(x - x)
			case y == y:
				want[4] = b32(y - y)
			}
			signalling := isSignalling32(a[i]) || isSignalling32(b[i])
			if math.Abs(wide) <= 1e9 {
				want[7] = b32(float32(int32(x)) + float32(uint64(math.Abs(wide))))
			}
			for j, w := range want {
				if j == 4 && signalling || j == 7 && x != x {
					continue // what a signalling NaN or a NaN as integer gives is the compiler's choice
				}
				if !sameFloat32(got[8*i+j], w) {
					t.Errorf("%s: result %d of %#x and %#x is %#x, want %#x", target, j, a[i], b[i], got[8*i+j], w)
				}
			}
			if t.Failed() {
				return
			}
		}
	}
}

func TestHIPDivergence(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 24))
	for _, target := range hipTargets {
		a := sequence(hipThreads, func(int) int32 { return int32(r.IntN(2000) - 200) })
		got := hip[int32](t, target, "diverge", 1, a)
		for i, x := range a {
			want := int32(-1)
			if x > 0 {
				want = 0
				for y := x; y != 1; want++ {
					if y&1 == 1 {
						y = 3*y + 1
					} else {
						y >>= 1
					}
				}
				switch want % 5 {
				case 0:
					want *= 3
				case 1:
					want -= 100
				case 3:
					want ^= 0x55
				}
			}
			if got[i] != want {
				t.Fatalf("%s: %d gives %d, want %d", target, x, got[i], want)
			}
		}
	}
}

func TestHIPLanes(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 25))
	for _, target := range hipTargets {
		a := sequence(Lanes, func(int) int32 { return int32(randomInt(r)) })
		got := hip[uint64](t, target, "lanes", 4, a)
		var odd uint64
		sum := append([]int32(nil), a...)
		for i, x := range a {
			odd |= uint64(x&1) << i
		}
		for _, shift := range []int{8, 4, 2, 1} {
			before := append([]int32(nil), sum...)
			for i := range sum {
				if i%16 >= shift {
					sum[i] += before[i-shift]
				}
			}
		}
		for i := range a {
			want := [4]uint64{
				odd, uint64(bits.OnesCount64(odd&(1<<i-1)))<<32 | uint64(uint32(sum[i])), uint64(uint32(a[63-i])),
				uint64(uint32(a[0]))<<32 | uint64(uint32(a[7])),
			}
			if have := [4]uint64(got[4*i:]); have != want {
				t.Fatalf("%s lane %d: %#x, want %#x", target, i, have, want)
			}
		}
	}
}

func TestHIPBytes(t *testing.T) {
	for _, target := range hipTargets {
		fnuz := target == isa.GFX942
		a := sequence(Lanes, func(i int) int32 { return int32(i*4 | (i*4+1)<<8 | (i*4+2)<<16 | (i*4+3)<<24) })
		x := make([]float32, 4*Lanes)
		for i := range x {
			x[i] = float32(byDefinition(i, 3, fnuz))
		}
		codes := &hipInput{room: 4 * Lanes}
		got := hip[float32](t, target, "bytes", 4, a, and(t, x), codes)
		back := valuesOf[byte](t, codes.buf)
		for i := range 256 {
			if want := byDefinition(i, 3, fnuz); !same64(float64(got[i]), want) {
				t.Errorf("%s code %#x is %v, want %v", target, i, got[i], want)
			} else if want == want && back[i] != byte(i) {
				t.Errorf("%s: %v becomes code %#x, want %#x", target, want, back[i], i)
			}
		}
	}
}

func TestHIPMatrix(t *testing.T) {
	r := rand.New(rand.NewPCG(26, 26))
	for _, target := range hipTargets {
		values := smallCodes(target == isa.GFX942)
		var codes []byte
		for b := range 256 {
			if _, ok := values[byte(b)]; ok {
				codes = append(codes, byte(b))
			}
		}
		for kernel, c := range map[string]struct{ n, k int }{"matrix16": {16, 32}, "matrix32": {32, 16}} {
			a, b := make([]byte, c.n*c.k), make([]byte, c.n*c.k)
			for i := range a {
				a[i], b[i] = codes[r.IntN(len(codes))], codes[r.IntN(len(codes))]
			}
			p := hipProgram(t, target, kernel)
			m := NewMemory()
			out := output(t, m, "out", 4*c.n*c.n)
			noFaults(t, run(t, m, p, Launch{Grid: one(1), Block: one(64), Kernarg: pack(out, input(t, m, "a", a), input(t, m, "b", b))}))
			got := valuesOf[float32](t, out)
			for i := range c.n {
				for j := range c.n {
					var want float64
					for k := range c.k {
						want += values[a[i*c.k+k]] * values[b[j*c.k+k]]
					}
					if float64(got[i*c.n+j]) != want {
						t.Fatalf("%s %s: row %d column %d is %v, want %v", target, kernel, i, j, got[i*c.n+j], want)
					}
				}
			}
		}
	}
}
