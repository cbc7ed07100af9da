package corpus

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"mqaproof/internal/plainfile"
)

//go:embed *.json
var saved embed.FS

// Saved is the repository's own corpus, which travels in the binary.
func Saved() fs.FS { return saved }

// Named is an entry and the file it came from.
type Named struct {
	Path string
	*Entry
}

// Dir is the entries of a folder in the order of their names. Damaged and
// foreign JSON files are left out, and each has an error in problems.
func Dir(fsys fs.FS, root string) (entries []Named, problems []error, err error) {
	files, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, nil, fmt.Errorf("reading corpus folder %s: %w", root, err)
	}
	for _, f := range files {
		if f.IsDir() || path.Ext(f.Name()) != ".json" {
			continue
		}
		name := filepath.Join(root, f.Name())
		e, err := readFrom(fsys, f.Name(), name)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		entries = append(entries, Named{Path: name, Entry: e})
	}
	return entries, problems, nil
}

func readFrom(fsys fs.FS, file, name string) (*Entry, error) {
	b, err := plainfile.Read(fsys, file, name, maxFile)
	if err != nil {
		return nil, err
	}
	return Decode(name, b)
}

// Open finds one entry: a path to a file, else the name, or an unambiguous
// start of the name, of a file in the folder dir or in the saved corpus.
func Open(dir, name string) (Named, error) {
	if strings.ContainsRune(name, filepath.Separator) || path.Ext(name) == ".json" {
		if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			e, err := readFrom(os.DirFS(filepath.Dir(name)), filepath.Base(name), name)
			return Named{Path: name, Entry: e}, err
		}
	}
	base := filepath.Base(name)
	var found []Named
	for _, place := range places(dir) {
		file, err := matching(place.fsys, base)
		if err != nil {
			return Named{}, err
		}
		if file == "" {
			continue
		}
		full := filepath.Join(place.root, file)
		e, err := readFrom(place.fsys, file, full)
		if err != nil {
			return Named{}, err
		}
		found = append(found, Named{Path: full, Entry: e})
	}
	if len(found) == 0 {
		return Named{}, fmt.Errorf("no corpus case is called %q, neither as a file nor in %s nor among the saved ones: see `mqaproof corpus list`", name, dir)
	}
	return found[0], nil
}

type place struct {
	fsys fs.FS
	root string
}

// places where cases are looked for: the user's folder before the saved ones.
func places(dir string) []place {
	var ps []place
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		ps = append(ps, place{os.DirFS(dir), dir})
	}
	return append(ps, place{saved, "corpus"})
}

func matching(fsys fs.FS, start string) (string, error) {
	files, err := fs.Glob(fsys, "*.json")
	if err != nil {
		return "", err
	}
	var match []string
	for _, f := range files {
		if f == start || strings.TrimSuffix(f, ".json") == start {
			return f, nil
		}
		if strings.HasPrefix(f, start) {
			match = append(match, f)
		}
	}
	switch len(match) {
	case 0:
		return "", nil
	case 1:
		return match[0], nil
	}
	return "", fmt.Errorf("%q is the start of %d corpus cases: %s", start, len(match), strings.Join(match, ", "))
}

// Exists reports that a folder the user named is none.
func Exists(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("corpus folder %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("corpus folder %s is a file", dir)
	}
	return nil
}

// All is the entries of a folder, or the saved corpus where the folder does
// not exist.
func All(dir string) (entries []Named, problems []error, err error) {
	ps := places(dir)
	return Dir(ps[0].fsys, ps[0].root)
}

// Prepare makes the folder, where it is missing, and finds out whether a file
// can be written there, so that a long run learns of it before it starts.
func Prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("corpus folder %s: %w: name another with --corpus", dir, err)
	}
	f, err := os.CreateTemp(dir, unfinished)
	if err != nil {
		return fmt.Errorf("corpus folder %s cannot be written to: %w: name another with --corpus", dir, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// unfinished files are those of a save that was killed.
const unfinished = ".saving-*"

// Save writes the entry into dir under its own name, whole or not at all, and
// gives the path. An entry that is there already is left as it is; a damaged
// file in its place is replaced.
func Save(dir string, e *Entry) (string, error) {
	e.Format = Format
	name := filepath.Join(dir, e.FileName())
	if _, err := readFrom(os.DirFS(dir), e.FileName(), name); err == nil {
		return name, nil
	}
	b, err := e.Encode()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("making the corpus folder: %w", err)
	}
	sweep(dir)
	tmp, err := os.CreateTemp(dir, unfinished)
	if err != nil {
		return "", fmt.Errorf("saving a corpus case: %w", err)
	}
	defer os.Remove(tmp.Name()) // gone already once renamed
	_, err = tmp.Write(b)
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		return "", fmt.Errorf("saving %s: %w", name, err)
	}
	return name, nil
}

// sweep removes what killed saves left more than an hour ago.
func sweep(dir string) {
	old, err := filepath.Glob(filepath.Join(dir, unfinished))
	if err != nil {
		return // only a bad pattern
	}
	for _, f := range old {
		if info, err := os.Stat(f); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(f) // another save may have done so
		}
	}
}
