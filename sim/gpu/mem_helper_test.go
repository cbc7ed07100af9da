package gpu

import (
	"testing"

	"mqaproof/sim/isa"
)

// bench is a wave on its own with memory around it.
type memoryBench struct {
	m    *Memory
	l    *launch
	wave *Wave
}

// newMemoryBench is a wave at the start of p, workgroup number index of total.
// Buffers have to be allocated before start is called.
func newMemoryBench() *memoryBench { return &memoryBench{m: NewMemory()} }

func (b *memoryBench) start(p *Program, lds uint32, scratch int, total uint64) *Wave {
	b.l = &launch{prog: p, Launch: Launch{Grid: one(uint32(total)), Block: one(64)}, total: total, waves: 1, lds: lds, waiting: map[uint64]*workgroupResult{}}
	b.l.space = append(b.l.space, b.m.buffers...)
	for _, buffer := range b.l.space {
		buffer.prepare(total > 1)
	}
	b.wave = b.workgroup(0)
	b.wave.private.reset(uint32(scratch))
	return b.wave
}

// workgroup is the wave of a workgroup of the launch.
func (b *memoryBench) workgroup(index uint32) *Wave {
	x := b.l.prog.worker(b.l)
	x.group.index = index
	x.group.result = &workgroupResult{}
	w := x.group.waves[0]
	w.EXEC, w.mode = allLanes, defaultMode
	return w
}

// faults is what the wave reported, in words.
func (b *memoryBench) faults() []string {
	return kindsOf(&Report{Faults: b.wave.wg.result.faults.report(b.l)})
}

// memoryLines runs assembly on a wave with memory. setup gets the wave after
// its registers were set to distinct patterns.
func memoryLines(t testing.TB, b *memoryBench, target isa.Target, lds uint32, scratch int, setup func(w *Wave), lines ...string) *Wave {
	t.Helper()
	w := b.start(testProgram(t, target, append(lines, "s_endpgm")...), lds, scratch, 1)
	for r := range w.V {
		for l := range w.V[r] {
			w.V[r][l] = uint32(r)<<16 | uint32(l)<<8 | 0x5a
		}
	}
	if setup != nil {
		setup(w)
	}
	w.run(1 << 20)
	if w.trap == nil && !w.done {
		t.Fatalf("%v: not done", lines)
	}
	return w
}
