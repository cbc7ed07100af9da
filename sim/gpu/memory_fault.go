package gpu

import (
	"cmp"
	"slices"
)

// maxFaults is how many different faults a report keeps.
const maxFaults = 100

// faultKey is what faults are merged by. Buffer is nil for LDS, scratch and
// addresses with no buffer near.
type faultKey struct {
	kind   FaultKind
	step   int
	buffer *Buffer
}

// faultAt is one occurrence.
type faultAt struct {
	site   site
	space  string // "" takes the buffer's
	addr   uint64
	size   int
	detail string
}

type mergedFault struct {
	faultKey
	faultAt
	count int
}

// faultSet merges faults by key. The lowest workgroup's occurrence is the
// exemplar; within it the lowest wave's, and of that the first.
type faultSet struct {
	list  []mergedFault // in the order of first occurrence
	index map[faultKey]int
	more  int // occurrences beyond maxFaults keys
}

func (f *faultSet) add(k faultKey, at faultAt) { f.merge(mergedFault{k, at, 1}) }

func (f *faultSet) merge(m mergedFault) {
	if i, ok := f.index[m.faultKey]; ok {
		have := &f.list[i]
		have.count += m.count
		if order := cmp.Compare(m.site.workgroup(), have.site.workgroup()); order < 0 || order == 0 && m.site.wave() < have.site.wave() {
			have.faultAt = m.faultAt
		}
		return
	}
	if len(f.list) == maxFaults {
		f.more += m.count
		return
	}
	if f.index == nil {
		f.index = map[faultKey]int{}
	}
	f.index[m.faultKey] = len(f.list)
	f.list = append(f.list, m)
}

// addAll merges another set, that of a higher workgroup.
func (f *faultSet) addAll(o *faultSet) {
	for _, m := range o.list {
		f.merge(m)
	}
	f.more += o.more
}

// report gives the faults in an order that no schedule changes.
func (f *faultSet) report(l *launch) []Fault {
	list := slices.Clone(f.list)
	slices.SortStableFunc(list, func(a, b mergedFault) int {
		return cmp.Or(
			cmp.Compare(a.site.workgroup(), b.site.workgroup()),
			cmp.Compare(a.site.wave(), b.site.wave()),
			cmp.Compare(a.step, b.step),
			cmp.Compare(a.kind, b.kind),
			cmp.Compare(a.addr, b.addr),
		)
	})
	out := make([]Fault, len(list))
	for i, m := range list {
		in := &l.prog.insts[m.step]
		out[i] = Fault{
			Kind: m.kind, Space: m.space, Addr: m.addr, Offset: int64(m.addr), Size: m.size,
			PC: in.Addr - codeBase, Inst: in.String(), Detail: m.detail,
			Workgroup: l.workgroupID(m.site.workgroup()), Wave: m.site.wave(), Lane: m.site.lane(),
			Count: m.count,
		}
		if m.buffer != nil {
			out[i].Buffer, out[i].Offset = m.buffer.name, int64(m.addr-m.buffer.base)
			if m.space == "" {
				out[i].Space = m.buffer.spaceTag
			}
		} else if m.space == "" {
			out[i].Space = "global"
		}
	}
	return out
}
