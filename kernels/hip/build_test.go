package hip_test

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"mqaproof/internal/needtool"
)

// TestCodeObjectsAreCurrent rebuilds every code object from a copy of the
// sources in another folder and compares bytes: the committed ones are what
// the sources give, and hold nothing of the machine that built them.
func TestCodeObjectsAreCurrent(t *testing.T) {
	env := append(os.Environ(),
		"CLANG="+needtool.Path(t, "clang-22"),
		"OBJCOPY="+needtool.Path(t, "llvm-objcopy-22"))
	needtool.Path(t, "ld.lld-22") // clang runs it

	sources, out := t.TempDir(), t.TempDir()
	if err := os.CopyFS(sources, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("sh", filepath.Join(sources, "build.sh"), out)
	build.Env, build.Dir = env, sources
	if log, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build.sh: %v\n%s", err, log)
	}

	built := codeObjects(t, out)
	committed := codeObjects(t, "obj")
	for _, folder := range []string{"bad", "steps"} {
		for name, data := range codeObjects(t, folder) {
			committed[folder+"/"+name] = data
		}
	}
	if len(committed) == 0 {
		t.Fatal("no code object is committed: run kernels/hip/build.sh")
	}
	for _, name := range slices.Sorted(maps.Keys(built)) {
		switch data, ok := committed[name]; {
		case !ok:
			t.Errorf("%s is built from variants.txt but not committed: run kernels/hip/build.sh and add it", name)
		case !bytes.Equal(data, built[name]):
			t.Errorf("%s is not what its sources give (%d bytes committed, %d built): run kernels/hip/build.sh and commit the result", name, len(data), len(built[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(committed)) {
		if _, ok := built[name]; !ok {
			t.Errorf("%s is committed but nothing in variants.txt builds it: remove it", name)
		}
	}
}

// codeObjects reads every .hsaco below dir, by its path in dir.
func codeObjects(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".hsaco" {
			return err
		}
		files[path], err = fs.ReadFile(root, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
