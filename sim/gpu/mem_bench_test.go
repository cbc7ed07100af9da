package gpu

import (
	"testing"

	"mqaproof/sim/isa"
)

// BenchmarkMemory is full waves that load and store neighbouring elements.
func BenchmarkMemory(b *testing.B) {
	const size = 1 << 20
	for _, c := range []struct {
		name, line string
		total      uint64 // workgroups: with more than one, writable buffers are tracked
		readOnly   bool
		partly     bool // not all of the buffer is initialised
		stride     int
	}{
		{name: "global_load_dword", line: "global_load_dword v8, v0, s[2:3]", total: 2, readOnly: true, stride: 4},
		{name: "global_load_dword-64bit", line: "global_load_dword v8, v[2:3], off", total: 2, readOnly: true, stride: 4},
		{name: "global_load_dword-partly", line: "global_load_dword v8, v0, s[2:3]", total: 2, readOnly: true, partly: true, stride: 4},
		{name: "global_load_dword-tracked", line: "global_load_dword v8, v0, s[2:3]", total: 2, stride: 4},
		{name: "global_load_dwordx2", line: "global_load_dwordx2 v[8:9], v0, s[2:3]", total: 2, readOnly: true, stride: 8},
		{name: "global_load_dwordx4", line: "global_load_dwordx4 v[8:11], v0, s[2:3]", total: 2, readOnly: true, stride: 16},
		{name: "global_load_dwordx4-partly", line: "global_load_dwordx4 v[8:11], v0, s[2:3]", total: 2, readOnly: true, partly: true, stride: 16},
		{name: "global_load_ubyte", line: "global_load_ubyte v8, v0, s[2:3]", total: 2, readOnly: true, stride: 1},
		{name: "global_store_dword", line: "global_store_dword v0, v9, s[2:3]", total: 1, stride: 4},
		{name: "global_store_dword-tracked", line: "global_store_dword v0, v9, s[2:3]", total: 2, stride: 4},
		{name: "global_store_dwordx4-tracked", line: "global_store_dwordx4 v0, v[8:11], s[2:3]", total: 2, stride: 16},
		{name: "buffer_load_dwordx4", line: "buffer_load_dwordx4 v[8:11], v0, s[4:7], 0 offen", total: 2, readOnly: true, stride: 16},
		{name: "buffer_store_dword-tracked", line: "buffer_store_dword v9, v0, s[4:7], 0 offen", total: 2, stride: 4},
		{name: "ds_read_b32", line: "ds_read_b32 v8, v0", total: 2, stride: 4},
		{name: "ds_read_b128", line: "ds_read_b128 v[8:11], v0", total: 2, stride: 16},
		{name: "ds_read2_b32", line: "ds_read2_b32 v[8:9], v0 offset0:1 offset1:2", total: 2, stride: 4},
		{name: "ds_write_b32", line: "ds_write_b32 v0, v9", total: 2, stride: 4},
		{name: "ds_write_b128", line: "ds_write_b128 v0, v[8:11]", total: 2, stride: 16},
		{name: "ds_bpermute_b32", line: "ds_bpermute_b32 v8, v0, v9", total: 2, stride: 4},
		{name: "scratch_load_dword", line: "scratch_load_dword v8, off, off offset:4", total: 2, stride: 4},
		{name: "scratch_store_dwordx4", line: "scratch_store_dwordx4 off, v[8:11], off offset:16", total: 2, stride: 4},
		{name: "s_load_dwordx4", line: "s_load_dwordx4 s[8:11], s[2:3], 0x10", total: 2, readOnly: true, stride: 4},
	} {
		b.Run(c.name, func(b *testing.B) {
			bench := newMemoryBench()
			data := make([]byte, size)
			if c.partly {
				data = data[:size-1]
			}
			buffer := alloc(b, bench.m, Spec{Name: "x", Size: size, Data: data, ReadOnly: c.readOnly})
			var lines []string
			for range 64 {
				lines = append(lines, c.line)
			}
			w := bench.start(testProgram(b, isa.GFX942, append(lines, "s_endpgm")...), 32<<10, 64, c.total)
			w.writeS64(2, buffer.Addr())
			w.writeS64(4, buffer.Addr())
			w.S[6], w.S[7] = size, 0x27000
			for l := range Lanes {
				w.V[0][l] = uint32(l * c.stride)
				w.V[2][l], w.V[3][l] = uint32(buffer.Addr())+uint32(l*c.stride), uint32(buffer.Addr()>>32)
			}
			for i := range w.wg.lds.init {
				w.wg.lds.init[i] = ^uint64(0)
			}
			w.private.reach(64 / 4)
			for i := range w.private.init {
				w.private.init[i] = [4]uint64{allLanes, allLanes, allLanes, allLanes}
			}
			w.V[16] = w.V[0]
			b.ResetTimer()
			n := 0
			for n < b.N {
				w.pc, w.done, w.executed = 0, false, 0
				w.run(len(lines) + 1)
				if w.trap != nil {
					b.Fatal(w.trap)
				}
				n += len(lines)
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "inst/s")
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/inst")
			if got := bench.faults(); got != nil {
				b.Error(got)
			}
		})
	}
}
