package gpu

import (
	"encoding/binary"
	"strings"

	"mqaproof/sim/isa"
)

// scalarDwords is how many dwords a scalar load reads, by the end of its name.
var scalarDwords = map[string]int{"dword": 1, "dwordx2": 2, "dwordx4": 4, "dwordx8": 8, "dwordx16": 16}

func compileScalarMemory(in *isa.Inst, step int) (execFn, error) {
	name := in.Op.String()
	switch {
	case strings.HasPrefix(name, "s_dcache_"), in.Op == isa.S_ATC_PROBE, in.Op == isa.S_ATC_PROBE_BUFFER:
		return nothing, nil // caches are not modelled
	case in.Op == isa.S_MEMTIME, in.Op == isa.S_MEMREALTIME:
		d, err := scalarDest(in.Dst, 2)
		if err != nil {
			return nil, err
		}
		return func(w *Wave) {
			// A clock that goes on by itself would make runs differ.
			w.ticks += 1000
			w.writeS64(d, w.ticks)
		}, nil
	}
	if kind, ok := strings.CutPrefix(name, "s_store_"); ok {
		return compileScalarStore(in, kind, step)
	}
	buffer := strings.HasPrefix(name, "s_buffer_load_")
	_, kind, _ := strings.Cut(name, "_load_")
	n, ok := scalarDwords[kind]
	if !ok || !buffer && !strings.HasPrefix(name, "s_load_") {
		return nil, notImplemented()
	}
	d, err := scalarDest(in.Dst, n)
	if err != nil {
		return nil, err
	}
	base, offset, err := scalarAddress(in, 0)
	if err != nil {
		return nil, err
	}
	if buffer {
		return func(w *Wave) {
			v, why := w.resource(base)
			if why != "" {
				w.stopWith(TrapUnsupported, why)
				return
			}
			w.scalarBufferLoad(v, offset(w)&^3, n, d, step)
		}, nil
	}
	return func(w *Wave) {
		w.scalarLoad((w.readS64(base)+offset(w))&^3, n, d, step)
	}, nil
}

// scalarAddress is the base register of a scalar memory instruction and what
// is added to it; they are its operands from number at on.
func scalarAddress(in *isa.Inst, at int) (base int, offset func(w *Wave) uint64, err error) {
	if in.Src[at].Kind != isa.SReg {
		return 0, nil, unsupported("no base register")
	}
	imm := uint64(int64(in.Offset))
	if in.Src[at+1].Kind != isa.SReg {
		return int(in.Src[at].Reg), func(*Wave) uint64 { return imm }, nil
	}
	soffset := int(in.Src[at+1].Reg)
	return int(in.Src[at].Reg), func(w *Wave) uint64 { return imm + uint64(w.readS(soffset)) }, nil
}

func compileScalarStore(in *isa.Inst, kind string, step int) (execFn, error) {
	n, ok := scalarDwords[kind]
	if !ok {
		return nil, notImplemented()
	}
	data, err := scalarDest(in.Src[0], n)
	if err != nil {
		return nil, err
	}
	base, offset, err := scalarAddress(in, 1)
	if err != nil {
		return nil, err
	}
	return func(w *Wave) {
		var words [4]uint32
		for i := range n {
			words[i] = w.readS(data + i)
		}
		w.storeLane(step, 0, (w.readS64(base)+offset(w))&^3, 4*n, words[:])
		w.wg.leave()
	}, nil
}

// scalarLoad reads n dwords to scalar registers d and up.
func (w *Wave) scalarLoad(addr uint64, n, d, step int) {
	x := w.wg.worker
	size := uint64(4 * n)
	if b := x.lookup(step, addr); b != nil && b.plain != nil && b.full && size <= b.size-(addr-b.base) {
		data := b.plain.data[addr-b.base:][:size]
		for i := range n {
			w.writeS(d+i, binary.LittleEndian.Uint32(data[4*i:]))
		}
		return
	}
	var out [16]uint32
	w.loadLane(step, 0, addr, int(size), out[:])
	x.leave()
	for i := range n {
		w.writeS(d+i, out[i])
	}
}

// scalarBufferLoad reads n dwords through a buffer resource: those beyond its
// range read as 0.
func (w *Wave) scalarBufferLoad(v resource, off uint64, n, d, step int) {
	x := w.wg.worker
	limit := v.records
	if v.stride != 0 {
		limit *= v.stride
	}
	s := makeSite(w.wg.index, step, w.id)
	for i := range n {
		at := off + uint64(4*i)
		var value uint32
		if at < limit {
			var kind FaultKind
			var b *Buffer
			if value, kind, b = x.load(step, v.base+at, 4, s); kind != "" {
				w.fault(kind, step, b, 0, faultAt{addr: v.base + at, size: 4})
			}
		} else {
			w.dropped(v, at, limit, step, 0, 4, false)
		}
		w.writeS(d+i, value)
	}
	x.leave()
}
