package stateful

import "mqaproof/sim/serving"

var padding = Property{
	Name:     "padding",
	Sentence: "the rows of padding requests see nothing and point at the null page, and padding tokens have no slot",
	check: func(_ *Checker, rec *serving.Record) *Violation {
		if rec.Padded == len(rec.Batch) {
			return nil
		}
		tokens := 0
		for i := range rec.Batch {
			tokens += rec.Batch[i].Query
		}
		for rank := range rec.Ranks {
			rr := &rec.Ranks[rank]
			for layer := range rr.Reads {
				r := &rr.Reads[layer]
				first := len(rec.Batch) // row of the table at which padding begins
				if r.Columns == 1 {
					first = tokens
				}
				for row := first; row < r.Rows; row++ {
					for col := range r.Columns {
						if got := r.Lengths[row*r.Columns+col]; got != 0 {
							return nowhere("the length of a padding row").at(rank, layer, row*r.Columns+col).want(0, got)
						}
					}
					if len(r.PerRequest) > row && r.PerRequest[row] != 0 {
						return nowhere("the per-request length of a padding row").at(rank, layer, row*r.Columns).want(0, r.PerRequest[row])
					}
					if got := r.BlockTable[row][0]; got != 0 {
						return nowhere("the first page of a padding row").at(rank, layer, row*r.Columns).want(0, got)
					}
				}
			}
			for t := tokens; t < len(rr.Slots); t++ {
				if rr.Slots[t] >= 0 {
					return nowhere("the slot of padding token %d", t).at(rank, -1, -1).want(-1, rr.Slots[t])
				}
			}
		}
		return nil
	},
}
