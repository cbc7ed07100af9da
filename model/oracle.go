package model

// The mask oracle counts. It walks the positions of a request, asks who owns
// each and which states are complete, and counts what a query token can see.
// It shares no formula with the metadata builder, which it judges.

// seen is what counting one request gives.
type seen struct {
	states  []int32 // global state of each local position of this rank
	visible []int   // of each query token: how many local positions it sees
}

// count walks the positions of a request of the given context. The case is
// normalised. A query token sees its own position and all before it.
func (c Case) count(context int) seen {
	s := seen{visible: make([]int, c.NextN)}
	first := context - c.NextN // position of the first query token
	complete := int32(0)       // states complete so far, on any rank
	for p := range context {
		if (p+1)%c.Ratio == 0 {
			if (p/c.DCP.Interleave)%c.DCP.World == c.DCP.Rank {
				s.states = append(s.states, complete)
			}
			complete++
		}
		if p >= first {
			s.visible[p-first] = len(s.states)
		}
	}
	return s
}
