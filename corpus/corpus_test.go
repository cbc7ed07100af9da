package corpus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mqaproof/model"
	"mqaproof/sim/serving"
)

func entry() *Entry {
	return &Entry{
		Tool: "test", Note: "two tokens", Property: "mask", Fault: "B01",
		Subject:  Subject{Name: "hip/mfma-split", Target: "gfx942", Wiring: "table", Backend: "emu"},
		Expected: Expected{WrongRows: 2, Rows: 2},
		Case: model.Case{Seed: 1, Data: model.Exact, NextN: 2, Heads: 16, HeadDim: 32, Page: 1, MaxModelLen: 2,
			Requests: []model.Request{{Context: 2}}},
	}
}

func TestSaveAndOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "corpus")
	path, err := Save(dir, entry())
	if err != nil {
		t.Fatal(err)
	}
	again, err := Save(dir, entry())
	if err != nil || again != path {
		t.Errorf("saved again as %s (%v), first as %s", again, err, path)
	}
	base := strings.TrimSuffix(filepath.Base(path), ".json")
	for _, name := range []string{path, filepath.Base(path), base, base[:len(base)-2]} {
		got, err := Open(dir, name)
		if err != nil {
			t.Errorf("Open(%q): %v", name, err)
			continue
		}
		if d := cmp.Diff(entry().Case.Canonical(), got.Case.Canonical()); d != "" || got.Note != "two tokens" {
			t.Errorf("Open(%q) differs:\n%s", name, d)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, ".saving-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("temporary files left: %v (%v)", left, err)
	}
}

// A damaged file that has an entry's name does not keep the entry away.
func TestSaveReplacesDamage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, entry().FileName())
	if err := os.WriteFile(path, []byte(`{"trunc`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Save(dir, entry()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, path); err != nil {
		t.Errorf("after saving: %v", err)
	}
}

func TestPrepare(t *testing.T) {
	dir := t.TempDir()
	if err := Prepare(filepath.Join(dir, "a", "b")); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "a", "b", "*")); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Prepare(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a file as the folder: %v", err)
	}
}

// The name is of what the entry is about, and of nothing else.
func TestID(t *testing.T) {
	same, other := entry(), entry()
	same.Tool, same.Note, same.Subject.SHA256, same.Expected.WrongRows = "later", "", "ab", 1
	if same.ID() != entry().ID() {
		t.Error("the tool's version, a note or a code object's hash changes the ID")
	}
	other.Case.Requests[0].Context = 3
	other.Case.MaxModelLen = 3
	if other.ID() == entry().ID() {
		t.Error("another case has the same ID")
	}
}

func TestDamagedFilesAreLeftOut(t *testing.T) {
	dir := t.TempDir()
	path, err := Save(dir, entry())
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(path)
	edited := strings.Replace(string(whole), `"context": 2`, `"context": 1`, 1)
	for _, test := range []struct{ file, content, says string }{
		{"a-truncated.json", string(whole[:len(whole)/2]), "truncated"},
		{"b-empty.json", "", "truncated"},
		{"c-text.json", "hello", "not a corpus case"},
		{"d-foreign.json", `{"name": "package", "version": "1.0.0"}`, "unknown field"},
		{"e-array.json", "[]", "not a corpus case"},
		{"f-later.json", strings.Replace(string(whole), `"format": 1`, `"format": 9`, 1), "corpus format 9"},
		{"g-two.json", string(whole) + string(whole), "text follows"},
		{"g-tail.json", string(whole) + "]", "text follows"},
		{"g-property.json", strings.Replace(string(whole), `"property": "mask"`, `"property": "../../x"`, 1), "no property"},
		{"g-type.json", strings.Replace(string(whole), `"next_n": 2`, `"next_n": "2"`, 1), "next_n is a string, want int"},
		{"h-invalid.json", edited, "not valid"},
		{"i-" + name, strings.Replace(string(whole), `"seed": 1`, `"seed": 2`, 1), "edited or damaged"},
		{"j-huge.json", strings.Repeat(" ", maxFile+1), "more than"},
		{"k-nothing.json", "{}", "corpus format 0"},
	} {
		if err := os.WriteFile(filepath.Join(dir, test.file), []byte(test.content), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir, test.file)
		if err == nil || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), test.file) {
			t.Errorf("%s: error %v, want one that names it and says %q", test.file, err, test.says)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "README.md"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	entries, problems, err := All(dir)
	if err != nil || len(entries) != 1 || len(problems) != 14 {
		t.Errorf("%d entries, %d problems (%v), error %v; want 1, 14 and none", len(entries), len(problems), problems, err)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []int{2, 3} {
		e := entry()
		e.Case.Requests[0].Context, e.Case.MaxModelLen = c, c
		if _, err := Save(dir, e); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ name, says string }{
		{"mask", "start of 2 corpus cases"},
		{"no-such", "no corpus case is called"},
		{filepath.Join(dir, "gone.json"), "no corpus case is called"},
	} {
		if _, err := Open(dir, test.name); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("Open(%q): error %v, want %q", test.name, err, test.says)
		}
	}
}

