package importer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mqaproof/internal/needtool"
	"mqaproof/kernels"
)

// checkout is a package of our own with two kernels that compile and two that
// do not: see its README.
var checkout = filepath.Join("testdata", "checkout")

// imported runs Import on the checkout and gives its progress too.
func imported(t *testing.T, r Request) (paths, lines []string, err error) {
	t.Helper()
	paths, err = Import(t.Context(), r, func(s string) { lines = append(lines, s) })
	slices.Sort(lines)
	return paths, lines, err
}

func TestImport(t *testing.T) {
	r := Request{Package: "amd-aiter", Path: checkout, CacheDir: t.TempDir(), Python: needtool.Python(t, "triton"), Heads: []int{16}, HeadDim: []int{32}}
	t.Setenv("TRITON_INTERPRET", "1") // must not reach the compiler
	paths, lines, err := imported(t, r)

	// What cannot be compiled is told, each on its line, and does not keep the
	// rest away.
	const wantErr = `_deepgemm_fp8_paged_mqa_logits_ragged_k has a parameter 'novelty' that this importer does not know: the kernel's interface has changed
_deepgemm_fp8_paged_mqa_logits_stage1_ragged_k needs 'tl_extra', which comes from 'aiter.nowhere': only triton and the file itself are at hand`
	if err == nil || stripLabels(err.Error()) != wantErr {
		t.Errorf("error:\n%v\nwant, after the package:\n%s", err, wantErr)
	}
	if want := []string{"imported amd-aiter/plain-h16-d32", "imported amd-aiter/stage1-h16-d32"}; !slices.Equal(lines, want) {
		t.Errorf("progress %q, want %q", lines, want)
	}
	if len(paths) != 2 || filepath.Base(paths[0]) != "plain-h16-d32.yaml" || filepath.Base(paths[1]) != "stage1-h16-d32.yaml" {
		t.Fatalf("manifests %q", paths)
	}
	folder := filepath.Base(filepath.Dir(paths[0]))
	if !strings.HasPrefix(folder, "amd-aiter-source-") || filepath.Dir(filepath.Dir(paths[0])) != r.CacheDir {
		t.Errorf("manifest in %s", paths[0])
	}

	// The faults are those that the sources have: plain's bound is right and its
	// stores are cut, stage1's bound runs backwards and its stores are not.
	plain, stage1 := read(t, paths[0]), read(t, paths[1])
	if w := plain.Wirings; w["last-column"].Fault != "" || w["table"].Fault != "B01" || strings.Contains(plain.Limits.Where, "chunk_k") {
		t.Errorf("plain: wirings %v, limits %q", w, plain.Limits.Where)
	}
	if w := stage1.Wirings; w["last-column"].Fault != "B02" || w["table"].Fault != "B02" || !strings.Contains(stage1.Limits.Where, "max_model_len % chunk_k == 0") {
		t.Errorf("stage1: wirings %v, limits %q", w, stage1.Limits.Where)
	}
	if i := slices.IndexFunc(plain.Launches[0].Args, func(a kernels.Arg) bool { return a.Name == "stride_out_batch" }); i < 0 || plain.Launches[0].Args[i].Type != "i64" {
		t.Errorf("plain: stride_out_batch is annotated as int64: %v", plain.Launches[0].Args)
	}

	// The manifests are subjects that can be run, as far as arguments tell.
	subjects, problems := kernels.Imported(r.CacheDir)
	if len(problems) > 0 || len(subjects) != 4 {
		t.Errorf("%d subjects, %v", len(subjects), problems)
	}

	// Again: nothing is compiled, and the bytes stay.
	before := bytesBelow(t, r.CacheDir)
	again, lines, err := imported(t, r)
	if err == nil || !slices.Equal(again, paths) {
		t.Errorf("again: %q, %v", again, err)
	}
	if want := []string{"amd-aiter/plain-h16-d32 is there already", "amd-aiter/stage1-h16-d32 is there already"}; !slices.Equal(lines, want) {
		t.Errorf("again: progress %q, want %q", lines, want)
	}

	// A damaged code object is compiled anew, to the same bytes.
	if err := os.WriteFile(strings.TrimSuffix(paths[0], ".yaml")+".hsaco", []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, lines, _ = imported(t, r); !slices.Contains(lines, "imported amd-aiter/plain-h16-d32") {
		t.Errorf("damaged: progress %q", lines)
	}
	if after := bytesBelow(t, r.CacheDir); after != before {
		t.Error("the same import gave other bytes")
	}

	// Another version of the package takes the place of this one.
	r.Path = changedCheckout(t, "STEP.value * 4", "STEP.value * 5")
	replaced, lines, _ := imported(t, r)
	if len(replaced) != 2 || replaced[0] == paths[0] {
		t.Fatalf("changed: %q", replaced)
	}
	if want := "amd-aiter/plain-h16-d32 takes the place of that of " + folder; !slices.Contains(lines, want) {
		t.Errorf("changed: progress %q, want %q", lines, want)
	}
	if subjects, problems := kernels.Imported(r.CacheDir); len(problems) > 0 || len(subjects) != 4 {
		t.Errorf("changed: %d subjects, %v", len(subjects), problems)
	}
}

// TestImportGluon has a Gluon kernel, and a call into the package at module
// level that is answered with a constant.
func TestImportGluon(t *testing.T) {
	r := Request{Package: "aiter", Path: checkout, CacheDir: t.TempDir(), Python: needtool.Python(t, "triton"), Page: []int{1, 16}, Target: gfx950}
	paths, _, err := imported(t, r)
	// The Triton kernels are of before there were pages: they do for pages of one.
	if len(paths) != 3 || filepath.Base(paths[2]) != "gluon-plain-h64-d128-gfx950.yaml" {
		t.Fatalf("manifests %q, %v", paths, err)
	}
	if err == nil || !strings.Contains(err.Error(), "_deepgemm_fp8_paged_mqa_logits has no parameter 'KVBlockSize': ") {
		t.Errorf("error %v", err)
	}
	if err == nil || !strings.Contains(err.Error(), "no function _gluon_deepgemm_fp8_paged_mqa_logits_preshuffle in ") {
		t.Errorf("error %v", err)
	}
	m := read(t, paths[2])
	if m.CodeObjects[gfx950] != "gluon-plain-h64-d128-gfx950.hsaco" || m.Layouts[0] != "interleaved" {
		t.Errorf("code objects %v, layouts %v", m.CodeObjects, m.Layouts)
	}
	// SplitKV is annotated as a constant and launched as a value.
	if i := slices.IndexFunc(m.Launches[0].Args, func(a kernels.Arg) bool { return a.Name == "SplitKV" }); i < 0 || m.Launches[0].Args[i].Value != "split_kv" {
		t.Errorf("SplitKV is missing: %v", m.Launches[0].Args)
	}
	if subjects, problems := kernels.Imported(r.CacheDir); len(problems) > 0 || len(subjects) != 6 {
		t.Errorf("%d subjects, %v", len(subjects), problems)
	}
}

// TestImportVLLM has triton under the names that vLLM gives it, and a kernel
// for each next_n and kind of lengths.
func TestImportVLLM(t *testing.T) {
	r := Request{Package: "vllm", Path: checkout, CacheDir: t.TempDir(), Python: needtool.Python(t, "triton"), NextN: []int{2, 1}, Ratio: []int{4}, BlockTableWidth: []int{5}}
	paths, _, err := imported(t, r)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"block-flat-h64-d128-p64-n1.yaml":         "per-row",
		"block-flat-h64-d128-p64-n2.yaml":         "per-row",
		"block-flat-request-h64-d128-p64-n2.yaml": "last-column table",
		"decode-metadata-w5.yaml":                 "device",
		"uniform-decode.yaml":                     "device",
		"uniform-decode-n1.yaml":                  "device",
		"prefill-chunk-r4.yaml":                   "device",
		"prefill-chunk-dcp-r4.yaml":               "device",
		"compressed-slots-r4.yaml":                "device",
		"compressed-slots-dcp-r4.yaml":            "device",
	}
	if len(paths) != len(want) {
		t.Fatalf("manifests %q", paths)
	}
	for _, path := range paths {
		m := read(t, path)
		if got := strings.Join(slices.Sorted(maps.Keys(m.Wirings)), " "); got != want[filepath.Base(path)] {
			t.Errorf("%s: wirings %q, want %q", path, got, want[filepath.Base(path)])
		}
	}
	if wrong := wrongMetadata(t, r.CacheDir, 4); len(wrong) > 0 {
		t.Errorf("%v are wrong", wrong)
	}
}

