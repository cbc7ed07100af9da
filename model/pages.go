package model

// badPage is the base of the page numbers behind a row's last needed page:
// valid int32s far outside any cache, so that reading through one is caught.
const badPage = 1<<30 - 1<<17

// placePages gives every request its physical pages, 1 and up, ascending or
// shuffled, and fills the block table and the flat slots.
//
// TableWidth is the longest request's pages plus ExtraPages, at least 1.
func (in *Inputs) placePages() {
	c := in.Case
	needed := make([]int, len(c.Requests))
	total, widest := 0, 0
	for i := range needed {
		needed[i] = int(ceilDiv(int64(in.LocalLen(i)), int64(c.Page)))
		total += needed[i]
		widest = max(widest, needed[i])
	}
	in.TableWidth = max(widest+c.ExtraPages, 1)
	in.Cache = Cache{
		Geometry: Geometry{Layout: c.Layout, Page: c.Page, HeadDim: c.HeadDim},
		Pages:    total + 1,
	}
	in.Cache.PageBytes = in.Cache.Geometry.PageBytes()

	var order []int
	if c.ShufflePages {
		order = shuffle(place(c.Seed, forPages, c.PageSeed), total)
	}
	in.BlockTable = make([]int32, len(c.Requests)*in.TableWidth)
	next := 0
	for i, r := range c.Requests {
		row := in.BlockTable[i*in.TableWidth : (i+1)*in.TableWidth]
		bad := place(c.Seed, forTable, uint64(r.ID))
		for p := range row {
			if p >= needed[i] {
				row[p] = badPage + int32(below(at(bad, p), 1<<16))
				continue
			}
			page := next
			if order != nil {
				page = order[next]
			}
			row[p] = int32(page + 1)
			next++
		}
	}

	in.KVIndices = make([]int32, len(in.states))
	for i := range c.Requests {
		for pos := range in.LocalLen(i) {
			page, token := in.Slot(i, pos)
			in.KVIndices[in.starts[i]+pos] = int32(page*c.Page + token)
		}
	}
}

// Slot is where the cache holds a local position of a request: the physical
// page and the token within it.
func (in *Inputs) Slot(request, pos int) (page, token int) {
	page = int(in.BlockTable[request*in.TableWidth+pos/in.Case.Page])
	return page, pos % in.Case.Page
}
