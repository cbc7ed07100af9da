package gpu

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strings"

	"mqaproof/sim/isa"
)

func compileDS(in *isa.Inst, step int) (execFn, error) {
	if in.GDS {
		return nil, unsupported("global data share")
	}
	name := strings.TrimPrefix(in.Op.String(), "ds_")
	switch in.Op {
	case isa.DS_NOP:
		return nothing, nil
	case isa.DS_SWIZZLE_B32:
		return compileSwizzle(in)
	case isa.DS_PERMUTE_B32, isa.DS_BPERMUTE_B32:
		return compilePermute(in)
	case isa.DS_READ_ADDTID_B32, isa.DS_WRITE_ADDTID_B32:
		return compileAddTID(in, step)
	}
	addr, err := vectorReg(in.Src[0])
	if err != nil {
		return nil, err
	}
	for _, two := range []string{"read2", "write2", "wrxchg2"} {
		if rest, ok := strings.CutPrefix(name, two); ok {
			return compileTwo(in, two, rest, addr, step)
		}
	}
	offset := uint32(in.Offset)
	if kind, ok := strings.CutPrefix(name, "read_"); ok {
		f, ok := dsFormats[kind]
		if !ok {
			return nil, notImplemented()
		}
		d, err := dataReg(in.Dst)
		if err != nil {
			return nil, err
		}
		return func(w *Wave) { w.ldsRead(f, d, addr, offset, step) }, nil
	}
	if kind, ok := strings.CutPrefix(name, "write_"); ok {
		f, ok := dsFormats[kind]
		if !ok {
			return nil, notImplemented()
		}
		d, err := dataReg(in.Src[1])
		if err != nil {
			return nil, err
		}
		return func(w *Wave) { w.ldsWrite(f, d, addr, offset, step) }, nil
	}
	return compileDSAtomic(in, name, addr, step)
}

// ldsRead loads each active lane's data to registers d and up.
func (w *Wave) ldsRead(f format, d, addr int, offset uint32, step int) {
	x := w.wg.worker
	for l, at := range &w.V[addr] {
		x.addr[l] = uint64(at + offset)
	}
	m := &w.wg.lds
	for slow := w.gatherFrom(m.data, m.init, 0, f, d, w.EXEC); slow != 0; slow &= slow - 1 {
		l := bits.TrailingZeros64(slow)
		var out [4]uint32
		w.ldsLoadLane(step, l, x.addr[l], f.size, &out)
		w.setLane(f, d, l, &out)
	}
}

// ldsWrite stores each active lane's data, the lowest lane first.
func (w *Wave) ldsWrite(f format, d, addr int, offset uint32, step int) {
	m := &w.wg.lds
	size := uint64(f.size)
	at := &w.V[addr]
	for mask := w.EXEC; mask != 0; mask &= mask - 1 {
		l := bits.TrailingZeros64(mask) & 63
		off := uint64(at[l] + offset)
		if size < 4 || off+size > uint64(len(m.data)) {
			var data [4]uint32
			w.laneData(f, d, l, &data)
			w.ldsStoreLane(step, l, off, f.size, &data)
			continue
		}
		to := m.data[off : off+size]
		binary.LittleEndian.PutUint32(to, w.V[d][l])
		if size >= 8 {
			binary.LittleEndian.PutUint32(to[4:], w.V[d+1][l])
		}
		if size >= 12 {
			binary.LittleEndian.PutUint32(to[8:], w.V[d+2][l])
		}
		if size == 16 {
			binary.LittleEndian.PutUint32(to[12:], w.V[d+3][l])
		}
		setFew(m.init, off, size)
	}
}

