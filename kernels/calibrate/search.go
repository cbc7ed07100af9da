package calibrate

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
)

// fit is the rules of one shape that give every output.
type fit struct {
	shape shape
	boxes []box
}

// death is how far a shape got: the rules of its boxes give the first at
// outputs, and none of them the next.
type death struct {
	shape shape
	boxes []box
	at    int
}

// search runs the outputs through every shape. It gives the fits, or when there
// are none the shapes that got farthest.
func search(ctx context.Context, shapes []shape, outputs []output) (fits []fit, last []death, err error) {
	left := make([][]box, len(shapes))
	dead := make([]death, len(shapes))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(shapes)) {
		wg.Go(func() {
			var n narrower
			for {
				i := int(next.Add(1)) - 1
				if i >= len(shapes) || ctx.Err() != nil {
					return
				}
				left[i], dead[i] = n.run(ctx, &shapes[i], outputs)
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	farthest := 0
	for i := range shapes {
		if len(left[i]) > 0 {
			fits = append(fits, fit{shapes[i], left[i]})
		}
		farthest = max(farthest, dead[i].at)
	}
	for i := range shapes {
		if len(fits) == 0 && dead[i].at == farthest {
			last = append(last, dead[i])
		}
	}
	return fits, last, nil
}

// leastEffort is what an output may cost while easier ones may be left.
const leastEffort = 1000

// run narrows everything that the shape holds by one output after another. An
// output that takes too much effort waits until fewer rules are left; when
// several in a row did, there may be no easier ones, and the effort is raised.
func (n *narrower) run(ctx context.Context, s *shape, outputs []output) ([]box, death) {
	boxes, spare := []box{s.everything()}, []box(nil)
	waiting := make([]int, len(outputs))
	for i := range waiting {
		waiting[i] = i
	}
	effort, refused := leastEffort, 0
	for len(waiting) > 0 {
		later := waiting[:0]
		for tried, i := range waiting {
			if tried%256 == 0 && ctx.Err() != nil {
				return nil, death{}
			}
			left, done := n.narrow(s, &outputs[i], boxes, spare[:0], effort)
			if !done {
				later = append(later, i)
				if refused++; refused == 8 {
					effort, refused = 2*effort, 0
				}
				continue
			}
			if left = merge(left); len(left) == 0 {
				return nil, death{*s, boxes, i}
			}
			boxes, spare = left, boxes
			effort, refused = max(leastEffort, effort*7/8), 0
		}
		waiting = later
	}
	return boxes, death{}
}

// inOrder gives the outputs the order in which they are tried: shuffled, so
// that instructions and kinds of experiment take turns, with those of the
// diagonals first.
func inOrder(outputs []output) []output {
	rng := rand.New(rand.NewPCG(1, 1))
	var first, rest []output
	for _, o := range outputs {
		if o.row == o.col {
			first = append(first, o)
		} else {
			rest = append(rest, o)
		}
	}
	for _, part := range [][]output{first, rest} {
		rng.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
	}
	return append(first, rest...)
}
