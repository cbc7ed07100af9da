package kernels

import (
	"context"
	"errors"
	"fmt"

	"mqaproof/model"
	"mqaproof/sim/gpu"
)

// Run runs the subject on the case's tensors in the emulator. A kernel that
// fails to end by its own fault (instruction budget, deadlock, a jump out of
// the code, s_trap) gives a Result with Trap set, holding what was stored
// until then; everything else that keeps the run from ending is an error.
// The wiring's condition and the limits are not asked: see Accepts and Fit.
func (s *Subject) Run(ctx context.Context, in *model.Inputs, o RunOptions) (*Result, error) {
	if in.Format != s.format {
		return nil, fmt.Errorf("%s: the inputs are %s, the kernel takes %s: build them with the subject's Inputs", s, in.Format, s.format)
	}
	step, err := s.step(in)
	if err != nil {
		return nil, err
	}
	v, err := s.valuesOf(in, step)
	if err != nil {
		return nil, err
	}
	memory := gpu.NewMemory()
	buffers, err := s.allocate(memory, in, step, o.Placement)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s, err)
	}
	r := new(Result)
	for i := range s.plan.launches {
		if err := s.launch(ctx, memory, buffers, i, v, o, r); err != nil {
			return nil, fmt.Errorf("%s: launches[%d]: %w", s, i, err)
		}
		if r.Trap != nil {
			break
		}
	}
	s.collect(in, buffers, r)
	return r, nil
}

// maxOutput bounds an output in bytes, since all of it is read back.
const maxOutput = 2 << 30

// allocate gives each tensor its own buffer, filled as the caller would.
func (s *Subject) allocate(memory *gpu.Memory, in *model.Inputs, step *model.Step, placement uint64) ([]*gpu.Buffer, error) {
	buffers := make([]*gpu.Buffer, len(s.plan.tensors))
	bases := placements(len(buffers), placement)
	for i, t := range s.plan.tensors {
		size, data := t.contents(in, step)
		if t.output && size > maxOutput {
			return nil, fmt.Errorf("tensor %s: %d bytes are more than the %d that a run reads back: use a smaller max_model_len or fewer rows", t.name, size, uint64(maxOutput))
		}
		spec := gpu.Spec{Name: t.name, Size: size, Base: bases[i], Data: data, ReadOnly: t.readOnly}
		partly := t.name == "cache" && s.Reads() == ReadsTokens
		if partly {
			spec.Data = nil
		}
		b, err := memory.Alloc(spec)
		if err != nil {
			return nil, fmt.Errorf("tensor %s: %w", t.name, err)
		}
		if partly {
			b.Fill(poison(in.Format))
			if err := writeDefined(b, &in.Cache); err != nil {
				return nil, err
			}
		}
		buffers[i] = b
	}
	return buffers, nil
}

// launch runs one dispatch and adds what it did to r.
func (s *Subject) launch(ctx context.Context, memory *gpu.Memory, buffers []*gpu.Buffer, i int, v *values, o RunOptions, r *Result) error {
	spec, c, p := &s.Manifest.Launches[i], &s.Manifest.compiled.launches[i], &s.plan.launches[i]
	l := gpu.Launch{Workers: o.Workers, Budget: o.Budget, Order: o.Order}
	var err error
	if l.Grid, err = dims("grid", c.grid, v); err != nil {
		return err
	}
	if l.Block, err = dims("block", c.block, v); err != nil {
		return err
	}
	if empty(l.Grid) { // nothing to do, as with an empty grid on the device
		return nil
	}
	if n := uint64(l.Block[0]) * uint64(l.Block[1]) * uint64(l.Block[2]); n == 0 || p.limit > 0 && n > uint64(p.limit) {
		return fmt.Errorf("block: %v is %d work-items; kernel %s takes 1 to %d", l.Block, n, spec.Kernel, p.limit)
	}
	if c.lds != nil {
		n, err := c.lds.int(v)
		if err != nil {
			return fmt.Errorf("lds: %w", err)
		}
		if n < 0 || n > 1<<20 {
			return fmt.Errorf("lds: %q is %d bytes for this case", c.lds.source, n)
		}
		l.DynamicLDS = uint32(n)
	}
	if l.Kernarg, err = p.pack(spec, c, v, func(t int) uint64 { return buffers[t].Addr() }); err != nil {
		return err
	}
	program, err := s.code.programs[i]()
	if err != nil {
		return err
	}
	report, err := memory.Run(ctx, program, l)
	if report != nil {
		r.Instructions += report.Instructions
		r.VectorInstructions += report.VectorInstructions
		r.Faults = append(r.Faults, report.Faults...)
		r.More += report.MoreFaults
	}
	var trap *gpu.Trap
	if errors.As(err, &trap) && trap.KernelsFault() {
		r.Trap = trap
		return nil
	}
	return err
}

// collect reads the outputs back.
func (s *Subject) collect(in *model.Inputs, buffers []*gpu.Buffer, r *Result) {
	for i, t := range s.plan.tensors {
		if !t.output {
			continue
		}
		if t.steps != nil {
			r.Outputs = append(r.Outputs, t.values(buffers[i]))
			continue
		}
		switch t.name {
		case "logits":
			r.Rows, r.Width = in.Rows, in.Width
			r.Logits, r.Written = buffers[i].Words()
		case "head_logits":
			r.Rows, r.Width = in.Rows, in.Width
			bits, written := buffers[i].Words()
			r.Logits, r.Written = sumHeads(in.Case.Heads, in.Rows*in.Width, bits, written)
		case "table_out":
			r.Table, r.TableWritten = ints(buffers[i])
		case "per_request_out":
			r.PerRequest, r.PerRequestWritten = ints(buffers[i])
		}
	}
}