// TestSourceErrors checks that a source which is not what was expected gives a
// line that says where and what.
func TestSourceErrors(t *testing.T) {
	py := &python{path: needtool.Python(t, "triton")}
	for _, c := range []struct{ name, old, new, want string }{
		{"renamed", "def _deepgemm_fp8_paged_mqa_logits(", "def _renamed(",
			": no function _deepgemm_fp8_paged_mqa_logits in "},
		{"not jit", "@decorate\n@triton.jit\n", "@decorate\n", ": _deepgemm_fp8_paged_mqa_logits in "},
		{"syntax error", "def launcher(q):", "def launcher(q:", aiterTriton + ":27 is not valid Python: "},
		{"parameter gone", "kv_indices, weights, stride_w_batch,\n    OutLogits_buffer, stride_out_batch: tl.int64", "kv_indices, stride_w_batch,\n    OutLogits_buffer, stride_out_batch: tl.int64",
			"_deepgemm_fp8_paged_mqa_logits has no parameter 'weights': the kernel's interface has changed"},
		{"constant gone", "HiddenDim: tl.constexpr, SplitKV: tl.constexpr = 1,\n):\n    row", "HiddenDim: tl.constexpr,\n):\n    row",
			"_deepgemm_fp8_paged_mqa_logits has no parameter 'SplitKV': the kernel's interface has changed"},
		{"float annotation", "stride_out_batch: tl.int64", "stride_out_batch: tl.float32",
			"_deepgemm_fp8_paged_mqa_logits: parameter stride_out_batch is annotated tl.float32, not an integer type"},
		{"function of the package", "_row_logits(\n            Q_buffer", "launcher(\n            Q_buffer",
			"_deepgemm_fp8_paged_mqa_logits calls launcher, which is not a jit function"},
		{"triton refuses", "tl.where(pos <=", "tl.nonsense(pos <=", "cannot compile _deepgemm_fp8_paged_mqa_logits for gfx942: "},
		{"bytes", "Small kernels", "Small \xff kernels", "'utf-8' codec can't decode"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			src, err := packages[0].open(changedCheckout(t, c.old, c.new))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			w := &work{py: py, src: src, tmp: t.TempDir(), dir: dir, progress: func(string) {}}
			_, err = w.one(t.Context(), planNamed(t, Request{Heads: []int{16}, HeadDim: []int{32}}, "amd-aiter/plain-h16-d32"))
			if err == nil || !strings.HasPrefix(err.Error(), "amd-aiter source-") || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want the package and %q", err, c.want)
			}
			if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), w.tmp) {
				t.Errorf("error is more than a line, or shows insides:\n%v", err)
			}
			if got := bytesBelow(t, dir); got != "" {
				t.Errorf("something was written: %q", got)
			}
		})
	}
}

