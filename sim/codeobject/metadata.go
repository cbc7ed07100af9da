package codeobject

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// Limits of the metadata: the format nests six levels deep, and LLVM's kernels
// have at most some hundred arguments.
const (
	maxMetadataDepth = 16
	maxKernargSize   = 64 << 10
)

// readMetadata sets the kernels from the msgpack metadata (llvm AMDGPUUsage,
// "Code Object V3 Metadata" to "V6") and the kernel descriptors.
func (f *File) readMetadata(note []byte, symbols map[string]symbol) error {
	d := msgpack.NewDecoder(bytes.NewReader(note))
	root, err := decodeValue(d, len(note), 0)
	if err != nil {
		return fmt.Errorf("kernel metadata is damaged: %w", err)
	}
	top := reader{m: asMap(root), what: "kernel metadata"}
	if top.m == nil {
		return errors.New("kernel metadata is damaged: it is not a map")
	}
	if t, ok := top.m["amdhsa.target"].(string); ok {
		id, _, _ := strings.Cut(t, ":")
		if id[strings.LastIndexByte(id, '-')+1:] != f.Target {
			return fmt.Errorf("kernel metadata is for %q, but the ELF header says %s", t, f.Target)
		}
	}
	list := top.list("amdhsa.kernels")
	if top.err != nil {
		return top.err
	}
	if len(list) == 0 {
		return errors.New("code object has no kernels")
	}
	seen := map[string]bool{}
	for i, v := range list {
		k, err := f.readKernel(i, v, symbols)
		if err != nil {
			return err
		}
		if seen[k.Name] {
			return fmt.Errorf("kernel metadata names kernel %q twice", k.Name)
		}
		seen[k.Name] = true
		f.Kernels = append(f.Kernels, k)
	}
	return nil
}

func (f *File) readKernel(i int, v any, symbols map[string]symbol) (Kernel, error) {
	r := reader{m: asMap(v), what: fmt.Sprintf("metadata of kernel %d", i)}
	if r.m == nil {
		return Kernel{}, fmt.Errorf("%s is damaged: it is not a map", r.what)
	}
	k := Kernel{Name: r.str(".name", "")}
	if r.err != nil {
		return k, r.err
	}
	if k.Name == "" {
		return k, fmt.Errorf("%s has no name", r.what)
	}
	r.what = "metadata of kernel " + k.Name
	descriptor := r.str(".symbol", k.Name+".kd")
	k.KernargSize = uint32(r.number(".kernarg_segment_size", 0, maxKernargSize, required))
	k.LDS = uint32(r.number(".group_segment_fixed_size", 0, 1<<20, required))
	k.Scratch = uint32(r.number(".private_segment_fixed_size", 0, 1<<30, required))
	k.VGPRs = r.number(".vgpr_count", 0, 512, required)
	k.AGPRs = r.number(".agpr_count", 0, 256, 0)
	k.SGPRs = r.number(".sgpr_count", 0, 128, required)
	k.WavefrontSize = r.number(".wavefront_size", 1, 1024, required)
	k.MaxWorkgroup = r.number(".max_flat_workgroup_size", 1, 1024, required)
	k.UniformGroups = r.number(".uniform_work_group_size", 0, 1, 0) == 1
	k.DynamicStack = r.flag(".uses_dynamic_stack")
	if k.WavefrontSize != 64 && r.err == nil {
		return k, fmt.Errorf("kernel %s has wavefront size %d: %s has 64", k.Name, k.WavefrontSize, f.Target)
	}
	var args []any
	if _, ok := r.m[".args"]; ok {
		args = r.list(".args")
	}
	for j, v := range args {
		a, err := k.readArg(j, v)
		if err != nil {
			return k, err
		}
		k.Args = append(k.Args, a)
	}
	if r.err != nil {
		return k, r.err
	}
	if err := f.readDescriptor(&k, descriptor, symbols); err != nil {
		return k, err
	}
	return k, nil
}

