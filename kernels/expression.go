package kernels

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// valueType is what an expression must give.
type valueType uint8

const (
	integer valueType = iota
	boolean
	number // an integer or a float, for f32 arguments
)

func (t valueType) String() string {
	return [...]string{"an integer", "a bool", "a number"}[t]
}

// expression is one compiled expression of a manifest. Integers are 64 bits
// wide and "/" between them divides as Go does, so that no length or size
// ever passes through a float.
type expression struct {
	source string
	slot   int // of the variable, where the expression is nothing else; else -1
	fixed  any // the value, where the expression is a literal; else nil
	prog   *vm.Program
}

// machines are reused: a fuzz run evaluates millions of small expressions.
var machines = sync.Pool{New: func() any { return new(vm.VM) }}

// compile turns source into an expression over the names of s.
func (s *scope) compile(source string, want valueType) (*expression, error) {
	if strings.TrimSpace(source) == "" {
		return nil, fmt.Errorf("is empty: give %s", want)
	}
	prog, err := expr.Compile(divideIntegers(source, want), s.options()...)
	if err != nil {
		return nil, s.explain(source, err)
	}
	node := prog.Node()
	if !isA(node.Type(), want) {
		return nil, fmt.Errorf("%q gives %v, want %s", source, node.Type(), want)
	}
	e := &expression{source: source, slot: -1, prog: prog}
	switch n := node.(type) {
	case *ast.IdentifierNode:
		e.slot = s.index[n.Value]
	case *ast.IntegerNode:
		e.fixed = n.Value
	case *ast.BoolNode:
		e.fixed = n.Value
	case *ast.FloatNode:
		e.fixed = n.Value
	}
	return e, nil
}

// divideIntegers writes a / b as div(a, b), since the library's / always gives
// a float. (Its own way to give an operator another meaning, expr.Operator,
// loses type errors inside of calls.) A source that does not parse stays as it
// is: compiling it says why. Numbers keep the float division.
func divideIntegers(source string, want valueType) string {
	if want == number || !strings.Contains(source, "/") {
		return source
	}
	tree, err := parser.Parse(source)
	if err != nil {
		return source
	}
	ast.Walk(&tree.Node, divider{})
	return tree.Node.String()
}

type divider struct{}

func (divider) Visit(node *ast.Node) {
	if b, ok := (*node).(*ast.BinaryNode); ok && b.Operator == "/" {
		*node = &ast.CallNode{Callee: &ast.IdentifierNode{Value: "div"}, Arguments: []ast.Node{b.Left, b.Right}}
	}
}

func isA(t reflect.Type, want valueType) bool {
	if t == nil {
		return false
	}
	switch k := t.Kind(); want {
	case integer:
		return k == reflect.Int
	case boolean:
		return k == reflect.Bool
	default:
		return k == reflect.Int || k == reflect.Float64
	}
}

// functions are those of expressions, with their arity checked on compiling.
var functions = []expr.Option{
	expr.DisableAllBuiltins(),
	expr.Function("cdiv", func(p ...any) (any, error) { return cdiv(p[0].(int), p[1].(int)) }, new(func(int, int) int)),
	expr.Function("roundup", func(p ...any) (any, error) {
		n, err := cdiv(p[0].(int), p[1].(int))
		return n * p[1].(int), err
	}, new(func(int, int) int)),
	expr.Function("div", func(p ...any) (any, error) {
		if p[1].(int) == 0 {
			return nil, errors.New("division by zero")
		}
		return p[0].(int) / p[1].(int), nil
	}, new(func(int, int) int)),
	expr.Function("min", func(p ...any) (any, error) {
		m := math.MaxInt
		for _, v := range p {
			m = min(m, v.(int))
		}
		return m, nil
	}, new(func(int, ...int) int)),
	expr.Function("max", func(p ...any) (any, error) {
		m := math.MinInt
		for _, v := range p {
			m = max(m, v.(int))
		}
		return m, nil
	}, new(func(int, ...int) int)),
}

// functionNames may not be variables.
var functionNames = []string{"cdiv", "roundup", "div", "min", "max"}

// cdiv is a/b rounded up.
func cdiv(a, b int) (int, error) {
	if b <= 0 {
		return 0, fmt.Errorf("cdiv(%d, %d): the divisor must be positive", a, b)
	}
	n := a / b
	if a%b > 0 {
		n++
	}
	return n, nil
}

// explain turns the library's report into one line that says what to use.
func (s *scope) explain(source string, err error) error {
	var fe *file.Error
	if !errors.As(err, &fe) {
		return fmt.Errorf("%q: %w", source, err)
	}
	if name, ok := strings.CutPrefix(fe.Message, "unknown name "); ok {
		if why, ok := s.hidden[name]; ok {
			return fmt.Errorf("%q: %s %s", source, name, why)
		}
		return fmt.Errorf("%q: unknown name %s: there are %s and the functions %s",
			source, name, strings.Join(s.names, ", "), strings.Join(functionNames, ", "))
	}
	return fmt.Errorf("%q at column %d: %s", source, fe.Column+1, fe.Message)
}

func (e *expression) eval(v *values) (any, error) {
	switch {
	case e.fixed != nil:
		return e.fixed, nil
	case e.slot >= 0:
		return v.v[e.slot], nil
	}
	m := machines.Get().(*vm.VM)
	defer machines.Put(m)
	out, err := m.Run(e.prog, v.named())
	if err != nil {
		var fe *file.Error
		if errors.As(err, &fe) {
			err = errors.New(fe.Message)
		}
		return nil, fmt.Errorf("%q: %w", e.source, err)
	}
	return out, nil
}

// int is the expression's value; it must have been compiled as an integer.
func (e *expression) int(v *values) (int64, error) {
	switch {
	case e.slot >= 0:
		return int64(v.v[e.slot]), nil
	}
	x, err := e.eval(v)
	if err != nil {
		return 0, err
	}
	return int64(x.(int)), nil
}

// float is the expression's value; it must have been compiled as a number.
func (e *expression) float(v *values) (float64, error) {
	x, err := e.eval(v)
	if err != nil {
		return 0, err
	}
	if f, ok := x.(float64); ok {
		return f, nil
	}
	return float64(x.(int)), nil
}

// bool is the expression's value; it must have been compiled as a bool.
func (e *expression) bool(v *values) (bool, error) {
	x, err := e.eval(v)
	if err != nil {
		return false, err
	}
	return x.(bool), nil
}
