package stateful

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"mqaproof/corpus"
	"mqaproof/sim/serving"
)

// Options of fuzzing the engine.
type Options struct {
	Faults      []serving.Fault // nil: NoFault and every planted one
	Steps       int             // steps to run for a fault before it counts as not found; 0: DefaultSteps
	Length      int             // steps of a sequence; 0: DefaultLength
	Seed        uint64
	Workers     int    // sequences run at once; 0: all cores. It changes nothing of what is found
	KernelEvery int    // run a real kernel on every so many-th step with decodes; 0: none
	Corpus      string // folder to save minimal sequences in; "": nowhere
	Tool        string // version, for the corpus files
	Progress    func(Progress)
}

// What Options means by 0.
const (
	DefaultSteps  = 50_000
	DefaultLength = 30
)

// Far more than a night runs, and what a sequence can be read by people.
const (
	maxSteps  = 1_000_000_000
	maxLength = 10_000
)

// Progress is how far the search for a fault is. It comes from several
// goroutines.
type Progress struct {
	Fault  serving.Fault
	Steps  int // run so far
	Of     int //
	Shrunk int // runs of the shrinker; 0 while still searching
}

// Outcome is what came of one fault, or of the engine without one.
type Outcome struct {
	Fault     serving.Fault
	Sequences int           // run, up to and with the failing one
	Steps     int           // of these
	Time      time.Duration // shrinking included
	Find      *Find         // nil: every property held
}

// Surprise says whether the outcome is not what was planted: an engine without
// a fault fails, or a planted fault was not found.
func (o *Outcome) Surprise() bool { return (o.Fault == serving.NoFault) != (o.Find == nil) }

// Find is a failing sequence.
type Find struct {
	Generator string // "rapid" or "gopter"
	Generated serving.Sequence
	Minimal   serving.Sequence
	Violation *Violation // of the minimal sequence
	Runs      int        // of the shrinker
	Path      string     // corpus file; "": not saved
}

// Fuzz looks for a sequence that fails with each of the faults, one fault
// after the other; with NoFault it should find none. Sequences of even index
// are rapid's, of odd index gopter's, and depend on seed and index alone. An
// error means that a sequence could not be run or saved; outcomes are those so
// far.
func Fuzz(ctx context.Context, o Options) ([]Outcome, error) {
	if o.Faults == nil {
		o.Faults = append([]serving.Fault{serving.NoFault}, serving.Faults()...)
	}
	if o.Steps == 0 {
		o.Steps = DefaultSteps
	}
	if o.Length == 0 {
		o.Length = DefaultLength
	}
	if o.Workers == 0 {
		o.Workers = runtime.NumCPU()
	}
	if o.Steps < 0 || o.Length < 0 || o.Workers < 0 || o.KernelEvery < 0 {
		return nil, fmt.Errorf("stateful: steps %d, length %d, workers %d and kernel-every %d must not be negative", o.Steps, o.Length, o.Workers, o.KernelEvery)
	}
	if o.Steps > maxSteps || o.Length > maxLength {
		return nil, fmt.Errorf("stateful: %d steps in sequences of %d were asked for; there can be up to %d, in sequences of %d", o.Steps, o.Length, maxSteps, maxLength)
	}
	s, err := newShared(ctx, o.KernelEvery)
	if err != nil {
		return nil, err
	}
	var all []Outcome
	for _, f := range o.Faults {
		out, err := s.fuzzOne(ctx, o, f)
		if err != nil {
			return all, err
		}
		all = append(all, out)
	}
	return all, nil
}

func (s *shared) fuzzOne(ctx context.Context, o Options, f serving.Fault) (Outcome, error) {
	start := time.Now()
	out := Outcome{Fault: f}
	m, index, err := s.search(ctx, o, f, &out)
	if err != nil {
		return out, err
	}
	if m != nil {
		shrunk, err := Shrink(ctx, m.sequence, f, m.violation, func(runs int) {
			if o.Progress != nil {
				o.Progress(Progress{Fault: f, Steps: out.Steps, Of: o.Steps, Shrunk: runs})
			}
		})
		// A user's Ctrl-C ends the shrinking, not the saving.
		if err != nil && !errors.Is(err, context.Canceled) {
			return out, fmt.Errorf("shrinking: %w", err)
		}
		out.Find = &Find{
			Generator: generators[index%2], Generated: m.sequence, Minimal: shrunk.Sequence,
			Violation: shrunk.Violation, Runs: shrunk.Runs,
		}
		if o.Corpus != "" {
			if out.Find.Path, err = corpus.Save(o.Corpus, NewEntry(out.Find, f, o.Tool)); err != nil {
				return out, err
			}
		}
	}
	out.Time = time.Since(start)
	return out, nil
}

var generators = [2]string{"rapid", "gopter"}

// generate makes and runs the index-th sequence.
func (s *shared) generate(o Options, f serving.Fault, index int) (*machine, error) {
	seed := int64(mix(o.Seed, uint64(index)) >> 1)
	if index%2 == 0 {
		m := s.rapidSequence(f, o.Length).Example(int(seed))
		return m, m.err
	}
	m, err := s.gopterSequence(f, o.Length, seed)
	if err == nil {
		err = m.err
	}
	return m, err
}

// search gives the failing sequence of the lowest index. Workers take indices
// in order and stop above the lowest failing one, so every index below it was
// run whatever their number.
func (s *shared) search(ctx context.Context, o Options, f serving.Fault, out *Outcome) (*machine, int, error) {
	var (
		taken, steps atomic.Int64
		lowest       atomic.Int64
		mu           sync.Mutex
		found        *machine
		firstErr     error
		lengths      []int // by index: steps run
	)
	limit := int64((o.Steps + o.Length - 1) / o.Length)
	lowest.Store(limit)
	lengths = make([]int, limit)
	worker := func() error {
		for ctx.Err() == nil {
			i := taken.Add(1) - 1
			if i >= lowest.Load() {
				return nil
			}
			m, err := s.generate(o, f, int(i))
			if ctx.Err() != nil {
				return nil
			}
			if err != nil || m.violation != nil {
				mu.Lock()
				if i < lowest.Load() {
					lowest.Store(i)
					found, firstErr = m, err
				}
				mu.Unlock()
			}
			if m != nil {
				lengths[i] = len(m.sequence.Steps) // each index is one worker's
				n := steps.Add(int64(lengths[i]))
				if o.Progress != nil {
					o.Progress(Progress{Fault: f, Steps: int(n), Of: o.Steps})
				}
			}
		}
		return nil
	}
	var g errgroup.Group
	for range min(o.Workers, 1024) { // more than any machine has use for
		g.Go(worker)
	}
	_ = g.Wait() // workers give their errors by index, above
	index := int(lowest.Load())
	if firstErr != nil {
		return nil, 0, fmt.Errorf("%s, sequence %d of seed %d (%s): %w", f, index, o.Seed, generators[index%2], firstErr)
	}
	if found == nil {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
	}
	out.Sequences = min(index+1, len(lengths))
	for _, n := range lengths[:out.Sequences] {
		out.Steps += n
	}
	return found, index, nil
}

// mix hashes the words (splitmix64 finaliser, Steele et al. 2014).
func mix(words ...uint64) uint64 {
	h := uint64(0)
	for _, w := range words {
		h += w + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}
