package kernels

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mqaproof/model"
	"mqaproof/model/fp8"
	"mqaproof/sim/isa"

	"github.com/goccy/go-yaml"
	yamlast "github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// ParseManifest reads one manifest. Unknown and repeated keys, unknown names
// and expressions that do not compile are errors; every error is a line
// "file:line: where: what", and all that are found are given at once. The code
// objects that the manifest names are not opened.
func ParseManifest(file string, data []byte) (*Manifest, error) {
	m := new(Manifest)
	if err := yaml.UnmarshalWithOptions(data, m, yaml.Strict()); err != nil {
		return nil, yamlError(file, err)
	}
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, yamlError(file, err)
	}
	c := &checker{file: file, tree: tree}
	m.compiled = c.manifest(m)
	if err := errors.Join(c.problems...); err != nil {
		return nil, err
	}
	return m, nil
}

// ReadManifest is ParseManifest of a file.
func ReadManifest(path string) (*Manifest, error) {
	data, err := readFile(path, maxManifest)
	if err != nil {
		return nil, err
	}
	return ParseManifest(path, data)
}

// yamlError is the library's error on one line, without its excerpt.
func yamlError(file string, err error) error {
	var ye yaml.Error
	if errors.As(err, &ye) && ye.GetToken() != nil {
		return fmt.Errorf("%s:%d: %s", file, ye.GetToken().Position.Line, ye.GetMessage())
	}
	return fmt.Errorf("%s: not a manifest: %w", file, err)
}

// compiled is a manifest's expressions, ready to evaluate.
type compiled struct {
	conditions *scope // for limits and wirings: what a case tells
	launching  *scope // for the rest: what its tensors tell too
	limits     *expression
	tile       *expression
	wirings    map[string]*expression // nil: always
	launches   []compiledLaunch
}

type compiledLaunch struct {
	grid, block []*expression
	lds         *expression // nil: 0
	args        []compiledArg
}

type compiledArg struct {
	offset *expression // of a tensor; nil: 0
	value  *expression // of a value; nil: a null pointer
}

// checker collects what is wrong with a manifest.
type checker struct {
	file     string
	tree     *yamlast.File
	problems []error
}

func (c *checker) fail(where, format string, args ...any) {
	pos := c.file
	if line := c.line(where); line > 0 {
		pos += ":" + strconv.Itoa(line)
	}
	c.problems = append(c.problems, fmt.Errorf("%s: %s: %s", pos, where, fmt.Sprintf(format, args...)))
}

// line is where the file has the given key, or the nearest key around it; 0
// when it has neither.
func (c *checker) line(where string) int {
	for where != "" {
		if p, err := yaml.PathString("$." + quoteKeys(where)); err == nil {
			if n, err := p.FilterFile(c.tree); err == nil && n != nil && n.GetToken() != nil {
				return n.GetToken().Position.Line
			}
		}
		where = where[:max(strings.LastIndexAny(where, ".["), 0)]
	}
	return 0
}

// quoteKeys makes a YAML path of ours: keys with a dash need quotes.
func quoteKeys(where string) string {
	keys := strings.Split(where, ".")
	for i, k := range keys {
		if strings.Contains(k, "-") {
			keys[i] = "'" + k + "'"
		}
	}
	return strings.Join(keys, ".")
}

