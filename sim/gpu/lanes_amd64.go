package gpu

import (
	"golang.org/x/sys/cpu"

	"mqaproof/sim/isa"
)

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
		if f := avxWides[o.op]; f != nil {
			o.wide = f
		}
		switch o.op {
		case isa.V_PERM_B32:
			o.narrow = avxPermB32
		case isa.V_RCP_IFLAG_F32:
			o.narrow = avxLanes[isa.V_RCP_F32]
		}
	}
	for i := range compareOps {
		if f := avxCompares[compareOps[i].op]; f != nil {
			compareOps[i].fn = f
		}
	}
	merge, selectLanes, fill = avxMerge, avxSelect, avxFill
	addCarry, subBorrow = avxAddCarry, avxSubBorrow
}

//go:noescape
func avxMerge(dst, src *vreg, mask uint64)

//go:noescape
func avxSelect(d, a, b *vreg, mask uint64)

//go:noescape
func avxFill(v *vreg, x uint32)

// avxPermB32 takes the selectors that name bytes and zeros; signs and ones are
// left to the Go loop.
func avxPermB32(d, a, b, c *vreg) {
	if !avxPermBytes(d, a, b, c) {
		laneVPermB32(d, a, b, c)
	}
}

//go:noescape
func avxPermBytes(d, a, b, c *vreg) bool

//go:noescape
func avxAddCarry(d, a, b *vreg, in uint64) (out uint64)

//go:noescape
func avxSubBorrow(d, a, b *vreg, in uint64) (out uint64)
