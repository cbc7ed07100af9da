package serving

// request is one sequence in the engine.
type request struct {
	id       uint32
	tokens   []uint32 // the names of its tokens, in order: prompt, then sampled ones, then this step's drafts
	known    int      // tokens that are not drafts
	computed int      // tokens whose states are in the cache for good
	drafting bool     // a token was sampled since it began (again), so drafts are proposed
	pages    []int32
	query    int // tokens of this step
	rejected int // drafts of the last step that were not kept
	short    bool
	barred   bool // preempted in this step
}

// drafts is how many of this step's query tokens are drafts.
func (r *request) drafts() int { return r.computed + r.query - r.known }

// decoding says whether only the last known token is left to compute.
func (r *request) decoding() bool { return r.drafting && r.known-r.computed == 1 }