// compileTwo compiles read2, write2, wrxchg2 and their st64 forms: two elements
// at offsets in units of the element, or of 64 elements.
func compileTwo(in *isa.Inst, what, rest string, addr, step int) (execFn, error) {
	unit := uint32(1)
	if r, ok := strings.CutPrefix(rest, "st64"); ok {
		rest, unit = r, 64
	}
	f := dsFormats[strings.TrimPrefix(strings.TrimPrefix(rest, "_"), "rtn_")]
	if f.size != 4 && f.size != 8 {
		return nil, notImplemented()
	}
	unit *= uint32(f.size)
	offsets := [2]uint32{uint32(in.Offset0) * unit, uint32(in.Offset1) * unit}
	n := f.dwords()
	var data [2]int
	if what != "read2" {
		for i := range data {
			r, err := dataReg(in.Src[1+i])
			if err != nil {
				return nil, err
			}
			data[i] = r
		}
	}
	if what == "write2" {
		return func(w *Wave) {
			w.ldsWrite(f, data[0], addr, offsets[0], step)
			w.ldsWrite(f, data[1], addr, offsets[1], step)
		}, nil
	}
	d, err := dataReg(in.Dst)
	if err != nil {
		return nil, err
	}
	if what == "read2" {
		if addr >= d && addr < d+n {
			// The first read would overwrite the second one's addresses.
			return func(w *Wave) {
				saved := w.V[addr]
				w.ldsRead(f, d, addr, offsets[0], step)
				first := w.V[addr]
				w.V[addr] = saved
				w.ldsRead(f, d+n, addr, offsets[1], step)
				merge(&w.V[addr], &first, w.EXEC)
			}, nil
		}
		return func(w *Wave) {
			w.ldsRead(f, d, addr, offsets[0], step)
			w.ldsRead(f, d+n, addr, offsets[1], step)
		}, nil
	}
	return func(w *Wave) {
		at := w.V[addr]
		for mask := w.EXEC; mask != 0; mask &= mask - 1 {
			l := bits.TrailingZeros64(mask)
			var in, out [2][4]uint32
			for i := range 2 {
				w.laneData(f, data[i], l, &in[i])
				w.ldsLoadLane(step, l, uint64(at[l]+offsets[i]), f.size, &out[i])
			}
			for i := range 2 {
				w.ldsStoreLane(step, l, uint64(at[l]+offsets[i]), f.size, &in[i])
				w.setLane(f, d+i*n, l, &out[i])
			}
		}
	}, nil
}

// dsAtomics are named as the opcodes are, without "ds_" and "rtn_". The first
// operand is data 0, the second data 1.
var dsAtomics = func() map[string]atomicOp {
	m := map[string]atomicOp{
		"add_f32":     {4, false, atomicAddF32},
		"add_f64":     {8, false, atomicAddF64},
		"min_f32":     {4, false, atomicMinF32},
		"max_f32":     {4, false, atomicMaxF32},
		"min_f64":     {8, false, atomicMinF64},
		"max_f64":     {8, false, atomicMaxF64},
		"pk_add_f16":  {4, false, atomicPkAddF16},
		"pk_add_bf16": {4, false, atomicPkAddBF16},
		"cmpst_f32":   {4, true, compareStoreF32},
		"cmpst_f64":   {8, true, compareStoreF64},
		"wrap_b32":    {4, true, low(wrap)},
	}
	both := func(name, kind string, compare bool, f func(old, value, second uint64) uint64) {
		m[name+"_"+kind+"32"] = atomicOp{4, compare, low(f)}
		m[name+"_"+kind+"64"] = atomicOp{8, compare, f}
	}
	both("add", "u", false, integerAtomics["add"])
	both("sub", "u", false, integerAtomics["sub"])
	both("rsub", "u", false, func(old, value, _ uint64) uint64 { return value - old })
	both("inc", "u", false, inc)
	both("dec", "u", false, dec)
	both("min", "u", false, integerAtomics["umin"])
	both("max", "u", false, integerAtomics["umax"])
	both("and", "b", false, integerAtomics["and"])
	both("or", "b", false, integerAtomics["or"])
	both("xor", "b", false, integerAtomics["xor"])
	both("wrxchg", "b", false, integerAtomics["swap"])
	both("mskor", "b", true, func(old, value, second uint64) uint64 { return old&^value | second })
	both("cmpst", "b", true, func(old, value, second uint64) uint64 {
		if old == value {
			return second
		}
		return old
	})
	m["min_i32"], m["min_i64"] = atomicOp{4, false, signed32(minI)}, atomicOp{8, false, minI}
	m["max_i32"], m["max_i64"] = atomicOp{4, false, signed32(maxI)}, atomicOp{8, false, maxI}
	return m
}()

func atomicMinF32(old, value, _ uint64) uint64 {
	if f32(uint32(value)) < f32(uint32(old)) {
		return value
	}
	return old
}

func atomicMaxF32(old, value, _ uint64) uint64 {
	if f32(uint32(value)) > f32(uint32(old)) {
		return value
	}
	return old
}

func compareStoreF32(old, value, second uint64) uint64 {
	if f32(uint32(old)) == f32(uint32(value)) {
		return second
	}
	return old
}

func compareStoreF64(old, value, second uint64) uint64 {
	if math.Float64frombits(old) == math.Float64frombits(value) {
		return second
	}
	return old
}

func wrap(old, value, second uint64) uint64 {
	if old >= value {
		return old - value
	}
	return old + second
}

