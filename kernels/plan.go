package kernels

import (
	"fmt"
	"slices"

	"mqaproof/sim/codeobject"
)

// plan is how a subject's launches use tensors and the argument block, worked
// out once: which tensors are needed, and where each argument goes.
type plan struct {
	tensors  []*tensor // each once, in the order of Tensors
	launches []plannedLaunch
}

type plannedLaunch struct {
	kernarg uint32 // bytes
	limit   int    // work-items of a workgroup at most; 0: not said
	args    []plannedArg
}

type plannedArg struct {
	at     uint32 // offset in the argument block
	tensor int    // index into tensors; -1 for a value
	typ    string // of a value
}

func newPlan(m *Manifest, wiring string, f *codeobject.File) (*plan, error) {
	p := new(plan)
	used := map[string]bool{}
	for _, l := range m.Launches {
		for _, a := range l.Args {
			if a.Tensor != "" {
				used[wired(a.Tensor, wiring)] = true
			}
		}
	}
	index := map[string]int{}
	for i := range tensorTable {
		if t := &tensorTable[i]; used[t.name] {
			index[t.name] = len(p.tensors)
			p.tensors = append(p.tensors, t)
		}
	}
	for _, l := range m.Launches {
		k, err := f.Kernel(l.Kernel)
		if err != nil {
			return nil, err
		}
		have := explicit(k)
		out := plannedLaunch{kernarg: k.KernargSize, limit: k.MaxWorkgroup}
		for i, a := range l.Args {
			arg := plannedArg{at: have[i].Offset, tensor: -1, typ: a.Type}
			if a.Tensor != "" {
				arg.tensor = index[wired(a.Tensor, wiring)]
			}
			out.args = append(out.args, arg)
		}
		p.launches = append(p.launches, out)
	}
	return p, nil
}

// wired is the tensor that a wiring hands over for lengths. One-length kernels
// get the per-request buffer with last-column; with next_n = 1 there is no
// such buffer upstream, and the (B, 1) lengths that they get instead hold the
// same numbers. Everything else gets the table.
func wired(name, wiring string) string {
	switch {
	case name != "lengths":
		return name
	case wiring == "last-column":
		return "per_request"
	}
	return "table"
}

// pack writes a launch's argument block: tensors' addresses, then values.
func (p *plannedLaunch) pack(l *LaunchSpec, c *compiledLaunch, v *values, addr func(tensor int) uint64) ([]byte, error) {
	block := make([]byte, p.kernarg)
	for i := range p.args {
		if err := p.args[i].put(block, &c.args[i], v, addr); err != nil {
			return nil, fmt.Errorf("argument %s: %w", l.Args[i].Name, err)
		}
	}
	return block, nil
}

// dims evaluates a grid or a block; missing dimensions are 1.
func dims(what string, es []*expression, v *values) ([3]uint32, error) {
	out := [3]uint32{1, 1, 1}
	for i, e := range es {
		n, err := e.int(v)
		if err != nil {
			return out, fmt.Errorf("%s[%d]: %w", what, i, err)
		}
		if n < 0 || n > 1<<31-1 {
			return out, fmt.Errorf("%s[%d]: %q is %d for this case", what, i, e.source, n)
		}
		out[i] = uint32(n)
	}
	return out, nil
}

// empty reports whether a dimension is 0: nothing runs.
func empty(d [3]uint32) bool { return slices.Contains(d[:], 0) }
