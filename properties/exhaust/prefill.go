package exhaust

import "mqaproof/model/metadata"

const (
	prefillRequests = 256
	longRows        = 2048 // query tokens of a long prefill: two turns of the kernel's loop
	longRequests    = 16
	statesOfLaunch  = 1 << 18
	cutRows         = 3 // query rows that a launch leaves out, at either end
)

// rowStart is the made-up first gathered state of a request.
func rowStart(request int) int32 { return int32(11 + 5*request) }

// prefillTokens runs the prefill-chunk kernel on requests of next_n query tokens
// each, or as many as they have. The requests count as having no states of
// their own on all ranks together, which only the map of states reads; see
// prefillStates for that. The launch's first and last rows are cut off.
func prefillTokens(r *run) error {
	return r.prefill(prefillRequests, 1, func(length, _ int) int { return min(r.set.NextN, length) })
}

// prefillRows runs it on requests of 2048 query tokens each, one behind the
// other, so that the rows of a few requests pass through all lengths. Lengths
// from (from) to (to-1) are those of the rows.
func prefillRows(r *run) error {
	return r.prefill(longRequests, longRows, func(length, window int) int { return min(window, length) })
}

// prefill runs batches of requests whose lengths lie step apart. Depth gives the
// query tokens of a request that stands for a window of lengths, its own last.
func (r *run) prefill(batch, step int, depth func(length, window int) int) error {
	want := r.judge(0, r.to-1)
	if want == nil {
		return nil
	}
	most := depth(r.to-1, step)
	rows := batch*most + 2*cutRows
	var err error
	r.rig, err = r.s.NewRig(map[string]int{"seq_lens": batch + 2, "chunk_query_start_loc": batch + 3, "query_start_loc": batch + 3, "cu_seq_lens": batch + 3, "local_cu_seq_lens": batch + 3,
		"block_table": batch + 2, "token_to_seq_out": 0, "row_starts_out": batch * most, "row_ends_out": batch * most,
		"scratch0": rows, "scratch1": rows, "scratch2": rows, "scratch3": rows})
	if err != nil {
		return err
	}
	if err := r.rig.Write("cu_seq_lens", make([]int32, batch+3)); err != nil {
		return err
	}
	lengths, starts, firsts := make([]int32, batch+2), make([]int32, batch+3), make([]int32, batch+3)
	for i := range firsts {
		firsts[i] = rowStart(i)
	}
	if err := r.rig.Write("local_cu_seq_lens", firsts); err != nil {
		return err
	}
	for at := r.from; at < r.to && r.found == nil; {
		first, b, tokens := at, 0, cutRows
		lengths[0], starts[1] = cutRows, cutRows
		for ; b < batch && at < r.to; b++ {
			length := min(at+step, r.to) - 1
			tokens += depth(length, length-at+1)
			lengths[b+1], starts[b+2] = int32(length), int32(tokens)
			at = length + 1
		}
		lengths[b+1], starts[b+2] = cutRows, int32(tokens+cutRows)
		if err := r.rig.Write("seq_lens", lengths[:b+2]); err != nil {
			return err
		}
		if err := r.rig.Write("chunk_query_start_loc", starts[:b+3]); err != nil {
			return err
		}
		ok, err := r.launch(first, at, map[string]int{"batch": b + 2, "chunk_requests": b + 2, "chunk_start": cutRows, "chunk_end": tokens, "table_width": 1})
		if err != nil || !ok {
			return err
		}
		r.comparePrefill(first, lengths[1:b+1], starts[1:b+2], firsts[1:], want, step > 1)
	}
	return nil
}

// comparePrefill holds the rows' bounds. A row of a long request counts as a
// request that ends with it.
func (r *run) comparePrefill(first int, lengths, starts, firsts []int32, want *counts, long bool) {
	ks, ke := r.output("row_starts_out"), r.output("row_ends_out")
	a := metadata.Int32Device{}
	ratio, world, rank, interleave := r.prefillSetting()
	for i, length := range lengths {
		n := starts[i+1] - starts[i]
		for j := range n {
			x := int(length - n + 1 + j)
			shown := int(length)
			if long {
				shown = x
			}
			sees := metadata.PrefillLength(a, length, n, j, ratio, world, rank, interleave)
			if sees != want.of(x) {
				r.blame(shown, int(j), "(no kernel)", itoa(want.of(x)), itoa(sees), "the model's prefill formula against counting")
			}
			ks.is(firsts[i], shown, int(j))
			ke.is(firsts[i]+sees, shown, int(j))
		}
	}
	ks.end(first, 1)
	ke.end(first, 1)
}

// prefillSetting is the setting as the prefill formula takes it: the interleave
// counts states.
func (r *run) prefillSetting() (ratio, world, rank, interleave int32) {
	interleave = int32(r.set.Interleave)
	if r.set.World > 1 {
		interleave /= int32(r.set.Ratio)
	}
	return int32(r.set.Ratio), int32(r.set.World), int32(r.set.Rank), interleave
}

// prefillStates runs whole chunks, one query token a request: with the prefix
// sums of the requests' states, and the map from a gathered state to its
// request.
func prefillStates(r *run) error {
	want := r.judge(0, r.to-1)
	if want == nil {
		return nil
	}
	ratio := r.set.Ratio
	most := statesOfLaunch + (r.to-1)/ratio
	var err error
	r.rig, err = r.s.NewRig(map[string]int{"seq_lens": prefillRequests, "chunk_query_start_loc": prefillRequests + 1, "query_start_loc": prefillRequests + 1,
		"cu_seq_lens": prefillRequests + 1, "local_cu_seq_lens": prefillRequests + 1, "block_table": prefillRequests,
		"token_to_seq_out": most, "row_starts_out": prefillRequests, "row_ends_out": prefillRequests,
		"scratch0": prefillRequests, "scratch1": prefillRequests, "scratch2": prefillRequests, "scratch3": prefillRequests})
	if err != nil {
		return err
	}
	for at := r.from; at < r.to && r.found == nil; {
		first := at
		lengths, starts, all, local := []int32{}, []int32{0}, []int32{0}, []int32{0}
		tokens, states := 0, 0
		for len(lengths) < prefillRequests && at < r.to && states < statesOfLaunch {
			if at > 0 {
				tokens++
			}
			states += at / ratio
			lengths, starts = append(lengths, int32(at)), append(starts, int32(tokens))
			all, local = append(all, int32(states)), append(local, local[len(local)-1]+want.of(at))
			at++
		}
		for _, w := range []struct {
			tensor string
			values []int32
		}{{"seq_lens", lengths}, {"chunk_query_start_loc", starts}, {"cu_seq_lens", all}, {"local_cu_seq_lens", local}} {
			if err := r.rig.Write(w.tensor, w.values); err != nil {
				return err
			}
		}
		ok, err := r.launch(first, at, map[string]int{"batch": len(lengths), "chunk_requests": len(lengths), "chunk_end": tokens, "table_width": 1})
		if err != nil || !ok {
			return err
		}
		r.comparePrefill(first, lengths, starts, local, want, false)
		seqs := r.output("token_to_seq_out")
		for i := range lengths {
			for k := range all[i+1] - all[i] {
				seqs.is(int32(i), first+i, int(k))
			}
		}
		seqs.end(first, 1)
	}
	return nil
}
