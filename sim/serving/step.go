package serving

// Step is one step of the engine: what happens before it, and what the sampler
// makes of it. Requests are named by their place among those that run when the
// step begins, in the order in which they were admitted; a place at which none
// runs means nothing. So any list of steps can be run, and stays runnable when
// a step is left out.
//
// The zero Step is a step in which nothing happens but work: prompts go on,
// and decodes keep all their drafts.
type Step struct {
	Finish  []int `json:"finish,omitempty"`  // places of requests that end
	Preempt []int `json:"preempt,omitempty"` // places of requests that lose their pages and begin again; not in this step
	Arrive  []int `json:"arrive,omitempty"`  // prompt lengths of new requests, cut to 1 to MaxModelLen-1
	Short   []int `json:"short,omitempty"`   // places of requests for which nothing was drafted
	Accept  []int `json:"accept,omitempty"`  // how many drafts each decode of the step keeps, in the batch's order; all where there is no number
}

// Sequence is an engine's configuration and the steps that it is put through:
// all that is needed to have the same records again.
type Sequence struct {
	Engine Config `json:"engine"`
	Steps  []Step `json:"steps"`
}
