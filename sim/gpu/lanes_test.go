package gpu

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestGenerated: the committed loops are what lanegen makes.
func TestGenerated(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("go", "run", "./lanegen", dir).CombinedOutput(); err != nil {
		t.Fatalf("lanegen: %v\n%s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("lanegen wrote %v, %v", files, err)
	}
	for _, f := range files {
		want, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Base(f))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what lanegen makes (%v): run go generate ./sim/gpu", filepath.Base(f), err)
		}
	}
}
