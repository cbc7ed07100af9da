package gpu

import (
	"encoding/binary"
	"math/bits"
)

// How the lanes of a wave load from and store to the addresses in worker.addr:
// the common case in tight loops, the rest lane by lane.

// gather loads for the lanes of mask from the worker's addresses.
func (w *Wave) gather(f format, d, step int, mask uint64) {
	if slow := w.gatherFast(f, d, step, mask); slow != 0 {
		w.gatherSlow(f, d, step, slow)
	}
}

// gatherFast loads for those lanes of mask whose bytes lie in the contiguous,
// untracked buffer that the instruction accessed last, and gives the others.
func (w *Wave) gatherFast(f format, d, step int, mask uint64) (slow uint64) {
	x := w.wg.worker
	if mask == 0 {
		return 0
	}
	b := x.lookup(step, x.addr[bits.TrailingZeros64(mask)])
	if b == nil || b.plain == nil {
		return mask
	}
	init := b.plain.init
	if b.full {
		init = nil
	}
	return w.gatherFrom(b.plain.data, init, b.base, f, d, mask)
}

// gatherFrom loads from data, which lies at address base, for those lanes of
// mask whose bytes lie in it and are all in init, if that is not nil. It gives
// the other lanes.
func (w *Wave) gatherFrom(data []byte, init []uint64, base uint64, f format, d int, mask uint64) (slow uint64) {
	x := w.wg.worker
	n := uint64(f.size)
	if uint64(len(data)) < n {
		return mask
	}
	limit := uint64(len(data)) - n
	want := uint64(1)<<n - 1
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros64(m) & 63
		off := x.addr[l] - base
		x.addr[l] = off
		if off > limit {
			slow |= 1 << l
		} else if init != nil && init[off>>6]>>(off&63)&want != want && !hasBits(init, off, n) {
			slow |= 1 << l
		}
	}
	mask &^= slow
	switch f.size {
	case 4:
		move1(&w.V[d], data, &x.addr, mask)
	case 8:
		move2(&w.V[d], &w.V[d+1], data, &x.addr, mask)
	case 16:
		move4(&w.V[d], &w.V[d+1], &w.V[d+2], &w.V[d+3], data, &x.addr, mask)
	case 12:
		for i := range 3 {
			move1(&w.V[d+i], data[4*i:], &x.addr, mask)
		}
	default:
		v := &w.V[d]
		for m := mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros64(m) & 63
			v[l] = f.extend(little(data[x.addr[l]:], n), v[l])
		}
	}
	for m := slow; m != 0; m &= m - 1 {
		x.addr[bits.TrailingZeros64(m)&63] += base
	}
	return slow
}

// move1, move2 and move4 load so many dwords at each lane's offset, which is in
// bounds for all lanes of mask.
func move1(v *vreg, data []byte, off *[Lanes]uint64, mask uint64) {
	if mask == allLanes {
		for l := range v {
			v[l] = binary.LittleEndian.Uint32(data[off[l]:])
		}
		return
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros64(m) & 63
		v[l] = binary.LittleEndian.Uint32(data[off[l]:])
	}
}

func move2(v0, v1 *vreg, data []byte, off *[Lanes]uint64, mask uint64) {
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros64(m) & 63
		x := binary.LittleEndian.Uint64(data[off[l]:])
		v0[l], v1[l] = uint32(x), uint32(x>>32)
	}
}

func move4(v0, v1, v2, v3 *vreg, data []byte, off *[Lanes]uint64, mask uint64) {
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros64(m) & 63
		from := data[off[l]:][:16]
		x, y := binary.LittleEndian.Uint64(from), binary.LittleEndian.Uint64(from[8:])
		v0[l], v1[l], v2[l], v3[l] = uint32(x), uint32(x>>32), uint32(y), uint32(y>>32)
	}
}

// gatherSlow loads lane by lane, with all checks and faults.
func (w *Wave) gatherSlow(f format, d, step int, mask uint64) {
	x := w.wg.worker
	var out [4]uint32
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros64(m)
		w.loadLane(step, l, x.addr[l], f.size, out[:])
		w.setLane(f, d, l, &out)
	}
	x.leave()
}

