package importer

import (
	"fmt"
	"strings"

	"mqaproof/kernels"
	"mqaproof/model"
)

// plan is one jit function at one shape: how to compile it and how its caller
// launches it. It is plain data, so that its JSON tells whether a kernel that
// was imported before is still the one asked for.
type plan struct {
	Name     string // of the manifest: "amd-aiter/plain-h64-d128"
	What     string // for the manifest's sentence: "AITER's plain kernel"
	Files    []string
	Function string
	Problem  string // why this shape cannot be compiled or would not be right; "": it can

	Target     string
	Constexprs map[string]any
	Optional   []string       // of those, the ones that earlier versions lack without making a difference
	Returns    map[string]any // constant answers of functions that the file imports from its package
	Options    map[string]any
	Params     map[string]param // every parameter that a known version of the function has
	Required   []string         // of those, the ones without which the manifest would be wrong

	Layouts []model.Layout
	Profile string // numeric profile, where it is known
	Reads   string
	Tile    string
	Const   map[string]string
	Limits  kernels.Limits
	Grid    []string
	Block   string // work-items

	WholeChunks string      // condition on cases when stores are not cut at max_model_len
	Lengths     lengthsKind // how lengths reach the kernel

	Step *kernels.StepSpec `json:",omitempty"` // of a metadata kernel
}

// param is a parameter of a jit function and what the launcher passes for it.
type param struct {
	Type   string // "fp8", "f32", "i32", "long" (int64) for a pointer to such, "int" or "i64" for a value
	Tensor string // pointers
	Offset string // pointers: bytes into the tensor
	Value  string // values
	// Multiple divides the value, or a pointer's offset, whatever the case; 0:
	// not known. Triton compiles for multiples of 16.
	Multiple int
	// Wide pointers may span 2 GiB or more; to the others the launcher adds the
	// hint that 32-bit offsets reach all of the tensor.
	Wide bool
}

// alignment is what Triton's launcher looks at: values and addresses that are
// multiples of it are compiled for specially.
const alignment = 16

// lengthsKind says what a kernel reads as lengths.
type lengthsKind string

const (
	oneLength lengthsKind = "one length a request"
	perRow    lengthsKind = "one length a row"
	ragged    lengthsKind = "prefix sums"
)

// tritonType is the type that compile.py is asked for.
func (p param) tritonType(target string) string {
	switch p.Type {
	case "fp8":
		// AMD's e4m3 is fnuz on CDNA3 and the OCP format after it; Triton calls
		// them fp8e4b8 and fp8e4nv.
		if target == gfx942 {
			return "*fp8e4b8"
		}
		return "*fp8e4nv"
	case "f32":
		return "*fp32"
	case "i32":
		return "*i32"
	case "long":
		return "*i64"
	}
	return p.Type
}

// attrs are the hints that Triton's launcher would give the compiler.
func (p param) attrs() [][]any {
	var hints [][]any
	if p.Multiple > 0 && p.Multiple%alignment == 0 {
		hints = append(hints, []any{"tt.divisibility", alignment})
	}
	if p.Tensor != "" && !p.Wide {
		hints = append(hints, []any{"tt.pointer_range", 32})
	}
	return hints
}

// tensor is a pointer to the start of a tensor: an allocation, so aligned.
func tensor(typ, name string) param {
	return param{Type: typ, Tensor: name, Multiple: alignment}
}

// value is an integer; multiple divides it whatever the case, 0 if unknown.
func value(expr string, multiple int) param {
	return param{Type: "int", Value: expr, Multiple: multiple}
}

// shapeName is the part of a name that tells shapes: each part that is not "".
func shapeName(pkg, kernel string, parts ...string) string {
	s := pkg + "/" + kernel
	for _, p := range parts {
		if p != "" {
			s += "-" + p
		}
	}
	return s
}

// unless is "x7" for a value that is not the default, else "".
func unless(letter string, v, usual int) string {
	if v == usual {
		return ""
	}
	return fmt.Sprintf("%s%d", letter, v)
}

// targetSuffix keeps the default target's names short.
func targetSuffix(target string) string {
	if target == gfx942 {
		return ""
	}
	return target
}

// and joins conditions, leaving out empty ones.
func and(conditions ...string) string {
	var kept []string
	for _, c := range conditions {
		if c != "" {
			kept = append(kept, c)
		}
	}
	return strings.Join(kept, " && ")
}
