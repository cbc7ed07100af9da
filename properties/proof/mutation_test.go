package proof

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/template"
)

// judged is what became of a mutant: which theorem and which property it
// breaks, "" for none.
type judged struct{ Name, Theorem, Property string }

// runner is the program that judges all mutants, each a package of its own.
var runner = template.Must(template.New("main.go").Parse(`package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
{{range .}}
	{{.Package}} "mqaproof/{{.Package}}/proof"{{end}}
)

type judged struct{ Name, Theorem, Property string }

// guard turns a panic of a mutant into words.
func guard(f func() string) (out string) {
	defer func() {
		if r := recover(); r != nil {
			out = fmt.Sprint("panic: ", r)
		}
	}()
	return f()
}

func main() {
	out := json.NewEncoder(os.Stdout)
	ctx := context.Background()
	var err error
{{range .}}
	err = out.Encode(judged{ {{printf "%q" .Name}}, guard(func() string { return {{.Package}}.FirstBroken(ctx) }), guard(func() string { return {{.Package}}.JudgeSteps(1, 400) }) })
	if err != nil {
		panic(err)
	}
{{end}}
}
`))

// firstBroken is added to the copies of this package.
const firstBroken = `package proof

import "context"

// FirstBroken is the first broken part of a theorem in a small domain.
func FirstBroken(ctx context.Context) string {
	for _, t := range All() {
		for _, p := range t.Parts {
			// One worker, so that a panic is the caller's.
			var w goWorker
			d := Domain{World: 3, Interleave: 4, Ratio: 4, NextN: 4, MaxLen: 1 << 20}
			var f finding
			for s := range p.settings(d.axes(every)) {
				r, err := w.prove(p, s, d)
				if err != nil {
					return t.Name + "/" + p.Name + ": " + err.Error()
				}
				f.claims += r.claims
				if f.refuted == nil {
					f.refuted = r.refuted
				}
				if f.held == nil && r.held {
					f.held = &s
				}
				if f.broken == "" {
					f.broken, f.brokenAt = r.broken, s
				}
			}
			if v := verdict(p, f); v.Result != v.Stated {
				return t.Name + "/" + p.Name + ": " + string(v.Result) + " " + v.Detail
			}
		}
	}
	return ""
}

// JudgeSteps is judgeSteps.
func JudgeSteps(seed uint64, sequences int) string { return judgeSteps(seed, sequences) }
`

// TestMutants plants each fault in a copy of the builder and lists those that
// no theorem or no property finds. It compiles them all: in CI only, or with
// MQAPROOF_MUTANTS set.
func TestMutants(t *testing.T) {
	if os.Getenv("CI") != "true" && os.Getenv("MQAPROOF_MUTANTS") == "" {
		t.Skip("compiles a copy of the builder for every mutant; set MQAPROOF_MUTANTS=1 to run it")
	}
	if len(mutants) < 25 {
		t.Fatalf("%d mutants", len(mutants))
	}
	root := filepath.Join("..", "..")
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		writeFile(t, filepath.Join(dir, name), readFile(t, filepath.Join(root, name)))
	}
	type entry struct{ Package, Name string }
	entries := []entry{{"m00", "the builder itself"}}
	for i, m := range mutants {
		entries = append(entries, entry{fmt.Sprintf("m%02d", i+1), m.name})
	}
	for i, e := range entries {
		base := filepath.Join(dir, e.Package)
		rename := func(text string) string {
			return strings.ReplaceAll(text, `"mqaproof/model/metadata"`, `"mqaproof/`+e.Package+`/metadata"`)
		}
		copyPackage(t, filepath.Join(root, "model", "metadata"), filepath.Join(base, "metadata"), rename)
		copyPackage(t, ".", filepath.Join(base, "proof"), rename)
		writeFile(t, filepath.Join(base, "proof", "steps.go"), rename(readFile(t, "steps_test.go")))
		writeFile(t, filepath.Join(base, "proof", "firstbroken.go"), firstBroken)
		if i > 0 {
			plant(t, filepath.Join(base, "metadata"), mutants[i-1])
		}
	}
	var main bytes.Buffer
	if err := runner.Execute(&main, entries); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "main.go"), main.String())
	build := exec.Command("go", "build", "-o", "judge", ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	out, err := exec.Command(filepath.Join(dir, "judge")).Output()
	if err != nil {
		t.Fatalf("the judge: %v", err)
	}
	results := json.NewDecoder(bytes.NewReader(out))
	killed := 0
	for i := range entries {
		var r judged
		if err := results.Decode(&r); err != nil {
			t.Fatal(err)
		}
		switch {
		case i == 0:
			if r.Theorem != "" || r.Property != "" {
				t.Fatalf("without a mutation: theorem %q, property %q", r.Theorem, r.Property)
			}
		case r.Theorem == "":
			t.Errorf("survivor: %s: no theorem finds it (property: %s)", r.Name, r.Property)
		case r.Property == "":
			t.Errorf("survivor: %s: no property finds it (theorem: %s)", r.Name, r.Theorem)
		default:
			killed++
			t.Logf("%s: %s; %s", r.Name, r.Theorem, r.Property)
		}
	}
	t.Logf("%d of %d mutants found by a theorem and by a property", killed, len(mutants))
}

// plant changes the one place of m.old.
func plant(t *testing.T, dir string, m mutant) {
	path := filepath.Join(dir, m.file)
	text := readFile(t, path)
	if n := strings.Count(text, m.old); n != 1 {
		t.Fatalf("mutant %q: %d places of %q in %s", m.name, n, m.old, m.file)
	}
	text = strings.Replace(text, m.old, m.new, 1)
	writeFile(t, path, text)
	if strings.Contains(m.new, "l.copied") { // a mutant with memory needs a field
		table := filepath.Join(dir, "table.go")
		writeFile(t, table, strings.Replace(readFile(t, table), "\tarith A\n", "\tarith  A\n\tcopied bool\n", 1))
	}
}

// copyPackage copies the Go files of a package that are no tests.
func copyPackage(t *testing.T, from, to string, change func(string) string) {
	files, err := filepath.Glob(filepath.Join(from, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f, "_test.go") {
			writeFile(t, filepath.Join(to, filepath.Base(f)), change(readFile(t, f)))
		}
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
