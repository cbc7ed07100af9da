// Command isagen writes the opcode tables of package isa: it runs isagen.py,
// which reads AMD's machine-readable ISA from the Python package tinygrad, and
// formats the result.
//
// usage: isagen OUTPUT.go
//
// The interpreter is that of the environment variable MQAPROOF_PYTHON, of the
// repository's .venv, or python3 on PATH; it needs tinygrad 0.14.0.
package main

import (
	_ "embed"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

//go:embed isagen.py
var script string

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: isagen OUTPUT.go")
		os.Exit(2)
	}
	if err := generate(python(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "isagen:", err)
		os.Exit(1)
	}
}

// generate runs the script with the interpreter and leaves formatted Go in
// the file at path, which is untouched when anything fails.
func generate(python, path string) error {
	tmp, err := os.MkdirTemp("", "isagen")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	raw := filepath.Join(tmp, "tables.go")
	if out, err := exec.Command(python, "-c", script, raw).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s(tinygrad 0.14.0 is needed: run `make tools`)", python, err, out)
	}
	src, err := os.ReadFile(raw)
	if err != nil {
		return err
	}
	if src, err = format.Source(src); err != nil {
		return fmt.Errorf("the script wrote bad Go: %w", err)
	}
	return os.WriteFile(path, src, 0o644)
}

// python is the interpreter to use.
func python() string {
	if p := os.Getenv("MQAPROOF_PYTHON"); p != "" {
		return p
	}
	if _, file, _, ok := runtime.Caller(0); ok {
		p := filepath.Join(filepath.Dir(file), "..", "..", "..", ".venv", "bin", "python")
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	return "python3"
}
