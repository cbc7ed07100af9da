package gpu

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// launch is one dispatch while it runs.
type launch struct {
	Launch
	prog    *Program
	space   space
	kernarg []byte
	total   uint64 // workgroups
	waves   int    // of a workgroup
	lds     uint32 // bytes of LDS

	blocksMu sync.Mutex
	blocks   []*block

	commitMu  sync.Mutex
	committed uint64                      // workgroups below this one are in the report
	waiting   map[uint64]*workgroupResult // finished out of order
	trap      *Trap                       // of the lowest workgroup that has one
	trapLimit atomic.Uint64               // workgroups from this one on count as never run
	faults    faultSet
	report    Report
}

// workgroupResult is what one workgroup adds to the report.
type workgroupResult struct {
	instructions, vector uint64
	faults               faultSet
	trap                 *Trap
}

// Run runs a kernel to its end. Workgroups run on several goroutines; the
// report and memory do not depend on how many (see shadow.go for the one
// exception, atomics). The error is a *Trap when the run could not go on: then
// the report and memory hold what the workgroups up to the trapped one did.
func (m *Memory) Run(ctx context.Context, p *Program, dispatch Launch) (*Report, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, err := m.newLaunch(p, dispatch)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", p.kernel.Name, err)
	}
	workers := l.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = int(min(uint64(workers), l.total))
	var next atomic.Uint64
	group, ctx := errgroup.WithContext(ctx)
	for range workers {
		group.Go(func() error {
			x := p.worker(l)
			defer p.release(x)
			for {
				i := next.Add(1) - 1
				if i >= l.trapLimit.Load() {
					return nil
				}
				r, err := x.run(ctx, i)
				if err != nil {
					return err
				}
				l.commit(i, r)
			}
		})
	}
	err = group.Wait()
	limit := l.trapLimit.Load()
	if err != nil {
		limit = l.committed
	}
	l.settle(limit)
	l.report.Faults, l.report.MoreFaults = l.faults.report(l), l.faults.more
	if err == nil && l.trap != nil {
		err = l.trap
	}
	return &l.report, err
}

// commit takes in the result of workgroup i, in order of workgroups.
func (l *launch) commit(i uint64, r *workgroupResult) {
	l.commitMu.Lock()
	defer l.commitMu.Unlock()
	if r.trap != nil && i < l.trapLimit.Load() {
		l.trapLimit.Store(i + 1)
	}
	l.waiting[i] = r
	for {
		r, ok := l.waiting[l.committed]
		if !ok || l.trap != nil {
			return
		}
		delete(l.waiting, l.committed)
		l.committed++
		l.report.Instructions += r.instructions
		l.report.VectorInstructions += r.vector
		l.faults.addAll(&r.faults)
		l.trap = r.trap
	}
}

// workgroupID is the position in the grid of the i-th workgroup.
func (l *launch) workgroupID(i uint32) [3]uint32 {
	x, y := l.Grid[0], l.Grid[1]
	return [3]uint32{i % x, i / x % y, i / x / y}
}

// ldsLimit is the most LDS that a workgroup can have.
func ldsLimit(target string) uint32 {
	if target == "gfx950" {
		return 160 << 10
	}
	return 64 << 10
}

// newLaunch checks a dispatch and sets up everything that its waves share.
func (m *Memory) newLaunch(p *Program, dispatch Launch) (*launch, error) {
	l := &launch{Launch: dispatch, prog: p, waiting: map[uint64]*workgroupResult{}}
	if l.Budget == 0 {
		l.Budget = DefaultBudget
	}
	k := p.kernel
	l.total = 1
	items := uint64(1)
	for i := range 3 {
		if l.Grid[i] == 0 || l.Block[i] == 0 {
			return nil, fmt.Errorf("grid %v of blocks %v is empty", l.Grid, l.Block)
		}
		l.total *= uint64(l.Grid[i])
		items *= uint64(l.Block[i])
		if l.total >= 1<<32-1 || items > uint64(k.MaxWorkgroup) || l.Block[i] > 1024 {
			return nil, fmt.Errorf("grid %v of blocks %v is too large: the kernel takes up to %d work-items a workgroup, the emulator up to 2^32-2 workgroups", l.Grid, l.Block, k.MaxWorkgroup)
		}
	}
	l.trapLimit.Store(l.total)
	l.waves = int((items + Lanes - 1) / Lanes)
	lds := uint64(k.LDS) + uint64(l.DynamicLDS)
	if limit := ldsLimit(p.file.Target); lds > uint64(limit) {
		return nil, fmt.Errorf("%d bytes of LDS (%d of them dynamic) are more than the %d of %s", lds, l.DynamicLDS, limit, p.file.Target)
	}
	l.lds = uint32(lds)
	if n := scratchSize(k); n > maxScratch {
		return nil, fmt.Errorf("%d bytes of scratch a work-item are more than the %d that the emulator has", n, maxScratch)
	}
	if len(p.steps) == 0 {
		return nil, errors.New("it has no code")
	}
	var err error
	if l.kernarg, err = l.kernelArguments(); err != nil {
		return nil, err
	}
	image, err := m.image(p)
	if err != nil {
		return nil, err
	}
	l.space = append(l.space, m.buffers...)
	l.space = append(l.space, image...)
	for _, s := range []struct {
		name, tag string
		base      uint64
		data      []byte
	}{
		{"kernel arguments", "kernarg", kernargBase, l.kernarg},
		{"dispatch packet", "global", packetBase, l.dispatchPacket()},
	} {
		b := newBuffer(s.name, s.tag, s.base, uint64(len(s.data)), true)
		if err := b.Write(0, s.data); err != nil {
			return nil, err
		}
		l.space = append(l.space, b)
	}
	for _, b := range l.space {
		b.prepare(l.total > 1)
	}
	return l, nil
}

// image is the code object's segments, mapped where the program expects them.
// Writable ones keep what earlier launches of the same file stored.
func (m *Memory) image(p *Program) ([]*Buffer, error) {
	if image, ok := m.images[p.file]; ok {
		return image, nil
	}
	var image []*Buffer
	for _, s := range p.file.Segments {
		b := newBuffer("code object", "global", codeBase+s.Addr, s.MemSize, !s.Writable)
		if err := b.Write(0, s.Data); err != nil {
			return nil, err
		}
		if err := b.MarkInitialised(0, s.MemSize); err != nil {
			return nil, err
		}
		for _, r := range p.file.Relocations {
			if r.Addr < s.Addr || r.Addr-s.Addr >= uint64(len(s.Data)) {
				continue
			}
			if err := b.Write(r.Addr-s.Addr, le64(codeBase+r.Addend)); err != nil {
				return nil, err
			}
		}
		image = append(image, b)
	}
	m.images[p.file] = image
	return image, nil
}