// Every saved case can be read, and its name is its content's.
func TestSavedCorpus(t *testing.T) {
	entries, problems, err := Dir(Saved(), "corpus")
	if err != nil || len(problems) > 0 || len(entries) == 0 {
		t.Fatalf("%d entries, error %v, problems %v", len(entries), err, problems)
	}
	for _, e := range entries {
		if !idInName.MatchString(e.Path) {
			t.Errorf("%s has no ID in its name", e.Path)
		}
	}
}

func sequenceEntry() *Entry {
	return &Entry{
		Tool: "test", Property: "match", Fault: "rewrite-after-copy",
		Subject: Subject{Name: "serving/engine", Backend: "sim"},
		Sequence: &serving.Sequence{
			Engine: serving.Config{NextN: 2, Rows: serving.Native, World: 1, Interleave: 1, Ratio: 1, Page: 1, Pages: 5, MaxSeqs: 1, MaxModelLen: 4, Chunk: 1},
			Steps:  []serving.Step{{Arrive: []int{1}}, {Accept: []int{0}}, {}},
		},
	}
}

// A sequence takes the place of a case, and is damaged in ways of its own.
func TestSequence(t *testing.T) {
	dir := t.TempDir()
	path, err := Save(dir, sequenceEntry())
	if err != nil {
		t.Fatal(err)
	}
	got, err := Open(dir, path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(sequenceEntry().Sequence, got.Sequence); d != "" {
		t.Errorf("differs:\n%s", d)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(whole), `"case"`) {
		t.Errorf("an empty case is written:\n%s", whole)
	}
	for name, change := range map[string]func(*Entry){
		"fault":    func(e *Entry) { e.Fault = "stale-replay" },
		"property": func(e *Entry) { e.Property = "fresh" },
		"steps":    func(e *Entry) { e.Sequence.Steps = e.Sequence.Steps[:2] },
		"engine":   func(e *Entry) { e.Sequence.Engine.Chunk = 2 },
	} {
		e := sequenceEntry()
		change(e)
		if e.ID() == sequenceEntry().ID() {
			t.Errorf("another %s has the same ID", name)
		}
	}
	for _, test := range []struct{ old, new, says string }{
		{`"next_n": 2`, `"next_n": 0`, "next_n is 0"},
		{`"rewrite-after-copy"`, `"B01"`, "no planted fault"},
		{`"sequence"`, `"case": {"requests": [{"id": 1, "context": 1}]}, "sequence"`, "both a case and a sequence"},
		{`"accept"`, `"accepts"`, "unknown field"},
	} {
		_, err := Decode("x.json", []byte(strings.Replace(string(whole), test.old, test.new, 1)))
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: error %v, want %q", test.new, err, test.says)
		}
	}
}
