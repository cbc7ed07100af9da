package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"mqaproof/internal/needtool"
)

// TestTablesAreCurrent regenerates the tables and compares them with the
// committed ones.
func TestTablesAreCurrent(t *testing.T) {
	python := needtool.Python(t, "tinygrad")
	path := filepath.Join(t.TempDir(), "tables_gen.go")
	if err := generate(python, path); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../tables_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("sim/isa/tables_gen.go is not what isagen writes: run `go generate ./sim/isa`")
	}
}

func TestGenerateReportsPython(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.go")
	if err := generate(filepath.Join(t.TempDir(), "no-such-python"), path); err == nil {
		t.Error("no error without an interpreter")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a failed run left a file")
	}
}
