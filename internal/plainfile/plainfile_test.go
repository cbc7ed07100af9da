package plainfile

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ten"), []byte("0123456789"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "zero")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		limit int64
		says  string // of the error; "" for none
	}{
		{"ten", 10, ""}, {"ten", 9, "more than 9 bytes"}, {"pipe", 10, "a pipe"}, {"zero", 10, "a device"}, {"folder", 10, "a folder"}, {"none", 10, "no such file"},
	} {
		b, err := Read(os.DirFS(dir), test.name, "shown", test.limit)
		switch {
		case test.says == "" && (err != nil || string(b) != "0123456789"):
			t.Errorf("%s: %q, %v", test.name, b, err)
		case test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says) || !strings.HasPrefix(err.Error(), "shown: ")):
			t.Errorf("%s: %v, want %q", test.name, err, test.says)
		}
	}
}
