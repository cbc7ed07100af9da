// Package campaign runs many cases: over subjects, over workers, until a count
// or a time is reached; it shrinks and saves what it finds, and replays what
// was saved. What it finds depends on the seed and never on the number of
// workers.
package campaign

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
	"mqaproof/kernels"
	"mqaproof/model"
	"mqaproof/properties"
	"mqaproof/report"
	"mqaproof/shrink"
)

// Options of a fuzzing campaign.
type Options struct {
	Subjects []*kernels.Subject
	Cases    int           // a subject, when For is 0
	For      time.Duration // for all subjects together
	Seed     uint64
	Workers  int    // cases run at once; 0: all cores
	Corpus   string // folder to save counterexamples in; "": nowhere
	Budget   uint64 // instructions a wave; 0: DefaultBudget
	Tool     string // version, for the corpus files
	Progress func(Progress)
}

// DefaultBudget is far above what any generated case needs of a correct
// kernel, and small enough that a kernel which loops for ever is found in
// seconds.
const DefaultBudget = 50_000_000

// Progress is how far a subject is.
type Progress struct {
	Subject *kernels.Subject
	Cases   int // finished
	Of      int // 0: as many as the time allows
	Shrunk  int // runs of the shrinker so far; 0 while still searching
}

// Fuzz runs the campaign, one subject after the other, and calls done with
// each outcome. When ctx ends it stops with what was found so far.
func Fuzz(ctx context.Context, o Options, done func(*report.Outcome)) []*report.Outcome {
	var all []*report.Outcome
	start := time.Now()
	for i, s := range o.Subjects {
		if ctx.Err() != nil {
			break
		}
		var budget time.Duration
		if o.For > 0 {
			budget = (o.For - time.Since(start)) / time.Duration(len(o.Subjects)-i)
		}
		out := fuzzOne(ctx, o, s, budget)
		all = append(all, out)
		done(out)
	}
	return all
}

func fuzzOne(ctx context.Context, o Options, s *kernels.Subject, budget time.Duration) *report.Outcome {
	start := time.Now()
	out := &report.Outcome{Subject: s, Properties: len(properties.Applying(s))}
	defer func() { out.Time = time.Since(start) }()
	f, err := search(ctx, o, s, budget, out)
	out.Unfinished = ctx.Err() != nil
	if err != nil {
		out.Err = err
		return out
	}
	if f == nil {
		return out
	}
	out.Find = f
	out.Err = finish(ctx, o, s, f)
	return out
}

// search gives the failing case of the lowest index. Workers take indices in
// order and stop above the lowest failing one, so every index below it was
// checked whatever their number.
func search(ctx context.Context, o Options, s *kernels.Subject, budget time.Duration, out *report.Outcome) (*report.Find, error) {
	if budget != 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, budget)
		defer cancel()
	}
	gen := properties.Cases(s)
	limit := int64(o.Cases)
	if o.For > 0 {
		limit = 1 << 62
	}
	var (
		taken, finished atomic.Int64
		lowest          atomic.Int64 // lowest failing index so far
		mu              sync.Mutex
		found           *report.Find
		firstErr        error
		errIndex        int64
	)
	lowest.Store(limit)
	worker := func() error {
		for ctx.Err() == nil {
			i := taken.Add(1) - 1
			if i >= lowest.Load() {
				return nil
			}
			f, err := tryCase(ctx, o, s, func() (model.Case, error) { return properties.Case(s, gen, o.Seed, int(i)) })
			if ctx.Err() != nil {
				return nil
			}
			if f != nil || err != nil {
				mu.Lock()
				if i < lowest.Load() {
					lowest.Store(i)
					found, firstErr, errIndex = f, err, i
				}
				mu.Unlock()
			}
			n := finished.Add(1)
			if o.Progress != nil {
				o.Progress(Progress{Subject: s, Cases: int(n), Of: o.Cases})
			}
		}
		return nil
	}
	var g errgroup.Group
	for range workers(o) {
		g.Go(worker)
	}
	_ = g.Wait() // workers give their errors by index, above
	out.Cases = int(finished.Load())
	if firstErr != nil {
		return nil, fmt.Errorf("case %d of seed %d: %w", errIndex, o.Seed, firstErr)
	}
	if found != nil {
		found.Index = int(lowest.Load())
		out.Cases = found.Index + 1
	}
	return found, nil
}

