package kernels

import (
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mqaproof/kernels/hip"
)

// builtinFile is a file of the embedded kernels.
func builtinFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := fs.ReadFile(hip.FS, name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// bundle is a clang offload bundle of code objects by target.
func bundle(objects map[string][]byte) []byte {
	const magic = "__CLANG_OFFLOAD_BUNDLE__"
	ids := []string{"host-x86_64-unknown-linux-gnu-"}
	for target := range objects {
		ids = append(ids, "hipv4-amdgcn-amd-amdhsa--"+target)
	}
	slices.Sort(ids)
	head := len(magic) + 8
	for _, id := range ids {
		head += 24 + len(id)
	}
	out := binary.LittleEndian.AppendUint64([]byte(magic), uint64(len(ids)))
	var body []byte
	for _, id := range ids {
		o := objects[strings.TrimPrefix(id, "hipv4-amdgcn-amd-amdhsa--")]
		for _, n := range []int{head + len(body), len(o), len(id)} {
			out = binary.LittleEndian.AppendUint64(out, uint64(n))
		}
		out = append(out, id...)
		body = append(body, o...)
	}
	return append(out, body...)
}

func write(t *testing.T, dir, name string, data []byte) string {
	t.Helper()
	p := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

func described(subjects []*Subject) []string {
	var out []string
	for _, s := range subjects {
		out = append(out, s.String())
	}
	return out
}

func TestLoad(t *testing.T) {
	manifest := string(builtinFile(t, "naive.yaml"))
	gfx942, gfx950 := builtinFile(t, "obj/naive.gfx942.hsaco"), builtinFile(t, "obj/naive.gfx950.hsaco")
	start := strings.Index(manifest, "code_objects:")
	end := start + strings.Index(manifest[start:], "layouts:")
	without := manifest[:start] + manifest[end:]
	only942 := manifest[:start] + "code_objects:\n  gfx942: obj/k.hsaco\n" + manifest[end:]
	x86 := []byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x3e\x00\x01\x00\x00\x00")
	x86 = append(x86, make([]byte, 64)...)

	const both = "hip/naive gfx942 per-row, hip/naive gfx950 per-row"
	tests := []struct {
		name     string
		manifest string
		object   []byte // given with the manifest; nil: not given
		beside   []byte // as obj/k.hsaco; nil: no such file
		want     string
		err      []string
		exact    bool // the first part ends the error
	}{
		{name: "bundle", manifest: without, object: bundle(map[string][]byte{"gfx942": gfx942, "gfx950": gfx950}), want: both},
		{name: "bundle, one target of it", manifest: only942, object: bundle(map[string][]byte{"gfx942": gfx942, "gfx950": gfx950}), want: "hip/naive gfx942 per-row"},
		{name: "bare", manifest: without, object: gfx950, want: "hip/naive gfx950 per-row"},
		{name: "one of two targets", manifest: manifest, object: gfx950, want: "hip/naive gfx950 per-row"},
		{name: "beside the manifest", manifest: only942, beside: gfx942, want: "hip/naive gfx942 per-row"},
		{name: "no file beside the manifest", manifest: only942, err: []string{"naive.yaml: code_objects.gfx942: ", "obj/k.hsaco"}},
		{name: "another target beside the manifest", manifest: only942, beside: gfx950, err: []string{"obj/k.hsaco: code object is for gfx950, not gfx942: ", "naive.yaml names it for gfx942"}},
		{name: "another target", manifest: only942, object: gfx950, err: []string{"k.co: code object is for gfx950, not gfx942: ", "naive.yaml lists gfx942 under code_objects"}},
		{name: "no code object at all", manifest: without, err: []string{"naive.yaml: code_objects: missing: name a file for each target, or give a code object with the manifest"}},
		{name: "truncated", manifest: without, object: gfx942[:len(gfx942)/2], err: []string{"k.co: "}},
		{name: "text", manifest: without, object: []byte("__global__ void k();\n"), err: []string{"k.co: file is text"}},
		{name: "empty", manifest: without, object: []byte{}, err: []string{"k.co: file is empty"}},
		{name: "x86", manifest: without, object: x86, err: []string{"k.co: "}},
		{name: "text, with targets listed", manifest: only942, object: []byte("__global__ void k();\n"), err: []string{"k.co: file is text, not an AMDGPU code object (ELF64) or offload bundle: compile it first"}, exact: true},
		{name: "text beside the manifest", manifest: only942, beside: []byte("__global__ void k();\n"), err: []string{"k.hsaco: file is text, not an AMDGPU code object (ELF64) or offload bundle: compile it first"}, exact: true},
		{name: "another kernel", manifest: without, object: builtinFile(t, "obj/per-row.gfx942.hsaco"), err: []string{`k.co: launches[0]: code object has no kernel "naive": it has per_row`}},
		{name: "other arguments", manifest: strings.Replace(without, "name: heads,", "name: hats,", 1), object: gfx942, err: []string{"k.co: launches[0]: kernel naive, argument ", "(hats): the code object calls it heads: use the same name, in the same order"}},
		{name: "bad manifest", manifest: without + "more: 1\n", object: gfx942, err: []string{`naive.yaml:`, `unknown field "more"`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			manifest, object := write(t, dir, "naive.yaml", []byte(test.manifest)), ""
			if test.object != nil {
				object = write(t, dir, "k.co", test.object)
			}
			if test.beside != nil {
				write(t, dir, "obj/k.hsaco", test.beside)
			}
			got, err := Load(manifest, object)
			if s := strings.Join(described(got), ", "); s != test.want {
				t.Errorf("got %s, want %s", s, test.want)
			}
			if (err != nil) != (test.err != nil) {
				t.Fatalf("error is %v", err)
			}
			for _, part := range test.err {
				if !strings.Contains(err.Error(), part) || !strings.Contains(err.Error(), dir) {
					t.Errorf("error is %v, want %s in it", err, part)
				}
			}
			if test.exact && !strings.HasSuffix(err.Error(), test.err[0]) {
				t.Errorf("error is %v, want %s at its end", err, test.err[0])
			}
		})
	}
	for _, paths := range [][2]string{{"nowhere.yaml", ""}, {write(t, t.TempDir(), "n.yaml", []byte(without)), "nowhere.co"}} {
		if _, err := Load(paths[0], paths[1]); err == nil || !strings.Contains(err.Error(), "nowhere.") {
			t.Errorf("Load(%q): error is %v", paths, err)
		}
	}
}

func TestImported(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(CacheEnv, dir)
	manifest := strings.ReplaceAll(string(builtinFile(t, "naive.yaml")), "hip/naive", "aiter/plain")
	for _, target := range []string{"gfx942", "gfx950"} {
		write(t, dir, "aiter/obj/naive."+target+".hsaco", builtinFile(t, "obj/naive."+target+".hsaco"))
	}
	write(t, dir, "aiter/plain.yaml", []byte(manifest))
	write(t, dir, "aiter/same.yaml", []byte(manifest))
	write(t, dir, "aiter/broken.yaml", []byte("name: [\n"))
	write(t, dir, "vllm/flat.yaml", []byte(strings.ReplaceAll(manifest, "aiter/plain", "vllm/flat")))
	write(t, dir, "vllm/notes.txt", []byte("not a manifest"))

	got, problems := Imported("")
	if want := []string{"aiter/plain gfx942 per-row", "aiter/plain gfx950 per-row"}; !slices.Equal(described(got), want) {
		t.Errorf("got %v, want %v", described(got), want)
	}
	want := []string{"broken.yaml:", "same.yaml: name: aiter/plain is the name of", "flat.yaml: code_objects.gfx942: "}
	if len(problems) != len(want) {
		t.Fatalf("problems %v, want %d", problems, len(want))
	}
	for i, w := range want {
		if !strings.Contains(problems[i].Error(), w) {
			t.Errorf("problem %d is %v, want %s in it", i, problems[i], w)
		}
	}

	if got, problems := Imported(filepath.Join(dir, "none")); got != nil || problems != nil {
		t.Errorf("no folder: %v, %v", got, problems)
	}
	if _, problems := Imported(filepath.Join(dir, "vllm", "notes.txt")); len(problems) != 1 || !strings.Contains(problems[0].Error(), "is not a folder") {
		t.Errorf("a file for a folder: %v", problems)
	}
}

func TestCacheDir(t *testing.T) {
	t.Setenv(CacheEnv, "/some/where")
	if dir, err := CacheDir(); dir != "/some/where" || err != nil {
		t.Errorf("with %s: %s, %v", CacheEnv, dir, err)
	}
	t.Setenv(CacheEnv, "")
	t.Setenv("XDG_CACHE_HOME", "/cache")
	t.Setenv("HOME", "/home/u")
	if dir, err := CacheDir(); err != nil || filepath.Base(dir) != "kernels" || filepath.Base(filepath.Dir(dir)) != "mqaproof" {
		t.Errorf("without: %s, %v", dir, err)
	}
}

func TestBuiltin(t *testing.T) {
	subjects, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	all := described(subjects)
	if !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Errorf("not sorted, or one twice: %v", all)
	}
	hashes := map[string]string{}
	for _, s := range subjects {
		key := s.Name + " " + s.Target
		if other, ok := hashes[s.Hash()]; ok && other != key || len(s.Hash()) != 64 {
			t.Errorf("%s has the hash %s of %s", s, s.Hash(), other)
		}
		hashes[s.Hash()] = key
		if got, want := s.Format().String(), map[string]string{"gfx942": "e4m3fnuz", "gfx950": "e4m3fn"}[s.Target]; s.Manifest.FP8 == "" && got != want {
			t.Errorf("%s has format %s, want %s", s, got, want)
		}
		if s.Verified() != (s.Target == "gfx942" || s.Manifest.Kind == Metadata) {
			t.Errorf("%s: verified is %v", s, s.Verified())
		}
	}
	for _, want := range []string{"hip/mfma-split gfx942 table", "hip/mfma-split gfx942 last-column", "hip/naive gfx950 per-row", "hip/metadata gfx942 device"} {
		if !slices.Contains(all, want) {
			t.Errorf("no subject %s in %v", want, all)
		}
	}
}
