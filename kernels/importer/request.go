package importer

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mqaproof/kernels"
)

// Request says what to import. Only Package is needed; a zero field means the
// default told beside it.
type Request struct {
	Package string // amd-aiter, vllm (releases), or aiter (a source checkout)
	Path    string // a checkout, an unpacked package, or a wheel; default: an installed copy, else a download by name
	Target  string // gfx942 (default) or gfx950

	// Shapes: every combination that a kernel can have is compiled.
	Heads   []int // default 64
	HeadDim []int // default 128
	Page    []int // default: 1 for AITER's one-token kernels, 1 and 64 for its paged ones, 16 and 64 preshuffled, 64 for vLLM
	NextN   []int // default 1, 2, 3; only vLLM's kernel is compiled for one next_n
	ChunkK  []int // positions a step; default: what the package's launcher uses
	SplitKV []int // programs that share a row's context; default: what the package's launcher uses, or comes nearest to

	// Of vLLM's metadata kernels.
	Ratio           []int // compress ratios; default 1, 2, 4, 128
	BlockTableWidth []int // block table columns of the decode-metadata kernel; default 20, 64

	CacheDir string // default: kernels.CacheDir
	Python   string // default: $MQAPROOF_PYTHON, .venv/bin/python, python3, python: the first that has triton
}

// Packages are the names that Request.Package takes.
func Packages() []string {
	names := make([]string, len(packages))
	for i, p := range packages {
		names[i] = p.name
	}
	return names
}

const (
	gfx942 = "gfx942"
	gfx950 = "gfx950"
)

// normalise fills in defaults that do not depend on the kernel and checks the
// rest. Shapes stay nil where each kernel has its own default.
func (r Request) normalise() (Request, *pkg, error) {
	i := slices.IndexFunc(packages, func(p *pkg) bool { return p.name == r.Package })
	if i < 0 {
		return r, nil, fmt.Errorf("no package %q to import: %s are known", r.Package, strings.Join(Packages(), ", "))
	}
	p := packages[i]
	if r.Target == "" {
		r.Target = gfx942
	}
	if r.Target != gfx942 && r.Target != gfx950 {
		return r, nil, fmt.Errorf("target %q: kernels can be imported for %s and %s", r.Target, gfx942, gfx950)
	}
	if r.Path == "" && p.pinned == "" {
		return r, nil, fmt.Errorf("%s is a source checkout: say where it lies (--path)", p.name)
	}
	r.Heads = orDefault(r.Heads, 64)
	r.HeadDim = orDefault(r.HeadDim, 128)
	r.NextN = orDefault(r.NextN, 1, 2, 3)
	r.Ratio = orDefault(r.Ratio, 1, 2, 4, 128)
	r.BlockTableWidth = orDefault(r.BlockTableWidth, 20, 64)
	for _, l := range []struct {
		name     string
		values   []int
		max      int
		powerOf2 bool // the kernels build index ranges of this length, which Triton wants as powers of two
	}{
		{"heads", r.Heads, 128, true},
		{"head_dim", r.HeadDim, 512, true},
		{"page", r.Page, 1024, true},
		{"next_n", r.NextN, 8, false},
		{"ChunkK", r.ChunkK, 1024, true},
		{"SplitKV", r.SplitKV, 1024, false},
		{"ratio", r.Ratio, 4096, false},
		{"block table width", r.BlockTableWidth, 1 << 14, false},
	} {
		for _, v := range l.values {
			if v < 1 || v > l.max || l.powerOf2 && v&(v-1) != 0 {
				kind := ""
				if l.powerOf2 {
					kind = "a power of two "
				}
				return r, nil, fmt.Errorf("%s is %d: kernels are compiled for %sfrom 1 to %d", l.name, v, kind, l.max)
			}
		}
	}
	if r.CacheDir == "" {
		dir, err := kernels.CacheDir()
		if err != nil {
			return r, nil, err
		}
		r.CacheDir = dir
	}
	dir, err := filepath.Abs(r.CacheDir)
	if err != nil {
		return r, nil, fmt.Errorf("folder for imported kernels: %w", err)
	}
	r.CacheDir = dir
	return r, p, nil
}

// orDefault is the values in ascending order without repeats, or the defaults.
func orDefault(values []int, defaults ...int) []int {
	if len(values) == 0 {
		return defaults
	}
	values = slices.Clone(values)
	slices.Sort(values)
	return slices.Compact(values)
}
