package kernels

import (
	"fmt"
	"slices"
	"strings"

	"mqaproof/model"

	"github.com/expr-lang/expr"
)

// tensorVars are the variables that only a case's tensors tell. Conditions
// (where) are asked before tensors are built and cannot use them.
var tensorVars = append([]string{"pages", "table_width", "max_context"}, stepVars...)

// stepVars are those that only a step tells.
var stepVars = []string{"step_tokens", "step_capacity", "chunk_first", "chunk_requests", "chunk_start", "chunk_end"}

// scope is the names that an expression may use, each with a slot in values.
type scope struct {
	names  []string
	index  map[string]int
	consts []constant        // in an order in which each needs only earlier ones
	hidden map[string]string // names that exist elsewhere, and why not here
}

type constant struct {
	name string
	slot int
	expr *expression
}

// newScope holds Vars, less those of tensorVars unless tensors is set.
func newScope(tensors bool) *scope {
	s := &scope{index: map[string]int{}, hidden: map[string]string{}}
	for _, n := range Vars {
		if !tensors && slices.Contains(tensorVars, n) {
			s.hidden[n] = "is not known before the tensors are built: a condition cannot use it"
			continue
		}
		s.add(n)
	}
	return s
}

func (s *scope) add(name string) int {
	s.index[name] = len(s.names)
	s.names = append(s.names, name)
	return s.index[name]
}

func (s *scope) options() []expr.Option {
	env := make(map[string]any, len(s.names))
	for _, n := range s.names {
		env[n] = 0
	}
	return append([]expr.Option{expr.Env(env)}, functions...)
}

// addConst compiles one constant; the names it uses must be in s already.
func (s *scope) addConst(name, source string) error {
	e, err := s.compile(source, integer)
	if err != nil {
		return err
	}
	s.consts = append(s.consts, constant{name, s.add(name), e})
	return nil
}

// addConsts compiles a manifest's constants, each after those that it uses.
// It reports every constant that cannot be compiled, by name.
func (s *scope) addConsts(consts map[string]string) map[string]error {
	todo := make([]string, 0, len(consts))
	for name := range consts {
		todo = append(todo, name)
	}
	slices.Sort(todo)
	for {
		failed := map[string]error{}
		var left []string
		for _, name := range todo {
			if err := s.addConst(name, consts[name]); err != nil {
				failed[name] = err
				left = append(left, name)
			}
		}
		if len(left) == 0 || len(left) == len(todo) {
			return failed
		}
		todo = left
	}
}

// hide keeps a constant out of s and says why when an expression names it.
func (s *scope) hide(name, why string) { s.hidden[name] = why }

// values are what the names of a scope stand for in one run.
type values struct {
	s *scope
	v []int
	m map[string]any // the same by name, made when an expression needs it
}

func (v *values) named() map[string]any {
	if v.m == nil {
		v.m = make(map[string]any, len(v.s.names))
		for i, n := range v.s.names[:len(v.v)] {
			v.m[n] = v.v[i]
		}
	}
	return v.m
}

func (v *values) push(x int) {
	if v.m != nil {
		v.m[v.s.names[len(v.v)]] = x
	}
	v.v = append(v.v, x)
}

// of evaluates the scope for a case: lookup gives each variable, then the
// constants follow.
func (s *scope) of(lookup func(name string) int) (*values, error) {
	v := &values{s: s, v: make([]int, 0, len(s.names))}
	for _, n := range s.names[:len(s.names)-len(s.consts)] {
		v.push(lookup(n))
	}
	for _, c := range s.consts {
		x, err := c.expr.int(v)
		if err != nil {
			return nil, fmt.Errorf("const %s: %w", c.name, err)
		}
		v.push(int(x))
	}
	return v, nil
}

// caseVar is a variable of Vars that the case alone tells.
func caseVar(c *model.Case, name string) int {
	switch name {
	case "batch":
		return len(c.Requests)
	case "next_n":
		return c.NextN
	case "heads":
		return c.Heads
	case "head_dim":
		return c.HeadDim
	case "page":
		return c.Page
	case "page_bytes":
		return c.Page * (c.HeadDim + scaleBytes)
	case "max_model_len":
		return c.MaxModelLen
	case "lengths_stride":
		return lengthsStride(c)
	case "rows":
		return len(c.Requests) * c.NextN
	case "world":
		return max(c.DCP.World, 1)
	case "rank":
		return c.DCP.Rank
	case "interleave":
		return max(c.DCP.Interleave, 1)
	case "ratio":
		return max(c.Ratio, 1)
	}
	panic("kernels: no such case variable: " + name)
}

// inputVar is any variable of Vars, given the case's tensors.
func inputVar(in *model.Inputs, name string) int {
	switch name {
	case "pages":
		return in.Cache.Pages
	case "page_bytes":
		return in.Cache.PageBytes
	case "table_width":
		return in.TableWidth
	case "max_context":
		m := int32(0)
		for _, n := range in.PerRequest {
			m = max(m, n)
		}
		return int(m)
	}
	if slices.Contains(stepVars, name) {
		return 0
	}
	return caseVar(&in.Case, name)
}

// scaleBytes is the float32 scale that every cached token carries.
const scaleBytes = 4

// lengthsStride is the row stride of the lengths table in elements.
func lengthsStride(c *model.Case) int {
	if c.LengthsStride == 0 {
		return c.NextN
	}
	return c.LengthsStride
}

// checkName refuses a constant's name that expressions could not tell apart.
func checkName(name string) error {
	switch {
	case slices.Contains(Vars, name):
		return fmt.Errorf("%s is a variable already: choose another name", name)
	case slices.Contains(functionNames, name):
		return fmt.Errorf("%s is a function: choose another name", name)
	case name == "" || strings.ContainsFunc(name, notIdentifier) || name[0] >= '0' && name[0] <= '9':
		return fmt.Errorf("%q is not a name: use letters, digits and _", name)
	}
	return nil
}

func notIdentifier(r rune) bool {
	return !(r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
}