// maxWorkers is more than any machine has use for.
const maxWorkers = 1024

func workers(o Options) int {
	if o.Workers > 0 {
		return min(o.Workers, maxWorkers)
	}
	return runtime.NumCPU()
}

// tryCase checks one generated case. For a subject whose manifest announces a
// fault only the announced property counts.
func tryCase(ctx context.Context, o Options, s *kernels.Subject, draw func() (model.Case, error)) (*report.Find, error) {
	c, err := draw()
	if err != nil {
		return nil, err
	}
	ps := properties.All()
	if s.Fault() != "" {
		p, err := properties.Find(s.FaultProperty())
		if err != nil {
			return nil, err
		}
		ps = []properties.Property{p}
	}
	vs, err := properties.Check(ctx, s, c, ps, runOptions(o, 1))
	if err != nil {
		return nil, fmt.Errorf("%w (the case: %s)", err, c)
	}
	if len(vs) == 0 {
		return nil, nil
	}
	return &report.Find{Violation: vs[0], Case: c, Announced: s.Fault() != ""}, nil
}

func runOptions(o Options, workers int) kernels.RunOptions {
	budget := o.Budget
	if budget == 0 {
		budget = DefaultBudget
	}
	return kernels.RunOptions{Workers: workers, Budget: budget}
}

// finish shrinks a find and saves it. A user's Ctrl-C ends the shrinking, not
// the saving.
func finish(ctx context.Context, o Options, s *kernels.Subject, f *report.Find) error {
	min, v, err := Shrink(ctx, s, f.Case, f.Violation, runOptions(o, 0), func(n int) {
		if o.Progress != nil {
			o.Progress(Progress{Subject: s, Cases: f.Index + 1, Of: o.Cases, Shrunk: n})
		}
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("shrinking: %w", err)
	}
	f.Minimal, f.Violation = min, v
	if o.Corpus == "" {
		return nil
	}
	f.Path, f.Unsaved = corpus.Save(o.Corpus, NewEntry(s, v, min.Case, o.Tool))
	return nil
}

// Shrink takes a case on which the violation's property fails to a minimal
// one on which it still does, and gives the violation there.
func Shrink(ctx context.Context, s *kernels.Subject, c model.Case, v *properties.Violation, o kernels.RunOptions, progress func(runs int)) (shrink.Outcome, *properties.Violation, error) {
	p, err := properties.Find(v.Property)
	if err != nil {
		return shrink.Outcome{Case: c}, v, err
	}
	test := func(ctx context.Context, c model.Case) (bool, error) {
		if s.Accepts(c) != nil {
			return false, nil
		}
		vs, err := properties.Check(ctx, s, c, []properties.Property{p}, o)
		if err != nil || len(vs) == 0 {
			return false, err
		}
		v = vs[0]
		return true, nil
	}
	min, err := shrink.Case(ctx, c, test, func(o shrink.Outcome) {
		if progress != nil {
			progress(o.Runs)
		}
	})
	return min, v, err
}

// NewEntry is the corpus entry of a violation.
func NewEntry(s *kernels.Subject, v *properties.Violation, c model.Case, tool string) *corpus.Entry {
	return &corpus.Entry{
		Tool: tool,
		Subject: corpus.Subject{
			Name: s.Name, Target: s.Target, Wiring: s.Wiring, Backend: s.Backend, SHA256: s.Hash(),
		},
		Property:   v.Property,
		Fault:      s.Fault(),
		Expected:   corpus.Expected{Row: v.Row, Position: v.Position, WrongRows: v.WrongRows, Rows: v.Rows, Detail: v.Detail},
		Case:       c,
		Unverified: !s.Verified(),
	}
}
