package kernels

import (
	"mqaproof/model"
	"mqaproof/model/fp8"
	"mqaproof/sim/gpu"
)

// poison is what cache bytes hold that no token wrote, where the kernel is not
// to read them: NaN in each byte of the format. What is read from there comes
// back as NaN, besides the fault.
func poison(f fp8.Format) uint32 {
	if f == fp8.E4M3FNUZ {
		return 0x80808080
	}
	return 0xffffffff
}

// writeDefined writes the bytes of the cache that tokens own; the rest stays
// uninitialised.
func writeDefined(b *gpu.Buffer, c *model.Cache) error {
	for from := 0; from < len(c.Defined); {
		if !c.Defined[from] {
			from++
			continue
		}
		to := from + 1
		for to < len(c.Defined) && c.Defined[to] {
			to++
		}
		if from == 0 && to == len(c.Bytes) {
			return b.Write(0, c.Bytes)
		}
		if err := b.Write(uint64(from), c.Bytes[from:to]); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// ints are an output's words; those that the kernel left are Unwritten.
func ints(b *gpu.Buffer) ([]int32, []bool) {
	bits, written := b.Words()
	out := make([]int32, len(bits))
	for i, x := range bits {
		out[i] = int32(x)
		if !written[i] {
			out[i] = Unwritten
		}
	}
	return out, written
}
