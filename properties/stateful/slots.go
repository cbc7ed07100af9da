package stateful

import "mqaproof/sim/serving"

var slots = Property{
	Name: "slots",
	Sentence: "the state that a query token completes is written by one rank into one slot; no slot that holds a kept token of a request " +
		"is written again; padding tokens write nothing",
	check: func(ch *Checker, rec *serving.Record) *Violation {
		w := &ch.walk
		w.writes = w.writes[:0]
		for i := range rec.Batch {
			for range rec.Batch[i].Query {
				w.writes = append(w.writes, 0)
			}
		}
		for rank := range rec.Ranks {
			for i := range rec.Ranks[rank].Writes {
				if v := ch.checkWrite(rec, &rec.Ranks[rank].Writes[i]); v != nil {
					return v.at(rank, -1, -1)
				}
			}
		}
		token := 0
		for i := range rec.Batch {
			q := &rec.Batch[i]
			for pos := q.Start; pos < q.Start+q.Query; pos++ {
				want := 0
				if (pos+1)%ch.cfg.Ratio == 0 {
					want = 1
				}
				if got := w.writes[token]; got != want {
					return nowhere("writes, on all ranks, for position %d of request %d", pos, q.ID).want(want, got)
				}
				token++
			}
		}
		return nil
	},
}

func (ch *Checker) checkWrite(rec *serving.Record, wr *serving.Write) *Violation {
	if wr.Token >= len(ch.walk.writes) {
		return nowhere("padding token %d writes slot %d", wr.Token, wr.Slot)
	}
	page := int(wr.Slot) / ch.cfg.PageStates()
	if page <= 0 || page >= ch.cfg.Pages {
		return nowhere("token %d writes slot %d, on page %d; pages are 1 to %d", wr.Token, wr.Slot, page, ch.cfg.Pages-1)
	}
	ch.walk.writes[wr.Token]++
	if wr.Before.Token == 0 || wr.BeforeEpoch != wr.Epoch {
		return nil // empty since the page was handed out
	}
	// What was there may be overwritten only if it is a draft that was not kept.
	for i := range rec.Batch {
		q := &rec.Batch[i]
		if q.ID+1 != wr.Before.Owner {
			continue
		}
		pos := (int(wr.Before.State)+1)*ch.cfg.Ratio - 1
		if pos >= len(q.Tokens) || q.Tokens[pos] != wr.Before.Token {
			return nil
		}
		return nowhere("token %d writes slot %d, which holds position %d of request %d since an earlier write", wr.Token, wr.Slot, pos, q.ID)
	}
	return nowhere("token %d writes slot %d, which holds a token of request %d, on the same hand-out of its page", wr.Token, wr.Slot, int(wr.Before.Owner)-1)
}
