package importer

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// member is a file of a wheel.
type member struct{ name, text string }

var aiterMetadata = member{"amd_aiter-9.1.dist-info/METADATA", "Metadata-Version: 2.1\nName: amd_aiter\nVersion: 9.1\n\nName: a lie\n"}

// wheelBytes is a wheel with the given members, stored as they are.
func wheelBytes(t *testing.T, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		w, err := z.CreateHeader(&zip.FileHeader{Name: m.name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(m.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func writeTree(t *testing.T, members ...member) string {
	t.Helper()
	dir := t.TempDir()
	for _, m := range members {
		file := filepath.Join(dir, filepath.FromSlash(m.name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(m.text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func writeWheel(t *testing.T, data []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "p.whl")
	if err := os.WriteFile(file, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestOpen(t *testing.T) {
	kernel := member{aiterTriton, "# kernels\n"}
	moved := member{aiterTritonMoved, "# kernels\n"}
	unpacked := writeTree(t, kernel, aiterMetadata)
	for _, c := range []struct {
		name, path, version, file string
	}{
		{"wheel", writeWheel(t, wheelBytes(t, kernel, aiterMetadata)), "9.1", aiterTriton},
		{"unpacked wheel", unpacked, "9.1", aiterTriton},
		{"module folder", filepath.Join(unpacked, "aiter"), "9.1", aiterTriton},
		{"checkout", writeTree(t, moved), "source-a3130d1bf6", aiterTritonMoved},
		{"other metadata beside it", writeTree(t, kernel, member{"a-1.dist-info/METADATA", "Name: a\nVersion: 1\n"}), "source-", aiterTriton},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := packages[0].open(c.path)
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			name, data, err := s.read(packages[0].files)
			if err != nil {
				t.Fatal(err)
			}
			if name != c.file || string(data) != "# kernels\n" {
				t.Errorf("read %s with %q", name, data)
			}
			if c.version == "source-" {
				if !strings.HasPrefix(s.version, c.version) || len(s.version) != len(c.version)+10 {
					t.Errorf("version %q", s.version)
				}
			} else if s.version != c.version {
				t.Errorf("version %q, want %q", s.version, c.version)
			}
		})
	}
}

func TestOpenErrors(t *testing.T) {
	kernel := member{aiterTriton, "# the text that gets damaged\n"}
	whole := wheelBytes(t, kernel, aiterMetadata)
	damaged := bytes.Replace(whole, []byte("gets damaged"), []byte("was damaged!"), 1)
	for _, c := range []struct{ name, path, want string }{
		{"nothing there", filepath.Join(t.TempDir(), "no"), "no such file"},
		{"another folder", t.TempDir(), "no folder aiter in "},
		{"text", writeWheel(t, []byte("hello")), "is not a wheel that can be read: zip: not a valid zip file"},
		{"empty", writeWheel(t, nil), "is not a wheel that can be read: zip: not a valid zip file"},
		{"truncated", writeWheel(t, whole[:len(whole)/2]), "is not a wheel that can be read: zip: not a valid zip file"},
		{"another package", writeWheel(t, wheelBytes(t, member{"torch-2.dist-info/METADATA", "Name: torch\nVersion: 2\n"})), "it holds torch, not amd-aiter"},
		{"no metadata", writeWheel(t, wheelBytes(t, kernel)), "it does not hold amd-aiter"},
		{"version that is a path", writeWheel(t, wheelBytes(t, kernel, member{aiterMetadata.name, "Name: amd-aiter\nVersion: ../../x\n"})), `gives the version as "../../x"`},
		{"damaged member", writeWheel(t, damaged), "amd-aiter 9.1: cannot read " + aiterTriton + " in "},
		{"kernels gone", writeWheel(t, wheelBytes(t, aiterMetadata)), "amd-aiter 9.1: no " + aiterTriton + " and no " + aiterTritonMoved + " in "},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := packages[0].open(c.path)
			if err == nil {
				defer s.close()
				_, _, err = s.read(packages[0].files)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "amd-aiter") || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line with %q", err, c.want)
			}
		})
	}
}
