package codeobject

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// Read reads every code object of data: the one of a bare ELF, or all those of
// an offload bundle whose target has an emulator. It is an error when there is
// none, or when one of them is damaged.
func Read(data []byte) ([]*File, error) {
	if !isBundle(data) {
		f, err := readELF(data)
		if err != nil {
			return nil, err
		}
		return []*File{f}, nil
	}
	entries, err := readBundle(data)
	if err != nil {
		return nil, err
	}
	var files []*File
	for _, e := range entries {
		if !supported(e.target) {
			continue
		}
		f, err := e.read()
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("offload bundle holds code objects for %s, but none for a supported target (%s)", targets(entries), strings.Join(supportedTargets, ", "))
	}
	return files, nil
}

// ReadTarget reads the code object for target, such as "gfx942". When there is
// none it lists the targets that are present.
func ReadTarget(data []byte, target string) (*File, error) {
	if !supported(target) {
		return nil, fmt.Errorf("target %q is not supported: %s are", target, strings.Join(supportedTargets, " and "))
	}
	if !isBundle(data) {
		f, err := readELF(data)
		if err != nil {
			return nil, err
		}
		if f.Target != target {
			return nil, fmt.Errorf("code object is for %s, not %s", f.Target, target)
		}
		return f, nil
	}
	entries, err := readBundle(data)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.target == target {
			return e.read()
		}
	}
	return nil, fmt.Errorf("offload bundle holds code objects for %s, but none for %s", targets(entries), target)
}

// Kernel is the kernel called name; its error lists those present.
func (f *File) Kernel(name string) (*Kernel, error) {
	for i := range f.Kernels {
		if f.Kernels[i].Name == name {
			return &f.Kernels[i], nil
		}
	}
	names := make([]string, len(f.Kernels))
	for i, k := range f.Kernels {
		names[i] = k.Name
	}
	return nil, fmt.Errorf("code object has no kernel %q: it has %s", name, strings.Join(names, ", "))
}

// notELF says what data is instead of an ELF file, as far as can be told.
func notELF(data []byte) error {
	switch {
	case len(data) == 0:
		return errors.New("file is empty: expected an AMDGPU code object (ELF64) or an offload bundle")
	case bytes.HasPrefix(data, []byte("CCOB")):
		return errors.New("compressed offload bundle (CCOB) is not supported: compile with --no-offload-compress, or unpack it with clang-offload-bundler --unbundle")
	case isText(data):
		return errors.New("file is text, not an AMDGPU code object (ELF64) or offload bundle: compile it first")
	}
	return fmt.Errorf("not an AMDGPU code object: file starts with % x, expected an ELF64 header or %s", data[:min(8, len(data))], bundleMagic)
}

func isText(data []byte) bool {
	for _, b := range data[:min(256, len(data))] {
		if b < 0x20 && b != '\n' && b != '\r' && b != '\t' || b == 0x7f {
			return false
		}
	}
	return true
}
