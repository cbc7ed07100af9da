package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var binary string

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mqaproof")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "mqaproof")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		panic(string(out))
	}
	return m.Run()
}

const hip = "../../kernels/hip/"

// command runs mqaproof with a cache that holds no imported kernels.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(binary, args...)
	c.Env = append(os.Environ(), "MQAPROOF_CACHE="+filepath.Join(t.TempDir(), "cache"))
	return c
}

func mqaproof(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	c := command(t, args...)
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String(), errs.String()
}

func file(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Bad input gives one clear message and exit 2; a kernel's own fault is a
// counterexample and exit 1; nothing panics.
func TestBadInput(t *testing.T) {
	object, err := os.ReadFile(hip + "obj/per-row.gfx942.hsaco")
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(hip + "per-row.yaml")
	if err != nil {
		t.Fatal(err)
	}
	own := func(codeObject string) []string {
		return []string{"fuzz", "--cases", "3", "--corpus", "", "--manifest", hip + "per-row.yaml", "--code-object", codeObject}
	}
	bad := func(name string) []string {
		return []string{"fuzz", "--cases", "3", "--corpus", "", "--target", "gfx942", "--manifest", hip + "bad/" + name + ".yaml"}
	}
	otherTarget := strings.ReplaceAll(string(manifest), "gfx942:", "gfx950:")
	only942 := file(t, "only.yaml", []byte(dropLine(otherTarget, "obj/per-row.gfx950")))
	for _, test := range []struct {
		name string
		args []string
		code int
		says []string
	}{
		{"truncated code object", own(file(t, "cut.hsaco", object[:len(object)/2])), 2, []string{"cut.hsaco", "truncated"}},
		{"empty code object", own(file(t, "empty.hsaco", nil)), 2, []string{"empty.hsaco"}},
		{"text file", own(file(t, "notes.txt", []byte("hello, world\n"))), 2, []string{"notes.txt", "text"}},
		{"x86 ELF", own(binary), 2, []string{"EM_X86_64"}},
		{"no such file", own("/nonexistent.hsaco"), 2, []string{"/nonexistent.hsaco"}},
		{"another target", []string{"fuzz", "--manifest", only942, "--code-object", hip + "obj/per-row.gfx942.hsaco"}, 2, []string{"gfx942", "gfx950"}},
		{"code object without manifest", []string{"fuzz", "--code-object", hip + "obj/per-row.gfx942.hsaco"}, 2, []string{"--manifest"}},
		{"arguments that do not match", bad("wrong-args"), 2, []string{"takes 2 arguments", "gives 1"}},
		{"unknown opcode", bad("unknown-opcode"), 2, []string{"unknown opcode", "SOPP"}},
		{"reads far outside", bad("far-read"), 1, []string{"out-of-bounds read", "logits+"}},
		{"loops for ever", bad("spin"), 1, []string{"instruction budget"}},
		{"unknown manifest key", []string{"fuzz", "--manifest", file(t, "typo.yaml", append([]byte("colour: red\n"), manifest...))}, 2, []string{"typo.yaml", "colour"}},
		{"no such subject", []string{"fuzz", "--subject", "hip/none"}, 2, []string{"hip/none", "hip/naive"}},
		{"no such verb", []string{"fuz"}, 2, []string{"fuz"}},
		{"no such flag", []string{"fuzz", "--case", "3"}, 2, []string{"--case"}},
		{"no cases", []string{"fuzz", "--cases", "0"}, 2, []string{"--cases"}},
		{"no time", []string{"fuzz", "--for", "-3s"}, 2, []string{"--for"}},
		{"negative workers", []string{"fuzz", "--workers", "-1"}, 2, []string{"--workers"}},
		{"replay of nothing", []string{"replay", "no-such-case"}, 2, []string{"no-such-case", "corpus list"}},
		{"replay of a foreign file", []string{"replay", file(t, "package.json", []byte(`{"name":"x"}`))}, 2, []string{"package.json", "not a corpus case"}},
		{"shrink of a sequence", []string{"shrink", "match-de541ea2"}, 2, []string{"simulate"}},
		{"simulate an unknown fault", []string{"simulate", "--fault", "gremlins"}, 2, []string{"gremlins", "stale-replay"}},
		{"a corpus folder that is none", []string{"corpus", "list", "--corpus", "/nonexistent"}, 2, []string{"/nonexistent"}},
		{"a corpus folder that is a file", []string{"fuzz", "--corpus", hip + "per-row.yaml"}, 2, []string{"per-row.yaml", "--corpus"}},
		{"an endless code object", own("/dev/zero"), 2, []string{"/dev/zero", "device"}},
		{"exhaust of a logits kernel", []string{"exhaust", "--subject", "hip/naive"}, 2, []string{"hip/naive"}},
		{"prove an unknown theorem", []string{"prove", "--theorem", "fermat"}, 2, []string{"fermat", "match"}},
		{"vectors that are none", []string{"vectors", "check", file(t, "x.json", []byte("[]x"))}, 2, []string{"x.json"}},
		{"a probe's output that is none", []string{"calibrate", "read", file(t, "out.json", []byte("hello"))}, 2, []string{"out.json"}},
		{"shrink without a case", []string{"shrink"}, 2, []string{"1 arg"}},
		{"disassembly of many", []string{"kernels", "disasm", "hip/fault-b0*"}, 2, []string{"more than one kernel"}},
		{"import of an unknown package", []string{"kernels", "import", "torch"}, 2, []string{"torch", "amd-aiter"}},
		{"import of a checkout that is none", []string{"kernels", "import", "aiter", "--path", t.TempDir()}, 2, []string{"no folder aiter", "checkout"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := mqaproof(t, test.args...)
			all := stdout + stderr
			if code != test.code {
				t.Errorf("exit %d, want %d: %s", code, test.code, all)
			}
			for _, s := range test.says {
				if !strings.Contains(all, s) {
					t.Errorf("does not say %q: %s", s, all)
				}
			}
			if strings.Contains(all, "panic") || strings.Contains(all, "goroutine ") {
				t.Errorf("panicked: %s", all)
			}
		})
	}
}

func dropLine(text, with string) string {
	var kept []string
	for _, line := range strings.Split(text, "\n") {
		if !strings.Contains(line, with) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

func TestFuzzFindsAndReplays(t *testing.T) {
	dir := t.TempDir()
	code, stdout, stderr := mqaproof(t, "fuzz", "--subject", "hip/mfma-split", "--target", "gfx942", "--cases", "10", "--corpus", dir)
	if code != 0 || !strings.Contains(stdout, "1 hold, 1 announced faults found, 0 surprises") {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	for _, want := range []string{"1 request, next_n 2, context 2, 16 heads, head_dim 32, page 1", "row 0 (j=0)        #.        ..", "again: mqaproof replay "} {
		if !strings.Contains(stdout, want) {
			t.Errorf("does not print %q:\n%s", want, stdout)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "mask-*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("saved %v (%v)", files, err)
	}
	code, stdout, _ = mqaproof(t, "replay", files[0])
	if code != 1 || !strings.Contains(stdout, "2 of 2 rows with a wrong mask") || !strings.Contains(stdout, "0 of 2 rows with a wrong mask; all properties hold") {
		t.Errorf("replay, exit %d:\n%s", code, stdout)
	}
	code, stdout, _ = mqaproof(t, "replay", files[0], "--wiring", "last-column")
	if code != 0 {
		t.Errorf("replay with the fix, exit %d:\n%s", code, stdout)
	}
	code, stdout, _ = mqaproof(t, "shrink", files[0], "--corpus", dir)
	if code != 1 || !strings.Contains(stdout, "context 2") {
		t.Errorf("shrink, exit %d:\n%s", code, stdout)
	}
}

// Every --json is one JSON value and nothing else on standard output.
func TestJSON(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"fuzz", "--subject", "hip/fault-b02", "--cases", "3", "--corpus", dir},
		{"replay", "upstream", "--wiring", "last-column"},
		{"replay", "match-de541ea2"},
		{"simulate", "--steps", "200", "--corpus", ""},
		{"prove", "--prover", "go", "--theorem", "match", "--world", "2", "--interleave", "2", "--ratio", "2", "--next-n", "2"},
		{"exhaust", "--subject", "hip/metadata", "--target", "gfx942", "--short", "50", "--long", "60", "--checkpoints", dir},
		{"vectors", "check", "../../model/matrixcore/testdata"},
		{"corpus", "list"},
		{"corpus", "show", "upstream"},
		{"kernels", "list"},
		{"kernels", "show", "hip/per-row"},
		{"kernels", "disasm", "hip/per-row", "--target", "gfx950"},
	} {
		code, stdout, stderr := mqaproof(t, append(args, "--json")...)
		var v any
		if err := json.Unmarshal([]byte(stdout), &v); err != nil || code == exitBad {
			t.Errorf("%v: exit %d, %v: %s", args, code, err, stderr)
		}
	}
}

// Ctrl-C stops a long campaign in time and keeps what was found.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	c := command(t, "fuzz", "--subject", "hip/mfma-split", "--target", "gfx942", "--for", "10m", "--corpus", dir)
	var out strings.Builder
	c.Stdout = &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended:
		if code := c.ProcessState.ExitCode(); code != exitStopped {
			t.Errorf("exit %d (%v), want %d: %s", code, err, exitStopped, out.String())
		}
	case <-time.After(30 * time.Second):
		_ = c.Process.Kill() // the test has failed already
		t.Fatal("still running 30 s after Ctrl-C")
	}
	if !strings.Contains(out.String(), "stopped") {
		t.Errorf("does not say that it was stopped:\n%s", out.String())
	}
}

func TestHelp(t *testing.T) {
	for _, verb := range []string{"", "fuzz", "replay", "shrink", "simulate", "prove", "exhaust", "vectors check", "calibrate probe", "calibrate read", "kernels profile", "kernels", "kernels list", "kernels show", "kernels disasm", "kernels import", "corpus", "corpus list", "corpus show"} {
		code, stdout, _ := mqaproof(t, append(strings.Fields(verb), "--help")...)
		if code != 0 || !strings.Contains(stdout, "Usage:") {
			t.Errorf("%s --help: exit %d: %s", verb, code, stdout)
		}
	}
}
