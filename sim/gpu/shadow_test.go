package gpu

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mqaproof/sim/isa"
)

// groupAccess is one access of one workgroup in TestOrderDoesNotMatter.
type groupAccess struct {
	Group, Off, Size int
	Store            bool
	Value            uint32
}

// TestOrderDoesNotMatter runs the same accesses of several workgroups in two
// interleavings that keep each workgroup's own order. What each load gives,
// what memory holds at the end and what is reported must be the same.
func TestOrderDoesNotMatter(t *testing.T) {
	const size = 32
	rapid.Check(t, func(t *rapid.T) {
		access := rapid.Custom(func(t *rapid.T) groupAccess {
			n := rapid.SampledFrom([]int{4, 4, 4, 1, 2, 8, 16}).Draw(t, "size")
			align := rapid.SampledFrom([]int{1, 4, 4, 4}).Draw(t, "align")
			return groupAccess{
				Group: rapid.IntRange(0, 3).Draw(t, "group"),
				Off:   rapid.IntRange(0, (size-n)/align).Draw(t, "off") * align,
				Size:  n,
				Store: rapid.Bool().Draw(t, "store"),
				Value: uint32(rapid.IntRange(0, 2).Draw(t, "value")) * 0x01010101,
			}
		})
		list := rapid.SliceOfN(access, 10, 40).Draw(t, "accesses")
		limit := rapid.SampledFrom([]uint64{4, 4, 4, 3, 2, 0}).Draw(t, "limit")
		type loaded struct {
			Index int
			Data  [4]uint32
		}
		type outcome struct {
			Loads  []loaded
			Data   []byte
			Init   []bool
			Stored []bool
			Faults []string
		}
		// Number the accesses, so that an access is the same in both orders.
		type numbered struct {
			groupAccess
			index int
		}
		var all []numbered
		for i, a := range list {
			all = append(all, numbered{a, i})
		}
		play := func(order []numbered) (o outcome) {
			b := newBuffer("x", "global", 1<<40, size, false)
			initial := make([]byte, 3*size/4)
			for i := range initial {
				initial[i] = 0xee
			}
			if err := b.Write(0, initial); err != nil {
				t.Fatal(err)
			}
			b.prepare(true)
			p := guardedProgram(len(list))
			l := &launch{prog: p, space: space{b}, total: 4, Launch: Launch{Grid: one(4)}}
			var groups [4]*worker
			for i := range groups {
				x := &worker{l: l, last: make([]*Buffer, len(list))}
				x.group.worker, x.group.index, x.group.result = x, uint32(i), &workgroupResult{}
				groups[i] = x
			}
			for _, a := range order {
				x := groups[a.Group]
				w := &Wave{wg: &x.group}
				data := [4]uint32{a.Value, a.Value, a.Value, a.Value}
				if a.Store {
					w.storeLane(a.index, 0, b.base+uint64(a.Off), a.Size, data[:])
				} else {
					clear(data[:])
					w.loadLane(a.index, 0, b.base+uint64(a.Off), a.Size, data[:])
					if uint64(a.Group) < limit {
						o.Loads = append(o.Loads, loaded{a.index, data})
					}
				}
				x.leave()
			}
			slices.SortFunc(o.Loads, func(a, b loaded) int { return a.Index - b.Index })
			for _, x := range groups[:limit] {
				l.faults.addAll(&x.group.result.faults)
			}
			l.settle(limit)
			for _, f := range l.faults.report(l) {
				o.Faults = append(o.Faults, f.String())
			}
			var err error
			if o.Data, err = b.Read(0, size); err != nil {
				t.Fatal(err)
			}
			if o.Init, err = b.Initialised(0, size); err != nil {
				t.Fatal(err)
			}
			if o.Stored, err = b.Written(0, size); err != nil {
				t.Fatal(err)
			}
			return o
		}
		first := play(all)
		// Another interleaving: take the next access of a group drawn at random.
		var queues [4][]numbered
		for _, a := range all {
			queues[a.Group] = append(queues[a.Group], a)
		}
		var other []numbered
		for len(other) < len(all) {
			g := rapid.IntRange(0, 3).Draw(t, "next")
			for len(queues[g]) == 0 {
				g = (g + 1) % 4
			}
			other = append(other, queues[g][0])
			queues[g] = queues[g][1:]
		}
		if diff := cmp.Diff(first, play(other)); diff != "" {
			t.Fatal(diff)
		}
		// Against a plain account of the rules: the highest workgroup's last
		// store wins, and nothing of workgroups from limit on is left.
		want, stored := make([]byte, size), make([]bool, size)
		for i := range 3 * size / 4 {
			want[i] = 0xee
		}
		winner := make([]int, size)
		for i := range winner {
			winner[i] = -1
		}
		for _, a := range all {
			if !a.Store || uint64(a.Group) >= limit {
				continue
			}
			for i := a.Off; i < a.Off+a.Size; i++ {
				if a.Group >= winner[i] {
					winner[i], want[i], stored[i] = a.Group, byte(a.Value), true
				}
			}
		}
		if diff := cmp.Diff(want, first.Data); diff != "" {
			t.Fatalf("memory: %s", diff)
		}
		if diff := cmp.Diff(stored, first.Stored); diff != "" {
			t.Fatalf("stored: %s", diff)
		}
	})
}

// guardedProgram is a program of n instructions to attribute faults to.
func guardedProgram(n int) *Program {
	p := &Program{}
	for i := range n {
		in := newInst(codeBase + uint64(8*i))
		p.insts = append(p.insts, in)
	}
	return p
}

func TestFaultsAreCapped(t *testing.T) {
	l := &launch{prog: guardedProgram(300), Launch: Launch{Grid: one(1)}}
	for step := range 300 {
		for range 2 {
			l.faults.add(faultKey{OutOfBoundsRead, step, nil}, faultAt{site: makeSite(0, step, 0), addr: 5, size: 4})
		}
	}
	list := l.faults.report(l)
	if len(list) != maxFaults || l.faults.more != 400 {
		t.Errorf("%d faults kept, %d more", len(list), l.faults.more)
	}
	for _, f := range list {
		if f.Count != 2 {
			t.Errorf("count is %d", f.Count)
		}
	}
}

// TestExemplar: of all that is merged the lowest workgroup's, and in it the
// lowest wave's first, is shown.
func TestExemplar(t *testing.T) {
	l := &launch{prog: guardedProgram(1), Launch: Launch{Grid: one(10)}}
	add := func(group uint32, wave, lane int) {
		l.faults.add(faultKey{OutOfBoundsRead, 0, nil}, faultAt{site: makeSite(group, 0, wave) | site(lane), size: 4})
	}
	add(3, 1, 7)
	add(3, 0, 9)
	add(3, 0, 2) // later in the same wave
	add(5, 0, 0)
	f := l.faults.report(l)[0]
	if f.Workgroup != [3]uint32{3, 0, 0} || f.Wave != 0 || f.Lane != 9 || f.Count != 4 {
		t.Errorf("exemplar is %+v", f)
	}
}

func newInst(addr uint64) isa.Inst {
	return isa.Inst{Addr: addr, Size: 8, Op: isa.S_NOP, Enc: isa.SOPP}
}
