package proof

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// goName names the prover that needs no tool.
const goName = "go"

// scanned is how many lengths are tried one by one for a claim that is to be
// refuted before its tables are made.
const scanned = 48

// tryClaim decides a claim. A false one comes with the lowest length at which
// it is false.
func tryClaim(c claim, tb *tables, refute bool) (*int64, error) {
	if c.goal != nil {
		if refute {
			for x := c.lo; x < c.lo+scanned && (c.hi == 0 || x <= c.hi); x++ {
				if value(c.goal, x) == 0 {
					return &x, nil
				}
			}
		}
		if c.within == nil {
			x, found, err := tb.falseAt(c.goal)
			if err != nil || !found || c.hi != 0 && x > c.hi {
				return nil, err
			}
			if value(c.goal, x) != 0 {
				return nil, fmt.Errorf("proof: the tables say that a claim is false at %d, plain evaluation that it is true: a defect of the prover", x)
			}
			return &x, nil
		}
	}
	for _, b := range c.within {
		least, largest, leastAt, largestAt, err := tb.extremes(b.t, c.hi)
		if err != nil {
			return nil, err
		}
		for _, e := range []struct{ v, at int64 }{{least, leastAt}, {largest, largestAt}} {
			if e.v >= b.lo && e.v <= b.hi {
				continue
			}
			if v := value(b.t, e.at); v != e.v {
				return nil, fmt.Errorf("proof: the tables say that a value at %d is %d, plain evaluation says %d: a defect of the prover", e.at, e.v, v)
			}
			return &e.at, nil
		}
	}
	return nil, nil
}

// finding is what a prover makes of a part: how much was looked at, and what
// stands out first in the order of the settings.
type finding struct {
	settings, claims int
	again            int      // queries that a solver decided on their own
	unknown          int      // claims that the prover did not decide
	refuted          *Witness // the first claim found false
	held             *Setting // the first setting with a claim found true
	broken           string   // why a claim is malformed, as a broken builder makes it
	brokenAt         Setting
}

// Witness is a counterexample.
type Witness struct {
	Setting
	Length int64 `json:"length"`
}

func (w Witness) String() string { return fmt.Sprintf("%s L=%d", w.Setting, w.Length) }

// goPart proves a part at every setting. What it finds does not depend on the
// number of workers.
func goPart(ctx context.Context, p Part, d Domain, workers int, progress func(done, total int)) (finding, error) {
	settings := slices.Collect(p.settings(d.axes(every)))
	results := make([]goResult, len(settings))
	var next, finished atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	for range min(workers, 1024) { // more than any machine has use for
		g.Go(func() error {
			var w goWorker
			for {
				from := int(next.Add(batch)) - batch
				if from >= len(settings) {
					return nil
				}
				for i := from; i < min(from+batch, len(settings)); i++ {
					if err := ctx.Err(); err != nil {
						return err
					}
					var err error
					if results[i], err = w.prove(p, settings[i], d); err != nil {
						return fmt.Errorf("proof: part %s at %s: %w", p.Name, settings[i], err)
					}
				}
				if progress != nil {
					progress(int(min(finished.Add(batch), int64(len(settings)))), len(settings))
				}
			}
		})
	}
	if err := g.Wait(); err != nil {
		return finding{}, err
	}
	f := finding{settings: len(settings)}
	for i, r := range results {
		f.claims += r.claims
		if f.refuted == nil {
			f.refuted = r.refuted
		}
		if f.held == nil && r.held {
			f.held = &settings[i]
		}
		if f.broken == "" && r.broken != "" {
			f.broken, f.brokenAt = r.broken, settings[i]
		}
	}
	return f, nil
}

// batch is how many settings a worker takes at once.
const batch = 64

// goResult is what came of one setting.
type goResult struct {
	claims  int
	refuted *Witness
	held    bool
	broken  string
}

// goWorker keeps memory from setting to setting.
type goWorker struct {
	ts     Terms
	tables []tables
}

// find is the place of the tables from lo on among the first used, or -1.
func (w *goWorker) find(used int, lo int64) int {
	for i := range used {
		if w.tables[i].lo == lo {
			return i
		}
	}
	return -1
}

func (w *goWorker) prove(p Part, s Setting, d Domain) (goResult, error) {
	w.ts.reset()
	claims := p.claims(&w.ts, s, d)
	r := goResult{claims: len(claims)}
	used := 0
	for _, c := range claims {
		i := w.find(used, c.lo)
		if i < 0 {
			i = used
			used++
			if i == len(w.tables) {
				w.tables = append(w.tables, tables{})
			}
			w.tables[i].reset(&w.ts, c.lo)
		}
		at, err := tryClaim(c, &w.tables[i], p.Refuted)
		switch {
		case errors.Is(err, errVariables):
			r.broken = "a row " + err.Error()
		case err != nil:
			return r, err
		case at == nil:
			r.held = true
		case r.refuted == nil:
			r.refuted = &Witness{s, *at}
		}
	}
	return r, nil
}
