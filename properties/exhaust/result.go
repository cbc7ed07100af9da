package exhaust

import (
	"fmt"
	"strings"
	"time"

	"mqaproof/kernels"
)

// Options of an exhaustive run.
type Options struct {
	Dir      string         // folder of checkpoints; "": none are kept
	Workers  int            // goroutines; 0: all cores
	Short    int            // largest length in the grid; 0: the kind's own (2^20 for ours, 2^16 for vLLM's)
	Long     int            // largest length in one setting of each kind; 0: 2^20
	Axes     *Axes          // of the grid; nil: the kind's own
	Progress func(Progress) // called from one goroutine at a time, once a unit; may be nil
}

// Progress is how far a run is.
type Progress struct {
	Subject    *kernels.Subject
	Units, Of  int
	Lengths    uint64 // held so far, all settings together
	Resumed    int    // of the units, those that an earlier run did
	LastSweep  string
	LastLength int // up to which the last unit went
	Elapsed    time.Duration
}

// Result of an exhaustive run.
type Result struct {
	Subject      string `json:"subject"`
	Settings     int    `json:"settings"`
	Units        int    `json:"units"`
	Done         int    `json:"done"`     // of the units; fewer than all when interrupted, or not needed once a shorter counterexample was found
	Complete     bool   `json:"complete"` // nothing is left to do
	Lengths      uint64 `json:"lengths"`  // request lengths held, all settings together
	Elements     uint64 `json:"elements"` // output elements held
	Instructions uint64 `json:"instructions"`
	// Seconds is the time that units took, summed over goroutines and runs.
	Seconds        float64         `json:"seconds"`
	Counterexample *Counterexample `json:"counterexample,omitempty"` // with the smallest length that has one; nil: every length holds
}

// Counterexample is the first element that is wrong at the smallest length
// that has one.
type Counterexample struct {
	Sweep    string  `json:"sweep"`
	Setting  Setting `json:"setting"`
	Length   int     `json:"length"` // the request's global length
	Tensor   string  `json:"tensor"`
	Token    int     `json:"token"` // of the request's query tokens; or the place in its part of the tensor
	Expected string  `json:"expected"`
	Got      string  `json:"got"`
	Detail   string  `json:"detail,omitempty"`
}

func (c *Counterexample) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "length %d, %s (%s): %s[%d]: expected %s, got %s", c.Length, c.Setting, c.Sweep, c.Tensor, c.Token, c.Expected, c.Got)
	if c.Detail != "" {
		b.WriteString(": " + c.Detail)
	}
	return b.String()
}
