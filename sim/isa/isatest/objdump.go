// Package isatest holds package isa against LLVM: other rooms' tests call it
// on the code objects that they make.
package isatest

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mqaproof/internal/needtool"
	"mqaproof/sim/isa"
)

// maxReports bounds the disagreements that one file prints.
const maxReports = 10

// AgreeWithObjdump decodes every instruction of the code object at path, bare
// or in a clang offload bundle, and fails the test unless size and text equal
// those of llvm-objdump-22 and what it cannot decode is refused too. It
// returns the number of instructions compared, which is never zero.
func AgreeWithObjdump(t testing.TB, path string) int {
	t.Helper()
	objdump := needtool.Path(t, "llvm-objdump-22")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := unbundle(data)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	total := 0
	for i, object := range objects {
		file := path
		if len(objects) > 1 || len(object) != len(data) {
			file = filepath.Join(t.TempDir(), fmt.Sprintf("%d.co", i))
			if err := os.WriteFile(file, object, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		target, err := targetOf(object)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		total += agree(t, objdump, file, target)
	}
	if total == 0 {
		t.Errorf("%s: no instructions to compare", path)
	}
	return total
}

// agree compares one bare code object.
func agree(t testing.TB, objdump, path string, target isa.Target) int {
	t.Helper()
	labels, err := symbols(path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	cmd := exec.Command(objdump, "-d", "-z", "--mcpu="+target.String(), path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n, bad := 0, 0
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line, ok := parseLine(lines.Text())
		if !ok {
			continue
		}
		n++
		if why := line.disagrees(target, labels); why != "" {
			if bad++; bad <= maxReports {
				t.Errorf("%s: %s", filepath.Base(path), why)
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("llvm-objdump-22 %s: %v\n%s", path, err, stderr.String())
	}
	if bad > maxReports {
		t.Errorf("%s: %d more disagreements", filepath.Base(path), bad-maxReports)
	}
	return n
}

// symbols are the addresses of the named places of a code object, to which
// llvm-objdump spells branches.
func symbols(path string) (map[string]uint64, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	addresses := map[string]uint64{}
	all, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, err
	}
	for _, s := range all {
		addresses[s.Name] = s.Value
	}
	return addresses, nil
}

// line is one instruction of llvm-objdump's output.
type line struct {
	addr uint64
	code []byte
	text string // single spaces, no comment
}

// parseLine reads "\ttext // ADDRESS: DWORD DWORD <symbol>".
func parseLine(s string) (line, bool) {
	text, comment, ok := strings.Cut(s, " // ")
	if !ok || !strings.HasPrefix(s, "\t") {
		return line{}, false
	}
	address, words, ok := strings.Cut(comment, ":")
	if !ok {
		return line{}, false
	}
	addr, err := strconv.ParseUint(address, 16, 64)
	if err != nil {
		return line{}, false
	}
	l := line{addr: addr, text: strings.Join(strings.Fields(text), " ")}
	for _, w := range strings.Fields(words) {
		v, err := strconv.ParseUint(w, 16, 32)
		if err != nil || len(w) != 8 {
			break // the symbol that a branch goes to
		}
		l.code = binary.LittleEndian.AppendUint32(l.code, uint32(v))
	}
	return l, len(l.code) > 0
}

// disagrees says how package isa differs on the line, or "".
func (l line) disagrees(target isa.Target, labels map[string]uint64) string {
	in, err := isa.Decode(target, l.code, l.addr)
	if name, operand, ok := strings.Cut(l.text, " "); ok && in.Enc == isa.SOPP && name == in.Op.String() {
		if to, ok := labels[operand]; ok && to == l.addr+4+uint64(4*int64(in.Simm16)) {
			return "" // a branch by name
		}
	}
	refused := strings.HasPrefix(l.text, ".long") || strings.HasPrefix(l.text, "<unknown>") || strings.Contains(l.text, "/*")
	switch {
	case err != nil && refused:
	case err != nil:
		return fmt.Sprintf("%v; LLVM has %q", err, l.text)
	case refused:
		return fmt.Sprintf("%#x: %x: LLVM refuses (%s); got %q", l.addr, l.code, l.text, in.String())
	case int(in.Size) != len(l.code):
		return fmt.Sprintf("%#x: %x: %d bytes, LLVM takes %d for %q", l.addr, l.code, in.Size, len(l.code), l.text)
	case in.String() != l.text:
		return fmt.Sprintf("%#x: %x:\n\tgot  %q\n\tLLVM %q", l.addr, l.code, in.String(), l.text)
	}
	return ""
}

// Numbers of the ELF header (llvm AMDGPUUsage, "ELF Code Object").
const (
	elfMachineOffset = 48 // e_flags of an ELF64 header
	machineMask      = 0xff
	machineGFX942    = 0x4c
	machineGFX950    = 0x4f
)

// targetOf reads the target from the ELF header's flags.
func targetOf(object []byte) (isa.Target, error) {
	f, err := elf.NewFile(bytes.NewReader(object))
	if err != nil {
		return 0, err
	}
	if f.Machine != elf.EM_AMDGPU || f.Class != elf.ELFCLASS64 {
		return 0, fmt.Errorf("%s %s is not an AMDGPU code object", f.Class, f.Machine)
	}
	switch m := binary.LittleEndian.Uint32(object[elfMachineOffset:]) & machineMask; m {
	case machineGFX942:
		return isa.GFX942, nil
	case machineGFX950:
		return isa.GFX950, nil
	default:
		return 0, fmt.Errorf("machine %#x is neither gfx942 nor gfx950", m)
	}
}

const bundleMagic = "__CLANG_OFFLOAD_BUNDLE__"

// unbundle is the AMDGPU code objects in data: data itself when it is no
// bundle. A bundle is the magic, the number of entries, and for each entry
// its offset, its size and its target's name, all numbers of 64 bits.
func unbundle(data []byte) ([][]byte, error) {
	if !bytes.HasPrefix(data, []byte(bundleMagic)) {
		return [][]byte{data}, nil
	}
	r := bytes.NewReader(data[len(bundleMagic):])
	number := func() (v uint64, err error) {
		err = binary.Read(r, binary.LittleEndian, &v)
		return
	}
	count, err := number()
	if err != nil {
		return nil, fmt.Errorf("offload bundle: %w", err)
	}
	var objects [][]byte
	for range count {
		var v [3]uint64 // offset, size, length of the name
		for i := range v {
			if v[i], err = number(); err != nil {
				return nil, fmt.Errorf("offload bundle: %w", err)
			}
		}
		if v[2] > uint64(r.Len()) || v[0] > uint64(len(data)) || v[1] > uint64(len(data))-v[0] {
			return nil, fmt.Errorf("offload bundle: an entry lies beyond the file")
		}
		name := make([]byte, v[2])
		if _, err := io.ReadFull(r, name); err != nil {
			return nil, fmt.Errorf("offload bundle: %w", err)
		}
		if bytes.Contains(name, []byte("amdgcn")) && v[1] > 0 {
			objects = append(objects, data[v[0]:v[0]+v[1]])
		}
	}
	return objects, nil
}
