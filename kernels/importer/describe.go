package importer

import (
	"fmt"
	"slices"
	"strconv"

	"mqaproof/kernels"
	"mqaproof/sim/codeobject"
)

// backwards is the row bound of the released kernels, fault B02: the last query
// token of a request should see the most positions, and sees the fewest.
const backwards = "context_length - pid_next_n"

// kernel is the entry point in the code object that triton made.
func (p *plan) kernel(c *compiled) (*codeobject.Kernel, error) {
	file, err := codeobject.ReadTarget(c.object, p.Target)
	if err != nil {
		return nil, fmt.Errorf("%s: the code object that triton made: %w", p.Name, err)
	}
	k, err := file.Kernel(c.Kernel)
	if err != nil {
		return nil, fmt.Errorf("%s: the code object that triton made: %w", p.Name, err)
	}
	return k, nil
}

// describe is the manifest of a compiled plan; k is its entry point.
func (p *plan) describe(c *compiled, k *codeobject.Kernel, about, objectFile string) (*kernels.Manifest, error) {
	args, err := p.args(c, k)
	if err != nil {
		return nil, err
	}
	m := &kernels.Manifest{
		Name:        p.Name,
		About:       about,
		Kind:        kernels.Logits,
		CodeObjects: map[string]string{p.Target: objectFile},
		Layouts:     p.Layouts,
		Profile:     p.Profile,
		Reads:       p.Reads,
		Tile:        p.Tile,
		Const:       p.Const,
		Limits:      p.Limits,
		Wirings:     p.wirings(c),
		Launches: []kernels.LaunchSpec{{
			Kernel: c.Kernel,
			Args:   args,
			Grid:   p.Grid,
			Block:  []string{p.Block},
		}},
	}
	if p.Step != nil {
		m.Kind, m.Step = kernels.Metadata, p.Step
	}
	if c.Shared > 0 {
		m.Launches[0].LDS = strconv.Itoa(c.Shared)
	}
	// A kernel whose body never looks at max_model_len cannot cut its stores there.
	if p.WholeChunks != "" && !slices.Contains(c.Reads, "max_model_len") {
		m.Limits.Where = and(p.WholeChunks, m.Limits.Where)
	}
	return m, nil
}

// args are the launch's arguments: those of the function that are left, then
// null pointers for the scratch memory that Triton's launcher provides and
// these kernels do not use.
func (p *plan) args(c *compiled, k *codeobject.Kernel) ([]kernels.Arg, error) {
	var have []codeobject.Arg
	for _, a := range k.Args {
		if !a.Hidden() {
			have = append(have, a)
		}
	}
	if len(have) < len(c.Arguments) {
		return nil, fmt.Errorf("%s: the code object takes %d arguments, the function leaves %d: this triton drops arguments in a way that is not known here", p.Name, len(have), len(c.Arguments))
	}
	var args []kernels.Arg
	for i, a := range c.Arguments {
		prm, ok := p.Params[a.Name]
		if !ok {
			return nil, fmt.Errorf("%s: parameter %s has no value", p.Name, a.Name)
		}
		arg := kernels.Arg{Name: a.Name, Tensor: prm.Tensor, Offset: prm.Offset}
		size := uint32(8)
		if prm.Tensor == "" {
			arg.Type, arg.Value = a.Type, prm.Value
			if a.Type == "i32" || a.Type == "u32" {
				size = 4
			}
		}
		if have[i].Size != size {
			return nil, fmt.Errorf("%s: argument %s has %d bytes in the code object, not %d", p.Name, a.Name, have[i].Size, size)
		}
		args = append(args, arg)
	}
	for i, a := range have[len(c.Arguments):] {
		if a.ValueKind != "global_buffer" {
			return nil, fmt.Errorf("%s: the code object takes an argument of kind %s that the function does not have", p.Name, a.ValueKind)
		}
		args = append(args, kernels.Arg{Name: fmt.Sprintf("triton_scratch%d", i), Type: "ptr"})
	}
	return args, nil
}

// wirings are the ways to hand lengths to the kernel, with the faults that
// upstream is known to have. A kernel that derives its rows' lengths from one
// length a request is right only while they differ by one from row to row:
// not under DCP or compression.
func (p *plan) wirings(c *compiled) map[string]kernels.Wiring {
	if p.Step != nil {
		return map[string]kernels.Wiring{"device": {}}
	}
	const uniform = "world == 1 && ratio == 1"
	faulty := func(w kernels.Wiring, id string) kernels.Wiring {
		w.Fault, w.Property = id, "mask"
		return w
	}
	last := kernels.Wiring{Where: uniform}
	table := faulty(kernels.Wiring{}, "B01")
	if slices.Contains(c.Bounds, backwards) {
		last, table = faulty(last, "B02"), faulty(table, "B02")
	}
	switch p.Lengths {
	case ragged:
		return map[string]kernels.Wiring{"last-column": last}
	case perRow:
		// The launcher flattens the lengths, so a strided table arrives as a copy.
		return map[string]kernels.Wiring{"per-row": {Where: "lengths_stride == next_n"}}
	}
	return map[string]kernels.Wiring{"last-column": last, "table": table}
}
