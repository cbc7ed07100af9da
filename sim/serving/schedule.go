package serving

import "slices"

// events applies what happens before a step.
func (e *Engine) events(s Step) {
	for _, r := range e.running {
		r.short, r.barred, r.query = false, false, 0
	}
	for _, r := range e.waiting {
		r.short, r.barred, r.query = false, false, 0
	}
	e.began = append(e.began[:0], e.running...)
	for _, place := range s.Short {
		if r := e.at(place); r != nil {
			r.short = true
		}
	}
	for _, place := range s.Finish {
		if r := e.at(place); r != nil {
			e.finish(r)
		}
	}
	for _, place := range s.Preempt {
		if r := e.at(place); r != nil && slices.Contains(e.running, r) {
			e.preempt(r)
		}
	}
	for _, prompt := range s.Arrive {
		if len(e.waiting) < e.cfg.MaxWaiting() {
			e.arrive(min(max(prompt, 1), e.cfg.MaxModelLen-1))
		}
	}
}

// MaxWaiting is how many requests may wait; one that arrives when so many do
// is turned away.
func (c Config) MaxWaiting() int { return 2 * c.MaxSeqs }

// at is the request at a place among those that ran when the step began.
func (e *Engine) at(place int) *request {
	if place < 0 || place >= len(e.began) {
		return nil
	}
	return e.began[place]
}

func (e *Engine) arrive(prompt int) {
	r := &request{id: e.nextID, tokens: make([]uint32, prompt, e.cfg.MaxModelLen+e.cfg.NextN), known: prompt}
	for i := range r.tokens {
		r.tokens[i] = e.newToken()
	}
	e.nextID++
	e.waiting = append(e.waiting, r)
}

func (e *Engine) newToken() uint32 {
	e.tokens++
	return e.tokens
}

func (e *Engine) finish(r *request) {
	if i := slices.Index(e.running, r); i >= 0 {
		e.pool.release(r.pages)
		r.pages = r.pages[:0]
		e.running = slices.Delete(e.running, i, i+1)
	}
}

// preempt takes a running request's pages and has it begin again, before all
// others that wait.
func (e *Engine) preempt(r *request) {
	i := slices.Index(e.running, r)
	e.running = slices.Delete(e.running, i, i+1)
	e.waiting = slices.Insert(e.waiting, 0, r)
	r.barred, r.query, r.rejected = true, 0, 0
	r.tokens = r.tokens[:r.known]
	switch e.fault {
	case PageReused:
		e.pool.release(r.pages)
		return
	case SlotRewritten:
	default:
		e.pool.release(r.pages)
		r.pages = r.pages[:0]
	}
	r.computed, r.drafting = 0, false
}

// schedule gives each request of the step its query tokens and their pages.
// Those that run go first; where pages run out, the request that was admitted
// last is preempted.
func (e *Engine) schedule() {
	budget, short := e.cfg.budget(), false
	for i := 0; i < len(e.running); i++ {
		r := e.running[i]
		r.query = e.wanted(r, budget)
		for !e.reserve(r) {
			short = true
			last := e.running[len(e.running)-1]
			budget += last.query
			e.preempt(last)
			if last == r {
				break
			}
		}
		budget -= r.query
	}
	for !short && len(e.waiting) > 0 && len(e.running) < e.cfg.MaxSeqs && budget > 0 {
		i := slices.IndexFunc(e.waiting, func(r *request) bool { return !r.barred })
		if i < 0 {
			break
		}
		r := e.waiting[i]
		r.query = e.wanted(r, budget)
		if !e.reserve(r) {
			r.query = 0
			break
		}
		budget -= r.query
		e.waiting = slices.Delete(e.waiting, i, i+1)
		e.running = append(e.running, r)
	}
}

// wanted is how many query tokens a request has in this step.
func (e *Engine) wanted(r *request, budget int) int {
	if !r.decoding() {
		return min(r.known-r.computed, e.cfg.Chunk, budget)
	}
	if r.short {
		return min(1, budget)
	}
	return min(e.cfg.NextN, e.cfg.MaxModelLen-r.computed, budget)
}

// reserve allocates the pages that the request's query tokens need, all or
// none.
func (e *Engine) reserve(r *request) bool {
	missing := e.cfg.pagesOf(r.computed+r.query) - len(r.pages)
	if missing > len(e.pool.free) {
		return false
	}
	for range missing {
		r.pages = append(r.pages, e.pool.take())
	}
	return true
}

// order puts the batch in the builder's order: full decodes, other requests
// that may count as decodes, deepest first, then the rest.
func (e *Engine) order() {
	e.batch = e.batch[:0]
	for _, r := range e.running {
		if r.query > 0 {
			e.batch = append(e.batch, r)
		}
	}
	n := e.cfg.NextN
	slices.SortStableFunc(e.batch, func(a, b *request) int {
		switch {
		case a.query > n && b.query > n:
			return 0
		case a.query > n:
			return 1
		case b.query > n:
			return -1
		}
		return b.query - a.query
	})
	for _, r := range e.batch {
		for r.drafts() > 0 && len(r.tokens) < r.computed+r.query {
			r.tokens = append(r.tokens, e.newToken())
		}
	}
}

// sample ends a step: decodes keep drafts and get a token, and so do requests
// whose prompt is complete.
func (e *Engine) sample(accept []int) {
	decode := 0
	for _, r := range e.batch {
		drafts := r.drafts()
		if drafts < 0 { // more of the prompt is to come
			r.computed += r.query
			r.rejected = 0
			continue
		}
		kept := drafts
		if r.drafting {
			if decode < len(accept) {
				kept = min(max(accept[decode], 0), drafts)
			}
			decode++
		}
		r.rejected = drafts - kept
		r.computed = r.known + kept
		r.tokens = append(r.tokens[:r.computed], e.newToken())
		r.known = r.computed + 1
		r.drafting = true
	}
	// A request whose next token would not fit ends by itself.
	for i := len(e.running) - 1; i >= 0; i-- {
		if r := e.running[i]; r.computed >= e.cfg.MaxModelLen {
			e.finish(r)
		}
	}
}
