package kernels

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"mqaproof/sim/codeobject"
)

// valueTypes are the types of value arguments, beside the null pointer ptr.
var valueTypes = []string{"i32", "i64", "u32", "u64", "f32"}

// argSize is the bytes of a value argument's type; 0 for an unknown type.
func argSize(typ string) uint32 {
	switch typ {
	case "i32", "u32", "f32":
		return 4
	case "i64", "u64", "ptr":
		return 8
	}
	return 0
}

// pointerSize is the bytes of a tensor's address.
const pointerSize = 8

// explicit are the arguments that the caller provides.
func explicit(k *codeobject.Kernel) []codeobject.Arg {
	var out []codeobject.Arg
	for _, a := range k.Args {
		if !a.Hidden() {
			out = append(out, a)
		}
	}
	return out
}

// checkArgs holds a launch's arguments against the kernel's metadata.
func checkArgs(l *LaunchSpec, k *codeobject.Kernel) error {
	have := explicit(k)
	if len(l.Args) != len(have) {
		return fmt.Errorf("kernel %s takes %d arguments, the manifest gives %d: the code object has %s",
			k.Name, len(have), len(l.Args), describeArgs(have))
	}
	for i := range have {
		if err := checkArg(&l.Args[i], &have[i], k.KernargSize); err != nil {
			return fmt.Errorf("kernel %s, argument %d (%s): %w", k.Name, i, l.Args[i].Name, err)
		}
	}
	return nil
}

func checkArg(a *Arg, m *codeobject.Arg, kernarg uint32) error {
	if name := sourceName(m.Name); name != "" && name != a.Name {
		return fmt.Errorf("the code object calls it %s: use the same name, in the same order", name)
	}
	size, pointer := uint32(pointerSize), true
	if a.Tensor == "" {
		size, pointer = argSize(a.Type), a.Type == "ptr"
	}
	switch m.ValueKind {
	case "global_buffer":
		if !pointer {
			return fmt.Errorf("the code object has a pointer here, the manifest a value of type %s", a.Type)
		}
	case "by_value":
		// A pointer inside an 8-byte value is what hand-written code objects use.
		if pointer && m.Size != pointerSize {
			return fmt.Errorf("the code object has a value of %d bytes here, the manifest a pointer", m.Size)
		}
	default:
		return fmt.Errorf("value kind %q is not supported: global_buffer and by_value are", m.ValueKind)
	}
	if m.Size != size {
		return fmt.Errorf("the code object has %d bytes here, the manifest %d", m.Size, size)
	}
	if m.Offset > kernarg || kernarg-m.Offset < m.Size {
		return fmt.Errorf("its %d bytes at offset %d lie past the %d bytes of arguments: the code object's metadata is damaged", m.Size, m.Offset, kernarg)
	}
	return nil
}

// sourceName is an argument's name as the source has it: clang calls a pointer
// that it moved to the global address space name.coerce.
func sourceName(s string) string { return strings.TrimSuffix(s, ".coerce") }

func describeArgs(args []codeobject.Arg) string {
	if len(args) == 0 {
		return "none"
	}
	var s []string
	for i, a := range args {
		name := sourceName(a.Name)
		if name == "" {
			name = fmt.Sprintf("#%d", i)
		}
		s = append(s, fmt.Sprintf("%s (%s, %d bytes)", name, a.ValueKind, a.Size))
	}
	return strings.Join(s, ", ")
}

// put writes a value argument of the given type at the start of dst.
func put(dst []byte, typ string, e *expression, v *values) error {
	if typ == "f32" {
		f, err := e.float(v)
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint32(dst, math.Float32bits(float32(f)))
		return nil
	}
	x, err := e.int(v)
	if err != nil {
		return err
	}
	fits := true
	switch typ {
	case "i32":
		fits = x == int64(int32(x))
	case "u32":
		fits = x == int64(uint32(x))
	case "u64":
		fits = x >= 0
	}
	if !fits {
		return fmt.Errorf("%q is %d, which is not an %s", e.source, x, typ)
	}
	if argSize(typ) == 4 {
		binary.LittleEndian.PutUint32(dst, uint32(x))
	} else {
		binary.LittleEndian.PutUint64(dst, uint64(x))
	}
	return nil
}

// put writes one argument into the argument block.
func (a *plannedArg) put(block []byte, c *compiledArg, v *values, addr func(tensor int) uint64) error {
	dst := block[a.at:]
	if a.tensor < 0 {
		if a.typ == "ptr" {
			binary.LittleEndian.PutUint64(dst, 0)
			return nil
		}
		return put(dst, a.typ, c.value, v)
	}
	at := addr(a.tensor)
	if c.offset != nil {
		off, err := c.offset.int(v)
		if err != nil {
			return fmt.Errorf("offset: %w", err)
		}
		at += uint64(off)
	}
	binary.LittleEndian.PutUint64(dst, at)
	return nil
}
