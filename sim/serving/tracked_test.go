package serving

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTracked: entries that a step does not write keep what they held and are
// not fresh; rewriting the same value is.
func TestTracked(t *testing.T) {
	b := track([]int32{4, 5, Poison})
	b.begin()
	b.data[0] = 4
	b.end()
	if diff := cmp.Diff([]int32{4, 5, Poison}, b.data); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]bool{true, false, false}, b.fresh); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.begin()
	b.data[1] = 9
	b.end()
	b.revert()
	if diff := cmp.Diff([]int32{4, 5, Poison}, b.data); diff != "" || b.fresh[1] {
		t.Errorf("reverted, fresh %v (-want +got):\n%s", b.fresh, diff)
	}
}
