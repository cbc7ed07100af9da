package serving

// nullPage is never handed out: padding rows point at it.
const nullPage = 0

// pool hands out pages, the one that was freed last first.
type pool struct {
	free  []int32
	inUse []bool
	epoch []uint32 // how often each page was handed out
}

func newPool(pages int) *pool {
	p := &pool{free: make([]int32, 0, pages), inUse: make([]bool, pages), epoch: make([]uint32, pages)}
	for page := pages - 1; page > nullPage; page-- {
		p.free = append(p.free, int32(page))
	}
	return p
}

// take hands out a page; there must be one.
func (p *pool) take() int32 {
	page := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	p.inUse[page] = true
	p.epoch[page]++
	return page
}

// release takes pages back. One that is free already stays so: a planted fault
// frees pages twice, and the pool is not what is under test.
func (p *pool) release(pages []int32) {
	for _, page := range pages {
		if p.inUse[page] {
			p.inUse[page] = false
			p.free = append(p.free, page)
		}
	}
}
