package kernels

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mqaproof/internal/plainfile"
	"mqaproof/sim/codeobject"
)

// Far above what any kernel has, and small enough to read by mistake.
const (
	maxManifest   = 1 << 20
	maxCodeObject = 256 << 20
)

func readFile(path string, limit int64) ([]byte, error) {
	return plainfile.Read(os.DirFS(filepath.Dir(path)), filepath.Base(path), path, limit)
}

// Load makes the subjects of a user's own kernel: one for each target and
// wiring. The code object is an ELF file or an offload bundle; with an empty
// codeObjectPath the files are those that the manifest names. Every error
// names the file.
func Load(manifestPath, codeObjectPath string) ([]*Subject, error) {
	data, err := readFile(manifestPath, maxManifest)
	if err != nil {
		return nil, fmt.Errorf("manifest %w", err)
	}
	m, err := ParseManifest(manifestPath, data)
	if err != nil {
		return nil, err
	}
	dir := os.DirFS(filepath.Dir(manifestPath))
	if codeObjectPath == "" {
		return fromManifest(dir, filepath.Dir(manifestPath), manifestPath, data, m)
	}
	object, err := readFile(codeObjectPath, maxCodeObject)
	if err != nil {
		return nil, fmt.Errorf("code object %w", err)
	}
	var out []*Subject
	if len(m.CodeObjects) == 0 { // no word on targets: all that the file has
		files, err := codeobject.Read(object)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", codeObjectPath, err)
		}
		for _, f := range files {
			subjects, err := newSubjects(dir, m, data, manifestPath, f.Target, object, f)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", codeObjectPath, err)
			}
			out = append(out, subjects...)
		}
		return sorted(out), nil
	}
	var missing error
	for _, target := range slices.Sorted(maps.Keys(m.CodeObjects)) {
		f, err := codeobject.ReadTarget(object, target)
		if err != nil {
			missing = cmp.Or(missing, fmt.Errorf("%s: %w: %s lists %s under code_objects", codeObjectPath, err, manifestPath, targets(m)))
			continue
		}
		subjects, err := newSubjects(dir, m, data, manifestPath, target, object, f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", codeObjectPath, err)
		}
		out = append(out, subjects...)
	}
	if len(out) == 0 {
		// Say what is wrong with the file itself before what target it lacks.
		if _, err := codeobject.Read(object); err != nil {
			return nil, fmt.Errorf("%s: %w", codeObjectPath, err)
		}
		return nil, missing
	}
	return sorted(out), nil
}

func targets(m *Manifest) string {
	return strings.Join(slices.Sorted(maps.Keys(m.CodeObjects)), ", ")
}

// fromManifest makes the subjects of a manifest and the code objects beside
// it. dir is the manifest's folder and shown what people call it.
func fromManifest(dir fs.FS, shown, source string, manifest []byte, m *Manifest) ([]*Subject, error) {
	if len(m.CodeObjects) == 0 {
		return nil, fmt.Errorf("%s: code_objects: missing: name a file for each target, or give a code object with the manifest", source)
	}
	var out []*Subject
	for _, target := range slices.Sorted(maps.Keys(m.CodeObjects)) {
		name := path.Clean(m.CodeObjects[target])
		object, err := plainfile.Read(dir, name, name, maxCodeObject)
		if err != nil {
			return nil, fmt.Errorf("%s: code_objects.%s: %w", source, target, err)
		}
		f, err := codeobject.ReadTarget(object, target)
		if err != nil {
			if _, damaged := codeobject.Read(object); damaged != nil {
				return nil, fmt.Errorf("%s: %w", path.Join(filepath.ToSlash(shown), name), damaged)
			}
			return nil, fmt.Errorf("%s: %w: %s names it for %s", path.Join(filepath.ToSlash(shown), name), err, source, target)
		}
		subjects, err := newSubjects(dir, m, manifest, source, target, object, f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path.Join(filepath.ToSlash(shown), name), err)
		}
		out = append(out, subjects...)
	}
	return sorted(out), nil
}

// below makes the subjects of every *.yaml in dir and its folders. Those that
// cannot be read are reported together and do not keep the others away.
func below(dir fs.FS, shown string) ([]*Subject, []error) {
	var out []*Subject
	var problems []error
	from := map[string]string{} // manifest name -> file
	walk := func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", path.Join(shown, p), err))
			return nil
		}
		if d.IsDir() || path.Ext(p) != ".yaml" {
			return nil
		}
		subjects, err := one(dir, shown, p)
		if err == nil && from[subjects[0].Name] != "" {
			err = fmt.Errorf("%s: name: %s is the name of %s too: rename one", path.Join(shown, p), subjects[0].Name, from[subjects[0].Name])
		}
		if err != nil {
			problems = append(problems, err)
			return nil
		}
		from[subjects[0].Name] = path.Join(shown, p)
		out = append(out, subjects...)
		return nil
	}
	if err := fs.WalkDir(dir, ".", walk); err != nil {
		problems = append(problems, err)
	}
	return sorted(out), problems
}

// one makes the subjects of the manifest p of dir.
func one(dir fs.FS, shown, p string) ([]*Subject, error) {
	source := path.Join(shown, p)
	data, err := plainfile.Read(dir, p, source, maxManifest)
	if err != nil {
		return nil, err
	}
	m, err := ParseManifest(source, data)
	if err != nil {
		return nil, err
	}
	sub, err := fs.Sub(dir, path.Dir(p))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return fromManifest(sub, path.Dir(source), source, data, m)
}

// CacheEnv is the environment variable that moves the cache of imported kernels.
const CacheEnv = "MQAPROOF_CACHE"

// CacheDir is where imported kernels are kept: $MQAPROOF_CACHE, else
// mqaproof/kernels in the user's cache folder.
func CacheDir() (string, error) {
	if dir := os.Getenv(CacheEnv); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for imported kernels: %w: set %s", err, CacheEnv)
	}
	return filepath.Join(dir, "mqaproof", "kernels"), nil
}

// Imported makes the subjects of every manifest below dir; an empty dir means
// CacheDir. A folder that does not exist holds none. The errors say what is
// damaged, each naming its file; the subjects are those that are not, so that
// one bad import does not stop a run.
func Imported(dir string) ([]*Subject, []error) {
	if dir == "" {
		var err error
		if dir, err = CacheDir(); err != nil {
			return nil, []error{err}
		}
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, []error{fmt.Errorf("imported kernels: %w", err)}
	case !info.IsDir():
		return nil, []error{fmt.Errorf("imported kernels: %s is not a folder: set %s to one", dir, CacheEnv)}
	}
	return below(os.DirFS(dir), filepath.ToSlash(dir))
}

// sorted orders subjects by name, target and wiring, in place.
func sorted(subjects []*Subject) []*Subject {
	slices.SortFunc(subjects, func(a, b *Subject) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Wiring, b.Wiring))
	})
	return subjects
}
