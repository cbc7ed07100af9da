package codeobject

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mqaproof/internal/needtool"
)

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// compile builds testdata/tiny.hip with the given extra flags.
func compile(t testing.TB, flags ...string) []byte {
	t.Helper()
	clang := needtool.Path(t, "clang-22")
	out := filepath.Join(t.TempDir(), "tiny.hsaco")
	args := append([]string{"-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib", "-O3", "-cuid=tiny"}, flags...)
	cmd := exec.Command(clang, append(args, "tiny.hip", "-o", out)...)
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

func TestFixturesAreCurrent(t *testing.T) {
	for _, target := range supportedTargets {
		got := compile(t, "--no-gpu-bundle-output", "--offload-arch="+target)
		if !bytes.Equal(got, fixture(t, "tiny."+target+".hsaco")) {
			t.Errorf("testdata/tiny.%s.hsaco is not what testdata/tiny.hip compiles to", target)
		}
	}
}

func TestRead(t *testing.T) {
	files, err := Read(fixture(t, "tiny.gfx942.hsaco"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 {
		t.Fatalf("%d code objects, want 1", len(files))
	}
	f := files[0]
	if f.Target != "gfx942" || f.Features != "" || f.ABIVersion != 6 {
		t.Errorf("target %q, features %q, version %d", f.Target, f.Features, f.ABIVersion)
	}
	saxpy, err := f.Kernel("saxpy")
	if err != nil {
		t.Fatal(err)
	}
	want := []Arg{
		{Offset: 0, Size: 4, ValueKind: "by_value"},
		{Offset: 8, Size: 8, ValueKind: "global_buffer"},
		{Offset: 16, Size: 8, ValueKind: "global_buffer"},
		{Offset: 24, Size: 4, ValueKind: "by_value"},
	}
	if diff := cmp.Diff(want, saxpy.Args[:4]); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if !saxpy.Args[4].Hidden() || saxpy.Args[4].ValueKind != "hidden_block_count_x" || saxpy.Args[0].Hidden() {
		t.Errorf("argument 4 is %+v", saxpy.Args[4])
	}
	if saxpy.MaxWorkgroup != 1024 || saxpy.WavefrontSize != 64 || saxpy.CodeSize == 0 || saxpy.KernargSize != 288 {
		t.Errorf("saxpy is %+v", saxpy)
	}
	reverse, err := f.Kernel("reverse")
	if err != nil {
		t.Fatal(err)
	}
	if reverse.LDS != 256 || reverse.Descriptor.GroupSegmentSize != 256 {
		t.Errorf("reverse has %d bytes of LDS", reverse.LDS)
	}
	spill, err := f.Kernel("spill")
	if err != nil {
		t.Fatal(err)
	}
	if spill.Scratch < 128 || spill.Scratch > 256 {
		t.Errorf("spill has %d bytes of scratch", spill.Scratch)
	}
	if len(f.Relocations) != 1 || f.Relocations[0].Addr == f.Relocations[0].Addend {
		t.Errorf("relocations are %+v", f.Relocations)
	}
	if _, err := f.Kernel("gone"); err == nil || !strings.Contains(err.Error(), "saxpy, reverse, spill, follow") {
		t.Errorf("error for an absent kernel: %v", err)
	}
}

func TestVersions(t *testing.T) {
	for version := 4; version <= 6; version++ {
		data := compile(t, "--no-gpu-bundle-output", "--offload-arch=gfx942:xnack-:sramecc+", "-mcode-object-version="+strconv.Itoa(version))
		f, err := ReadTarget(data, "gfx942")
		if err != nil {
			t.Errorf("version %d: %v", version, err)
			continue
		}
		if f.ABIVersion != version || f.Features != ":sramecc+:xnack-" || len(f.Kernels) != 4 {
			t.Errorf("version %d: got version %d, features %q, %d kernels", version, f.ABIVersion, f.Features, len(f.Kernels))
		}
	}
}

// bundle packs device code objects as clang-offload-bundler does.
func bundle(entries ...bundleEntry) []byte {
	head := len(bundleMagic) + 8
	for _, e := range entries {
		head += 24 + len(e.id)
	}
	out := []byte(bundleMagic)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(entries)))
	off := head
	for _, e := range entries {
		out = binary.LittleEndian.AppendUint64(out, uint64(off))
		out = binary.LittleEndian.AppendUint64(out, uint64(len(e.data)))
		out = binary.LittleEndian.AppendUint64(out, uint64(len(e.id)))
		out = append(out, e.id...)
		off += len(e.data)
	}
	for _, e := range entries {
		out = append(out, e.data...)
	}
	return out
}

const deviceID = "hipv4-amdgcn-amd-amdhsa--"

func TestBundle(t *testing.T) {
	data := bundle(
		bundleEntry{id: "host-x86_64-unknown-linux--"},
		bundleEntry{id: deviceID + "gfx942", data: fixture(t, "tiny.gfx942.hsaco")},
		bundleEntry{id: deviceID + "gfx1100", data: []byte("never looked at")},
		bundleEntry{id: deviceID + "gfx950:xnack-", data: fixture(t, "tiny.gfx950.hsaco")},
	)
	files, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 2 || files[0].Target != "gfx942" || files[1].Target != "gfx950" {
		t.Fatalf("read %d code objects", len(files))
	}
	f, err := ReadTarget(data, "gfx950")
	if err != nil || f.Target != "gfx950" {
		t.Errorf("gfx950: %v", err)
	}
}

func TestClangBundle(t *testing.T) {
	data := compile(t, "--offload-arch=gfx942", "--offload-arch=gfx950", "--offload-arch=gfx1100")
	files, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 2 {
		t.Fatalf("read %d code objects, want gfx942 and gfx950", len(files))
	}
	compressed := compile(t, "--offload-arch=gfx942", "--offload-compress")
	if _, err := Read(compressed); err == nil || !strings.Contains(err.Error(), "CCOB") {
		t.Errorf("compressed bundle: %v", err)
	}
}

func edit(data []byte, f func(b []byte)) []byte {
	data = bytes.Clone(data)
	f(data)
	return data
}

// replaceAll overwrites old with new of the same length.
func replaceAll(t *testing.T, data []byte, old, new string) []byte {
	t.Helper()
	if len(old) != len(new) || !bytes.Contains(data, []byte(old)) {
		t.Fatalf("cannot replace %q", old)
	}
	return bytes.ReplaceAll(data, []byte(old), []byte(new))
}

func TestErrors(t *testing.T) {
	good := fixture(t, "tiny.gfx942.hsaco")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	hostWant := "machine is EM_" // "EM_X86_64" where the tests usually run
	if runtime.GOOS != "linux" {
		hostWant = "not an AMDGPU code object"
	}
	for _, c := range []struct {
		name, want string
		data       []byte
	}{
		{"empty", "file is empty", nil},
		{"text", "file is text", []byte("# a readme\nnot a code object\n")},
		{"binary", "not an AMDGPU code object", []byte{0, 1, 2, 3, 4, 5}},
		{"host program", hostWant, host},
		{"compressed bundle", "CCOB", []byte("CCOB\x02\x00\x01\x00")},
		{"short", "truncated: 20 bytes", good[:20]},
		{"half", "truncated", good[:len(good)/2]},
		{"ELF32", "ELF64", edit(good, func(b []byte) { b[4] = 1 })},
		{"another target", "is for gfx90a, which is not supported: gfx942 and gfx950 are", edit(good, func(b []byte) { b[48] = 0x3f })},
		{"unknown target", "unknown target (e_flags 0x5ee)", edit(good, func(b []byte) { b[48] = 0xee })},
		{"target of metadata", `metadata is for "amdgcn-amd-amdhsa--gfx942", but the ELF header says gfx950`, edit(good, func(b []byte) { b[48] = 0x4f })},
		{"old version", "code object version 2 is not supported", edit(good, func(b []byte) { b[8] = 0 })},
		{"relocatable", "expected a linked one", edit(good, func(b []byte) { b[16] = 1 })},
		{"no metadata", "no kernel metadata", replaceAll(t, good, "AMDGPU\x00", "AMDGPX\x00")},
		{"no kernels", "amdhsa.kernels is missing", replaceAll(t, good, "amdhsa.kernels", "amdhsa.kennels")},
		{"no descriptor", "kernel saxpy has no descriptor: symbol saxpy.kx is missing", replaceAll(t, good, "\xa8saxpy.kd", "\xa8saxpy.kx")},
		{"name that is no text", `metadata of kernel 0 is damaged: .name is "sax\x1by", which holds bytes that are no text`, replaceAll(t, good, "\xa5saxpy", "\xa5sax\x1by")},
		{"symbol that is no text", `.symbol is "saxpy\xffkd", which`, replaceAll(t, good, "\xa8saxpy.kd", "\xa8saxpy\xffkd")},
		{"LDS mismatch", "its descriptor says 260 bytes of LDS, its metadata 256", edit(good, func(b []byte) {
			binary.LittleEndian.PutUint32(b[descriptorOffset(t, good, "reverse"):], 260)
		})},
		{"entry outside", "its entry", edit(good, func(b []byte) {
			binary.LittleEndian.PutUint64(b[descriptorOffset(t, good, "saxpy")+16:], 1<<40)
		})},
		{"relocation", "dynamic relocation of type 1 ", edit(good, func(b []byte) {
			f, err := readELF(good)
			if err != nil {
				t.Fatal(err)
			}
			at := bytes.Index(good, binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, f.Relocations[0].Addr), relocRelative64))
			b[at+8] = 1
		})},
		{"relocation outside", "no segment holds the 8 bytes", edit(good, func(b []byte) {
			f, err := readELF(good)
			if err != nil {
				t.Fatal(err)
			}
			at := bytes.Index(good, binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, f.Relocations[0].Addr), relocRelative64))
			b[at+5] = 1
		})},
		{"bundle header cut", "truncated in its header", bundle(bundleEntry{id: deviceID + "gfx942", data: good})[:50]},
		{"bundle body cut", "bundle is truncated", bundle(bundleEntry{id: deviceID + "gfx942", data: good})[:500]},
		{"bundle without device", "no device code object", bundle(bundleEntry{id: "host-x86_64-unknown-linux--"})},
		{"bundle of others", "holds code objects for gfx1100, gfx90a, but none for a supported target", bundle(bundleEntry{id: deviceID + "gfx1100"}, bundleEntry{id: deviceID + "gfx90a"})},
		{"bundle of an unprintable target", `holds code objects for "gfx\x1b[2J", but none`, bundle(bundleEntry{id: deviceID + "gfx\x1b[2J"})},
		{"bundle mislabelled", "holds a code object for gfx942", bundle(bundleEntry{id: deviceID + "gfx950", data: good})},
	} {
		files, err := Read(c.data)
		if err == nil {
			t.Errorf("%s: read %d code objects without an error", c.name, len(files))
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %q does not contain %q", c.name, err, c.want)
		}
	}
}

