package stateful

import "mqaproof/sim/serving"

var pages = Property{
	Name:     "pages",
	Sentence: "every page of a request is handed out to it and to no other, and the kernels' block tables name just these pages",
	check: func(ch *Checker, rec *serving.Record) *Violation {
		if v := ch.pageOwners(rec); v != nil {
			return v
		}
		span := ch.cfg.Page * ch.cfg.World
		for rank := range rec.Ranks {
			token := 0
			for i := range rec.Batch {
				q := &rec.Batch[i]
				needed := (q.Start + q.Query + span - 1) / span
				if needed > len(q.Pages) {
					return nowhere("request %d has %d tokens on %d pages of %d", q.ID, q.Start+q.Query, len(q.Pages), span).at(rank, -1, -1)
				}
				if v := tablePages(rec, rank, i, token, needed); v != nil {
					return v
				}
				token += q.Query
			}
		}
		return nil
	},
}

// pageOwners notes whose each page is.
func (ch *Checker) pageOwners(rec *serving.Record) *Violation {
	clear(ch.owners)
	for i := range rec.Batch {
		q := &rec.Batch[i]
		for _, page := range q.Pages {
			switch {
			case page <= 0 || int(page) >= len(ch.owners):
				return nowhere("request %d has page %d; pages are 1 to %d", q.ID, page, len(ch.owners)-1)
			case ch.owners[page] == q.ID+1:
				return nowhere("page %d is twice in the block table of request %d", page, q.ID)
			case ch.owners[page] != 0:
				return nowhere("page %d is in the block tables of requests %d and %d", page, ch.owners[page]-1, q.ID)
			case !rec.Pages[page].InUse:
				return nowhere("page %d is in the block table of request %d and free", page, q.ID)
			}
			ch.owners[page] = q.ID + 1
		}
	}
	return nil
}

// tablePages compares the block table rows of request i, whose first query
// token is the given one, with its pages.
func tablePages(rec *serving.Record, rank, i, token, needed int) *Violation {
	q, rr := &rec.Batch[i], &rec.Ranks[rank]
	differs := func(row []int32) int {
		for p := range needed {
			if row[p] != q.Pages[p] {
				return p
			}
		}
		return -1
	}
	if i >= rec.Counts.NumDecodes {
		if row := rr.Meta.BlockTable[i]; differs(row) >= 0 {
			p := differs(row)
			return nowhere("logical page %d of request %d in the block table", p, q.ID).at(rank, -1, i).want(q.Pages[p], row[p])
		}
		return nil
	}
	for layer := range rr.Reads {
		r := &rr.Reads[layer]
		first, end := i, i+1
		if r.Columns == 1 {
			first, end = token, token+q.Query
		}
		for row := first; row < end; row++ {
			if p := differs(r.BlockTable[row]); p >= 0 {
				return nowhere("logical page %d of request %d in the block table", p, q.ID).at(rank, layer, row*r.Columns).want(q.Pages[p], r.BlockTable[row][p])
			}
		}
	}
	return nil
}
