package vectors

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Result is what came of one set.
type Result struct {
	Path  string `json:"path"`
	Kind  string `json:"kind"`            // "builder" or "matrix-core"
	Rule  string `json:"rule,omitempty"`  // of a matrix-core set
	Unit  string `json:"unit"`            // what is counted: "steps" or "outputs"
	Parts int    `json:"parts"`           // builder: sequences; matrix-core: tiles
	Total int    `json:"total"`           //
	Equal int    `json:"equal"`           //
	First string `json:"first,omitempty"` // the first that differs, in full
	Err   error  `json:"-"`               // the set is damaged; nothing was counted
}

// Holds says that every step or output is equal.
func (r Result) Holds() bool { return r.Err == nil && r.Equal == r.Total }

func (r Result) String() string {
	if r.Err != nil {
		return r.Err.Error()
	}
	what := r.Kind
	if r.Rule != "" {
		what += " " + r.Rule
	}
	parts := "sequences"
	if r.Kind == matrixKind {
		parts = "tiles"
	}
	return fmt.Sprintf("%s: %s, %d of %d %s equal (%d %s)", r.Path, what, r.Equal, r.Total, r.Unit, r.Parts, parts)
}

const (
	builderKind = "builder"
	matrixKind  = "matrix-core"
)

// Check reads the sets at paths, walking folders, and reports each in the
// order of the paths, those of a folder by name. A damaged set is reported
// with its error and the others are still read. The error says that a path
// cannot be read, names no set, or that the context ended.
func Check(ctx context.Context, paths []string, report func(Result)) error {
	sets, err := find(paths)
	if err != nil {
		return err
	}
	for _, path := range sets {
		if err := ctx.Err(); err != nil {
			return err
		}
		r, err := checkSet(ctx, path)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r = Result{Path: path, Kind: r.Kind, Unit: r.Unit, Err: err}
		}
		report(r)
	}
	return nil
}

func checkSet(ctx context.Context, path string) (Result, error) {
	if filepath.Ext(path) == ".jsonl" {
		return CheckBuilder(ctx, path)
	}
	return CheckMatrix(ctx, path)
}

// find lists the sets at paths.
func find(paths []string) ([]string, error) {
	var sets []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("vectors: %w", err)
		}
		if !info.IsDir() {
			if !isSet(path) {
				return nil, fmt.Errorf("vectors: %s is no vector set; a builder set is a .jsonl file, a matrix-core set a .json file with a .bin beside it", path)
			}
			sets = append(sets, strings.TrimSuffix(path, ".bin")+map[bool]string{true: ".json"}[strings.HasSuffix(path, ".bin")])
			continue
		}
		before := len(sets)
		err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Ext(p) != ".bin" && isSet(p) {
				sets = append(sets, p)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("vectors: %w", err)
		}
		if len(sets) == before {
			return nil, fmt.Errorf("vectors: no vector set in %s", path)
		}
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("vectors: no path given")
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(sets, func(p string) bool {
		again := seen[filepath.Clean(p)]
		seen[filepath.Clean(p)] = true
		return again
	}), nil
}

// isSet tells by name; a .json file is one when it has a blob beside it, or
// holds a list, so that a set whose blob is missing is told and not passed over.
func isSet(path string) bool {
	switch ext := filepath.Ext(path); ext {
	case ".jsonl":
		return true
	case ".json", ".bin":
		other := strings.TrimSuffix(path, ext) + map[string]string{".json": ".bin", ".bin": ".json"}[ext]
		if _, err := os.Stat(other); err == nil {
			return true
		}
		return ext == ".json" && holdsList(path)
	}
	return false
}

func holdsList(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 64)
	n, err := f.Read(head)
	return err == nil && strings.HasPrefix(strings.TrimSpace(string(head[:n])), "[")
}
