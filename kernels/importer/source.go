package importer

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// source is a package that was found: its files, by slash paths that start
// with the top module.
type source struct {
	pkg     *pkg
	files   fs.FS
	version string
	where   string // for messages
	close   func() error
}

// label names the package in messages: "amd-aiter 0.1.7".
func (s *source) label() string { return s.pkg.name + " " + s.version }

// maxSource is far above any kernel source, and keeps a hostile wheel from
// filling memory.
const maxSource = 16 << 20

// read gives the first of the files that the package has.
func (s *source) read(names []string) (name string, data []byte, err error) {
	for _, name := range names {
		data, err := readSmall(s.files, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", nil, fmt.Errorf("%s: cannot read %s in %s: %w", s.label(), name, s.where, err)
		}
		return name, data, nil
	}
	return "", nil, fmt.Errorf("%s: no %s in %s: the package keeps its kernels elsewhere, or this is another package", s.label(), strings.Join(names, " and no "), s.where)
}

func readSmall(files fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxSource {
		return nil, fmt.Errorf("%d bytes are too many for a source file", info.Size())
	}
	return fs.ReadFile(files, name)
}

// find is the installed copy of the package, else a download by name.
func (p *pkg) find(ctx context.Context, r Request, py *python, progress func(string)) (*source, error) {
	in, err := look(ctx, py.path, p.module, p.name)
	if err != nil {
		return nil, err
	}
	if in.Place != "" && in.Version != "" {
		progress(fmt.Sprintf("%s %s is installed in %s", p.name, in.Version, in.Place))
		s, err := p.folder(filepath.Dir(in.Place))
		if err != nil {
			return nil, err
		}
		s.version = in.Version
		return s, nil
	}
	return p.download(ctx, r, py, progress)
}

// open is the package in a folder or a wheel.
func (p *pkg) open(path string) (*source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	if info.IsDir() {
		return p.folder(path)
	}
	return p.wheel(path)
}

// folder is a checkout, a folder of installed packages, an unpacked wheel, or
// the top module's own folder.
func (p *pkg) folder(dir string) (*source, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root := abs
	if !isDir(filepath.Join(root, p.module)) {
		if filepath.Base(abs) != p.module {
			return nil, fmt.Errorf("%s: no folder %s in %s: give a checkout, an unpacked package or a wheel", p.name, p.module, dir)
		}
		root = filepath.Dir(abs)
	}
	s := &source{pkg: p, files: os.DirFS(root), where: dir, close: func() error { return nil }}
	if s.version, err = p.distVersion(s.files); err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	if s.version == "" {
		s.version = p.contentVersion(s.files)
	}
	return s, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// wheel is a wheel file; single files are read out of it.
func (p *pkg) wheel(path string) (*source, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %s is not a wheel that can be read: %w", p.name, path, err)
	}
	s := &source{pkg: p, files: z, where: path, close: z.Close}
	if s.version, err = p.distVersion(z); err == nil && s.version == "" {
		err = fmt.Errorf("it does not hold %s", p.name)
		if name := distName(z); name != "" {
			err = fmt.Errorf("it holds %s, not %s", name, p.name)
		}
	}
	if err != nil {
		z.Close()
		return nil, fmt.Errorf("%s: wheel %s: %w", p.name, path, err)
	}
	return s, nil
}

// distVersion is the version in the package's own metadata, "" without any.
func (p *pkg) distVersion(files fs.FS) (string, error) {
	for _, name := range metadataFiles(files) {
		data, err := readSmall(files, name)
		if err != nil {
			return "", fmt.Errorf("cannot read %s: %w", name, err)
		}
		if normal(metadataField(data, "Name")) != normal(p.name) {
			continue
		}
		v := metadataField(data, "Version")
		if !plainVersion.MatchString(v) {
			return "", fmt.Errorf("%s gives the version as %q", name, v)
		}
		return v, nil
	}
	return "", nil
}

// plainVersion is what may become part of a folder's name.
var plainVersion = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+!_-]{0,99}$`)

// distName is the name that any metadata in files gives.
func distName(files fs.FS) string {
	for _, name := range metadataFiles(files) {
		if data, err := readSmall(files, name); err == nil {
			return metadataField(data, "Name")
		}
	}
	return ""
}

func metadataFiles(files fs.FS) []string {
	names, err := fs.Glob(files, "*.dist-info/METADATA")
	if err != nil { // only for a bad pattern
		panic(err)
	}
	slices.Sort(names)
	return names
}

// metadataField is a field of a distribution's metadata, which has the form of
// mail headers.
func metadataField(data []byte, field string) string {
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() && lines.Text() != "" {
		if v, ok := strings.CutPrefix(lines.Text(), field+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// normal is a distribution's name as package indexes compare them.
func normal(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "-", ".", "-").Replace(name))
}

// contentVersion names a source tree without a version by what its kernel
// sources hold.
func (p *pkg) contentVersion(files fs.FS) string {
	h := sha256.New()
	for _, name := range p.files {
		data, err := readSmall(files, name)
		if err != nil {
			continue // reported when a kernel in it is asked for
		}
		fmt.Fprintf(h, "%s %d\n", name, len(data))
		h.Write(data)
	}
	return "source-" + hex.EncodeToString(h.Sum(nil))[:10]
}

// save copies the kernel sources and the metadata into dir, so that they need
// not be downloaded again.
func (s *source) save(dir string) error {
	names := append(slices.Clone(s.pkg.files), metadataFiles(s.files)...)
	for _, name := range names {
		data, err := readSmall(s.files, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: cannot read %s in %s: %w", s.label(), name, s.where, err)
		}
		to := filepath.Join(dir, filepath.FromSlash(path.Clean(name)))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(to, data, 0o666); err != nil {
			return err
		}
	}
	return nil
}