// scatter stores for the lanes of mask to the worker's addresses, the lowest
// lane first.
func (w *Wave) scatter(f format, d, step int, mask uint64) {
	if mask == 0 {
		return
	}
	x := w.wg.worker
	if f.size >= 4 {
		switch b := x.lookup(step, x.addr[bits.TrailingZeros64(mask)]); {
		case b == nil || b.readOnly || b.size < uint64(f.size):
		case b.tracked:
			mask = w.scatterTracked(b, f, d, step, mask)
		case b.plain != nil:
			mask = w.scatterPlain(b, f, d, mask)
		}
	}
	var data [4]uint32
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros64(m)
		w.laneData(f, d, l, &data)
		w.storeLane(step, l, x.addr[l], f.size, data[:])
	}
	x.leave()
}

// scatterTracked stores whole dwords as long as the lanes store to aligned
// dwords of b, which is tracked, that no other workgroup stored to. It gives
// the lanes that are left, which are the highest ones, so that of two lanes
// that store to one place the higher still wins.
func (w *Wave) scatterTracked(b *Buffer, f format, d, step int, mask uint64) (left uint64) {
	x := w.wg.worker
	size := uint64(f.size)
	base, limit := b.base, b.size-size
	v := w.V[d : d+f.dwords()]
	s := makeSite(w.wg.index, step, w.id)
	var (
		k       *block
		data    []byte
		owners  []site
		written []uint64
		start   uint64
	)
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros64(m) & 63
		off := x.addr[l] - base
		if off > limit || off&3 != 0 || off&(blockBytes-1)+size > blockBytes {
			return m
		}
		if k == nil || off>>blockShift != start>>blockShift {
			p, in := b.touch(off)
			k = x.enter(b, p, in, off)
			k.own()
			if k.unit != 2 {
				return m
			}
			data, owners, written, start = k.bytes(), k.owners, k.page.written[k.offset/64:], k.at
		}
		at := off - start
		if size == 4 {
			if o := owners[at/4]; o != ownerNone && !o.sameGroup(s) {
				return m
			}
			owners[at/4] = s | site(l)
			binary.LittleEndian.PutUint32(data[at:], v[0][l])
			written[at/64] |= 0xf << (at % 64)
			continue
		}
		own, to := owners[at/4:][:len(v)], data[at:][:size]
		for _, o := range own {
			if o != ownerNone && !o.sameGroup(s) {
				return m
			}
		}
		for i := range v {
			own[i] = s | site(l)
			binary.LittleEndian.PutUint32(to[4*i:], v[i][l])
		}
		setFew(written, at, size)
	}
	return 0
}

// scatterPlain stores whole dwords as long as the lanes store to b, which is
// contiguous and not tracked, and gives the lanes that are left.
func (w *Wave) scatterPlain(b *Buffer, f format, d int, mask uint64) (left uint64) {
	x := w.wg.worker
	size := uint64(f.size)
	base, limit, p := b.base, b.size-size, b.plain
	v := w.V[d : d+f.dwords()]
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros64(m) & 63
		off := x.addr[l] - base
		if off > limit {
			return m
		}
		to := p.data[off:][:size]
		for i := range v {
			binary.LittleEndian.PutUint32(to[4*i:], v[i][l])
		}
		setFew(p.written, off, size)
		if !b.full {
			setFew(p.init, off, size)
		}
	}
	return 0
}

// setLane puts loaded data into a lane's registers.
func (w *Wave) setLane(f format, d, lane int, out *[4]uint32) {
	if f.size < 4 {
		w.V[d][lane] = f.extend(out[0], w.V[d][lane])
		return
	}
	for i := range f.dwords() {
		w.V[d+i][lane] = out[i]
	}
}

// laneData is what a lane stores.
func (w *Wave) laneData(f format, d, lane int, in *[4]uint32) {
	for i := range f.dwords() {
		in[i] = w.V[d+i][lane]
	}
	if f.high {
		in[0] >>= 16
	}
}
