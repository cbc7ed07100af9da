package isa

// ds decodes LDS instructions.
func (d *decoder) ds(w, w1 uint32) bool {
	if !d.find(dsTable[:], DS, field(w, 24, 17)) {
		return false
	}
	in, sh := &d.in, d.sh
	acc := bit(w, 25)
	in.GDS = bit(w, 16)
	if isGWS(in.Op) != in.GDS {
		return d.fail("gds must be set for global wave sync and for nothing else: CDNA has no global data share")
	}
	if in.GDS && acc {
		return d.fail("%s has no data in accumulation VGPRs", in.Op)
	}
	if in.Op == DS_NOP && (field(w, 15, 0) != 0 || w1 != 0 || acc) {
		return d.fail("%s has no operands", in.Op)
	}
	in.Offset = int32(field(w, 15, 0))
	in.Offset0, in.Offset1 = uint8(w), uint8(w>>8)
	d.dataDst(field(w1, 31, 24), acc)
	if sh.a.in != inNone {
		in.Src[0] = d.vgpr(field(w1, 7, 0), sh.a.dwords, false)
	}
	if sh.b.in != inNone {
		in.Src[1] = d.data(field(w1, 15, 8), sh.b, acc)
	}
	if sh.c.in != inNone {
		in.Src[2] = d.data(field(w1, 23, 16), sh.c, acc)
	}
	return d.reason == ""
}

// isGWS reports whether the opcode addresses the global wave sync unit.
func isGWS(op Op) bool {
	switch op {
	case DS_GWS_INIT, DS_GWS_SEMA_V, DS_GWS_SEMA_BR, DS_GWS_SEMA_P, DS_GWS_SEMA_RELEASE_ALL, DS_GWS_BARRIER:
		return true
	}
	return false
}

// data reads a register of memory data, which the acc bit moves to the
// accumulation VGPRs.
func (d *decoder) data(v uint32, s slot, acc bool) Operand {
	return d.vgpr(v, s.dwords, acc && s.in == inVGPROrAcc)
}

func (d *decoder) dataDst(v uint32, acc bool) {
	if d.sh.dst.in != inNone {
		d.in.Dst = d.data(v, d.sh.dst, acc)
	}
}

// offSAddr is the scalar address field that means none.
const offSAddr = 0x7f

// flat decodes FLAT, GLOBAL and SCRATCH.
func (d *decoder) flat(w, w1 uint32) bool {
	opcode := field(w, 24, 18)
	found := false
	switch seg := field(w, 15, 14); seg {
	case 0:
		found = d.find(flatTable[:], FLAT, opcode)
	case 1:
		found = d.find(scratchTable[:], SCRATCH, opcode)
	case 2:
		found = d.find(globalTable[:], GLOBAL, opcode)
	default:
		return d.fail("FLAT segment %d is reserved", seg)
	}
	if !found {
		return false
	}
	in, sh := &d.in, d.sh
	acc := bit(w1, 23)
	in.SC0, in.NT, in.SC1 = bit(w, 16), bit(w, 17), bit(w, 25)
	saddr := field(w1, 22, 16)
	addr := slot{inVGPR, 2, numBits}
	var scalar Operand
	switch in.Enc {
	case FLAT:
		in.Offset = int32(field(w, 11, 0)) // unsigned: a flat address does not go down
		if bit(w, 12) || bit(w, 13) || saddr != 0 {
			return d.fail("FLAT has no negative offset, scratch address or scalar address")
		}
	case GLOBAL:
		in.Offset = int32(w<<19) >> 19 // 13 bits, signed
		if saddr != offSAddr {
			if scalar = d.sgpr(saddr, 2); scalar.Reg == regEXEC {
				d.fail("EXEC is not an address")
			}
			addr.dwords = 1
		}
	case SCRATCH:
		in.Offset = int32(w<<19) >> 19
		addr.dwords = 1
		if !bit(w, 13) { // SVE: the vector address is used
			addr.in = inNone
		}
		if saddr != offSAddr {
			scalar = d.sgpr(saddr, 1)
		}
	}
	if traits[in.Op]&traitLDS != 0 {
		in.LDS = true
		if acc {
			return d.fail("%s has no data in accumulation VGPRs", in.Op)
		}
	} else if !isAtomic(in.Op) || in.SC0 {
		d.dataDst(field(w1, 31, 24), acc)
	}
	n := 0
	src := func(o Operand) { in.Src[n] = o; n++ }
	if addr.in != inNone {
		src(d.vgpr(field(w1, 7, 0), addr.dwords, false))
	} else {
		src(Operand{})
	}
	if sh.b.in != inNone {
		src(d.data(field(w1, 15, 8), sh.b, acc))
	}
	if in.Enc != FLAT {
		src(scalar)
	}
	return d.reason == ""
}

