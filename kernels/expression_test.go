package kernels

import (
	"strings"
	"testing"
)

func testScope(t *testing.T, consts map[string]string) (*scope, *values) {
	t.Helper()
	s := newScope(true)
	for name, err := range s.addConsts(consts) {
		t.Fatalf("const %s: %v", name, err)
	}
	v, err := s.of(func(name string) int {
		return map[string]int{"batch": 3, "next_n": 2, "rows": 6, "heads": 64, "max_model_len": 1000, "page": 64, "world": 1}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, v
}

func TestIntegerExpressions(t *testing.T) {
	s, v := testScope(t, map[string]string{"chunk": "128", "splits": "cdiv(max_model_len, chunk)", "all": "rows * splits"})
	tests := []struct {
		source string
		want   int64
	}{
		{"7", 7},
		{"-7", -7},
		{"batch", 3},
		{"splits", 8},
		{"all", 48},
		{"batch * next_n + 1", 7},
		{"cdiv(max_model_len, page)", 16},
		{"cdiv(0, 5)", 0},
		{"cdiv(-7, 2)", -3},
		{"roundup(max_model_len, page)", 1024},
		{"max_model_len / 3", 333},
		{"-7 / 2", -3},
		{"div(7, 2)", 3},
		{"min(rows / 4, 9) * (heads + 1) / 2 / (page / 3)", 1},
		{"-7 % 3", -1},
		{"min(4, cdiv(max_model_len, 64))", 4},
		{"max(1, batch, heads)", 64},
		{"min(batch)", 3},
		{"world == 1 ? rows : 0", 6},
		{"9007199254740993 + 0", 9007199254740993}, // 2^53 + 1: no float on the way
		{"max_model_len * 2147483648 * 4096", 1000 << 43},
	}
	for _, test := range tests {
		e, err := s.compile(test.source, integer)
		if err != nil {
			t.Errorf("%s: %v", test.source, err)
			continue
		}
		for range 2 { // the second time on used machines and values
			if got, err := e.int(v); err != nil || got != test.want {
				t.Errorf("%s is %d, %v; want %d", test.source, got, err, test.want)
			}
		}
	}
}

func TestOtherExpressions(t *testing.T) {
	s, v := testScope(t, nil)
	for source, want := range map[string]bool{
		"true": true, "world == 1 && heads in [32, 64]": true, "max_model_len % page == 0": false, "not (batch > 2)": false,
	} {
		e, err := s.compile(source, boolean)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := e.bool(v); err != nil || got != want {
			t.Errorf("%s is %v, %v; want %v", source, got, err, want)
		}
	}
	for source, want := range map[string]float64{"1": 1, "0.5": 0.5, "batch": 3, "batch * 0.5": 1.5, "batch / 2": 1.5} {
		e, err := s.compile(source, number)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := e.float(v); err != nil || got != want {
			t.Errorf("%s is %v, %v; want %v", source, got, err, want)
		}
	}
}

func TestExpressionFailures(t *testing.T) {
	s, v := testScope(t, nil)
	for source, want := range map[string]string{
		"cdiv(1, batch - 3)":    `"cdiv(1, batch - 3)": cdiv(1, 0): the divisor must be positive`,
		"roundup(1, batch - 4)": `"roundup(1, batch - 4)": cdiv(1, -1): the divisor must be positive`,
		"1 / (batch - 3)":       `"1 / (batch - 3)": division by zero`,
		"1 % (batch - 3)":       `"1 % (batch - 3)": `,
	} {
		e, err := s.compile(source, integer)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if _, err := e.int(v); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error is %v, want %s", source, err, want)
		}
	}
	for _, source := range []string{"len([1])", "now()", "batch.x", `"text"`, "nil", "batch ** 2", "let x = 1; y", "cdiv(nowhere, 2)", `cdiv(1 + "a", 2)`, "max(1, nowhere / 2)", "cdiv(1.5, 2)"} {
		if _, err := s.compile(source, integer); err == nil {
			t.Errorf("%s was compiled as an integer", source)
		}
	}
}
