package model

import (
	"fmt"
	"math"
	"slices"

	"mqaproof/model/metadata"
)

// StepKind is a part of the builder's work that upstream does in one device
// kernel, and so the step on which such a kernel is run.
type StepKind string

const (
	// VarlenStep: decodes of differing depths become one row a token, padding
	// tokens at the end, under neither DCP nor compression, which come later.
	VarlenStep StepKind = "varlen"
	// UniformStep: decodes of next_n query tokens each become one row a token,
	// under neither DCP nor compression.
	UniformStep StepKind = "uniform"
	// PrefillStep: the requests behind the decodes are one chunk, of which some
	// or all query rows get their bounds.
	PrefillStep StepKind = "prefill"
	// SlotsStep: tokens that complete a state on this rank get its slot.
	SlotsStep StepKind = "compressed-slots"
)

// StepKinds are all kinds.
var StepKinds = []StepKind{VarlenStep, UniformStep, PrefillStep, SlotsStep}

// Step is a step of the metadata builder that a case stands for: the batch and
// what the builder makes of it. Everything that the case does not say follows
// from its seed and the requests' ids:
//
//   - a varlen step has 1 to next_n query tokens a request (a padding request
//     none), next_n*requests tokens with the padding, and buffers that are up to
//     520 entries larger;
//   - a prefill step has 1 to all of a request's tokens as query tokens, or in
//     one of eight requests at most next_n, and is cut to a part of the chunk's
//     query rows in every second case. Its limits make one chunk of all prefills;
//   - a compressed-slots step has query tokens as a prefill step, and next_n for
//     a padding request, as captured graphs have; up to 3 tokens of padding; and
//     no slot for a token that is padding, another rank's, or replayed, which one
//     in eight is. Pages hold as many states as the case says.
type Step struct {
	Kind     StepKind
	Config   metadata.Config
	Batch    metadata.Batch
	Metadata *metadata.Metadata
	// SeqLensBuffer is the builder's whole buffer of decode lengths.
	SeqLensBuffer []int32

	// Of a prefill step.
	Chunk      *metadata.Chunk // of all prefills, uncut; nil when none of them has a complete state
	ChunkFirst int             // its first request
	Start, End int             // the query rows to work on, counted from the chunk's first
}

// stepFill is what the builder's buffers hold before the step.
const stepFill = math.MinInt32

// NewStep derives a step of the given kind. Width is the number of block table
// columns, at least 1; 0 means the case's own, TableWidth. Rows are cut or
// continued with entries that must not be read through. A compressed-slots
// step needs the case's own.
func (in *Inputs) NewStep(kind StepKind, width int) (*Step, error) {
	if width == 0 {
		width = in.TableWidth
	}
	s := &Step{Kind: kind}
	s.Config = metadata.Config{
		NumSpeculativeTokens: in.Case.NextN - 1,
		CompressRatio:        1,
		DCPWorldSize:         1,
		CPInterleave:         1,
		ForceFlatten:         true,
		InitialFill:          stepFill,
		BlockTableWidth:      width,
	}
	s.Batch = metadata.Batch{
		SeqLens:    in.Global,
		BlockTable: in.stepPages(width),
	}
	switch kind {
	case VarlenStep:
		s.Config.Varlen = true
		s.queries(in.decodeDepth)
		s.Batch.NumActualTokens = in.Rows
	case UniformStep:
		s.queries(func(int) int { return in.Case.NextN })
		s.Batch.NumActualTokens = in.Rows
	case PrefillStep:
		in.mixed(&s.Config)
		s.queries(func(r int) int { return in.prefillDepth(r, 0) })
		s.Batch.SlotMapping = slices.Repeat([]int64{-1}, s.Batch.NumActualTokens)
	case SlotsStep:
		in.mixed(&s.Config)
		s.queries(func(r int) int { return in.prefillDepth(r, in.Case.NextN) })
		s.Batch.SlotMapping = in.stepSlots(s)
		s.Batch.NumActualTokens += below(in.stepHash(0), 4)
	default:
		return nil, fmt.Errorf("step: %q is no kind of step", kind)
	}
	s.Config.MaxNumBatchedTokens = max(s.Batch.NumActualTokens, len(in.Global)) + below(in.stepHash(1), 520)
	b, err := metadata.NewBuilder(s.Config)
	if err != nil {
		return nil, err
	}
	if s.Metadata, err = b.Step(s.Batch); err != nil {
		return nil, err
	}
	s.SeqLensBuffer = b.SeqLensBuffer()
	if kind == PrefillStep {
		return s, in.cutChunk(s)
	}
	return s, nil
}

