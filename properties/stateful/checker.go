package stateful

import (
	"fmt"
	"unsafe"

	"mqaproof/sim/serving"
)

// Checker holds the records of one engine, step after step, against the
// properties. It is for one goroutine.
type Checker struct {
	cfg     serving.Config
	values  *values
	kernels *kernelRunner // nil: no kernel is run

	addresses [][]serving.Buffer // by rank: each buffer and where it was first seen
	owned     [][]int32          // by rank: the states that it owns, in order
	walk      walker
	owners    []uint32 // by page: ID plus 1 of the request that holds it
	expected  []float32
	gathered  []float32
	err       error // a check could not be made
}

// NewChecker makes a checker for engines of the configuration.
func NewChecker(c serving.Config) *Checker { return newChecker(c, newValues(), nil) }

func newChecker(c serving.Config, v *values, k *kernelRunner) *Checker {
	ch := &Checker{
		cfg: c, values: v, kernels: k,
		addresses: make([][]serving.Buffer, c.World),
		owned:     make([][]int32, c.World),
		owners:    make([]uint32, c.Pages),
		walk:      newWalker(c),
	}
	// Whose state each is, by walking the positions.
	state := int32(0)
	for p := range c.MaxModelLen {
		if (p+1)%c.Ratio == 0 {
			rank := p / c.Interleave % c.World
			ch.owned[rank] = append(ch.owned[rank], state)
			state++
		}
	}
	ch.expected = make([]float32, state)
	ch.gathered = make([]float32, state)
	return ch
}

// Check gives the first property that the step fails, or nil. An error means
// that a property could not be checked.
func (ch *Checker) Check(rec *serving.Record) (*Violation, error) {
	for i := range properties {
		p := &properties[i]
		v := p.check(ch, rec)
		if ch.err != nil {
			return nil, fmt.Errorf("checking %s of step %d: %w", p.Name, rec.Index+1, ch.err)
		}
		if v != nil {
			v.Property, v.Step = p.Name, rec.Index
			return v, nil
		}
	}
	return nil, nil
}

// fails notes that a check could not be made.
func (ch *Checker) fails(err error) *Violation {
	ch.err = err
	return nil
}

var properties = Properties()

var buffers = Property{
	Name:     "buffers",
	Sentence: "every persistent buffer that a step's kernels are given lies where it always lay",
	check: func(ch *Checker, rec *serving.Record) *Violation {
		for rank := range rec.Ranks {
			for _, b := range rec.Ranks[rank].Buffers {
				if first := ch.firstSeen(rank, b); first != b.At {
					return nowhere("%s has moved since an earlier step", b.Name).at(rank, -1, -1)
				}
			}
		}
		return nil
	},
}

func (ch *Checker) firstSeen(rank int, b serving.Buffer) unsafe.Pointer {
	for _, seen := range ch.addresses[rank] {
		if seen.Name == b.Name {
			return seen.At
		}
	}
	ch.addresses[rank] = append(ch.addresses[rank], b)
	return b.At
}

var fresh = Property{
	Name:     "fresh",
	Sentence: "whatever of a persistent buffer a layer's kernel reads was written in this step",
	check: func(_ *Checker, rec *serving.Record) *Violation {
		for rank := range rec.Ranks {
			for layer := range rec.Ranks[rank].Reads {
				r := &rec.Ranks[rank].Reads[layer]
				for i, ok := range r.LengthsFresh {
					if !ok {
						return nowhere("the length that the kernel reads was written in an earlier step: %d", r.Lengths[i]).at(rank, layer, i)
					}
				}
				for i, ok := range r.PerFresh {
					if !ok {
						return nowhere("the per-request length that the kernel reads was written in an earlier step: %d", r.PerRequest[i]).at(rank, layer, i*r.Columns)
					}
				}
			}
		}
		return nil
	},
}

var match = Property{
	Name:     "match",
	Sentence: "the per-request lengths are the table's last column at the moment each layer's kernel reads them",
	check: func(_ *Checker, rec *serving.Record) *Violation {
		for rank := range rec.Ranks {
			for layer := range rec.Ranks[rank].Reads {
				r := &rec.Ranks[rank].Reads[layer]
				if (r.PerRequest != nil) != (r.Columns > 1) {
					return nowhere("a table of %d columns and %d per-request lengths", r.Columns, len(r.PerRequest)).at(rank, layer, -1)
				}
				for i, got := range r.PerRequest {
					row := (i+1)*r.Columns - 1
					if want := r.Lengths[row]; got != want {
						return nowhere("the per-request length against the table's last column").at(rank, layer, row).want(want, got)
					}
				}
			}
		}
		return nil
	},
}