func (k *Kernel) readArg(j int, v any) (Arg, error) {
	r := reader{m: asMap(v), what: fmt.Sprintf("argument %d of kernel %s", j, k.Name)}
	if r.m == nil {
		return Arg{}, fmt.Errorf("%s is damaged: it is not a map", r.what)
	}
	a := Arg{
		Name:      r.str(".name", ""),
		TypeName:  r.str(".type_name", ""),
		ValueKind: r.str(".value_kind", ""),
		Offset:    uint32(r.number(".offset", 0, maxKernargSize, required)),
		Size:      uint32(r.number(".size", 0, maxKernargSize, required)),
	}
	if r.err != nil {
		return a, r.err
	}
	if a.ValueKind == "" {
		return a, fmt.Errorf("%s has no value kind", r.what)
	}
	if a.Offset+a.Size > k.KernargSize {
		return a, fmt.Errorf("%s lies at bytes %d to %d, but the kernel has %d bytes of arguments", r.what, a.Offset, a.Offset+a.Size, k.KernargSize)
	}
	return a, nil
}

// decodeValue decodes maps, arrays and scalars. It checks each claimed length
// against the size of the note, and the depth, before it follows them.
func decodeValue(d *msgpack.Decoder, size, depth int) (any, error) {
	if depth > maxMetadataDepth {
		return nil, errors.New("nested too deep")
	}
	c, err := d.PeekCode()
	if err != nil {
		return nil, err
	}
	switch {
	case msgpcode.IsFixedMap(c), c == msgpcode.Map16, c == msgpcode.Map32:
		n, err := d.DecodeMapLen()
		if err != nil {
			return nil, err
		}
		if n < 0 || n > size/2 {
			return nil, fmt.Errorf("a map claims %d entries", n)
		}
		m := make(map[string]any)
		for range n {
			key, err := d.DecodeString()
			if err != nil {
				return nil, err
			}
			if m[key], err = decodeValue(d, size, depth+1); err != nil {
				return nil, err
			}
		}
		return m, nil
	case msgpcode.IsFixedArray(c), c == msgpcode.Array16, c == msgpcode.Array32:
		n, err := d.DecodeArrayLen()
		if err != nil {
			return nil, err
		}
		if n < 0 || n > size {
			return nil, fmt.Errorf("an array claims %d elements", n)
		}
		var a []any
		for range n {
			v, err := decodeValue(d, size, depth+1)
			if err != nil {
				return nil, err
			}
			a = append(a, v)
		}
		return a, nil
	case msgpcode.IsExt(c):
		return nil, errors.New("it holds an extension type")
	}
	return d.DecodeInterfaceLoose()
}

func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// required as a number's default says that it must be there.
const required = -1

// reader takes typed values out of a decoded map and keeps the first error.
type reader struct {
	m    map[string]any
	what string
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s is damaged: %s", r.what, fmt.Sprintf(format, args...))
	}
}

func (r *reader) str(key, def string) string {
	switch v := r.m[key].(type) {
	case nil:
		return def
	case string:
		if !printable(v) {
			r.fail("%s is %q, which holds bytes that are no text", key, v)
			return def
		}
		return v
	default:
		r.fail("%s is a %T, expected a string", key, v)
	}
	return def
}

// printable reports whether s is text that can be shown as it is: names of the
// file go into messages and listings.
func printable(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(c rune) bool { return !strconv.IsPrint(c) }) < 0
}

func (r *reader) list(key string) []any {
	switch v := r.m[key].(type) {
	case []any:
		return v
	default:
		r.fail("%s is missing or not a list", key)
	}
	return nil
}

// number is the value of key, between lo and hi, or def when absent.
func (r *reader) number(key string, lo, hi, def int) int {
	var n int64
	switch v := r.m[key].(type) {
	case nil:
		if def == required {
			r.fail("%s is missing", key)
			return lo
		}
		return def
	case int64:
		n = v
	case uint64:
		n = int64(min(v, 1<<62))
	case bool:
		if v {
			n = 1
		}
	default:
		r.fail("%s is a %T, expected a number", key, v)
		return lo
	}
	if n < int64(lo) || n > int64(hi) {
		r.fail("%s is %d, expected %d to %d", key, n, lo, hi)
		return lo
	}
	return int(n)
}

func (r *reader) flag(key string) bool { return r.number(key, 0, 1, 0) == 1 }