func compileDSAtomic(in *isa.Inst, name string, addr, step int) (execFn, error) {
	op, ok := dsAtomics[strings.Replace(name, "_rtn_", "_", 1)]
	if !ok {
		return nil, notImplemented()
	}
	data0, err := dataReg(in.Src[1])
	if err != nil {
		return nil, err
	}
	data1, dst := -1, -1
	if op.compare {
		if data1, err = dataReg(in.Src[2]); err != nil {
			return nil, err
		}
	}
	if in.Dst.Kind != isa.None {
		if dst, err = dataReg(in.Dst); err != nil {
			return nil, err
		}
	}
	offset := uint32(in.Offset)
	read := func(w *Wave, r, l int) uint64 {
		if r < 0 {
			return 0
		}
		v := uint64(w.V[r][l])
		if op.size == 8 {
			v |= uint64(w.V[r+1][l]) << 32
		}
		return v
	}
	return func(w *Wave) {
		for mask := w.EXEC; mask != 0; mask &= mask - 1 {
			l := bits.TrailingZeros64(mask)
			value, second := read(w, data0, l), read(w, data1, l)
			old := w.ldsAtomic(step, l, uint64(w.V[addr][l]+offset), op.size, func(old uint64) uint64 {
				return op.apply(old, value, second)
			})
			if dst >= 0 {
				w.V[dst][l] = uint32(old)
				if op.size == 8 {
					w.V[dst+1][l] = uint32(old >> 32)
				}
			}
		}
	}, nil
}

// compileSwizzle compiles ds_swizzle_b32, which touches no memory (CDNA3 ISA,
// "DS_SWIZZLE_B32"). A lane that reads from a switched-off one gets 0.
func compileSwizzle(in *isa.Inst) (execFn, error) {
	src, err := vectorReg(in.Src[0])
	if err != nil {
		return nil, err
	}
	d, err := dataReg(in.Dst)
	if err != nil {
		return nil, err
	}
	offset := uint32(in.Offset) & 0xffff
	var from [Lanes]uint8
	switch {
	case offset >= 0xc000:
		return nil, unsupported("swizzle in FFT or rotate mode (offset %#x)", offset)
	case offset&0x8000 != 0: // within each four lanes
		for l := range from {
			from[l] = uint8(l&^3) | uint8(offset>>(2*(l&3))&3)
		}
	default: // within each 32 lanes: and, or, xor of the lane's number
		for l := range from {
			from[l] = uint8(uint32(l)&32 | (uint32(l)&offset&31 | offset>>5&31) ^ offset>>10&31)
		}
	}
	return func(w *Wave) {
		old := w.V[src]
		for m := w.EXEC; m != 0; m &= m - 1 {
			l := bits.TrailingZeros64(m) & 63
			v := uint32(0)
			if f := from[l]; w.EXEC>>f&1 != 0 {
				v = old[f&63]
			}
			w.V[d][l] = v
		}
	}, nil
}

// compilePermute compiles ds_permute_b32 (lanes push) and ds_bpermute_b32
// (lanes pull), which touch no memory. Lanes that get nothing get 0.
func compilePermute(in *isa.Inst) (execFn, error) {
	addr, err := vectorReg(in.Src[0])
	if err != nil {
		return nil, err
	}
	src, err := dataReg(in.Src[1])
	if err != nil {
		return nil, err
	}
	d, err := dataReg(in.Dst)
	if err != nil {
		return nil, err
	}
	offset := uint32(in.Offset)
	pull := in.Op == isa.DS_BPERMUTE_B32
	return func(w *Wave) {
		var out vreg
		from, at := &w.V[src], &w.V[addr]
		for l := range out {
			other := (at[l] + offset) / 4 % Lanes
			switch {
			case pull && w.EXEC>>other&1 != 0:
				out[l] = from[other]
			case !pull && w.EXEC>>l&1 != 0:
				out[other] = from[l]
			}
		}
		merge(&w.V[d], &out, w.EXEC)
	}, nil
}

// compileAddTID compiles the accesses at M0 + offset + 4 times the lane.
func compileAddTID(in *isa.Inst, step int) (execFn, error) {
	offset := uint64(uint32(in.Offset))
	f := format{size: 4}
	read := in.Op == isa.DS_READ_ADDTID_B32
	o := in.Dst
	if !read {
		o = in.Src[0]
		for _, s := range in.Src {
			if s.Kind != isa.None {
				o = s
			}
		}
	}
	d, err := dataReg(o)
	if err != nil {
		return nil, err
	}
	return func(w *Wave) {
		base := uint64(w.S[regM0]&0xffff) + offset
		for m := w.EXEC; m != 0; m &= m - 1 {
			l := bits.TrailingZeros64(m)
			var data [4]uint32
			if at := base + uint64(4*l); read {
				w.ldsLoadLane(step, l, at, 4, &data)
				w.setLane(f, d, l, &data)
			} else {
				w.laneData(f, d, l, &data)
				w.ldsStoreLane(step, l, at, 4, &data)
			}
		}
	}, nil
}
