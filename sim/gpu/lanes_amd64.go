package gpu

import "golang.org/x/sys/cpu"

// On processors with AVX2 and FMA the commonest loops run eight lanes at a
// time. Their results are those of the Go loops, to the bit.
func init() {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		return
	}
	for i := range laneOps {
		o := &laneOps[i]
		if f := avxLanes[o.op]; f != nil {
			o.narrow = f
		}
		if f := avxLanesNonIEEE[o.op]; f != nil {
			o.narrowNonIEEE = f
		}
	}
	for i := range compareOps {
		if f := avxCompares[compareOps[i].op]; f != nil {
			compareOps[i].fn = f
		}
	}
	merge, selectLanes, fill = avxMerge, avxSelect, avxFill
}

//go:noescape
func avxMerge(dst, src *vreg, mask uint64)

//go:noescape
func avxSelect(d, a, b *vreg, mask uint64)

//go:noescape
func avxFill(v *vreg, x uint32)
