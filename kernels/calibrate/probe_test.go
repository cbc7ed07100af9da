package calibrate

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mqaproof/internal/needtool"
	"mqaproof/model/matrixcore"
	"mqaproof/sim/codeobject"
	"mqaproof/sim/gpu"
)

// TestCodeObjectsAreCurrent rebuilds the probe's kernels in another folder and
// compares bytes.
func TestCodeObjectsAreCurrent(t *testing.T) {
	env := append(os.Environ(),
		"CLANG="+needtool.Path(t, "clang-22"),
		"OBJCOPY="+needtool.Path(t, "llvm-objcopy-22"))
	needtool.Path(t, "ld.lld-22") // clang runs it
	sources, out := t.TempDir(), t.TempDir()
	if err := os.CopyFS(sources, os.DirFS("probe")); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("sh", filepath.Join(sources, "build.sh"), out)
	build.Env = env
	if log, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build.sh: %v\n%s", err, log)
	}
	for _, target := range Targets() {
		committed, err := CodeObject(target)
		if err != nil {
			t.Fatal(err)
		}
		built, err := os.ReadFile(filepath.Join(out, "probe."+string(target)+".hsaco"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(built, committed) {
			t.Errorf("probe/probe.%s.hsaco is not what probe.hip gives: run probe/build.sh and commit the result", target)
		}
	}
}

// emulate runs the probe's kernels of a written probe in the emulator, from
// the files that the launcher takes, and gives every D.
func emulate(t *testing.T, target Target, dir string) [][]byte {
	t.Helper()
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	var plan launchPlan
	if err := json.Unmarshal(read("probe.json"), &plan); err != nil {
		t.Fatal(err)
	}
	f, err := codeobject.ReadTarget(read(plan.CodeObject), string(target))
	if err != nil {
		t.Fatal(err)
	}
	rest := read(plan.Tiles)
	var results [][]byte
	for _, k := range plan.Kernels {
		m := gpu.NewMemory()
		var kernarg []byte
		var d *gpu.Buffer
		for i, name := range []string{"a", "b", "c", "d"} {
			spec := gpu.Spec{Name: name, Size: uint64(k.Tiles * k.N * k.K), ReadOnly: i < 3}
			if i >= 2 {
				spec.Size = uint64(k.Tiles * k.N * k.N * 4)
			}
			if i < 3 {
				spec.Data = rest[:spec.Size]
				rest = rest[spec.Size:]
			}
			if d, err = m.Alloc(spec); err != nil {
				t.Fatal(err)
			}
			kernarg = binary.LittleEndian.AppendUint64(kernarg, d.Addr())
		}
		p, err := gpu.Load(f, k.Symbol)
		if err != nil {
			t.Fatal(err)
		}
		report, err := m.Run(t.Context(), p, gpu.Launch{Grid: [3]uint32{uint32(k.Tiles), 1, 1}, Block: [3]uint32{64, 1, 1}, Kernarg: kernarg})
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range report.Faults {
			t.Errorf("%s: %v", k.Symbol, fault)
		}
		words, written := d.Words()
		if slices.Contains(written, false) {
			t.Errorf("%s leaves some of D unwritten", k.Symbol)
		}
		var data []byte
		for _, w := range words {
			data = binary.LittleEndian.AppendUint32(data, w)
		}
		results = append(results, data)
	}
	if len(rest) > 0 {
		t.Errorf("%d bytes of the tiles are not used", len(rest))
	}
	return results
}

// TestEmulatorIsRecovered is the whole loop: a probe is written, run in the
// emulator, and its output read back as the rule that the emulator has.
func TestEmulatorIsRecovered(t *testing.T) {
	for target, want := range map[Target]string{GFX942: matrixcore.CDNA3.Name, GFX950: matrixcore.CDNA4Assumed.Name} {
		t.Run(string(target), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "probe")
			if err := WriteProbe(dir, target); err != nil {
				t.Fatal(err)
			}
			var text bytes.Buffer
			if err := Encode(&text, target, "emulator", "none", emulate(t, target, dir)); err != nil {
				t.Fatal(err)
			}
			r, err := Read(t.Context(), &text)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Fits) != 1 || !slices.Contains(r.Fits[0].Names, want) || r.Fits[0].Order != InOrder.String() {
				var b strings.Builder
				r.WriteText(&b)
				t.Fatalf("not %s alone:\n%s", want, b.String())
			}
			if r.Fits[0].Members > 64 {
				t.Errorf("%v rules fit, want at most 64: %v", r.Fits[0].Members, r.Fits[0].Open)
			}
		})
	}
}

