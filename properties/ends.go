package properties

import "context"

var ends = Property{
	Name:     "ends",
	Sentence: "the kernel ends: no wave runs past its instruction budget, waits at a barrier for ever, or leaves its code",
	applies:  always,
	check: func(_ context.Context, e *evidence) (*Violation, error) {
		if e.base.Trap == nil {
			return nil, nil
		}
		return &Violation{Row: -1, Position: -1, Detail: e.base.Trap.Error()}, nil
	},
}
