package properties

import (
	"context"

	"mqaproof/sim/gpu"
)

var ends = Property{
	Name:     "ends",
	Sentence: "the kernel ends: no wave runs past its instruction budget, waits at a barrier for ever, or leaves its code",
	applies:  always,
	check: func(_ context.Context, e *evidence) (*Violation, error) {
		if e.base.Trap == nil {
			return nil, nil
		}
		detail := e.base.Trap.Error()
		if e.base.Trap.Kind == gpu.TrapBudget {
			detail += " (a kernel that needs more gets it with --budget)"
		}
		return &Violation{Row: -1, Position: -1, Detail: detail}, nil
	},
}
