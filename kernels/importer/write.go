package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"mqaproof/kernels"

	"github.com/goccy/go-yaml"
)

// write puts a manifest and its code object at base.yaml and base.hsaco, each
// atomically and the manifest last, so that a reader never finds a manifest
// without the code object that it is about.
func write(base string, m *kernels.Manifest, object []byte) error {
	text, err := encode(m)
	if err != nil {
		return err
	}
	if _, err := kernels.ParseManifest(base+".yaml", text); err != nil {
		return fmt.Errorf("the manifest made for it is wrong: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(base), 0o777); err != nil {
		return err
	}
	// An older manifest beside a newer code object would be a lie.
	if err := os.Remove(base + ".yaml"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := writeFile(base+".hsaco", object); err != nil {
		return err
	}
	return writeFile(base+".yaml", text)
}

// encode is the manifest as a file for people: one line an argument.
func encode(m *kernels.Manifest) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b, yaml.Indent(2), yaml.IndentSequence(true))
	if err := e.Encode(m); err != nil {
		return nil, err
	}
	if err := e.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// writeFile writes a file whole or not at all.
func writeFile(name string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// reusable reports whether base holds the import that key stands for, whole.
func reusable(base, name, key string) bool {
	m, err := kernels.ReadManifest(base + ".yaml")
	if err != nil || m.Name != name || !endsWithKey(m.About, key) {
		return false // also when damaged: it is written anew
	}
	object, err := os.ReadFile(base + ".hsaco")
	return err == nil && strings.Contains(m.About, "code object sha256 "+short(object)+",")
}

// retire removes a kernel of the same name that came from another version of
// the package: two manifests of one name cannot be told apart.
func (w *work) retire(name string) error {
	others, err := filepath.Glob(filepath.Join(escapeGlob(w.CacheDir), w.src.pkg.name+"-*", path.Base(name)+".yaml"))
	if err != nil {
		return err
	}
	for _, file := range others {
		if filepath.Dir(file) == w.dir {
			continue
		}
		m, err := kernels.ReadManifest(file)
		if err != nil || m.Name != name {
			continue // not ours to remove
		}
		for _, old := range []string{file, strings.TrimSuffix(file, ".yaml") + ".hsaco"} {
			if err := os.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		w.progress(fmt.Sprintf("%s takes the place of that of %s", name, filepath.Base(filepath.Dir(file))))
	}
	return nil
}

// escapeGlob makes a folder's name literal in a pattern.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}
