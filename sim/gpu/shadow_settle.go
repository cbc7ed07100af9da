package gpu

import (
	"cmp"
	"fmt"
	"slices"
)

// settle ends the tracking of a launch: it gives every unit its final value,
// reports races, and makes what was stored count as initialised. Workgroups
// from limit on count as never run.
func (l *launch) settle(limit uint64) {
	slices.SortFunc(l.blocks, func(a, b *block) int {
		if c := cmp.Compare(a.buffer.base, b.buffer.base); c != 0 {
			return c
		}
		return cmp.Compare(a.at, b.at)
	})
	for _, k := range l.blocks {
		if k.owners != nil {
			l.settleBlock(k, limit)
		}
		k.page.blocks[k.offset>>blockShift].Store(nil)
	}
	l.blocks = nil
}

func (l *launch) settleBlock(k *block, limit uint64) {
	data := k.bytes()
	n := uint64(1) << k.unit
	ran := func(s site) bool { return uint64(s.workgroup()) < limit }
	w0 := k.offset / 64
	undo := func(u int) {
		off := uint64(u) << k.unit
		copy(data[off:min(off+n, uint64(len(data)))], k.old[off:])
		for i := off; i < min(off+n, uint64(len(data))); i++ {
			if !hasBit(k.oldWritten, i) {
				clearBits(k.page.written, k.offset+i, 1)
			}
		}
	}
	for u, owner := range k.owners {
		switch owner {
		case ownerNone, ownerAtomic:
			continue
		case ownerConflict:
			claims := k.conflicts[u]
			slices.SortFunc(claims, func(a, b claim) int { return cmp.Compare(a.site, b.site) })
			for len(claims) > 0 && !ran(claims[len(claims)-1].site) {
				claims = claims[:len(claims)-1]
			}
			if len(claims) == 0 {
				undo(u)
				continue
			}
			last := claims[len(claims)-1]
			putLittle(data[u<<k.unit:], n, last.value)
			for _, c := range claims {
				if c.value != last.value {
					l.race(k, u, last.site, c.site, "stored another value here")
					break
				}
			}
			if len(claims) > 1 {
				// With two writers every reader has one that is not its own.
				if r := k.reader(u); r != 0 && ran(r) {
					l.race(k, u, r, otherThan(r, claims[0].site, last.site), "stores here")
				}
				continue
			}
			owner = last.site
		}
		if !ran(owner) {
			undo(u)
			continue
		}
		if k.readers == nil {
			continue
		}
		for _, r := range k.readers[u] {
			if r != 0 && ran(r) && !r.sameGroup(owner) {
				l.race(k, u, r, owner, "stores here")
				break
			}
		}
	}
	for i := range k.oldWritten {
		k.page.init[w0+uint64(i)] |= k.page.written[w0+uint64(i)]
	}
	k.buffer.dirty = true
}

// reader is the lowest site that loaded unit u, 0 when none did.
func (k *block) reader(u int) site {
	if k.readers == nil {
		return 0
	}
	return k.readers[u][0]
}

func otherThan(s, a, b site) site {
	if s.sameGroup(a) {
		return b
	}
	return a
}

// race reports that s's access to unit u conflicts with the workgroup of other.
func (l *launch) race(k *block, u int, s, other site, what string) {
	off := k.at + uint64(u)<<k.unit
	l.faults.add(faultKey{Race, s.step(), k.buffer}, faultAt{
		site: s, addr: k.buffer.base + off, size: 1 << k.unit,
		detail: fmt.Sprintf("workgroup %v %s", l.workgroupID(other.workgroup()), what),
	})
}
