package kernels

// Where tensors lie for a placement seed other than 0: each in a slot of its
// own, 1 TiB apart, so that no wrong offset of 32 bits leads from one tensor
// into another; which slot, and where in it, the seed says. A base is a
// multiple of 256, as from every allocator of the field.
const (
	slotBytes  = 1 << 40
	firstSlot  = 8
	baseAlign  = 256
	baseSpread = 1 << 30
)

// placements gives n base addresses; all 0, the emulator's own choice, for
// seed 0.
func placements(n int, seed uint64) []uint64 {
	out := make([]uint64, n)
	if seed == 0 {
		return out
	}
	slots := make([]uint64, n)
	for i := range slots {
		slots[i] = uint64(i)
	}
	state := seed
	for i := n - 1; i > 0; i-- {
		j := next(&state) % uint64(i+1)
		slots[i], slots[j] = slots[j], slots[i]
	}
	for i := range out {
		out[i] = (firstSlot+slots[i])*slotBytes + next(&state)%baseSpread/baseAlign*baseAlign
	}
	return out
}

// next is one step of SplitMix64 (Steele, Lea and Flood 2014).
func next(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
