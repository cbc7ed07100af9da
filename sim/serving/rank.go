package serving

import (
	"slices"
	"unsafe"

	"mqaproof/model/metadata"
)

// rank is one rank of the engine: its builder, its cache and its graphs.
type rank struct {
	index    int
	builder  *metadata.Builder
	shadow   *metadata.Builder // of a planted fault: makes the lengths that a copy at the wrong moment would copy
	slots    []int64           // the slot mapping buffer (budget)
	lengths  tracked           // the builder's table, once it is known where it lies
	per      tracked           // the builder's per-request lengths, likewise
	cache    []Cell
	epochs   []uint32 // by slot: which hand-out of the page it was written in
	graphs   map[int]*graph
	eager    graph   // the views of a step that is not captured
	optimist []int32 // scratch of a planted fault
}

// graph is what a captured step recorded: the views that its kernels were
// launched with. They are addresses: replaying reads what lies there then.
type graph struct {
	rows, columns int
	lengths       []int32
	per           []int32
	blockTable    [][]int32
	slots         []int64
}

func newRank(c Config, index int, f Fault) (*rank, error) {
	cfg := c.builder(index)
	r := &rank{
		index:  index,
		slots:  make([]int64, c.budget()),
		cache:  make([]Cell, c.Pages*c.PageStates()),
		epochs: make([]uint32, c.Pages*c.PageStates()),
		graphs: map[int]*graph{},
	}
	for i := range r.slots {
		r.slots[i] = -1
	}
	var err error
	if r.builder, err = metadata.NewBuilder(cfg); err != nil {
		return nil, err
	}
	shadow := cfg
	switch f {
	case RewriteAfterCopy:
		r.optimist = make([]int32, c.MaxSeqs)
	case CopyBeforeLocalize:
		if c.World == 1 {
			return r, nil // nothing is localized
		}
		shadow.DCPWorldSize, shadow.DCPRank, shadow.CompressRatio = 1, 0, 1
	case CopyBeforeCompress:
		shadow.CompressRatio = 1
	default:
		return r, nil
	}
	r.shadow, err = metadata.NewBuilder(shadow)
	return r, err
}

// fillSlots gives each token of the batch its slot, in tokens: -1 where
// another rank holds its position.
func (r *rank) fillSlots(e *Engine, tokens int) []int64 {
	c, a, t := e.cfg, metadata.Int32Device{}, 0
	world, interleave := int32(c.World), int32(c.Interleave)
	for _, q := range e.batch {
		for pos := int32(q.computed); pos < int32(q.computed+q.query); pos++ {
			r.slots[t] = -1
			if metadata.Mod(a, a.Div(pos, interleave), world) == int32(r.index) {
				page, offset := metadata.StatePlace(a, pos, 1, world, interleave, int32(c.Page))
				r.slots[t] = int64(q.pages[page])*int64(c.Page) + int64(offset)
			}
			t++
		}
	}
	if e.fault != PaddingKept {
		for ; t < tokens; t++ {
			r.slots[t] = -1
		}
	}
	return r.slots[:tokens]
}

// build runs the builder and, where one is planted, has a fault do its part.
func (r *rank) build(e *Engine, batch metadata.Batch, replay bool) (*metadata.Metadata, error) {
	for _, t := range []*tracked{&r.lengths, &r.per} {
		if t.data != nil {
			t.begin()
		}
	}
	m, err := r.builder.Step(batch)
	if err != nil {
		return nil, err
	}
	if d := m.Decode; d != nil {
		if r.lengths.data == nil && &d.SeqLens[0] != &batch.SeqLens[0] {
			r.lengths = track(d.SeqLens[:cap(d.SeqLens)])
		}
		if r.per.data == nil && d.PerReqSeqLens != nil {
			r.per = track(d.PerReqSeqLens[:cap(d.PerReqSeqLens)])
		}
	}
	for _, t := range []*tracked{&r.lengths, &r.per} {
		if t.data != nil {
			t.end()
		}
	}
	if m.Decode == nil || m.Decode.PerReqSeqLens == nil {
		return m, nil
	}
	if e.fault == StaleReplay && replay {
		r.per.revert()
	}
	if r.shadow != nil {
		return m, r.copyEarly(e, batch, m)
	}
	return m, nil
}

