package exhaust

import (
	"strconv"

	"mqaproof/model/metadata"
)

func itoa(x int32) string { return strconv.Itoa(int(x)) }

const slotRequests = 256

// slotTokens runs the compressed-slot-mapping kernel on requests of next_n query
// tokens each, or as many as they have. A request of length 0 is padding: it
// has next_n tokens at negative positions, without slots.
func slotTokens(r *run) error {
	return r.slots(slotRequests, 1, func(length, _ int) int {
		if length == 0 {
			return r.set.NextN
		}
		return min(r.set.NextN, length)
	})
}

// slotRows runs it on requests of 2048 query tokens each, one behind the other.
// Lengths from (from) to (to-1) are those that end with a token.
func slotRows(r *run) error {
	return r.slots(longRequests, longRows, func(length, window int) int { return min(window, length) })
}

// replayed is a token whose state is cached already: it has no slot.
func replayed(pos int) bool { return pos%61 == 60 }

// state is what the walk says of a position.
type state struct {
	owned, complete bool
	page, offset    int32
}

// slots runs batches of requests whose lengths lie step apart. Block table rows
// overlap: row b starts at entry b, so that a table of a million positions for
// each of many requests is small, and each entry still differs.
func (r *run) slots(batch, step int, depth func(length, window int) int) error {
	c := r.set
	base := max(r.from-depth(r.to-1, step), 0)
	walked := make([]state, 0, r.to-base)
	w := walk{s: c}
	for pos := range r.to {
		owned, complete, page, offset := w.pass()
		if pos >= base {
			walked = append(walked, state{owned, complete, int32(page), int32(offset)})
		}
	}
	most := max(depth(0, 1), depth(r.to-1, step))
	pages := r.to/c.Ratio/c.Page + 2
	var err error
	r.rig, err = r.s.NewRig(map[string]int{"seq_lens": batch, "query_start_loc": batch + 1, "slot_mapping": batch * most, "block_table": batch + pages,
		"compressed_slots_out": batch * most, "scratch0": batch * most, "scratch1": batch * most, "scratch2": batch * most, "scratch3": batch * most})
	if err != nil {
		return err
	}
	if err := r.rig.Write("block_table", pageTable(batch+pages, 1)); err != nil {
		return err
	}
	lengths, starts, own := make([]int32, batch), make([]int32, batch+1), []int64{}
	for at := r.from; at < r.to && r.found == nil; {
		first, b, tokens := at, 0, 0
		own = own[:0]
		for ; b < batch && at < r.to; b++ {
			length := min(at+step, r.to) - 1
			n := depth(length, length-at+1)
			for pos := length - n; pos < length; pos++ {
				slot := int64(-1)
				if pos >= 0 && walked[pos-base].owned && !replayed(pos) {
					slot = int64(pos) + 1<<32 - 3
				}
				own = append(own, slot)
			}
			tokens += n
			lengths[b], starts[b+1] = int32(length), int32(tokens)
			at = length + 1
		}
		if err := r.fillStep(lengths[:b], starts[:b+1]); err != nil {
			return err
		}
		if err := r.rig.WriteWide("slot_mapping", own); err != nil {
			return err
		}
		ok, err := r.launch(first, at, map[string]int{"batch": b, "table_width": 1, "step_tokens": tokens, "step_capacity": tokens})
		if err != nil || !ok {
			return err
		}
		r.compareSlots(first, lengths[:b], starts, own, walked, base, step > 1)
	}
	return nil
}

func (r *run) compareSlots(first int, lengths, starts []int32, own []int64, walked []state, base int, long bool) {
	c := r.set
	a := metadata.Int32Device{}
	ratio, pageStates := int32(c.Ratio), int32(c.Page)
	out := r.output("compressed_slots_out")
	for i, length := range lengths {
		pos := length - (starts[i+1] - starts[i])
		for t := starts[i]; t < starts[i+1]; t++ {
			want, shown := int64(-1), int(length)
			if long {
				shown = int(pos) + 1
			}
			if own[t] != -1 {
				s := walked[int(pos)-base]
				if done := metadata.Unfinished(a, pos, ratio) == 0; done != s.complete {
					r.blame(shown, int(t-starts[i]), "(no kernel)", strconv.FormatBool(s.complete), strconv.FormatBool(done), "whether the model's formula has a state end here, against counting")
				}
				if s.complete {
					page, offset := metadata.StatePlace(a, pos, ratio, int32(c.World), int32(c.Interleave), pageStates)
					if page != s.page || offset != s.offset {
						r.blame(shown, int(t-starts[i]), "(no kernel)", itoa(s.page)+"+"+itoa(s.offset), itoa(page)+"+"+itoa(offset), "the model's place of a state against counting")
					}
					want = int64(pageEntry(i+int(page), 0, 1))*int64(pageStates) + int64(offset)
				}
			}
			out.isWide(want, shown, int(t-starts[i]))
			pos++
		}
	}
	out.end(first, 2)
}
