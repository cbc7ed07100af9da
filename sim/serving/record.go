package serving

import (
	"unsafe"

	"mqaproof/model/metadata"
)

// Layers is how many layers' kernels read the metadata in a step.
const Layers = 2

// Kind is how a step ran.
type Kind uint8

const (
	Idle     Kind = iota // there was nothing to run
	Eager                // launched one by one
	Captured             // as Eager, and its launches were recorded
	Replayed             // the launches recorded for its size, on the addresses that they had then
)

func (k Kind) String() string { return [...]string{"idle", "eager", "captured", "replayed"}[k] }

// Record is what one step did. It and all it holds are valid until the
// engine's next step.
type Record struct {
	Index   int // of the step, from 0
	Kind    Kind
	Batch   []Scheduled // the step's requests, decodes first
	Padded  int         // rows of requests, padding included; len(Batch) when the step is not padded
	Counts  metadata.Counts
	Ranks   []RankRecord
	Pages   []PageState // by page number, as the step ran
	Running int         // requests that hold a place after the step
	Waiting int
}

// Scheduled is a request of a step.
type Scheduled struct {
	ID     uint32
	Start  int      // position of its first query token: what was computed before
	Query  int      // query tokens
	Drafts int      // of those, drafts: the last ones
	Tokens []uint32 // names of its tokens from position 0 to Start+Query-1
	Pages  []int32  // its pages, in order
}

// PageState is a page as the pool sees it.
type PageState struct {
	InUse bool
	Epoch uint32 // how often it was handed out
}

// Cell is what a cache slot holds: the name of what was written there. The
// zero Cell was never written.
type Cell struct {
	Owner uint32 // the request's ID plus 1; 0 in a written cell is a padding token
	State int32  // which of the request's states
	Token uint32 // the name of the token that completed it; 0: never written
}

// paddingToken is the name of what a padding token writes, if it does.
const paddingToken = ^uint32(0)

// RankRecord is what one rank did in a step.
type RankRecord struct {
	Meta   *metadata.Metadata // as the builder gave it
	Reads  []Read             // by layer; empty without decodes
	Writes []Write            // in order
	Cache  []Cell             // by slot, after the writes
	Slots  []int64            // the slot mapping that was used, padding tokens included
	// Buffers are the persistent buffers that the step's kernels were given.
	Buffers []Buffer
}

// Buffer is a named persistent buffer's address.
type Buffer struct {
	Name string
	At   unsafe.Pointer
}

// Read is what the decode kernel of one layer finds in the buffers that it
// was given, at the moment it runs.
type Read struct {
	Rows, Columns int
	Lengths       []int32   // (Rows, Columns): the table
	LengthsFresh  []bool    // which of them this step wrote
	PerRequest    []int32   // (Rows), nil where there is no such buffer
	PerFresh      []bool    // which of them this step wrote
	BlockTable    [][]int32 // (Rows, width)
}

// Write is one store of a token's state.
type Write struct {
	Token       int // of the step
	Slot        int64
	Before      Cell   // what the slot held
	BeforeEpoch uint32 // which hand-out of the page that was written in
	Epoch       uint32 // which hand-out it is now
}
