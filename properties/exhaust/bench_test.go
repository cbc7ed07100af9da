package exhaust

import "testing"

// BenchmarkNative is a unit of 2^16 lengths, three rows each, with DCP and
// compression. Lengths a second, one core.
func BenchmarkNative(b *testing.B) {
	s := builtin(b, "hip/metadata")
	u := unit{&sweep{"table", Setting{World: 4, Rank: 1, Interleave: 16, Ratio: 4, NextN: 3}, 1 << 16, 1 << 16, native}, 0, 1 << 16}
	lengths := uint64(0)
	for b.Loop() {
		r := &run{unit: u, ctx: b.Context(), s: s, set: u.sweep.setting}
		if err := native(r); err != nil || r.found != nil {
			b.Fatal(err, r.found)
		}
		lengths += r.lengths
	}
	b.ReportMetric(float64(lengths)/b.Elapsed().Seconds(), "lengths/s")
}
