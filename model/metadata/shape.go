package metadata

// Shape is what the host knows of a step's decodes: everything that its paths
// and loops depend on. It never depends on a length, which only the device
// knows.
type Shape struct {
	Starts []int32 // (decodes+1) first token of each decode; the last is one past the actual tokens
	Tokens int     // rows that a flattened step gets, padding tokens included
}

// Decodes is the number of requests.
func (s Shape) Decodes() int { return len(s.Starts) - 1 }

// Actual is the number of query tokens; those from it to Tokens are padding.
func (s Shape) Actual() int { return int(s.Starts[len(s.Starts)-1]) }

// Depth is the number of query tokens of request r.
func (s Shape) Depth(r int) int { return int(s.Starts[r+1] - s.Starts[r]) }

// Depths is the smallest and the largest number of query tokens of a request.
func (s Shape) Depths() (smallest, largest int) {
	smallest, largest = s.Depth(0), s.Depth(0)
	for r := range s.Decodes() {
		smallest, largest = min(smallest, s.Depth(r)), max(largest, s.Depth(r))
	}
	return smallest, largest
}

// Path is how the decodes of a step become rows.
type Path uint8

const (
	Requests        Path = iota // next_n = 1 and native: the lengths are the requests' own
	Native                      // a row of lengths a request
	FlattenUniform              // a row a token, all requests of one depth
	FlattenVariable             // a row a token
	Varlen                      // a row a token, by the kernel of varlen paged MQA logits
)

func (p Path) String() string {
	return [...]string{"requests", "native", "flatten uniform", "flatten variable", "varlen"}[p]
}

// Path is the path that a step of this shape takes.
func (c Config) Path(s Shape) Path {
	smallest, largest := s.Depths()
	switch {
	case c.Varlen:
		return Varlen
	case c.native(largest) && c.NextN() > 1:
		return Native
	case c.native(largest):
		return Requests
	case (s.Decodes() == 1 || !c.Adaptive) && smallest == largest && s.Decodes()*largest == s.Tokens:
		return FlattenUniform
	}
	return FlattenVariable
}
