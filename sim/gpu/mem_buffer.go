package gpu

import (
	"math/bits"

	"mqaproof/sim/isa"
)

// resource is a buffer resource descriptor, V# (CDNA3 ISA, "Buffer Resource
// Descriptor"), as far as raw and strided buffers need it.
type resource struct {
	base    uint64
	stride  uint64 // bytes
	records uint64 // bytes of a raw buffer, records of a strided one
}

// resource reads the V# in four scalar registers; why says what of it is not
// supported.
func (w *Wave) resource(reg int) (v resource, why string) {
	w0, w1, w2, w3 := w.readS(reg), w.readS(reg+1), w.readS(reg+2), w.readS(reg+3)
	switch {
	case w1>>31 != 0:
		why = "buffer resource with swizzled addresses"
	case w3>>23&1 != 0:
		why = "buffer resource that adds the lane's number (ADD_TID_ENABLE)"
	case w3>>30 != 0:
		why = "resource in these registers is not a buffer's"
	}
	// Bit 30 of the second dword is the cache's swizzle, which no address shows.
	return resource{base: uint64(w0) | uint64(w1&0xffff)<<32, stride: uint64(w1 >> 16 & 0x3fff), records: uint64(w2)}, why
}

// bufferAddress computes the addresses of MUBUF instructions.
type bufferAddress struct {
	srsrc   int
	soffset scalarSource
	imm     uint64
	offset  int // VGPR of the offset, -1 for none
	index   int // VGPR of the index, -1 for none
}

// newBufferAddress reads the operands from number at on: address, resource,
// scalar offset.
func newBufferAddress(in *isa.Inst, at int) (bufferAddress, error) {
	a := bufferAddress{imm: uint64(in.Offset), offset: -1, index: -1}
	if in.OffEn || in.IdxEn {
		r, err := vectorReg(in.Src[at])
		if err != nil {
			return a, err
		}
		if in.IdxEn {
			a.index = r
			r++
		}
		if in.OffEn {
			a.offset = r
		}
	}
	if in.Src[at+1].Kind != isa.SReg {
		return a, unsupported("no resource registers")
	}
	a.srsrc = int(in.Src[at+1].Reg)
	s, err := scalar(in.Src[at+2])
	a.soffset = s
	return a, err
}

// lanes fills in the worker's addresses and gives the active lanes whose
// element of size bytes is in range, and those for which only its start is.
//
// Range (CDNA3 ISA, "Range checking"): a dword of a raw buffer is out of range
// when its offset, without the scalar offset, is not below num_records less the
// scalar offset; a record of a strided buffer when its index is not below
// num_records.
func (a *bufferAddress) lanes(w *Wave, size, step int, store bool) (whole, part uint64, v resource, ok bool) {
	v, why := w.resource(a.srsrc)
	if why != "" {
		w.stopWith(TrapUnsupported, why)
		return 0, 0, v, false
	}
	soffset := uint64(a.soffset.u32(w))
	x := w.wg.worker
	base := v.base + soffset
	limit := v.records - min(soffset, v.records)
	strided := a.index >= 0 && v.stride != 0
	for m := w.EXEC; m != 0; m &= m - 1 {
		l := bits.TrailingZeros64(m) & 63
		off := a.imm
		if a.offset >= 0 {
			off += uint64(w.V[a.offset][l])
		}
		in, all := false, false
		if strided {
			index := uint64(w.V[a.index][l])
			in = index < v.records
			all = in
			off += index * v.stride
		} else {
			in = off < limit
			all = off+uint64(size+3)&^3-4 < limit // the last dword's offset
		}
		x.addr[l] = base + off
		switch {
		case all:
			whole |= 1 << l
		case in:
			part |= 1 << l
		default:
			w.dropped(v, soffset+off, v.records, step, l, size, store)
		}
	}
	return whole, part, v, true
}

// dropped reports an access that the V# puts out of range, unless that is how a
// compiler switches lanes off: with an offset of 2^31 or more, or when the V#
// does not know the tensor's size and so cannot be what is out of range.
func (w *Wave) dropped(v resource, off, limit uint64, step, lane, size int, store bool) {
	if off >= 1<<31 || limit >= unknownRecords {
		return
	}
	x := w.wg.worker
	b := x.l.space.nearest(v.base)
	addr := v.base + off
	if b != nil && addr >= b.base && addr-b.base < b.size {
		return // the V# is smaller than the tensor: what it drops is its business
	}
	kind := OutOfBoundsRead
	if store {
		kind = OutOfBoundsWrite
	}
	w.fault(kind, step, b, lane, faultAt{addr: addr, size: size, detail: "the buffer resource's range check dropped it"})
}

// unknownRecords is the least num_records that means no known size: compilers
// write 2^31 less at most a few bytes, or 2^32-1.
const unknownRecords = 1<<31 - 16

