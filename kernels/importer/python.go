package importer

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// script takes a kernel out of its file and compiles it: see its own words.
//
//go:embed compile.py
var script []byte

// pinnedTriton is the compiler whose kernels were held against this tool.
const pinnedTriton = "3.9.0"

// python is an interpreter that has triton.
type python struct {
	path   string
	triton string // version
}

// probe asks an interpreter for what it has without importing any of it.
const probe = `
import importlib.metadata as m, importlib.util as u, json, sys
def version(*names):
    for n in names:
        try:
            return m.version(n)
        except m.PackageNotFoundError:
            pass
    return ""
def place(name):
    try:
        s = u.find_spec(name)
    except (ImportError, ValueError):
        return ""
    return (list(s.submodule_search_locations or []) or [""])[0] if s else ""
module, names = sys.argv[1], sys.argv[2:]
print(json.dumps({"version": version(*names) if place(module) else "", "place": place(module)}))
`

// installed is what probe tells of a module.
type installed struct {
	Version string // of its distribution; "" when unknown
	Place   string // folder of the module; "" when it is not installed
}

// look finds a module in the interpreter at path, by the names of the
// distributions that may hold it.
func look(ctx context.Context, path, module string, dists ...string) (installed, error) {
	cmd := command(ctx, path, append([]string{"-c", probe, module}, dists...)...)
	out, err := cmd.Output()
	if err != nil {
		return installed{}, runError(path, err)
	}
	var in installed
	if err := json.Unmarshal(out, &in); err != nil {
		return installed{}, fmt.Errorf("%s does not behave like a Python: asked for modules it printed %q", path, firstLine(string(out)))
	}
	return in, nil
}

// findPython is the interpreter asked for, or the first of the usual ones that
// has triton.
func findPython(ctx context.Context, asked string) (*python, error) {
	candidates := []string{asked}
	if asked == "" {
		candidates = []string{os.Getenv("MQAPROOF_PYTHON"), filepath.Join(".venv", "bin", "python"), "python3", "python"}
		candidates = slices.DeleteFunc(candidates, func(c string) bool { return c == "" })
	}
	var tried []string
	for _, c := range candidates {
		path, err := exec.LookPath(c)
		if err != nil {
			tried = append(tried, c+" (not found)")
			continue
		}
		if path, err = filepath.Abs(path); err != nil {
			return nil, err
		}
		in, err := look(ctx, path, "triton", "triton")
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		switch {
		case err != nil:
			tried = append(tried, fmt.Sprintf("%s (%v)", c, err))
		case in.Place == "":
			tried = append(tried, c+" (has no triton)")
		default:
			return &python{path: path, triton: in.Version}, nil
		}
	}
	return nil, fmt.Errorf("no Python with triton: tried %s; run `make tools`, or `pip install triton==%s` and name that Python (--python)",
		strings.Join(tried, ", "), pinnedTriton)
}

// job is what compile.py reads.
type job struct {
	Package    string             `json:"package"`
	File       string             `json:"file"`
	Shown      string             `json:"shown"`
	Function   string             `json:"function"`
	Target     string             `json:"target"`
	Types      map[string]string  `json:"types"`
	Constexprs map[string]any     `json:"constexprs"`
	Attrs      map[string][][]any `json:"attrs"`
	Required   []string           `json:"required"`
	Optional   []string           `json:"optional"`
	Returns    map[string]any     `json:"returns"`
	Options    map[string]any     `json:"options"`
	Out        string             `json:"out"`
}

// compiled is what compile.py gives.
type compiled struct {
	Kernel    string     `json:"kernel"`
	Shared    int        `json:"shared"` // dynamic LDS bytes
	NumWarps  int        `json:"num_warps"`
	Arguments []argument `json:"arguments"`
	Line      int        `json:"line"`
	Bounds    []string   `json:"bounds"` // what positions are compared with, by <=
	Reads     []string   `json:"reads"`  // parameters that the function's body reads
	Triton    string     `json:"triton"`
	Error     string     `json:"error"`

	object []byte
}

type argument struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// newJob is the plan as compile.py reads it; files are filled in by compile.
func newJob(p *plan, label string) job {
	j := job{
		Package: label, Function: p.Function, Target: p.Target,
		Types: map[string]string{}, Constexprs: p.Constexprs, Attrs: map[string][][]any{},
		Required: p.Required, Optional: p.Optional, Returns: p.Returns, Options: p.Options,
	}
	for name, prm := range p.Params {
		j.Types[name] = prm.tritonType(p.Target)
		if a := prm.attrs(); a != nil {
			j.Attrs[name] = a
		}
	}
	return j
}

// compile runs one job on the source text, in a folder of its own below dir.
func (py *python) compile(ctx context.Context, dir string, j job, source []byte) (*compiled, error) {
	dir, err := os.MkdirTemp(dir, "compile-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	at := func(name string) string { return filepath.Join(dir, name) }
	j.File, j.Out = at("source.py"), at("kernel.hsaco")
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	for name, data := range map[string][]byte{"compile.py": script, "source.py": source, "job.json": text} {
		if err := os.WriteFile(at(name), data, 0o600); err != nil {
			return nil, err
		}
	}
	cmd := command(ctx, py.path, at("compile.py"), at("job.json"), at("result.json"))
	_, runErr := cmd.Output()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	result, err := os.ReadFile(at("result.json"))
	if err != nil {
		if runErr != nil {
			return nil, fmt.Errorf("%s: compiling %s: %w", j.Package, j.Function, runError(py.path, runErr))
		}
		return nil, err
	}
	c := new(compiled)
	if err := json.Unmarshal(result, c); err != nil {
		return nil, fmt.Errorf("%s: compiling %s: damaged result: %w", j.Package, j.Function, err)
	}
	if c.Error != "" {
		return nil, errors.New(c.Error)
	}
	if runErr != nil {
		return nil, fmt.Errorf("%s: compiling %s: %w", j.Package, j.Function, runError(py.path, runErr))
	}
	c.object, err = os.ReadFile(j.Out)
	return c, err
}

// command runs a program in the user's environment, less the settings that
// change what Triton compiles.
func command(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = 5 * time.Second // a grandchild may hold the pipes open
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "TRITON_") })
	return cmd
}

// runError is what a failed program said last.
func runError(path string, err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if said := lastLine(string(exit.Stderr)); said != "" {
			return fmt.Errorf("%s: %v: %s", path, exit.ProcessState, said)
		}
	}
	return fmt.Errorf("%s: %w", path, err)
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

func lastLine(s string) string {
	s = string(bytes.TrimSpace([]byte(s)))
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}