// mixed gives the builder what a step with prefills needs: the case's DCP and
// compression, pages, and limits that no chunk reaches.
func (in *Inputs) mixed(c *metadata.Config) {
	c.MaxModelLen, c.WorkspaceFactor, c.MaxLogitsMB = MaxColumns, 1<<16, 1<<28
	c.PageTokens = in.Case.Page * in.Case.Ratio
	c.CompressRatio = in.Case.Ratio
	c.DCPWorldSize, c.DCPRank, c.CPInterleave = in.Case.DCP.World, in.Case.DCP.Rank, in.Case.DCP.Interleave
}

// stepHash is a word of the step that belongs to no request.
func (in *Inputs) stepHash(i int) uint64 { return at(place(in.Case.Seed, forStep), i) }

// requestHash is a word of the step that belongs to a request.
func (in *Inputs) requestHash(r, i int) uint64 {
	return at(place(in.Case.Seed, forStep, uint64(in.Case.Requests[r].ID)), i)
}

// decodeDepth is a request's query tokens in a varlen step.
func (in *Inputs) decodeDepth(r int) int {
	if in.Global[r] == 0 {
		return 0
	}
	return 1 + below(in.requestHash(r, 0), in.Case.NextN)
}

// prefillDepth is a request's query tokens where it is a prefill.
func (in *Inputs) prefillDepth(r, padding int) int {
	most := int(in.Global[r])
	if most == 0 {
		return padding
	}
	if below(in.requestHash(r, 1), 8) == 0 {
		most = in.Case.NextN
	}
	return 1 + below(in.requestHash(r, 2), most)
}

func (s *Step) queries(depth func(r int) int) {
	s.Batch.QueryStartLoc = make([]int32, 1, len(s.Batch.SeqLens)+1)
	tokens := 0
	for r := range s.Batch.SeqLens {
		tokens += depth(r)
		s.Batch.QueryStartLoc = append(s.Batch.QueryStartLoc, int32(tokens))
	}
	s.Batch.NumActualTokens = tokens
}

// stepPages is the case's block table with rows of another width.
func (in *Inputs) stepPages(width int) [][]int32 {
	rows := make([][]int32, len(in.Global))
	for r := range rows {
		own := in.BlockTable[r*in.TableWidth : (r+1)*in.TableWidth]
		rows[r] = append(make([]int32, 0, width), own[:min(width, len(own))]...)
		for c := len(rows[r]); c < width; c++ {
			rows[r] = append(rows[r], badPage+int32(below(in.requestHash(r, 3+c), 1<<16)))
		}
	}
	return rows
}

// stepSlots is the slot of each query token, found by asking who owns its
// position. Only whether there is one bears on what becomes of it.
func (in *Inputs) stepSlots(s *Step) []int64 {
	d := in.Case.DCP
	slots := make([]int64, 0, s.Batch.NumActualTokens)
	for r, length := range s.Batch.SeqLens {
		n := s.Batch.QueryStartLoc[r+1] - s.Batch.QueryStartLoc[r]
		for pos := int(length - n); pos < int(length); pos++ {
			slot := int64(-1)
			if pos >= 0 && pos/d.Interleave%d.World == d.Rank && below(at(in.requestHash(r, 0), pos), 8) > 0 {
				slot = int64(len(slots)) + 1<<33
			}
			slots = append(slots, slot)
		}
	}
	return slots
}

// cutChunk picks the chunk and the rows of it to work on.
func (in *Inputs) cutChunk(s *Step) error {
	s.ChunkFirst = s.Metadata.NumDecodes
	if s.Metadata.Prefill == nil || len(s.Metadata.Prefill.Chunks) == 0 {
		return nil
	}
	if n := len(s.Metadata.Prefill.Chunks); n != 1 {
		return fmt.Errorf("step: the prefills are too large for one chunk: the builder made %d", n)
	}
	s.Chunk = &s.Metadata.Prefill.Chunks[0]
	rows := s.Chunk.TokenEnd - s.Chunk.TokenStart
	s.End = rows
	if below(in.stepHash(2), 2) == 1 && rows > 0 {
		s.Start = below(in.stepHash(3), rows)
		s.End = s.Start + 1 + below(in.stepHash(4), rows-s.Start)
	}
	return nil
}
