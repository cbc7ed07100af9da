package exhaust

import "mqaproof/model/metadata"

// nativeRows is the table rows of a launch: enough to make launching cheap,
// few enough to stay in a processor's cache with their shadow.
const nativeRows = 1 << 14

// native runs the kernels that make the (B, next_n) table and the per-request
// lengths. Padding requests are those shorter than next_n.
func native(r *run) error {
	n := r.set.NextN
	batch := max(min(nativeRows/n, r.to-r.from), 1)
	want := r.judge(r.from-n, r.to-1)
	if want == nil {
		return nil
	}
	rows := batch * n
	var err error
	r.rig, err = r.s.NewRig(map[string]int{"seq_lens": batch, "block_table": batch, "table_out": rows, "per_request_out": batch,
		"scratch0": rows, "scratch1": rows, "scratch2": rows, "scratch3": rows})
	if err != nil {
		return err
	}
	lengths := make([]int32, batch)
	a := metadata.Int32{}
	for at := r.from; at < r.to && r.found == nil; at += batch {
		b := min(batch, r.to-at)
		for i := range b {
			lengths[i] = int32(at + i)
		}
		if err := r.rig.Write("seq_lens", lengths[:b]); err != nil {
			return err
		}
		ok, err := r.launch(at, at+b, map[string]int{"batch": b, "rows": b * n, "table_width": 1, "lengths_stride": n})
		if err != nil || !ok {
			return err
		}
		table, last := r.output("table_out"), r.output("per_request_out")
		for i := range b {
			var x int32
			for j := range n {
				x = want.of(int(metadata.Expand(a, int32(at+i), int32(n), int32(j))))
				table.is(x, at+i, j)
			}
			last.is(x, at+i, n-1)
		}
		table.end(at, 1)
		last.end(at, 1)
	}
	return nil
}