// descriptorOffset is where in the file a kernel's descriptor lies: in the first
// segment, which starts at file offset 0.
func descriptorOffset(t *testing.T, data []byte, kernel string) uint64 {
	t.Helper()
	f, err := readELF(data)
	if err != nil {
		t.Fatal(err)
	}
	k, err := f.Kernel(kernel)
	if err != nil {
		t.Fatal(err)
	}
	return k.Entry - uint64(k.Descriptor.EntryOffset) - f.Segments[0].Addr
}

func TestReadTargetErrors(t *testing.T) {
	good := fixture(t, "tiny.gfx942.hsaco")
	for _, c := range []struct {
		name, target, want string
		data               []byte
	}{
		{"bare", "gfx950", "code object is for gfx942, not gfx950", good},
		{"unknown", "sm_90", `target "sm_90" is not supported: gfx942 and gfx950 are`, good},
		{"bundle", "gfx950", "holds code objects for gfx942, but none for gfx950", bundle(bundleEntry{id: deviceID + "gfx942", data: good})},
		{"text", "gfx942", "file is text", []byte("hello")},
	} {
		if _, err := ReadTarget(c.data, c.target); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v does not contain %q", c.name, err, c.want)
		}
	}
}

func TestTruncatedAnywhere(t *testing.T) {
	good := fixture(t, "tiny.gfx942.hsaco")
	packed := bundle(bundleEntry{id: deviceID + "gfx942", data: good})
	for n := 0; n < len(packed); n += 64 {
		if _, err := Read(packed[:n]); err == nil {
			t.Errorf("bundle cut to %d of %d bytes reads without an error", n, len(packed))
		}
		if n < len(good) {
			if _, err := Read(good[:n]); err == nil {
				t.Errorf("code object cut to %d of %d bytes reads without an error", n, len(good))
			}
		}
	}
}