// TestDownload puts a pip of our own before the interpreter: nothing is
// fetched.
func TestDownload(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for pip is a shell script")
	}
	good := writeWheel(t, wheelBytes(t, member{aiterTriton, "# kernels\n"}, member{"aiter/big.so", "not kept"},
		member{"amd_aiter-0.1.7.post2.dev18.dist-info/METADATA", "Name: amd-aiter\nVersion: 0.1.7.post2.dev18\n"}))
	r := Request{Package: "amd-aiter", CacheDir: t.TempDir()}
	find := func(action string) (*source, error) {
		py := fakePython(t, fmt.Sprintf(`
if [ "$1 $2" != "-m pip" ]; then echo '{"version": "", "place": ""}'; exit; fi
for last; do dest=$previous; previous=$last; done
[ "$last" = "amd-aiter==0.1.7.post2.dev18" ] || { echo "asked for $last" >&2; exit 9; }
%s`, action))
		return packages[0].find(t.Context(), r, &python{path: py}, func(string) {})
	}
	for _, c := range []struct{ name, action, want string }{
		{"no network", "echo 'ERROR: no network' >&2; exit 1", "exit status 1: ERROR: no network: give a wheel or a folder (--path)"},
		{"damaged", `echo rubbish > "$dest/a.whl"`, "a.whl is not a wheel that can be read"},
		{"nothing", ":", "pip left 0 wheels"},
		{"another package", fmt.Sprintf("cp %q \"$dest/a.whl\"", writeWheel(t, wheelBytes(t, member{"x-1.dist-info/METADATA", "Name: x\nVersion: 1\n"}))), "it holds x, not amd-aiter"},
	} {
		if _, err := find(c.action); err == nil || !strings.HasPrefix(err.Error(), "amd-aiter") || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one line with %q", c.name, err, c.want)
		}
		if left, err := filepath.Glob(filepath.Join(r.CacheDir, "sources", ".*")); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %q, %v", c.name, left, err)
		}
	}
	// The second time needs no network.
	for _, action := range []string{fmt.Sprintf("cp %q \"$dest/a.whl\"", good), "exit 1"} {
		s, err := find(action)
		if err != nil {
			t.Fatal(err)
		}
		if name, data, err := s.read(packages[0].files); s.version != "0.1.7.post2.dev18" || name != aiterTriton || string(data) != "# kernels\n" || err != nil {
			t.Errorf("version %s, file %s with %q, %v", s.version, name, data, err)
		}
		if _, err := fs.Stat(s.files, "aiter/big.so"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("more than the kernels' sources was kept: %v", err)
		}
	}
}

