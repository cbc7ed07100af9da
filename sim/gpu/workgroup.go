package gpu

import (
	"context"
	"fmt"
	"math/rand/v2"
)

// sliceLength is how many instructions a wave runs before the next one has its
// turn.
const sliceLength = 2048

// worker runs workgroups one after another and keeps what they need.
type worker struct {
	l     *launch
	group workgroup
	last  []*Buffer // by step: the buffer that it accessed last
	held  *block    // whose lock is held, nil for none
	addr  [Lanes]uint64
	all   []*Wave // as many as any launch needed so far
	order []int   // of the waves of the running workgroup
}

// workgroup is the one that a worker is running.
type workgroup struct {
	*worker
	id     [3]uint32
	index  uint32
	lds    lds
	waves  []*Wave
	result *workgroupResult
}

// worker is one that is not in use, or a new one.
func (p *Program) worker(l *launch) *worker {
	x, _ := p.idle.Get().(*worker)
	if x == nil {
		x = &worker{last: make([]*Buffer, len(p.steps))}
		x.group.worker = x
	}
	x.l = l
	clear(x.last)
	for len(x.all) < l.waves {
		x.all = append(x.all, &Wave{prog: p, wg: &x.group, id: len(x.all), V: make([]vreg, max(p.vectorRegisters(), 1))})
	}
	x.group.waves = x.all[:l.waves]
	x.group.lds.resize(l.lds)
	x.order = make([]int, l.waves)
	return x
}

// release lets another launch use the worker.
func (p *Program) release(x *worker) {
	x.l, x.group.result = nil, nil
	clear(x.last)
	p.idle.Put(x)
}

// run runs workgroup i. Its error is the context's.
func (x *worker) run(ctx context.Context, i uint64) (*workgroupResult, error) {
	g, l := &x.group, x.l
	g.index = uint32(i)
	g.id = l.workgroupID(g.index)
	g.result = &workgroupResult{}
	g.lds.reset()
	for w := range g.waves {
		l.initWave(g.waves[w], g)
		x.order[w] = w
	}
	err := g.schedule(ctx)
	for _, w := range g.waves {
		g.result.instructions += w.executed
		g.result.vector += w.vector
	}
	return g.result, err
}

// schedule runs the waves in slices until all have ended or one traps. With
// Launch.Order they run in an order, and in slices of lengths, that the seed
// and the workgroup decide.
func (g *workgroup) schedule(ctx context.Context) error {
	var random *rand.Rand
	if g.l.Order != 0 {
		random = rand.New(rand.NewPCG(g.l.Order, uint64(g.index)))
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if random != nil {
			random.Shuffle(len(g.order), func(i, j int) { g.order[i], g.order[j] = g.order[j], g.order[i] })
		}
		running, waiting := 0, 0
		for _, i := range g.order {
			w := g.waves[i]
			if w.done {
				continue
			}
			if !w.atBarrier {
				slice := uint64(sliceLength)
				if random != nil {
					slice = 1 + random.Uint64N(sliceLength)
				}
				w.run(int(min(slice, g.l.Budget-w.executed)))
				if w.trap == nil && !w.done && w.executed >= g.l.Budget {
					w.stopWith(TrapBudget, fmt.Sprintf("the wave ran %d instructions without ending", w.executed))
					w.place(w.pc)
				}
				if w.trap != nil {
					g.trapped(w)
					return nil
				}
			}
			switch {
			case w.done:
			case w.atBarrier:
				waiting++
			default:
				running++
			}
		}
		switch {
		case running == 0 && waiting == 0:
			return nil
		case running == 0:
			// Waves that have ended do not count (CDNA3 ISA, S_BARRIER).
			for _, w := range g.waves {
				w.atBarrier = false
			}
		}
	}
}

func (g *workgroup) trapped(w *Wave) {
	t := w.trap
	t.Kernel, t.Workgroup, t.Wave = g.l.prog.kernel.Name, g.id, w.id
	t.PC -= codeBase
	g.result.trap = t
}

// fault notes a wrong access by a lane of the wave.
func (w *Wave) fault(kind FaultKind, step int, b *Buffer, lane int, at faultAt) {
	at.site = makeSite(w.wg.index, step, w.id) | site(lane)
	w.wg.result.faults.add(faultKey{kind, step, b}, at)
}