// TestFlippedBytes holds Read to one promise: damage is an error or a harmless
// change, never a panic or an allocation out of proportion.
func TestFlippedBytes(t *testing.T) {
	good := fixture(t, "tiny.gfx942.hsaco")
	bad := bytes.Clone(good)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	reads := 0
	for i := range good {
		for _, x := range []byte{0xff, 0x80, 0x01} {
			bad[i] ^= x
			Read(bad) //nolint:errcheck // either outcome is fine
			bad[i] ^= x
			reads++
		}
	}
	runtime.ReadMemStats(&after)
	if per := (after.TotalAlloc - before.TotalAlloc) / uint64(reads); per > 1<<20 {
		t.Errorf("a damaged file of %d bytes costs %d bytes of memory on average", len(good), per)
	}
}

func FuzzRead(f *testing.F) {
	good := fixture(f, "tiny.gfx942.hsaco")
	f.Add(good)
	f.Add(fixture(f, "tiny.gfx950.hsaco"))
	f.Add(bundle(bundleEntry{id: deviceID + "gfx942", data: good}))
	f.Add([]byte("\x7fELF"))
	f.Add([]byte(bundleMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := Read(data)
		if err != nil {
			return
		}
		for _, file := range files {
			for _, k := range file.Kernels {
				if !file.executable(k.Entry) {
					t.Errorf("kernel %s has entry %#x outside the code", k.Name, k.Entry)
				}
				for _, a := range k.Args {
					if a.Offset+a.Size > k.KernargSize {
						t.Errorf("kernel %s has an argument outside its arguments: %+v", k.Name, a)
					}
				}
			}
		}
	})
}

