package stateful

import (
	"context"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/commands"
	"pgregory.net/rapid"

	"mqaproof/sim/serving"
)

func newTestShared(t testing.TB, kernelEvery int) *shared {
	t.Helper()
	s, err := newShared(context.Background(), kernelEvery)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRapidMachine: every property holds of the engine without a fault,
// whatever rapid's machine does.
func TestRapidMachine(t *testing.T) {
	s := newTestShared(t, 0)
	rapid.Check(t, func(t *rapid.T) {
		m, err := s.machine(drawConfig(t), serving.NoFault)
		if err != nil {
			t.Fatal(err)
		}
		actions := m.actions()
		actions[""] = func(t *rapid.T) {
			if m.err != nil {
				t.Fatal(m.err)
			}
			if m.violation != nil {
				t.Fatalf("%s\n%+v", m.violation, m.sequence)
			}
		}
		t.Repeat(actions)
	})
}

// TestGopterMachine: the same of gopter's machine.
func TestGopterMachine(t *testing.T) {
	s := newTestShared(t, 0)
	params := gopter.DefaultTestParametersWithSeed(1)
	params.MinSize, params.MaxSize = 1, 40
	params.MinSuccessfulTests = 200
	steps := 0
	result := commands.Prop(s.commandsOf(serving.NoFault, func(m *machine) {
		steps += len(m.sequence.Steps)
		if m.violation != nil {
			t.Logf("%s\n%+v", m.violation, m.sequence)
		}
	})).Check(params)
	if !result.Passed() {
		t.Fatalf("%s %v", result.Status, result.Error)
	}
	if steps < 1000 {
		t.Errorf("only %d steps were run", steps)
	}
}
