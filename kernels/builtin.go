package kernels

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"mqaproof/kernels/hip"
)

// builtin is read once: the files are part of the program.
var builtin = sync.OnceValues(func() ([]*Subject, error) {
	subjects, problems := below(hip.FS, "kernels/hip")
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("built-in kernels: %w", err)
	}
	return subjects, nil
})

// Builtin is every subject of our own kernels, sorted by name, target and wiring.
func Builtin() ([]*Subject, error) {
	subjects, err := builtin()
	return slices.Clone(subjects), err
}
