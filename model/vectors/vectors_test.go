package vectors

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// folder holds the repository's samples under the names of sets, and files
// that are none.
func folder(t *testing.T) string {
	dir := t.TempDir()
	for _, set := range []string{"cdna3_mfma_fp8_model", "hopper_wgmma_e4m3"} {
		for _, ext := range []string{".json", ".bin"} {
			write(t, filepath.Join(dir, set+ext), read(t, "..", "matrixcore", "testdata", set+ext))
		}
	}
	sub := filepath.Join(dir, "sub")
	if err := os.Mkdir(sub, 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(sub, "builder.jsonl"), read(t, "..", "metadata", "testdata", "builder.jsonl"))
	write(t, filepath.Join(sub, "README.md"), []byte("no set"))
	write(t, filepath.Join(sub, "other.json"), []byte("{}"))
	return dir
}

func check(t *testing.T, paths ...string) []Result {
	t.Helper()
	var rs []Result
	if err := Check(context.Background(), paths, func(r Result) { rs = append(rs, r) }); err != nil {
		t.Fatal(err)
	}
	return rs
}

func TestCheckFolder(t *testing.T) {
	dir := folder(t)
	rs := check(t, dir, filepath.Join(dir, "hopper_wgmma_e4m3.bin")) // named twice, counted once
	want := []Result{
		{Kind: "matrix-core", Rule: "cdna3", Total: 23040},
		{Kind: "matrix-core", Rule: "hopper", Total: 61440},
		{Kind: "builder", Total: 482},
	}
	if len(rs) != len(want) {
		t.Fatalf("%d results: %v", len(rs), rs)
	}
	for i, r := range rs {
		if !r.Holds() || r.Kind != want[i].Kind || r.Rule != want[i].Rule || r.Total != want[i].Total || r.First != "" {
			t.Errorf("%v (%v)", r, r.First)
		}
	}
}

// TestDifference: one changed value is found and shown with what was expected.
func TestDifference(t *testing.T) {
	dir := folder(t)
	blob := read(t, dir, "cdna3_mfma_fp8_model.bin")
	blob[2*16*32+4*16*16+4*17] ^= 1 // tile 0, D[1][1]
	write(t, filepath.Join(dir, "cdna3_mfma_fp8_model.bin"), blob)
	steps := read(t, dir, "sub", "builder.jsonl")
	for _, tc := range []struct{ path, want string }{
		{filepath.Join(dir, "cdna3_mfma_fp8_model.json"), "output [1][1]"},
		{changed(t, dir, steps, `"skip_kv_gather":false`, `"skip_kv_gather":true`), "SkipKVGather"},
		{changed(t, dir, steps, `"num_prefills":1`, `"num_prefills":2`), "NumPrefills"},
		{changed(t, dir, steps, `"buffer_seq_lens":[`, `"buffer_seq_lens":[9999,`), "BufferSeqLens"},
	} {
		rs := check(t, tc.path)
		if len(rs) != 1 || rs[0].Holds() || rs[0].Err != nil || !strings.Contains(rs[0].First, tc.want) {
			t.Errorf("%v\n%s\nwant a difference with %q", rs[0], rs[0].First, tc.want)
		}
	}
}

// changed is a set with the first old replaced.
func changed(t *testing.T, dir string, set []byte, old, new string) string {
	if !strings.Contains(string(set), old) {
		t.Fatalf("no %s in the set", old)
	}
	return write(t, filepath.Join(dir, "changed-"+new[1:5]+".jsonl"), []byte(strings.Replace(string(set), old, new, 1)))
}

// TestDamaged: one clear error a set, and the other sets are still read.
func TestDamaged(t *testing.T) {
	dir := folder(t)
	good := filepath.Join(dir, "hopper_wgmma_e4m3.json")
	steps := read(t, dir, "sub", "builder.jsonl")
	blob := read(t, dir, "hopper_wgmma_e4m3.bin")
	list := read(t, good)
	set := func(name string, list, blob []byte) string {
		write(t, filepath.Join(dir, name+".bin"), blob)
		return write(t, filepath.Join(dir, name+".json"), list)
	}
	lines := func(name, text string) string { return write(t, filepath.Join(dir, name), []byte(text)) }
	first, _, _ := strings.Cut(string(steps), "\n")
	for _, tc := range []struct{ path, want string }{
		{lines("cut.jsonl", string(steps[:len(steps)-100])), "cut.jsonl:223: not a recorded sequence: unexpected EOF"},
		{lines("text.jsonl", "hello\n"), "text.jsonl:1: not a recorded sequence: invalid character"},
		{lines("twice.jsonl", first+first), "more than one value"},
		{lines("other.jsonl", `{"name": 1}`), `unknown field "name"`},
		{lines("none.jsonl", `{"config": {}}`), "it has no steps"},
		{lines("empty.jsonl", ""), "holds no step"},
		{lines("config.jsonl", strings.Replace(first, `"dcp_world_size":`, `"dcp_world_size":-`, 1)), "dcp_world_size is -"},
		{set("hopper_short", list, blob[:len(blob)-1]), "tile 14 needs bytes"},
		{set("hopper_text", []byte("hello"), blob), "not a list of tiles"},
		{set("hopper_none", []byte("[]"), blob), "holds no tile"},
		{set("hopper_zero", []byte(`[{"M":0,"N":1,"K":1}]`), blob), "tile 0 is 0x1x1"},
		{set("hopper_huge", []byte(`[{"M":4611686018427387904,"N":4,"K":4}]`), blob), "sides are from 1 to 4096"},
		{set("hopper_before", []byte(`[{"M":1,"N":1,"K":32,"offset":-1}]`), blob), "needs bytes -1"},
		{set("unknown_machine", list, blob), "starts with that of its rule, one of cdna3_, hopper_"},
	} {
		rs := check(t, tc.path, good)
		if len(rs) != 2 || rs[0].Err == nil || rs[0].Holds() || !strings.Contains(rs[0].Err.Error(), tc.want) {
			t.Errorf("%s: %v; want an error with %q", tc.path, rs[0].Err, tc.want)
		}
		if !rs[1].Holds() {
			t.Errorf("the good set after %s: %v", tc.path, rs[1])
		}
	}
}

func TestNoSets(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct {
		paths []string
		want  string
	}{
		{nil, "no path given"},
		{[]string{filepath.Join(dir, "missing")}, "no such file"},
		{[]string{dir}, "no vector set in"},
		{[]string{write(t, filepath.Join(dir, "a.txt"), nil)}, "is no vector set"},
		{[]string{write(t, filepath.Join(dir, "alone.json"), nil)}, "is no vector set"},
	} {
		err := Check(context.Background(), tc.paths, func(Result) { t.Error("a result") })
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v: error %v; want one with %q", tc.paths, err, tc.want)
		}
	}
}

func TestCheckStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	err := Check(ctx, []string{folder(t)}, func(Result) { n++; cancel() })
	if !errors.Is(err, context.Canceled) || n != 1 {
		t.Errorf("%v after %d sets", err, n)
	}
}

// TestResultJSON: what a command prints for machines names the counts.
func TestResultJSON(t *testing.T) {
	text, err := json.Marshal(Result{Path: "p", Kind: "builder", Unit: "steps", Parts: 1, Total: 3, Equal: 3})
	if err != nil || string(text) != `{"path":"p","kind":"builder","unit":"steps","parts":1,"total":3,"equal":3}` {
		t.Errorf("%s, %v", text, err)
	}
}
