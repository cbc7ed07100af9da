package importer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// download gets the pinned release by name with pip, keeps the kernel sources
// of it in the cache folder, and drops the rest (a wheel may have hundreds of
// megabytes). What was kept is used the next time.
func (p *pkg) download(ctx context.Context, r Request, py *python, progress func(string)) (*source, error) {
	kept := filepath.Join(r.CacheDir, "sources", p.name+"-"+p.pinned)
	if isDir(kept) {
		return p.folder(kept)
	}
	if err := os.MkdirAll(filepath.Dir(kept), 0o777); err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(kept), ".download-")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	defer os.RemoveAll(tmp)

	progress(fmt.Sprintf("downloading %s==%s with pip", p.name, p.pinned))
	args := []string{"-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--no-input", "--quiet", "--dest", tmp}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		// Only the sources in the wheel matter, and some are built for Linux alone.
		args = append(args, "--platform", "manylinux_2_28_x86_64")
	}
	cmd := command(ctx, py.path, append(args, p.name+"=="+p.pinned)...)
	if _, err := cmd.Output(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%s %s is not installed and pip cannot download it: %w: give a wheel or a folder (--path)", p.name, p.pinned, runError(py.path, err))
	}
	wheels, err := filepath.Glob(filepath.Join(tmp, "*.whl"))
	if err != nil || len(wheels) != 1 {
		return nil, fmt.Errorf("%s %s: pip left %d wheels in %s, want 1", p.name, p.pinned, len(wheels), tmp)
	}
	w, err := p.wheel(wheels[0])
	if err != nil {
		return nil, err
	}
	out := filepath.Join(tmp, "sources")
	err = w.save(out)
	if closeErr := w.close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, err
	}
	// Another import may have been quicker.
	if err := os.Rename(out, kept); err != nil && !errors.Is(err, fs.ErrExist) && !isDir(kept) {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	return p.folder(kept)
}
