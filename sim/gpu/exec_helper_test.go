package gpu

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"mqaproof/internal/needtool"
	"mqaproof/sim/isa"
)

// Instructions in these tests are written as assembly. Their encodings lie in
// testdata/encodings.txt, so that the tests need Go alone; -update asks
// llvm-mc-22 for the missing ones, and TestEncodings checks them all.
var update = flag.Bool("update", false, "assemble the instructions that testdata/encodings.txt lacks")

const encodingsFile = "testdata/encodings.txt"

var encodings = sync.OnceValue(readEncodings)

func readEncodings() map[string][]byte {
	m := map[string][]byte{}
	text, err := os.ReadFile(encodingsFile)
	if err != nil {
		return m
	}
	for line := range strings.Lines(string(text)) {
		key, code, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " = ")
		b, err := hex.DecodeString(code)
		if !ok || err != nil {
			panic(fmt.Sprintf("%s: bad line %q", encodingsFile, line))
		}
		m[key] = b
	}
	return m
}

// assembleWithLLVM encodes lines for one target.
func assembleWithLLVM(t testing.TB, target isa.Target, lines []string) [][]byte {
	t.Helper()
	mc := needtool.Path(t, "llvm-mc-22")
	cmd := exec.Command(mc, "-arch=amdgcn", "-mcpu="+target.String(), "-show-encoding")
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("llvm-mc-22: %v\n%s", err, stderr.Bytes())
	}
	var codes [][]byte
	for _, line := range strings.Split(string(out), "\n") {
		_, enc, ok := strings.Cut(line, "encoding: [")
		if !ok {
			continue
		}
		enc, _, _ = strings.Cut(enc, "]")
		b, err := hex.DecodeString(strings.ReplaceAll(strings.ReplaceAll(enc, "0x", ""), ",", ""))
		if err != nil {
			t.Fatalf("llvm-mc-22 printed %q", line)
		}
		codes = append(codes, b)
	}
	if len(codes) != len(lines) {
		t.Fatalf("llvm-mc-22 encoded %d of %d lines\n%s", len(codes), len(lines), out)
	}
	return codes
}

var added sync.Mutex

// assemble is the code of the lines, one after the other.
func assemble(t testing.TB, target isa.Target, lines ...string) []byte {
	t.Helper()
	added.Lock()
	defer added.Unlock()
	known := encodings()
	var missing []string
	for _, line := range lines {
		if _, ok := known[target.String()+" "+line]; !ok && !slices.Contains(missing, line) {
			missing = append(missing, line)
		}
	}
	if len(missing) > 0 {
		if !*update {
			t.Fatalf("%s has no %s %q: run go test -update with llvm-mc-22", encodingsFile, target, missing)
		}
		for i, b := range assembleWithLLVM(t, target, missing) {
			known[target.String()+" "+missing[i]] = b
		}
		writeEncodings(t, known)
	}
	var code []byte
	for _, line := range lines {
		code = append(code, known[target.String()+" "+line]...)
	}
	return code
}

// writeEncodings adds to the file, which another test process may have added
// to as well.
func writeEncodings(t testing.TB, known map[string][]byte) {
	t.Helper()
	all := readEncodings()
	maps.Copy(all, known)
	var text strings.Builder
	for _, k := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&text, "%s = %x\n", k, all[k])
	}
	f, err := os.CreateTemp("testdata", "encodings")
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(text.String())
	if err := errors.Join(err, f.Chmod(0o644), f.Close(), os.Rename(f.Name(), encodingsFile)); err != nil {
		t.Fatal(err)
	}
}

func TestEncodings(t *testing.T) {
	needtool.Path(t, "llvm-mc-22")
	for _, target := range []isa.Target{isa.GFX942, isa.GFX950} {
		var lines []string
		var want [][]byte
		for key, b := range encodings() {
			if name, line, _ := strings.Cut(key, " "); name == target.String() {
				lines, want = append(lines, line), append(want, b)
			}
		}
		if len(lines) == 0 {
			continue
		}
		for i, got := range assembleWithLLVM(t, target, lines) {
			if !bytes.Equal(got, want[i]) {
				t.Errorf("%s %s: %s holds %x, llvm-mc-22 gives %x", target, lines[i], encodingsFile, want[i], got)
			}
		}
	}
}

// testBase is where test programs lie.
const testBase = 0x1000

// testProgram compiles assembly; what compile refuses becomes a trap.
func testProgram(t testing.TB, target isa.Target, lines ...string) *Program {
	t.Helper()
	code := assemble(t, target, lines...)
	p := &Program{target: target, index: map[uint64]int32{}, vregs: 512}
	for at := 0; at < len(code); {
		in, err := isa.Decode(target, code[at:], testBase+uint64(at))
		if err != nil {
			t.Fatal(err)
		}
		p.index[in.Addr] = int32(len(p.insts))
		p.insts = append(p.insts, in)
		at += int(in.Size)
	}
	for i := range p.insts {
		in := &p.insts[i]
		step, err := compile(in, p)
		if err != nil {
			step = trapStep(err)
		}
		p.steps = append(p.steps, step)
		p.isVector = append(p.isVector, in.Enc >= isa.VOP1 && in.Enc <= isa.VOP3PX2)
	}
	return p
}

// newWave is a wave at the start of p with all lanes on, the usual MODE, and
// registers that hold distinct patterns.
func newWave(p *Program) *Wave {
	w := &Wave{prog: p, EXEC: allLanes, V: make([]vreg, 512), mode: defaultMode}
	for r := range w.V {
		for l := range w.V[r] {
			w.V[r][l] = uint32(r)<<16 | uint32(l)<<8 | 0x5a
		}
	}
	for i := range w.S {
		w.S[i] = 0x51000000 | uint32(i)
	}
	return w
}

// defaultMode is what clang and Triton ask for: subnormals kept, DX10_CLAMP
// and IEEE set.
const defaultMode = 0xf0 | modeDX10 | modeIEEE

// runLines executes assembly for gfx942, or gfx950 if it starts with that word,
// after setup, to its end.
func runLines(t testing.TB, target isa.Target, setup func(w *Wave), lines ...string) *Wave {
	t.Helper()
	w := newWave(testProgram(t, target, append(lines, "s_endpgm")...))
	if setup != nil {
		setup(w)
	}
	w.run(1 << 20)
	if w.trap != nil {
		t.Fatalf("%v: %v", lines, w.trap)
	}
	if !w.done {
		t.Fatalf("%v: not done", lines)
	}
	return w
}

// trapOf is the trap that the lines run into.
func trapOf(t testing.TB, target isa.Target, setup func(w *Wave), lines ...string) *Trap {
	t.Helper()
	w := newWave(testProgram(t, target, append(lines, "s_endpgm")...))
	if setup != nil {
		setup(w)
	}
	w.run(1 << 20)
	if w.trap == nil {
		t.Fatalf("%v: no trap", lines)
	}
	return w.trap
}