// fakeRuntime stands for libamdhip64.so: device memory is the host's, and a
// launch copies the results that a file holds.
const fakeRuntime = `
typedef unsigned long size_t;
void *malloc(size_t); void free(void *); void *memcpy(void *, const void *, size_t);
void *fopen(const char *, const char *); size_t fread(void *, size_t, size_t, void *); char *getenv(const char *);
static void *results;
static char function[64];
int hipInit(unsigned f) { return 0; }
int hipGetDeviceCount(int *n) { *n = 1; return 0; }
int hipSetDevice(int d) { return d != 0; }
int hipDeviceGetName(char *name, int n, int d) { memcpy(name, "Fake MI300X", 12); return 0; }
int hipRuntimeGetVersion(int *v) { *v = 60000000; return 0; }
const char *hipGetErrorString(int e) { return "device kernel image is invalid"; }
int hipModuleLoadData(void **m, const char *image) {
  results = fopen(getenv("FAKE_RESULTS"), "rb");
  *m = results;
  return results && image[0] == 0x7f && image[1] == 'E' ? 0 : 200;
}
int hipModuleGetFunction(void **f, void *m, const char *name) {
  for (int i = 0; i < 63 && name[i]; i++) function[i] = name[i];
  *f = function;
  return 0;
}
int hipMalloc(void **p, size_t n) { *p = malloc(n); return 0; }
int hipFree(void *p) { free(p); return 0; }
int hipMemcpy(void *to, const void *from, size_t n, int kind) { memcpy(to, from, n); return kind != 1 && kind != 2; }
int hipModuleLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned lds, void *stream, void **params, void **extra) {
  int n = 0;
  for (const char *c = (const char *)f + 6; *c != 'x'; c++) n = 10 * n + *c - '0';
  if (gy * gz * by * bz != 1 || bx != 64 || lds || stream || extra) return 1;
  return fread(*(void **)params[3], 4 * n * n, gx, results) != gx;
}
int hipDeviceSynchronize(void) { return 0; }
`

// TestLauncher runs the launcher against the fake runtime.
func TestLauncher(t *testing.T) {
	clang, python := needtool.Path(t, "clang-22"), needtool.Python(t, "json")
	tmp := t.TempDir()
	source, lib := filepath.Join(tmp, "fake.c"), filepath.Join(tmp, "libfake.so")
	dir, results := filepath.Join(tmp, "probe"), filepath.Join(tmp, "results")
	if err := os.WriteFile(source, []byte(fakeRuntime), 0o644); err != nil {
		t.Fatal(err)
	}
	if log, err := exec.Command(clang, "-shared", "-fPIC", "-fno-builtin", "-nostdlib", "-fuse-ld=lld-22", "-o", lib, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	if err := WriteProbe(dir, GFX942); err != nil {
		t.Fatal(err)
	}
	want := synthetic(GFX942, matrixcore.CDNA3, InOrder)
	if err := os.WriteFile(results, slices.Concat(want...), 0o644); err != nil {
		t.Fatal(err)
	}
	launch := func(args ...string) (string, error) {
		cmd := exec.Command(python, append([]string{"launch.py", "--hip", lib}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "FAKE_RESULTS="+results)
		log, err := cmd.CombinedOutput()
		return string(log), err
	}
	if log, err := launch("-o", "out.json"); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	out, err := os.Open(filepath.Join(dir, "out.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	m, err := Parse(out)
	if err != nil {
		t.Fatal(err)
	}
	if m.Device != "Fake MI300X" || m.Runtime != "60000000" {
		t.Errorf("device %q, runtime %q", m.Device, m.Runtime)
	}
	var at int
	all := slices.Concat(want...)
	for i := range m.outputs {
		if m.outputs[i].want != binary.LittleEndian.Uint32(all[at:]) {
			t.Fatalf("output %d is %x", i, m.outputs[i].want)
		}
		at += 4
	}

	// What can go wrong is said in one line.
	spoil := func(name string, data []byte) func() {
		path := filepath.Join(dir, name)
		old, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return func() { os.WriteFile(path, old, 0o644) }
	}
	for _, test := range []struct {
		name, file, data, says string
		args                   []string
	}{
		{"damaged tiles", "tiles.bin", "short", "tiles.bin is damaged: write the probe again", nil},
		{"another GPU", "probe.hsaco", "no code", "does not take code for gfx942: device kernel image is invalid", nil},
		{"no such GPU", "", "", "no GPU 3: the runtime sees 1", []string{"--device", "3"}},
		{"no runtime", "", "", "cannot load the HIP runtime", []string{"--hip", "/nowhere/lib.so"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.file != "" {
				defer spoil(test.file, []byte(test.data))()
			}
			log, err := launch(test.args...)
			if err == nil || !strings.Contains(log, test.says) || strings.Contains(log, "Traceback") {
				t.Errorf("%v: %s, want one line with %q", err, log, test.says)
			}
		})
	}
}

func TestWriteProbe(t *testing.T) {
	dir := t.TempDir()
	for range 2 { // the second time over the first
		if err := WriteProbe(dir, GFX950); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WriteProbe(dir, GFX942); err == nil || !strings.Contains(err.Error(), "already holds notes.txt") {
		t.Errorf("a folder with other files gives %v", err)
	}
	if err := WriteProbe(filepath.Join(dir, "notes.txt"), GFX942); err == nil {
		t.Error("a file in place of the folder gives no error")
	}
	if err := WriteProbe(t.TempDir(), "gfx90a"); err == nil || !strings.Contains(err.Error(), `no probe for target "gfx90a"`) {
		t.Errorf("an unknown target gives %v", err)
	}
}

// synthetic is every D by the rule, as the launcher would fetch it.
func synthetic(target Target, r *matrixcore.Rule, order Order) [][]byte {
	var results [][]byte
	for _, in := range target.Instructions() {
		var data []byte
		for _, tile := range in.Inputs() {
			for _, d := range order.mulAdd(in, r, tile) {
				data = binary.LittleEndian.AppendUint32(data, math.Float32bits(d))
			}
		}
		results = append(results, data)
	}
	return results
}