// copyEarly puts into the per-request buffer what a copy at the wrong moment
// copies: the last column of the table as it was then.
func (r *rank) copyEarly(e *Engine, batch metadata.Batch, m *metadata.Metadata) error {
	if e.fault == RewriteAfterCopy {
		lens := r.optimist[:len(batch.SeqLens)]
		copy(lens, batch.SeqLens)
		for i, q := range e.batch {
			lens[i] += int32(q.rejected)
		}
		batch.SeqLens = lens
	}
	early, _, err := r.shadow.Build(batch)
	if err != nil {
		return err
	}
	copy(m.Decode.PerReqSeqLens, early.PerReqSeqLens)
	return nil
}

// launch gives the views that the step's kernels are launched with: those of
// this step's metadata, or those that were recorded. Without decodes there are
// none.
func (r *rank) launch(kind Kind, size int, m *metadata.Metadata) *graph {
	d := m.Decode
	if d == nil {
		return nil
	}
	if kind == Replayed {
		return r.graphs[size]
	}
	now := graph{rows: d.Rows, columns: d.Columns, lengths: d.SeqLens, per: d.PerReqSeqLens, blockTable: d.BlockTable, slots: m.SlotMapping}
	if kind == Eager {
		r.eager = now
		return &r.eager
	}
	now.blockTable = slices.Clone(d.BlockTable) // the rows' addresses, not those of today's list of rows
	r.graphs[size] = &now
	return &now
}

// write stores the step's states, those of padding tokens too if the slot
// mapping has a place for them.
func (r *rank) write(e *Engine, slots []int64, out *RankRecord) {
	out.Writes = out.Writes[:0]
	states := int64(e.cfg.PageStates())
	for t, slot := range slots {
		if slot < 0 || slot >= int64(len(r.cache)) {
			if slot >= 0 {
				out.Writes = append(out.Writes, Write{Token: t, Slot: slot})
			}
			continue
		}
		cell := Cell{Token: paddingToken}
		if t < len(e.owners) {
			q, pos := e.owners[t].request, e.owners[t].pos
			cell = Cell{Owner: q.id + 1, State: int32(pos / e.cfg.Ratio), Token: q.tokens[pos]}
		}
		epoch := e.pool.epoch[slot/states]
		out.Writes = append(out.Writes, Write{Token: t, Slot: slot, Before: r.cache[slot], BeforeEpoch: r.epochs[slot], Epoch: epoch})
		r.cache[slot], r.epochs[slot] = cell, epoch
	}
	out.Cache = r.cache
}

// read is what a layer's kernel finds in the views that it was launched with.
func (r *rank) read(e *Engine, g *graph, out *Read) {
	out.Rows, out.Columns, out.BlockTable = g.rows, g.columns, g.blockTable
	out.Lengths = append(out.Lengths[:0], g.lengths...)
	from := &r.lengths
	if r.lengths.data == nil || &g.lengths[0] != &r.lengths.data[0] {
		from = &e.inputs.seqLens
	}
	out.LengthsFresh = append(out.LengthsFresh[:0], from.fresh[:len(g.lengths)]...)
	out.PerRequest, out.PerFresh = out.PerRequest[:0], out.PerFresh[:0]
	if g.per == nil {
		out.PerRequest, out.PerFresh = nil, nil
		return
	}
	out.PerRequest = append(out.PerRequest, g.per...)
	out.PerFresh = append(out.PerFresh, r.per.fresh[:len(g.per)]...)
}

// buffers names the addresses that a step's kernels are given.
func (r *rank) buffers(e *Engine, m *metadata.Metadata, out *RankRecord) {
	out.Buffers = out.Buffers[:0]
	add := func(name string, at unsafe.Pointer) {
		out.Buffers = append(out.Buffers, Buffer{name, at})
	}
	add("query_start_loc", unsafe.Pointer(unsafe.SliceData(e.inputs.queryStart)))
	add("seq_lens", unsafe.Pointer(unsafe.SliceData(e.inputs.seqLens.data)))
	add("block_table", unsafe.Pointer(unsafe.SliceData(e.inputs.blockTable[0])))
	add("slot_mapping", unsafe.Pointer(unsafe.SliceData(m.SlotMapping)))
	if m.Decode == nil {
		return
	}
	add("decode lengths", unsafe.Pointer(unsafe.SliceData(m.Decode.SeqLens)))
	add("decode block_table", unsafe.Pointer(unsafe.SliceData(m.Decode.BlockTable[0])))
	if m.Decode.PerReqSeqLens != nil {
		add("per_req_seq_lens", unsafe.Pointer(unsafe.SliceData(m.Decode.PerReqSeqLens)))
	}
}
