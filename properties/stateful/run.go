package stateful

import (
	"context"
	"fmt"

	"mqaproof/sim/serving"
)

// machine is an engine, its checker and the steps that it was put through.
type machine struct {
	engine    *serving.Engine
	checker   *Checker
	sequence  serving.Sequence
	running   int        // after the last step
	alive     int        // running or waiting
	violation *Violation // the first; no step is run after it
	err       error      // the engine broke down
}

func (s *shared) machine(c serving.Config, f serving.Fault) (*machine, error) {
	e, err := serving.New(c, f)
	if err != nil {
		return nil, err
	}
	var k *kernelRunner
	if s.kernels != nil {
		own := *s.kernels // its own count of steps
		k = &own
	}
	return &machine{engine: e, checker: newChecker(c, s.values, k), sequence: serving.Sequence{Engine: c}}, nil
}

// do runs and checks a step, unless an earlier one failed.
func (m *machine) do(s serving.Step) {
	if m.violation != nil || m.err != nil {
		return
	}
	m.sequence.Steps = append(m.sequence.Steps, s)
	rec, err := m.engine.Step(s)
	if err != nil {
		m.err = err
		return
	}
	m.running, m.alive = rec.Running, rec.Running+rec.Waiting
	m.violation, m.err = m.checker.Check(rec)
}

// shared is what the machines of a run have in common.
type shared struct {
	values  *values
	kernels *kernelRunner // nil: none
}

func newShared(ctx context.Context, kernelEvery int) (*shared, error) {
	s := &shared{values: newValues()}
	if kernelEvery > 0 {
		k, err := newKernelRunner(ctx, kernelEvery)
		if err != nil {
			return nil, err
		}
		s.kernels = k
	}
	return s, nil
}

// Run puts an engine with the fault through a sequence and gives the first
// violation, or nil when every property holds after every step. With
// kernelEvery above 0 a real kernel is run on every so many-th step with
// decodes, the first included.
func Run(ctx context.Context, seq serving.Sequence, f serving.Fault, kernelEvery int) (*Violation, error) {
	s, err := newShared(ctx, kernelEvery)
	if err != nil {
		return nil, err
	}
	return s.run(ctx, seq, f)
}

func (s *shared) run(ctx context.Context, seq serving.Sequence, f serving.Fault) (*Violation, error) {
	m, err := s.machine(seq.Engine, f)
	if err != nil {
		return nil, err
	}
	for i, step := range seq.Steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if m.do(step); m.err != nil {
			return nil, fmt.Errorf("step %d of %d: %w", i+1, len(seq.Steps), m.err)
		}
		if m.violation != nil {
			break
		}
	}
	return m.violation, nil
}
