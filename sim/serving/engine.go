package serving

import "fmt"

// Engine runs steps. It is for one goroutine.
type Engine struct {
	cfg    Config
	fault  Fault
	pool   *pool
	inputs *inputs
	ranks  []*rank

	running []*request // in the order in which they were admitted
	waiting []*request
	nextID  uint32
	tokens  uint32 // names given so far
	steps   int
	failed  error

	began  []*request // running when the step began
	batch  []*request // of the step
	owners []owner    // of each token of the step
	names  []uint32   // of the step's tokens
	record Record
}

// owner is where a query token of a step belongs.
type owner struct {
	request *request
	pos     int
}

// New makes an engine, with a planted fault or with NoFault.
func New(c Config, f Fault) (*Engine, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if int(f) >= len(faults) {
		return nil, fmt.Errorf("serving: there is no planted fault %d", f)
	}
	e := &Engine{cfg: c, fault: f, pool: newPool(c.Pages), inputs: newInputs(c, f)}
	for i := range c.World {
		r, err := newRank(c, i, f)
		if err != nil {
			return nil, fmt.Errorf("serving: rank %d: %w", i, err)
		}
		e.ranks = append(e.ranks, r)
	}
	e.record.Ranks = make([]RankRecord, c.World)
	e.record.Pages = make([]PageState, c.Pages)
	return e, nil
}

// Config is what the engine was made with.
func (e *Engine) Config() Config { return e.cfg }

// Step runs one step. The record is valid until the next one. An error means
// that the builder refused the batch, a defect of the engine or the builder;
// the engine then gives it for every further step.
func (e *Engine) Step(s Step) (*Record, error) {
	if e.failed != nil {
		return nil, e.failed
	}
	rec := &e.record
	rec.Index = e.steps
	e.steps++
	e.events(s)
	e.schedule()
	e.order()
	if err := e.run(); err != nil {
		e.failed = fmt.Errorf("serving: step %d: %w", rec.Index, err)
		return nil, e.failed
	}
	e.describe()
	e.sample(s.Accept)
	rec.Running, rec.Waiting = len(e.running), len(e.waiting)
	return rec, nil
}

// run puts the batch through every rank.
func (e *Engine) run() error {
	rec := &e.record
	rec.Kind, rec.Padded = Idle, len(e.batch)
	if len(e.batch) == 0 {
		for i := range rec.Ranks {
			rr := &rec.Ranks[i]
			rr.Meta, rr.Reads, rr.Writes, rr.Slots, rr.Buffers = nil, rr.Reads[:0], rr.Writes[:0], nil, rr.Buffers[:0]
			rr.Cache = e.ranks[i].cache
		}
		return nil
	}
	rec.Kind = Eager
	tokens := 0
	e.owners = e.owners[:0]
	full := true
	for _, r := range e.batch {
		tokens += r.query
		full = full && r.drafting && r.query == e.cfg.NextN
		for pos := r.computed; pos < r.computed+r.query; pos++ {
			e.owners = append(e.owners, owner{r, pos})
		}
	}
	size := 0
	if full {
		size = e.cfg.graphSize(len(e.batch))
	}
	if size > 0 {
		rec.Kind, rec.Padded, tokens = Captured, size, size*e.cfg.NextN
		if e.ranks[0].graphs[size] != nil {
			rec.Kind = Replayed
		}
	}
	batch := e.inputs.fill(e, rec.Padded, tokens)
	for i, r := range e.ranks {
		rr := &rec.Ranks[i]
		batch.SlotMapping = r.fillSlots(e, tokens)
		m, err := r.build(e, batch, rec.Kind == Replayed)
		if err != nil {
			return fmt.Errorf("rank %d: %w", i, err)
		}
		rec.Counts = m.Counts
		g := r.launch(rec.Kind, size, m)
		rr.Meta, rr.Slots = m, m.SlotMapping
		if g != nil {
			rr.Slots = g.slots
		}
		r.buffers(e, m, rr)
		r.write(e, rr.Slots, rr)
		if g == nil {
			rr.Reads = rr.Reads[:0]
			continue
		}
		if cap(rr.Reads) < Layers {
			rr.Reads = make([]Read, Layers)
		}
		rr.Reads = rr.Reads[:Layers]
		for layer := range rr.Reads {
			r.read(e, g, &rr.Reads[layer])
		}
	}
	return nil
}

// describe completes the record with what the step was about.
func (e *Engine) describe() {
	rec := &e.record
	rec.Batch, e.names = rec.Batch[:0], e.names[:0]
	for _, r := range e.batch {
		n := len(e.names)
		e.names = append(e.names, r.tokens[:r.computed+r.query]...)
		rec.Batch = append(rec.Batch, Scheduled{
			ID: r.id, Start: r.computed, Query: r.query, Drafts: max(r.drafts(), 0),
			Tokens: e.names[n:len(e.names):len(e.names)], Pages: r.pages,
		})
	}
	for i := range rec.Pages {
		rec.Pages[i] = PageState{e.pool.inUse[i], e.pool.epoch[i]}
	}
}
