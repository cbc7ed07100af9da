package serving

// Poison is what persistent buffers hold before the first step, and what none
// of them can be given: no length is negative.
const Poison int32 = -0x5eed

// tracked watches a persistent buffer: which of its entries a step writes.
// Between begin and end the buffer holds poison where nothing was written yet;
// outside, it holds what a real one would, old contents included.
type tracked struct {
	data, old []int32
	fresh     []bool
}

func track(data []int32) tracked {
	t := tracked{data: data, old: make([]int32, len(data)), fresh: make([]bool, len(data))}
	for i := range t.old {
		t.old[i] = Poison
	}
	return t
}

func (t *tracked) begin() {
	copy(t.old, t.data)
	for i := range t.data {
		t.data[i] = Poison
	}
}

func (t *tracked) end() {
	for i, v := range t.data {
		t.fresh[i] = v != Poison
		if v == Poison {
			t.data[i] = t.old[i]
		}
	}
}

// revert undoes what the step wrote.
func (t *tracked) revert() {
	copy(t.data, t.old)
	clear(t.fresh)
}