var (
	manifestName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*$`)
	faultID      = regexp.MustCompile(`^[A-Z][A-Z0-9]*$`)
)

// wiringNames are the wirings known for each kind.
var wiringNames = map[Kind][]string{
	Logits:   {"table", "last-column", "per-row"},
	Metadata: {"device"},
}

func (c *checker) manifest(m *Manifest) *compiled {
	if !manifestName.MatchString(m.Name) {
		c.fail("name", "%q is not a name: use small letters, digits and . _ - with / between parts, as in hip/naive", m.Name)
	}
	if m.Kind != Logits && m.Kind != Metadata {
		c.fail("kind", "%q is not known: %s and %s are", m.Kind, Logits, Metadata)
	}
	for _, t := range slices.Sorted(maps.Keys(m.CodeObjects)) {
		if _, err := isa.ParseTarget(t); err != nil {
			c.fail("code_objects."+t, "%v", err)
		}
		if f := m.CodeObjects[t]; f == "" || filepath.IsAbs(f) || !filepath.IsLocal(filepath.FromSlash(f)) {
			c.fail("code_objects."+t, "%q: give a file below the manifest's own folder", f)
		}
	}
	if m.FP8 != "" {
		if _, err := parseFormat(m.FP8); err != nil {
			c.fail("fp8", "%v", err)
		}
	}
	if m.Kind == Logits && len(m.Layouts) == 0 {
		c.fail("layouts", "missing: list at least one of %s, %s, %s", model.BlockFlat, model.Interleaved, model.Preshuffled)
	}
	for i, l := range m.Layouts {
		switch l {
		case model.BlockFlat, model.Interleaved, model.Preshuffled:
		default:
			c.fail(fmt.Sprintf("layouts[%d]", i), "%q is not known: %s, %s and %s are", l, model.BlockFlat, model.Interleaved, model.Preshuffled)
		}
	}
	if m.Reads != "" && m.Reads != ReadsTokens && m.Reads != ReadsPages {
		c.fail("reads", "%q is not known: %s and %s are", m.Reads, ReadsTokens, ReadsPages)
	}

	if problem := profileProblem(m.Profile); m.Profile != "" && problem != "" {
		c.fail("profile", "%s", problem)
	}

	c.step(m)

	p := &compiled{conditions: newScope(false), launching: newScope(true), wirings: map[string]*expression{}}
	c.consts(m, p)
	c.limits(m, p)
	if m.Tile != "" {
		p.tile = c.expr(p.launching, "tile", m.Tile, integer)
	}
	c.wirings(m, p)
	if len(m.Launches) == 0 {
		c.fail("launches", "missing: a manifest describes at least one launch")
	}
	outputs := map[string]bool{}
	for i := range m.Launches {
		p.launches = append(p.launches, c.launch(m, p, i, outputs))
	}
	c.outputs(m, outputs)
	return p
}

func (c *checker) step(m *Manifest) {
	switch s := m.Step; {
	case s == nil:
	case m.Kind != Metadata:
		c.fail("step", "only a %s kernel has one, this is a %s kernel", Metadata, m.Kind)
	case !slices.Contains(model.StepKinds, s.Kind):
		c.fail("step.kind", "%q is not known: %v are", s.Kind, model.StepKinds)
	case s.BlockTableWidth < 0 || s.BlockTableWidth > maxStepWidth:
		c.fail("step.block_table_width", "%d is no number of columns: give 1 to %d, or leave it out", s.BlockTableWidth, maxStepWidth)
	case s.BlockTableWidth > 0 && s.Kind == model.SlotsStep:
		c.fail("step.block_table_width", "a %s kernel looks pages up in the case's own block table", s.Kind)
	}
}

// maxStepWidth bounds what a manifest can make a step allocate.
const maxStepWidth = 1 << 14

func (c *checker) consts(m *Manifest, p *compiled) {
	ok := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(m.Const)) {
		if err := checkName(name); err != nil {
			c.fail("const."+name, "%v", err)
			continue
		}
		ok[name] = m.Const[name]
	}
	failed := p.launching.addConsts(ok)
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		c.fail("const."+name, "%v", failed[name])
		delete(ok, name)
	}
	for name := range p.conditions.addConsts(ok) {
		p.conditions.hide(name, "depends on the tensors ("+strings.Join(tensorVars, ", ")+"): a condition cannot use it")
	}
}

func (c *checker) limits(m *Manifest, p *compiled) {
	for _, l := range m.Limits.lists() {
		for i, v := range l.allowed {
			if v <= 0 {
				c.fail(fmt.Sprintf("limits.%s[%d]", l.name, i), "%d is not a size: it must be positive", v)
			}
		}
	}
	if m.Limits.Where != "" {
		p.limits = c.expr(p.conditions, "limits.where", m.Limits.Where, boolean)
	}
}

func (c *checker) wirings(m *Manifest, p *compiled) {
	known := wiringNames[m.Kind]
	if len(m.Wirings) == 0 {
		c.fail("wirings", "missing: name at least one of %s", strings.Join(known, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Wirings)) {
		where, w := "wirings."+name, m.Wirings[name]
		if known != nil && !slices.Contains(known, name) {
			c.fail(where, "unknown wiring: a %s kernel has %s", m.Kind, strings.Join(known, ", "))
		}
		if w.Where != "" {
			p.wirings[name] = c.expr(p.conditions, where+".where", w.Where, boolean)
		}
		switch {
		case w.Fault != "" && !faultID.MatchString(w.Fault):
			c.fail(where+".fault", "%q is not a fault id such as B01", w.Fault)
		case (w.Fault == "") != (w.Property == ""):
			c.fail(where, "fault and property go together: the id of the fault, and the property that it breaks")
		}
	}
}

func (c *checker) launch(m *Manifest, p *compiled, i int, outputs map[string]bool) compiledLaunch {
	where, l := fmt.Sprintf("launches[%d]", i), m.Launches[i]
	if l.Kernel == "" {
		c.fail(where+".kernel", "missing: give the kernel's symbol")
	}
	out := compiledLaunch{
		grid:  c.dims(p, where+".grid", l.Grid),
		block: c.dims(p, where+".block", l.Block),
	}
	if l.LDS != "" {
		out.lds = c.expr(p.launching, where+".lds", l.LDS, integer)
	}
	for j, a := range l.Args {
		out.args = append(out.args, c.arg(m, p, fmt.Sprintf("%s.args[%d]", where, j), a))
		outputs[a.Tensor] = true
	}
	return out
}

func (c *checker) dims(p *compiled, where string, dims []string) []*expression {
	if len(dims) < 1 || len(dims) > 3 {
		c.fail(where, "has %d dimensions, want 1 to 3", len(dims))
	}
	out := make([]*expression, len(dims))
	for i, d := range dims {
		out[i] = c.expr(p.launching, fmt.Sprintf("%s[%d]", where, i), d, integer)
	}
	return out
}

func (c *checker) arg(m *Manifest, p *compiled, where string, a Arg) (out compiledArg) {
	if a.Name == "" {
		c.fail(where+".name", "missing: name the argument")
	}
	switch {
	case a.Tensor != "":
		if a.Type != "" || a.Value != "" {
			c.fail(where, "argument %s is a tensor: it has no type and no value", a.Name)
		}
		if !slices.Contains(Tensors, a.Tensor) {
			c.fail(where+".tensor", "%q is not known: %s are", a.Tensor, strings.Join(Tensors, ", "))
		} else if t := tensorOf(a.Tensor); t.only != "" && t.only != m.Kind {
			c.fail(where+".tensor", "%s belongs to %s kernels, this is a %s kernel", a.Tensor, t.only, m.Kind)
		} else if t.steps != nil && (m.Step == nil || !slices.Contains(t.steps, m.Step.Kind)) {
			c.fail(where+".tensor", "%s belongs to metadata kernels with a step of kind %v", a.Tensor, t.steps)
		} else if m.Step != nil && t.output && t.steps == nil && !strings.HasPrefix(t.name, "scratch") {
			c.fail(where+".tensor", "%s belongs to metadata kernels without a step", a.Tensor)
		}
		if a.Offset != "" {
			out.offset = c.expr(p.launching, where+".offset", a.Offset, integer)
		}
	case a.Offset != "":
		c.fail(where, "argument %s has an offset but no tensor", a.Name)
	case a.Type == "ptr":
		if a.Value != "" {
			c.fail(where, "argument %s is a null pointer (type ptr): it has no value", a.Name)
		}
	case a.Type == "" && a.Value == "":
		c.fail(where, "argument %s: give a tensor, or a type and a value", a.Name)
	case argSize(a.Type) == 0:
		c.fail(where+".type", "%q is not known: %s and ptr are", a.Type, strings.Join(valueTypes, ", "))
	default:
		want := integer
		if a.Type == "f32" {
			want = number
		}
		out.value = c.expr(p.launching, where+".value", a.Value, want)
	}
	return out
}

// outputs checks that the launches write what the kind promises.
func (c *checker) outputs(m *Manifest, named map[string]bool) {
	switch m.Kind {
	case Logits:
		if named["logits"] == named["head_logits"] {
			c.fail("launches", "a logits kernel has an argument with tensor logits or one with head_logits, and not both")
		}
	case Metadata:
		if m.Step != nil {
			c.stepOutputs(m, named)
			return
		}
		for _, t := range []string{"table_out", "per_request_out"} {
			if !named[t] {
				c.fail("launches", "no argument has tensor %s: a metadata kernel writes table_out and per_request_out", t)
			}
		}
	}
}

func (c *checker) stepOutputs(m *Manifest, named map[string]bool) {
	var known []string
	for i := range tensorTable {
		if t := &tensorTable[i]; t.output && slices.Contains(t.steps, m.Step.Kind) {
			if named[t.name] {
				return
			}
			known = append(known, t.name)
		}
	}
	c.fail("launches", "no argument is an output: a %s kernel writes %s", m.Step.Kind, strings.Join(known, ", "))
}

func (c *checker) expr(s *scope, where, source string, want valueType) *expression {
	e, err := s.compile(source, want)
	if err != nil {
		c.fail(where, "%v", err)
	}
	return e
}

// parseFormat reads a format by its name.
func parseFormat(s string) (fp8.Format, error) {
	for _, f := range []fp8.Format{fp8.E4M3FN, fp8.E4M3FNUZ} {
		if s == f.String() {
			return f, nil
		}
	}
	return 0, fmt.Errorf("%q is not an fp8 format: %s and %s are", s, fp8.E4M3FN, fp8.E4M3FNUZ)
}
