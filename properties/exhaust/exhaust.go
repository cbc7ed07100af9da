package exhaust

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"mqaproof/kernels"
)

// Exhaust runs the subject for every length of every sweep. It goes on after a
// wrong length only where a shorter one may be wrong, and gives the shortest;
// which that is does not depend on the number of workers. When ctx ends, it gives
// what was done so far with ctx's error, and the checkpoint lets a later call
// go on from there; a call that finds all done gives the result at once. Errors
// other than ctx's mean that the subject could not be run, or the checkpoint
// not be read or written.
func Exhaust(ctx context.Context, s *kernels.Subject, o Options) (*Result, error) {
	if o.Short < 0 || o.Long < 0 || o.Short > maxLength || o.Long > maxLength {
		return nil, fmt.Errorf("exhaust: lengths up to %d and %d were asked for; they can be up to %d", o.Short, o.Long, maxLength)
	}
	sweeps, settings, err := plan(s, o)
	if err != nil {
		return nil, err
	}
	x := &exhaustion{s: s, o: o, units: cut(sweeps), start: time.Now()}
	x.state = state0(s, x.units, settings)
	x.file = checkpointFile(o.Dir, s, x.state.Plan)
	if err := x.load(); err != nil {
		return nil, err
	}
	x.resumed = x.state.Result.Done
	x.best.Store(x.state.Result.Counterexample)
	if !x.state.Result.Complete {
		err = x.all(ctx)
	}
	r := x.state.Result
	return &r, err
}

// maxLength keeps a request's length, and the sums made of it, far inside an
// int32.
const maxLength = 1 << 24

// exhaustion is a run under way.
type exhaustion struct {
	s       *kernels.Subject
	o       Options
	units   []unit
	file    string // "" for none
	start   time.Time
	resumed int

	best atomic.Pointer[Counterexample]

	mu    sync.Mutex
	state checkpoint
	saved time.Time
}

// cut is the sweeps in units, short lengths first and all settings of a length
// before longer ones, so that a fault shows early.
func cut(sweeps []*sweep) []unit {
	var units []unit
	for _, s := range sweeps {
		for from := 0; from <= s.max; from += s.per {
			units = append(units, unit{s, from, min(from+s.per, s.max+1)})
		}
	}
	slices.SortStableFunc(units, func(a, b unit) int { return cmp.Compare(a.from, b.from) })
	return units
}

func (x *exhaustion) all(ctx context.Context) error {
	workers := x.o.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range min(workers, len(x.units)) {
		g.Go(func() error {
			for {
				i := int(next.Add(1) - 1)
				if i >= len(x.units) {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if x.done(i) || x.needless(i) {
					continue
				}
				if err := x.one(ctx, i); err != nil {
					return err
				}
			}
		})
	}
	err := g.Wait()
	x.mu.Lock()
	defer x.mu.Unlock()
	if err == nil {
		x.state.Result.Complete = true
	}
	return errors.Join(err, x.save())
}

func (x *exhaustion) done(i int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.state.Done.has(i)
}

// needless units have no length that could beat the counterexample.
func (x *exhaustion) needless(i int) bool {
	b := x.best.Load()
	return b != nil && x.units[i].from > b.Length
}

func (x *exhaustion) one(ctx context.Context, i int) error {
	start := time.Now()
	u := x.units[i]
	r := &run{unit: u, ctx: ctx, s: x.s, set: u.sweep.setting}
	if err := u.sweep.run(r); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%s, %s, lengths %d to %d: %w", u.sweep.name, u.sweep.setting, u.from, u.to-1, err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	res := &x.state.Result
	x.state.Done.add(i)
	res.Done++
	res.Lengths += r.lengths
	res.Elements += r.elements
	res.Instructions += r.instructions
	res.Seconds += time.Since(start).Seconds()
	if r.found != nil && less(i, r.found, x.state.Unit, res.Counterexample) {
		res.Counterexample, x.state.Unit = r.found, i
		x.best.Store(r.found)
	}
	if x.o.Progress != nil {
		x.o.Progress(Progress{Subject: x.s, Units: res.Done, Of: len(x.units), Lengths: res.Lengths, Resumed: x.resumed,
			LastSweep: u.sweep.name + ", " + u.sweep.setting.String(), LastLength: u.to - 1, Elapsed: time.Since(x.start)})
	}
	if time.Since(x.saved) < saveEvery {
		return nil
	}
	return x.save()
}

// less orders counterexamples: by length, then by the order of units.
func less(i int, a *Counterexample, j int, b *Counterexample) bool {
	return b == nil || cmp.Or(cmp.Compare(a.Length, b.Length), cmp.Compare(i, j)) < 0
}
