package importer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Import compiles the kernels of a package and writes a manifest and a code
// object for each into CacheDir/PACKAGE-VERSION, where package kernels finds
// them. It gives the paths of the manifests in a fixed order. A kernel that
// fails does not keep the others away: the error then joins one line for each
// that failed, and the paths are those of the rest. What is there already and
// would come out the same is left as it is. Progress gets short lines, one at
// a time; it may be nil.
func Import(ctx context.Context, r Request, progress func(string)) ([]string, error) {
	r, p, err := r.normalise()
	if err != nil {
		return nil, err
	}
	progress = serial(progress)
	var src *source
	if r.Path != "" { // before Python is looked for, so that a wrong path is told first
		if src, err = p.open(r.Path); err != nil {
			return nil, err
		}
		defer src.close()
	}
	py, err := findPython(ctx, r.Python)
	if err != nil {
		return nil, err
	}
	if py.triton != pinnedTriton {
		progress(fmt.Sprintf("note: triton is %s; kernels were tried with %s", py.triton, pinnedTriton))
	}
	if src == nil {
		if src, err = p.find(ctx, r, py, progress); err != nil {
			return nil, err
		}
		defer src.close()
	}
	tmp, err := os.MkdirTemp("", "mqaproof-import-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)

	w := &work{Request: r, py: py, src: src, tmp: tmp, progress: progress,
		dir: filepath.Join(r.CacheDir, p.name+"-"+src.version)}
	return w.all(ctx, p.plans(r))
}

// serial makes progress safe to call from several goroutines.
func serial(progress func(string)) func(string) {
	if progress == nil {
		return func(string) {}
	}
	var mu sync.Mutex
	return func(line string) {
		mu.Lock()
		defer mu.Unlock()
		progress(line)
	}
}

// work is one import under way.
type work struct {
	Request
	py       *python
	src      *source
	tmp, dir string
	progress func(string)
}

// compilers is how many kernels are compiled at a time; each needs some
// hundred megabytes.
func compilers() int { return min(runtime.NumCPU(), 8) }

func (w *work) all(ctx context.Context, plans []*plan) ([]string, error) {
	plans, err := w.possible(plans)
	if err != nil {
		return nil, err
	}
	paths, errs := make([]string, len(plans)), make([]error, len(plans))
	var g errgroup.Group
	g.SetLimit(compilers())
	for i, p := range plans {
		g.Go(func() error {
			if ctx.Err() == nil {
				paths[i], errs[i] = w.one(ctx, p)
			}
			return nil // kept in errs: the others go on
		})
	}
	if err := g.Wait(); err != nil { // never
		return nil, err
	}
	var made []string
	for _, path := range paths {
		if path != "" {
			made = append(made, path)
		}
	}
	if ctx.Err() != nil {
		return made, ctx.Err()
	}
	return made, errors.Join(errs...)
}

// possible leaves out the shapes that a kernel cannot have, and says so. It is
// an error when none is left.
func (w *work) possible(plans []*plan) ([]*plan, error) {
	var left []*plan
	var problems []error
	for _, p := range plans {
		if p.Problem == "" {
			left = append(left, p)
			continue
		}
		w.progress(fmt.Sprintf("leaving out %s: %s", p.Name, p.Problem))
		problems = append(problems, fmt.Errorf("%s: %s: %s", w.src.label(), p.Name, p.Problem))
	}
	if len(left) == 0 {
		return nil, errors.Join(problems...)
	}
	return left, nil
}

// one compiles and writes a plan, or finds it written.
func (w *work) one(ctx context.Context, p *plan) (string, error) {
	name, text, err := w.src.read(p.Files)
	if err != nil {
		return "", err
	}
	key, err := w.key(p, text)
	if err != nil {
		return "", err
	}
	base := filepath.Join(w.dir, path.Base(p.Name))
	if reusable(base, p.Name, key) {
		w.progress(fmt.Sprintf("%s is there already", p.Name))
		return base + ".yaml", nil
	}
	j := newJob(p, w.src.label())
	j.Shown = w.src.where + ":" + name
	c, err := w.py.compile(ctx, w.tmp, j, text)
	if err != nil {
		return "", err
	}
	about := fmt.Sprintf("%s, from %s, %s:%d (sha256 %s), compiled by triton %s; code object sha256 %s, import %s",
		p.What, w.src.label(), name, c.Line, short(text), c.Triton, short(c.object), key)
	k, err := p.kernel(c)
	if err != nil {
		return "", err
	}
	m, err := p.describe(c, k, about, path.Base(p.Name)+".hsaco")
	if err != nil {
		return "", err
	}
	if err := write(base, m, c.object); err != nil {
		return "", fmt.Errorf("%s: %w", p.Name, err)
	}
	if err := w.retire(p.Name); err != nil {
		return "", fmt.Errorf("%s: %w", p.Name, err)
	}
	w.progress("imported " + p.Name)
	return base + ".yaml", nil
}

// describing is raised when manifests come out otherwise for the same plan, so
// that kernels imported earlier are written anew.
const describing = 1

// key tells all that decides what a plan gives.
func (w *work) key(p *plan, source []byte) (string, error) {
	data, err := json.Marshal(struct {
		Describing     int
		Script, Source string
		Label, Triton  string
		Plan           *plan
	}{describing, short(script), short(source), w.src.label(), w.py.triton, p})
	if err != nil {
		return "", fmt.Errorf("%s: %w", p.Name, err)
	}
	return short(data), nil
}

// short is the first 16 hex digits of data's SHA-256.
func short(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// endsWithKey reports whether a manifest's sentence is that of key.
func endsWithKey(about, key string) bool { return strings.HasSuffix(about, ", import "+key) }
