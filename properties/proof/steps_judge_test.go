package proof

import (
	"testing"

	"pgregory.net/rapid"
)

// TestBuilderSteps: the builder gives what counting gives.
func TestBuilderSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if diff := judgeSteps(rapid.Uint64().Draw(t, "seed"), 50); diff != "" {
			t.Fatal(diff)
		}
	})
}
