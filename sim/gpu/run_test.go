package gpu

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqaproof/internal/needtool"
	"mqaproof/sim/codeobject"
)

// guardFile is testdata/guard.hip for a target.
func guardFile(t testing.TB, target string) *codeobject.File {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "guard."+target+".hsaco"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := codeobject.ReadTarget(data, target)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// guardVariant, when set, is what guardProgram loads from.
var guardVariant *codeobject.File

func guardProgram(t testing.TB, kernel string) *Program {
	t.Helper()
	f := guardVariant
	if f == nil {
		f = guardFile(t, "gfx942")
	}
	p, err := Load(f, kernel)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestGuardFixturesAreCurrent(t *testing.T) {
	for _, target := range []string{"gfx942", "gfx950"} {
		want, err := os.ReadFile("testdata/guard." + target + ".hsaco")
		if err != nil {
			t.Fatal(err)
		}
		if string(compileGuard(t, "--offload-arch="+target, "-O3")) != string(want) {
			t.Errorf("testdata/guard.%s.hsaco is not what testdata/guard.hip compiles to", target)
		}
	}
}

// compileGuard compiles testdata/guard.hip.
func compileGuard(t *testing.T, flags ...string) []byte {
	t.Helper()
	clang := needtool.Path(t, "clang-22")
	out := filepath.Join(t.TempDir(), "guard.hsaco")
	args := append([]string{"-x", "hip", "--offload-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib", "-cuid=guard"}, flags...)
	cmd := exec.Command(clang, append(args, "guard.hip", "-o", out)...)
	cmd.Dir = "testdata"
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestCompilerVariants runs the same kernels as other options compile them:
// with everything in scratch and calls (-O0), older metadata, arguments that
// are preloaded to SGPRs.
func TestCompilerVariants(t *testing.T) {
	for _, c := range []struct {
		target string
		flags  []string
	}{
		{"gfx942", []string{"-O0"}},
		{"gfx942", []string{"-O1", "-mcode-object-version=4"}},
		{"gfx942", []string{"-O3", "-mllvm", "-amdgpu-kernarg-preload-count=12"}},
		{"gfx942", []string{"-O3", "-fno-unroll-loops", "-mcode-object-version=5"}},
		{"gfx950", []string{"-O0"}},
		{"gfx950", []string{"-O3"}},
	} {
		t.Run(c.target+strings.Join(c.flags, ""), func(t *testing.T) {
			f, err := codeobject.ReadTarget(compileGuard(t, append(c.flags, "--offload-arch="+c.target)...), c.target)
			if err != nil {
				t.Fatal(err)
			}
			guardVariant = f
			defer func() { guardVariant = nil }()
			t.Run("saxpy", TestSaxpy)
			t.Run("reverse", TestReverse)
			t.Run("early exit", TestEarlyExit)
			t.Run("scratch", TestScratchArray)
			t.Run("constants", TestConstantsOfTheCodeObject)
			t.Run("globals", TestGlobalVariablesLast)
			t.Run("relocation", TestRelocation)
			t.Run("atomics", TestAtomics)
			t.Run("histogram", TestHistogram)
			t.Run("identity", TestIdentity)
			t.Run("widths", TestWidths)
			t.Run("dynamic", TestDynamicLDS)
			t.Run("faults", TestFaults)
		})
	}
}

// pack lays arguments out as the ABI does: each aligned to its size.
func pack(args ...any) []byte {
	var b []byte
	align := func(n int) {
		for len(b)%n != 0 {
			b = append(b, 0)
		}
	}
	for _, a := range args {
		switch a := a.(type) {
		case *Buffer:
			align(8)
			b = binary.LittleEndian.AppendUint64(b, a.Addr())
		case int64:
			align(8)
			b = binary.LittleEndian.AppendUint64(b, uint64(a))
		case int32, uint32, float32:
			align(4)
			var err error
			if b, err = binary.Append(b, binary.LittleEndian, a); err != nil {
				panic(err)
			}
		default:
			panic("pack: unknown type")
		}
	}
	return b
}

func alloc(t testing.TB, m *Memory, s Spec) *Buffer {
	t.Helper()
	b, err := m.Alloc(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func bytesOf[T any](t testing.TB, values []T) []byte {
	t.Helper()
	b, err := binary.Append(nil, binary.LittleEndian, values)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func valuesOf[T any](t testing.TB, b *Buffer) []T {
	t.Helper()
	data, err := b.Read(0, b.Size())
	if err != nil {
		t.Fatal(err)
	}
	var zero T
	out := make([]T, len(data)/binary.Size(zero))
	if _, err := binary.Decode(data, binary.LittleEndian, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// input and output are buffers of values, and of room for n values.
func input[T any](t testing.TB, m *Memory, name string, values []T) *Buffer {
	return alloc(t, m, Spec{Name: name, Size: uint64(len(bytesOf(t, values))), Data: bytesOf(t, values), ReadOnly: true})
}

func output(t testing.TB, m *Memory, name string, size int) *Buffer {
	return alloc(t, m, Spec{Name: name, Size: uint64(size)})
}

func run(t testing.TB, m *Memory, p *Program, l Launch) *Report {
	t.Helper()
	r, err := m.Run(context.Background(), p, l)
	if err != nil {
		t.Fatalf("%s: %v", p.kernel.Name, err)
	}
	return r
}

// one fills up the dimensions that are left out.
func one(x ...uint32) [3]uint32 {
	d := [3]uint32{1, 1, 1}
	copy(d[:], x)
	return d
}

func sequence(n int, f func(i int) int32) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = f(i)
	}
	return s
}

func noFaults(t testing.TB, r *Report) {
	t.Helper()
	for _, f := range r.Faults {
		t.Errorf("unexpected fault: %v", f)
	}
}

func TestSaxpy(t *testing.T) {
	const n = 1000
	x, y, want := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range x {
		x[i], y[i] = float32(i), float32(3*i)
		want[i] = 2*x[i] + y[i]
	}
	for workers := 1; workers <= 8; workers++ {
		m := NewMemory()
		bx := input(t, m, "x", x)
		by := alloc(t, m, Spec{Name: "y", Size: 4 * n, Data: bytesOf(t, y)})
		r := run(t, m, guardProgram(t, "saxpy"), Launch{
			Grid: one(4), Block: one(256), Workers: workers,
			Kernarg: pack(float32(2), bx, by, int32(n)),
		})
		noFaults(t, r)
		if diff := cmp.Diff(want, valuesOf[float32](t, by)); diff != "" {
			t.Fatalf("%d workers: %s", workers, diff)
		}
		if r.Instructions == 0 || r.VectorInstructions == 0 || r.VectorInstructions >= r.Instructions {
			t.Errorf("%d instructions, %d of them vector", r.Instructions, r.VectorInstructions)
		}
	}
}

func TestReverse(t *testing.T) {
	for _, c := range []struct {
		block, grid uint32
		order       uint64
	}{{64, 1, 0}, {256, 3, 0}, {1024, 2, 0}, {100, 5, 0}, {1024, 3, 1}, {1024, 3, 99}} {
		n := int(c.block * c.grid)
		m := NewMemory()
		in := input(t, m, "in", sequence(n, func(i int) int32 { return int32(i * i) }))
		out := output(t, m, "out", 4*n)
		r := run(t, m, guardProgram(t, "reverse"), Launch{Grid: one(c.grid), Block: one(c.block), Kernarg: pack(in, out), Order: c.order})
		noFaults(t, r)
		want := sequence(n, func(i int) int32 {
			b, j := i/int(c.block), i%int(c.block)
			k := b*int(c.block) + int(c.block) - 1 - j
			return int32(k * k)
		})
		if diff := cmp.Diff(want, valuesOf[int32](t, out)); diff != "" {
			t.Errorf("%+v: %s", c, diff)
		}
	}
}

// TestEarlyExit: a barrier waits only for waves that have not ended (CDNA3 ISA,
// S_BARRIER).
func TestEarlyExit(t *testing.T) {
	for _, order := range []uint64{0, 1, 2, 3} {
		m := NewMemory()
		out := output(t, m, "out", 256)
		noFaults(t, run(t, m, guardProgram(t, "early_exit"), Launch{Grid: one(2), Block: one(1024), Kernarg: pack(out), Order: order}))
		if diff := cmp.Diff(sequence(64, func(i int) int32 { return int32(i) }), valuesOf[int32](t, out)); diff != "" {
			t.Errorf("order %d: %s", order, diff)
		}
	}
}

func TestScratchArray(t *testing.T) {
	m := NewMemory()
	out := output(t, m, "out", 4*128)
	r := run(t, m, guardProgram(t, "scratch_array"), Launch{Grid: one(), Block: one(128), Kernarg: pack(out, int32(3))})
	noFaults(t, r)
	want := sequence(128, func(i int) int32 { return int32((3+i)&31) * 3 })
	if diff := cmp.Diff(want, valuesOf[int32](t, out)); diff != "" {
		t.Error(diff)
	}
}

func TestConstantsOfTheCodeObject(t *testing.T) {
	m := NewMemory()
	out := output(t, m, "out", 4*64)
	noFaults(t, run(t, m, guardProgram(t, "constants"), Launch{Grid: one(), Block: one(64), Kernarg: pack(out)}))
	primes := []int32{2, 3, 5, 7, 11, 13, 17, 19}
	if diff := cmp.Diff(sequence(64, func(i int) int32 { return primes[i&7] }), valuesOf[int32](t, out)); diff != "" {
		t.Error(diff)
	}
}

func TestGlobalVariablesLast(t *testing.T) {
	m := NewMemory()
	out := output(t, m, "out", 4)
	p := guardProgram(t, "globals")
	for i := int32(1); i <= 3; i++ {
		noFaults(t, run(t, m, p, Launch{Grid: one(), Block: one(64), Kernarg: pack(out)}))
		if got := valuesOf[int32](t, out)[0]; got != i {
			t.Errorf("call %d counted as %d", i, got)
		}
	}
}

func TestRelocation(t *testing.T) {
	p := guardProgram(t, "relocated")
	if len(p.file.Relocations) == 0 {
		t.Fatal("the code object has no relocation")
	}
	m := NewMemory()
	out := output(t, m, "out", 256)
	noFaults(t, run(t, m, p, Launch{Grid: one(), Block: one(64), Kernarg: pack(out)}))
	if diff := cmp.Diff(sequence(64, func(i int) int32 { return int32(i&3+1) * 10 }), valuesOf[int32](t, out)); diff != "" {
		t.Error(diff)
	}
}

func TestAtomics(t *testing.T) {
	for workers := 1; workers <= 8; workers++ {
		m := NewMemory()
		total := alloc(t, m, Spec{Name: "total", Size: 4, Data: make([]byte, 4)})
		highest := alloc(t, m, Spec{Name: "highest", Size: 4, Data: make([]byte, 4)})
		r := run(t, m, guardProgram(t, "count"), Launch{Grid: one(50), Block: one(100), Kernarg: pack(total, highest), Workers: workers})
		noFaults(t, r)
		if a, b := valuesOf[int32](t, total)[0], valuesOf[int32](t, highest)[0]; a != 5000 || b != 4999 {
			t.Errorf("%d workers: counted %d, highest %d", workers, a, b)
		}
	}
}

func TestHistogram(t *testing.T) {
	in := make([]uint8, 3000)
	want := make([]int32, 16)
	for i := range in {
		in[i] = uint8(i * i / 7)
		want[in[i]&15]++
	}
	m := NewMemory()
	bins := alloc(t, m, Spec{Name: "bins", Size: 64, Data: make([]byte, 64)})
	noFaults(t, run(t, m, guardProgram(t, "histogram"), Launch{Grid: one(12), Block: one(256), Kernarg: pack(input(t, m, "in", in), bins, int32(len(in)))}))
	if diff := cmp.Diff(want, valuesOf[int32](t, bins)); diff != "" {
		t.Error(diff)
	}
}

func TestIdentity(t *testing.T) {
	for _, c := range []struct{ grid, block [3]uint32 }{
		{one(3), one(64)}, {one(2, 3), one(8, 8)}, {one(2, 3, 2), one(5, 3, 7)}, {one(1, 1, 4), one(1, 1, 33)},
	} {
		n := 1
		for i := range 3 {
			n *= int(c.grid[i] * c.block[i])
		}
		m := NewMemory()
		out := output(t, m, "out", 4*n)
		noFaults(t, run(t, m, guardProgram(t, "identity"), Launch{Grid: c.grid, Block: c.block, Kernarg: pack(out)}))
		var want []uint32
		for gz := range c.grid[2] {
			for gy := range c.grid[1] {
				for gx := range c.grid[0] {
					for z := range c.block[2] {
						for y := range c.block[1] {
							for x := range c.block[0] {
								want = append(want, gz<<25|gy<<20|gx<<15|z<<10|y<<5|x)
							}
						}
					}
				}
			}
		}
		if diff := cmp.Diff(want, valuesOf[uint32](t, out)); diff != "" {
			t.Errorf("grid %v, block %v: %s", c.grid, c.block, diff)
		}
	}
}

func TestWidths(t *testing.T) {
	const n = 64
	c, s, l, w, want := make([]int8, n), make([]uint16, n), make([]int64, n), make([]int64, 2*n), make([]int64, n)
	for i := range n {
		c[i], s[i], l[i], w[2*i], w[2*i+1] = int8(-3*i), uint16(60000+i), int64(i)<<40, int64(-i)<<33, int64(i*i)
		want[i] = int64(c[i]) + int64(s[i]) + l[i] + w[2*i]*3 + w[2*i+1]
	}
	m := NewMemory()
	out := output(t, m, "out", 8*n)
	noFaults(t, run(t, m, guardProgram(t, "widths"), Launch{Grid: one(), Block: one(n),
		Kernarg: pack(input(t, m, "c", c), input(t, m, "s", s), input(t, m, "l", l), input(t, m, "w", w), out)}))
	if diff := cmp.Diff(want, valuesOf[int64](t, out)); diff != "" {
		t.Error(diff)
	}

	bc, bs, bl, bw := output(t, m, "c", n), output(t, m, "s", 2*n), output(t, m, "l", 8*n), output(t, m, "w", 16*n)
	noFaults(t, run(t, m, guardProgram(t, "store_widths"), Launch{Grid: one(), Block: one(n), Kernarg: pack(bc, bs, bl, bw)}))
	for i := range n {
		w := valuesOf[int64](t, bw)
		if a, b, c, d, e := valuesOf[uint8](t, bc)[i], valuesOf[uint16](t, bs)[i], valuesOf[int64](t, bl)[i], w[2*i], w[2*i+1]; int(a) != i || int(b) != 3*i || c != int64(5*i-7) || d != int64(7*i) || e != int64(-i) {
			t.Errorf("lane %d stored %d %d %d %d %d", i, a, b, c, d, e)
		}
	}
}

func TestDynamicLDS(t *testing.T) {
	m := NewMemory()
	out := output(t, m, "out", 4*128)
	p := guardProgram(t, "dynamic")
	noFaults(t, run(t, m, p, Launch{Grid: one(), Block: one(128), Kernarg: pack(out), DynamicLDS: 512}))
	if diff := cmp.Diff(sequence(128, func(i int) int32 { return int32(127-i) * 2 }), valuesOf[int32](t, out)); diff != "" {
		t.Error(diff)
	}
	r := run(t, m, p, Launch{Grid: one(), Block: one(128), Kernarg: pack(out), DynamicLDS: 256})
	got := kindsOf(r)
	want := []string{"out-of-bounds read lds 64", "out-of-bounds write lds 64"} // wave 0 reads what wave 1 should have stored
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("too little LDS: %s", diff)
	}
}

// kindsOf is each fault's kind, space or buffer, and count.
func kindsOf(r *Report) []string {
	var out []string
	for _, f := range r.Faults {
		where := f.Buffer
		if where == "" {
			where = f.Space
		}
		out = append(out, strings.Join([]string{string(f.Kind), where, itoa(f.Count)}, " "))
	}
	return out
}

func itoa(n int) string { return string(appendInt(nil, n)) }

func appendInt(b []byte, n int) []byte {
	if n >= 10 {
		b = appendInt(b, n/10)
	}
	return append(b, byte('0'+n%10))
}

// TestFaults runs kernels that go wrong, with 1 to 8 workers; what they report
// and leave in memory must be the same for all.
func TestFaults(t *testing.T) {
	type setup struct {
		kernel string
		launch Launch
		out    *Buffer
	}
	for _, c := range []struct {
		name  string
		make  func(m *Memory) setup
		want  []string
		first string  // part of the first fault's text
		out   []int32 // nil: not checked
	}{
		{
			name: "store past the end",
			make: func(m *Memory) setup {
				out := output(t, m, "out", 4*100)
				return setup{"store_past_end", Launch{Grid: one(2), Block: one(64), Kernarg: pack(out, int32(100))}, out}
			},
			want:  []string{"out-of-bounds write out 1"},
			first: "out+400 (4 bytes at 0x400000190) by workgroup [1 0 0] wave 0 lane 36",
			out:   sequence(100, func(i int) int32 { return int32(i) }),
		},
		{
			name: "load far below",
			make: func(m *Memory) setup {
				in := input(t, m, "in", sequence(64, func(i int) int32 { return 5 }))
				out := output(t, m, "out", 4*64)
				return setup{"load_at", Launch{Grid: one(), Block: one(64), Kernarg: pack(in, out, int64(-1<<20))}, out}
			},
			want:  []string{"out-of-bounds read in 64"},
			first: "in-4194304 (4 bytes",
			out:   make([]int32, 64),
		},
		{
			name: "load across the end",
			make: func(m *Memory) setup {
				in := input(t, m, "in", sequence(64, func(i int) int32 { return 5 }))
				out := output(t, m, "out", 4*64)
				return setup{"load_at", Launch{Grid: one(), Block: one(64), Kernarg: pack(in, out, int64(60))}, out}
			},
			want: []string{"out-of-bounds read in 60"},
			out:  sequence(64, func(i int) int32 { return int32(max(0, min(1, 4-i))) * 5 }),
		},
		{
			name: "uninitialised",
			make: func(m *Memory) setup {
				in := alloc(t, m, Spec{Name: "in", Size: 256, Data: make([]byte, 128)})
				out := output(t, m, "out", 4*64)
				return setup{"load_at", Launch{Grid: one(), Block: one(64), Kernarg: pack(in, out, int64(0))}, out}
			},
			want: []string{"read of uninitialised memory in 32"},
		},
		{
			name: "read-only",
			make: func(m *Memory) setup {
				in := input(t, m, "in", make([]int32, 64))
				return setup{"store_at", Launch{Grid: one(), Block: one(64), Kernarg: pack(in, int64(0))}, in}
			},
			want: []string{"write to read-only memory in 64"},
			out:  make([]int32, 64),
		},
		{
			name: "same place",
			make: func(m *Memory) setup {
				out := output(t, m, "out", 4)
				return setup{"same_place", Launch{Grid: one(20), Block: one(64), Kernarg: pack(out)}, out}
			},
			want:  []string{"race between workgroups out 1"},
			first: "(workgroup [0 0 0] stored another value here)",
			out:   []int32{19},
		},
		{
			name: "same value",
			make: func(m *Memory) setup {
				out := output(t, m, "out", 4)
				return setup{"same_value", Launch{Grid: one(20), Block: one(64), Kernarg: pack(out)}, out}
			},
			out: []int32{7},
		},
		{
			name: "bytes of one dword",
			make: func(m *Memory) setup {
				out := output(t, m, "out", 8)
				return setup{"bytes", Launch{Grid: one(8), Block: one(64), Kernarg: pack(out)}, out}
			},
			out: []int32{0x04030201, 0x08070605},
		},
		{
			name: "neighbour",
			make: func(m *Memory) setup {
				a := alloc(t, m, Spec{Name: "a", Size: 40, Data: bytesOf(t, sequence(10, func(i int) int32 { return int32(-i) }))})
				out := output(t, m, "out", 40)
				return setup{"neighbour", Launch{Grid: one(10), Block: one(64), Kernarg: pack(a, out, int32(10))}, out}
			},
			// Each sees the value from before the launch.
			want:  []string{"race between workgroups a 10"},
			first: "(workgroup [1 0 0] stores here)",
			out:   sequence(10, func(i int) int32 { return int32(-((i + 1) % 10)) }),
		},
		{
			name: "uninitialised LDS",
			make: func(m *Memory) setup {
				out := output(t, m, "out", 4*64)
				return setup{"uninitialised_lds", Launch{Grid: one(), Block: one(64), Kernarg: pack(out)}, out}
			},
			want:  []string{"read of uninitialised memory lds 1"},
			first: "lds+20 (4 bytes at 0x14) by workgroup [0 0 0] wave 0 lane 58",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var first *Report
			var firstOut []byte
			for workers := 1; workers <= 8; workers++ {
				m := NewMemory()
				s := c.make(m)
				s.launch.Workers = workers
				r := run(t, m, guardProgram(t, s.kernel), s.launch)
				out, err := s.out.Read(0, s.out.Size())
				if err != nil {
					t.Fatal(err)
				}
				if workers == 1 {
					first, firstOut = r, out
					if diff := cmp.Diff(c.want, kindsOf(r)); diff != "" {
						t.Errorf("faults: %s", diff)
					}
					if c.first != "" && (len(r.Faults) == 0 || !strings.Contains(r.Faults[0].String(), c.first)) {
						t.Errorf("the first fault lacks %q: %v", c.first, r.Faults)
					}
					if c.out != nil {
						if diff := cmp.Diff(c.out, valuesOf[int32](t, s.out)); diff != "" {
							t.Errorf("output: %s", diff)
						}
					}
					continue
				}
				if diff := cmp.Diff(first, r); diff != "" {
					t.Errorf("%d workers report differently: %s", workers, diff)
				}
				if string(out) != string(firstOut) {
					t.Errorf("%d workers leave other bytes", workers)
				}
			}
		})
	}
}

func TestTraps(t *testing.T) {
	for _, c := range []struct {
		name, kernel string
		launch       func(m *Memory) Launch
		want         Trap
		kernels      bool
	}{
		{"forever", "forever", func(m *Memory) Launch {
			return Launch{Grid: one(3), Block: one(64), Kernarg: pack(output(t, m, "out", 4)), Budget: 10000}
		}, Trap{Kind: TrapBudget, Kernel: "forever"}, true},
		{"s_trap", "trap", func(m *Memory) Launch {
			return Launch{Grid: one(9), Block: one(64), Kernarg: pack(int32(5))}
		}, Trap{Kind: TrapFault, Kernel: "trap", Workgroup: [3]uint32{5, 0, 0}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var first *Trap
			for workers := 1; workers <= 8; workers++ {
				m := NewMemory()
				l := c.launch(m)
				l.Workers = workers
				_, err := m.Run(context.Background(), guardProgram(t, c.kernel), l)
				var trap *Trap
				if !errors.As(err, &trap) {
					t.Fatalf("error is %v, want a trap", err)
				}
				if first == nil {
					first = trap
					if trap.Kind != c.want.Kind || trap.Kernel != c.want.Kernel || trap.Workgroup != c.want.Workgroup || trap.KernelsFault() != c.kernels {
						t.Errorf("trap is %+v, want %+v", trap, c.want)
					}
					if trap.Inst == "" || trap.PC == 0 || trap.PC > 1<<20 {
						t.Errorf("trap has no place: %+v", trap)
					}
				} else if diff := cmp.Diff(first, trap); diff != "" {
					t.Errorf("%d workers: %s", workers, diff)
				}
			}
		})
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(30*time.Millisecond, cancel)
	m := NewMemory()
	start := time.Now()
	_, err := m.Run(ctx, guardProgram(t, "forever"), Launch{Grid: one(4), Block: one(64), Kernarg: pack(output(t, m, "out", 4)), Budget: 1 << 40})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("it took %v to stop", d)
	}
}

func TestLaunchErrors(t *testing.T) {
	m := NewMemory()
	out := output(t, m, "out", 4)
	for _, c := range []struct {
		name, kernel, want string
		launch             Launch
	}{
		{"no grid", "forever", "is empty", Launch{Block: one(64), Kernarg: pack(out)}},
		{"no block", "forever", "is empty", Launch{Grid: one(1), Kernarg: pack(out)}},
		{"large block", "forever", "too large", Launch{Grid: one(1), Block: one(2000), Kernarg: pack(out)}},
		{"large grid", "forever", "too large", Launch{Grid: one(1<<31, 4), Block: one(64), Kernarg: pack(out)}},
		{"short arguments", "saxpy", "4 bytes of arguments are given, its metadata asks for 28", Launch{Grid: one(1), Block: one(64), Kernarg: pack(int32(1))}},
		{"long arguments", "saxpy", "its kernarg segment has", Launch{Grid: one(1), Block: one(64), Kernarg: make([]byte, 4096)}},
		{"LDS", "dynamic", "more than the 65536 of gfx942", Launch{Grid: one(1), Block: one(64), Kernarg: pack(out), DynamicLDS: 65540}},
	} {
		if _, err := m.Run(context.Background(), guardProgram(t, c.kernel), c.launch); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v lacks %q", c.name, err, c.want)
		}
	}
	if _, err := Load(guardFile(t, "gfx942"), "gone"); err == nil {
		t.Error("a kernel that is not there loads")
	}
}

// TestAllKernelsOnBothTargets: nothing in them may be unknown on gfx950 either.
func TestGFX950(t *testing.T) {
	m := NewMemory()
	p, err := Load(guardFile(t, "gfx950"), "reverse")
	if err != nil {
		t.Fatal(err)
	}
	in := input(t, m, "in", sequence(256, func(i int) int32 { return int32(i) }))
	out := output(t, m, "out", 4*256)
	noFaults(t, run(t, m, p, Launch{Grid: one(), Block: one(256), Kernarg: pack(in, out)}))
	if diff := cmp.Diff(sequence(256, func(i int) int32 { return int32(255 - i) }), valuesOf[int32](t, out)); diff != "" {
		t.Error(diff)
	}
}
