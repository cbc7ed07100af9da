package kernels

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mqaproof/sim/gpu"
)

// Rig runs a metadata subject again and again in the same memory, on tensors
// and variables that its user makes up, not on those of a case: thousands of
// requests a run, and as many runs as wanted. It is for one goroutine; several
// rigs of one subject may run at once.
type Rig struct {
	s       *Subject
	memory  *gpu.Memory
	buffers []*gpu.Buffer
	index   map[string]int
	bytes   []byte // of the tensor being written
}

// NewRig allocates the subject's tensors, as many elements of each as its user
// says. It must say so for all that the launches use: see Uses.
func (s *Subject) NewRig(elements map[string]int) (*Rig, error) {
	if s.Manifest.Kind != Metadata {
		return nil, fmt.Errorf("%s: only a %s kernel runs on made-up tensors, this is a %s kernel", s, Metadata, s.Manifest.Kind)
	}
	g := &Rig{s: s, memory: gpu.NewMemory(), index: map[string]int{}}
	for i, t := range s.plan.tensors {
		n, ok := elements[t.name]
		if !ok || n < 0 {
			return nil, fmt.Errorf("%s: tensor %s has no size: sizes are given for %s", s, t.name, strings.Join(slices.Sorted(maps.Keys(elements)), ", "))
		}
		b, err := g.memory.Alloc(gpu.Spec{Name: t.name, Size: uint64(n) * uint64(t.element()), ReadOnly: t.readOnly})
		if err != nil {
			return nil, fmt.Errorf("%s: tensor %s: %w", s, t.name, err)
		}
		g.buffers = append(g.buffers, b)
		g.index[t.name] = i
	}
	return g, nil
}

// element is the bytes of an element of an integer tensor.
func (t *tensor) element() int {
	if t.wide {
		return 8
	}
	return 4
}

// Uses reports whether the launches have the tensor.
func (s *Subject) Uses(name string) bool {
	return slices.ContainsFunc(s.plan.tensors, func(t *tensor) bool { return t.name == name })
}

// Write fills the first elements of an input. A tensor that no launch uses is
// left out without an error.
func (g *Rig) Write(name string, values []int32) error {
	g.bytes = appendInts(g.bytes[:0], values)
	return g.write(name, 4)
}

// WriteWide is Write for a tensor of int64.
func (g *Rig) WriteWide(name string, values []int64) error {
	g.bytes = g.bytes[:0]
	for _, x := range values {
		g.bytes = binary.LittleEndian.AppendUint64(g.bytes, uint64(x))
	}
	return g.write(name, 8)
}

func (g *Rig) write(name string, element int) error {
	i, ok := g.index[name]
	if !ok {
		return nil
	}
	if t := g.s.plan.tensors[i]; t.element() != element || t.output {
		return fmt.Errorf("%s: tensor %s is no input of %d bytes an element", g.s, name, element)
	}
	return g.buffers[i].Write(0, g.bytes)
}

// Run forgets what outputs hold and runs the launches. Variables that vars does
// not name are 0. The result has the faults, the trap and the instructions;
// outputs are read with Words.
func (g *Rig) Run(ctx context.Context, vars map[string]int, o RunOptions) (*Result, error) {
	v, err := g.s.valuesFrom(func(name string) int { return vars[name] })
	if err != nil {
		return nil, err
	}
	for i, t := range g.s.plan.tensors {
		if t.output {
			g.buffers[i].Fill(unwrittenWord)
		}
	}
	r := new(Result)
	for i := range g.s.plan.launches {
		if err := g.s.launch(ctx, g.memory, g.buffers, i, v, o, r); err != nil {
			return nil, fmt.Errorf("%s: launches[%d]: %w", g.s, i, err)
		}
		if r.Trap != nil {
			break
		}
	}
	return r, nil
}

// unwrittenWord is what outputs hold that nothing wrote: Unwritten's bits.
const unwrittenWord = 1 << 31

// Words is an output of the last run, dword by dword, and which of them the
// kernels stored; nothing for a tensor that no launch uses.
func (g *Rig) Words(name string) (words []uint32, written []bool) {
	i, ok := g.index[name]
	if !ok {
		return nil, nil
	}
	return g.buffers[i].Words()
}