// TestInstalled takes the package from the interpreter's own folders, without
// importing it.
func TestInstalled(t *testing.T) {
	py := &python{path: needtool.Python(t, "json")}
	site := writeTree(t, member{aiterTriton, "# kernels\n"}, member{"aiter/__init__.py", "raise SystemExit('the package was imported')\n"},
		member{"amd_aiter-7.7.dist-info/METADATA", "Metadata-Version: 2.1\nName: amd-aiter\nVersion: 7.7\n"})
	t.Setenv("PYTHONPATH", site)
	var lines []string
	s, err := packages[0].find(t.Context(), Request{Package: "amd-aiter", CacheDir: t.TempDir()}, py, func(line string) { lines = append(lines, line) })
	if err != nil {
		t.Fatal(err)
	}
	if name, _, err := s.read(packages[0].files); s.version != "7.7" || name != aiterTriton || err != nil {
		t.Errorf("version %s, file %s, %v", s.version, name, err)
	}
	if want := []string{"amd-aiter 7.7 is installed in " + filepath.Join(site, "aiter")}; !slices.Equal(lines, want) {
		t.Errorf("progress %q, want %q", lines, want)
	}
}

func TestNoPython(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-ins for Python are shell scripts")
	}
	for _, c := range []struct{ name, python, want string }{
		{"not there", filepath.Join(t.TempDir(), "python"), "python (not found); run `make tools`, or `pip install triton==3.9.0`"},
		{"no triton", fakePython(t, `echo '{"version": "", "place": ""}'`), "python (has no triton)"},
		{"not python", fakePython(t, `echo hello`), `does not behave like a Python: asked for modules it printed "hello"`},
		{"fails", fakePython(t, `echo 'cannot start' >&2; exit 3`), "exit status 3: cannot start"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Import(t.Context(), Request{Package: "amd-aiter", Path: checkout, CacheDir: t.TempDir(), Python: c.python}, nil)
			if err == nil || !strings.HasPrefix(err.Error(), "no Python with triton: tried ") || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line with %q", err, c.want)
			}
		})
	}
}

// TestBrokenTriton has an interpreter whose triton is there and cannot be used.
func TestBrokenTriton(t *testing.T) {
	py := needtool.Python(t, "triton")
	site := writeTree(t, member{"triton/__init__.py", "raise ImportError('libtriton is damaged')\n"})
	t.Setenv("PYTHONPATH", site)
	_, err := Import(t.Context(), Request{Package: "amd-aiter", Path: checkout, CacheDir: t.TempDir(), Python: py}, nil)
	if err == nil || !strings.Contains(err.Error(), "has no usable triton: libtriton is damaged") {
		t.Errorf("got %v", err)
	}
}

func TestCancelled(t *testing.T) {
	py := needtool.Python(t, "triton")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := Request{Package: "amd-aiter", Path: checkout, CacheDir: t.TempDir(), Python: py, HeadDim: []int{32}, Heads: []int{16, 32, 64, 128}, SplitKV: []int{1, 2, 3, 4}}
	_, err := Import(ctx, r, func(string) { cancel() }) // after the first kernel
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if _, problems := kernels.Imported(r.CacheDir); len(problems) > 0 {
		t.Errorf("what was written before is damaged: %v", problems)
	}
}

// fakePython is a shell script that stands in for Python.
func fakePython(t *testing.T, body string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "python")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+body+"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	return file
}

// changedCheckout is the checkout with one piece of its source changed.
func changedCheckout(t *testing.T, old, new string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(checkout)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, filepath.FromSlash(aiterTriton))
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(text), old) != 1 {
		t.Fatalf("%q is not once in the checkout", old)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), old, new, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, path string) *kernels.Manifest {
	t.Helper()
	m, err := kernels.ReadManifest(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// bytesBelow is all that a folder holds, as one string.
func bytesBelow(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s\x00%s\x00", path, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// stripLabels takes the package and its version off each line.
func stripLabels(lines string) string {
	var out []string
	for line := range strings.SplitSeq(lines, "\n") {
		_, rest, _ := strings.Cut(line, ": ")
		out = append(out, rest)
	}
	return strings.Join(out, "\n")
}