// mubuf decodes untyped buffer instructions.
func (d *decoder) mubuf(w, w1 uint32) bool {
	if !d.find(mubufTable[:], MUBUF, field(w, 24, 18)) {
		return false
	}
	in := &d.in
	in.SC0, in.SC1, in.NT, in.LDS = bit(w, 14), bit(w, 15), bit(w, 17), bit(w, 16)
	return d.buffer(w, w1)
}

// mtbuf decodes typed buffer instructions.
func (d *decoder) mtbuf(w, w1 uint32) bool {
	if !d.find(mtbufTable[:], MTBUF, field(w, 18, 15)) {
		return false
	}
	in := &d.in
	in.SC0, in.SC1, in.NT = bit(w, 14), bit(w1, 21), bit(w1, 22)
	in.Format = uint8(field(w, 25, 19))
	return d.buffer(w, w1)
}

// buffer reads what MUBUF and MTBUF share.
func (d *decoder) buffer(w, w1 uint32) bool {
	in, sh := &d.in, d.sh
	if sh.b.in == inNone { // buffer_wbl2, buffer_inv: cache scope only
		if w1 != 0 || in.LDS {
			return d.fail("%s has no operands", in.Op)
		}
		in.NT = false
		return true
	}
	in.Offset = int32(field(w, 11, 0))
	in.OffEn, in.IdxEn = bit(w, 12), bit(w, 13)
	n := 0
	src := func(o Operand) { in.Src[n] = o; n++ }
	if in.LDS {
		if !d.toLDS() || bit(w1, 23) {
			return d.fail("%s cannot load to LDS on %s", in.Op, d.target)
		}
	} else {
		data := d.data(field(w1, 15, 8), sh.dst, bit(w1, 23))
		store, atomic := isStore(in.Op), isAtomic(in.Op)
		if store || atomic {
			src(data)
		}
		if !store && (!atomic || in.SC0) {
			in.Dst = data
		}
	}
	switch {
	case in.OffEn && in.IdxEn:
		src(d.vgpr(field(w1, 7, 0), 2, false))
	case in.OffEn || in.IdxEn:
		src(d.vgpr(field(w1, 7, 0), 1, false))
	default:
		src(Operand{})
	}
	src(d.sgpr(4*field(w1, 20, 16), 4))
	src(d.source(field(w1, 31, 24), sh.c, 0))
	return d.reason == ""
}

// toLDS reports whether a buffer load can go to LDS instead of registers.
func (d *decoder) toLDS() bool {
	switch d.in.Op {
	case BUFFER_LOAD_UBYTE, BUFFER_LOAD_SBYTE, BUFFER_LOAD_USHORT, BUFFER_LOAD_SSHORT, BUFFER_LOAD_DWORD, BUFFER_LOAD_FORMAT_X:
		return true
	case BUFFER_LOAD_DWORDX3, BUFFER_LOAD_DWORDX4:
		return d.target == GFX950
	}
	return false
}