// TestMetadataAgreesWithReadelf compares every argument and resource of every
// kernel with what llvm-readelf prints.
func TestMetadataAgreesWithReadelf(t *testing.T) {
	readelf := needtool.Path(t, "llvm-readelf-22")
	objects, err := filepath.Glob("testdata/*.hsaco")
	if err != nil {
		t.Fatal(err)
	}
	ours, err := filepath.Glob("../../kernels/hip/obj/*.hsaco")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`^( *)(- )?(\.[a-z_]+): +(.*)$`)
	for _, path := range append(objects, ours...) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files, err := Read(data)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if isBundle(data) {
			continue // llvm-readelf reads bare code objects only
		}
		out, err := exec.Command(readelf, "--notes", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		// Flatten both to "key=value" lines; kernel keys are indented by four.
		var want []string
		for l := range strings.Lines(string(out)) {
			m := line.FindStringSubmatch(strings.TrimRight(l, "\n"))
			if m == nil {
				continue
			}
			switch m[3] {
			case ".offset", ".size", ".value_kind", ".name", ".kernarg_segment_size", ".group_segment_fixed_size",
				".private_segment_fixed_size", ".vgpr_count", ".agpr_count", ".sgpr_count", ".max_flat_workgroup_size":
				depth := len(m[1]) + len(m[2])
				if m[3] == ".name" && depth > 4 {
					continue // an argument's name
				}
				want = append(want, m[3]+"="+m[4])
			}
		}
		var got []string
		add := func(key string, v any) {
			switch v := v.(type) {
			case string:
				got = append(got, key+"="+v)
			case uint32:
				got = append(got, key+"="+strconv.Itoa(int(v)))
			case int:
				got = append(got, key+"="+strconv.Itoa(v))
			}
		}
		for _, k := range files[0].Kernels {
			add(".agpr_count", k.AGPRs)
			for _, a := range k.Args {
				add(".offset", a.Offset)
				add(".size", a.Size)
				add(".value_kind", a.ValueKind)
			}
			add(".group_segment_fixed_size", k.LDS)
			add(".kernarg_segment_size", k.KernargSize)
			add(".max_flat_workgroup_size", k.MaxWorkgroup)
			add(".name", k.Name)
			add(".private_segment_fixed_size", k.Scratch)
			add(".sgpr_count", k.SGPRs)
			add(".vgpr_count", k.VGPRs)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-llvm-readelf +ours):\n%s", path, diff)
		}
	}
}