func compileBuffer(in *isa.Inst, step int) (execFn, error) {
	if in.Op == isa.BUFFER_INV || in.Op == isa.BUFFER_WBL2 {
		return nothing, nil // caches are not modelled
	}
	if name, ok := suffix(in.Op, "_atomic_"); ok {
		return compileBufferAtomic(in, name, step)
	}
	if name, ok := suffix(in.Op, "_load_"); ok {
		f, ok := memoryFormats[name]
		if !ok {
			return nil, notImplemented()
		}
		a, err := newBufferAddress(in, 0)
		if err != nil {
			return nil, err
		}
		if in.LDS {
			return bufferToLDS(a, f, step)
		}
		d, err := dataReg(in.Dst)
		if err != nil {
			return nil, err
		}
		return bufferLoad(a, f, d, step), nil
	}
	if name, ok := suffix(in.Op, "_store_"); ok {
		f, ok := memoryFormats[name]
		if !ok || in.LDS {
			return nil, notImplemented()
		}
		d, err := dataReg(in.Src[0])
		if err != nil {
			return nil, err
		}
		a, err := newBufferAddress(in, 1)
		if err != nil {
			return nil, err
		}
		return bufferStore(a, f, d, step), nil
	}
	return nil, notImplemented()
}

// present is how many bytes from the start of an element at addr are in range.
func (a *bufferAddress) present(w *Wave, v resource, addr uint64, size int) int {
	left := v.base + v.records - addr // a raw buffer: strided elements are whole
	return min(size, int((left+3)&^3))
}

func bufferLoad(a bufferAddress, f format, d, step int) execFn {
	return func(w *Wave) {
		whole, part, v, ok := a.lanes(w, f.size, step, false)
		if !ok {
			return
		}
		// What is out of range reads as 0.
		if none := w.EXEC &^ whole; none != 0 {
			var zero [4]uint32
			for m := none; m != 0; m &= m - 1 {
				w.setLane(f, d, bits.TrailingZeros64(m), &zero)
			}
		}
		w.gather(f, d, step, whole)
		if part != 0 {
			x := w.wg.worker
			for m := part; m != 0; m &= m - 1 {
				l := bits.TrailingZeros64(m)
				var out [4]uint32
				w.loadLane(step, l, x.addr[l], a.present(w, v, x.addr[l], f.size), out[:])
				w.setLane(f, d, l, &out)
			}
			x.leave()
		}
	}
}

func bufferStore(a bufferAddress, f format, d, step int) execFn {
	return func(w *Wave) {
		whole, part, v, ok := a.lanes(w, f.size, step, true)
		if !ok {
			return
		}
		w.scatter(f, d, step, whole)
		if part != 0 {
			x := w.wg.worker
			for m := part; m != 0; m &= m - 1 {
				l := bits.TrailingZeros64(m)
				var data [4]uint32
				w.laneData(f, d, l, &data)
				w.storeLane(step, l, x.addr[l], a.present(w, v, x.addr[l], f.size), data[:])
			}
			x.leave()
		}
	}
}

// bufferToLDS compiles a load to LDS, at M0 + offset + lane times the size of
// the data. What is out of range goes to LDS as 0.
func bufferToLDS(a bufferAddress, f format, step int) (execFn, error) {
	if f.size < 4 {
		return nil, unsupported("only whole dwords to LDS are implemented")
	}
	return func(w *Wave) {
		whole, part, v, ok := a.lanes(w, f.size, step, false)
		if !ok {
			return
		}
		at := uint64(w.S[regM0]&0xffff) + a.imm
		w.toLDS(f, step, at, whole)
		x := w.wg.worker
		for m := w.EXEC &^ whole; m != 0; m &= m - 1 {
			l := bits.TrailingZeros64(m)
			var data [4]uint32
			if part>>l&1 != 0 {
				w.loadLane(step, l, x.addr[l], a.present(w, v, x.addr[l], f.size), data[:])
			}
			w.ldsStoreLane(step, l, at+uint64(l*f.size), f.size, &data)
		}
		x.leave()
	}, nil
}

func compileBufferAtomic(in *isa.Inst, name string, step int) (execFn, error) {
	op, ok := memoryAtomics[name]
	if !ok {
		return nil, notImplemented()
	}
	src, err := dataReg(in.Src[0])
	if err != nil {
		return nil, err
	}
	a, err := newBufferAddress(in, 1)
	if err != nil {
		return nil, err
	}
	dst := -1
	if in.Dst.Kind != isa.None {
		if dst, err = dataReg(in.Dst); err != nil {
			return nil, err
		}
	}
	return func(w *Wave) {
		whole, _, _, ok := a.lanes(w, op.size, step, true)
		if !ok {
			return
		}
		if dst >= 0 {
			for m := w.EXEC &^ whole; m != 0; m &= m - 1 {
				l := bits.TrailingZeros64(m)
				for i := range op.size / 4 {
					w.V[dst+i][l] = 0
				}
			}
		}
		w.atomics(op, src, dst, step, whole, false)
	}, nil
}
