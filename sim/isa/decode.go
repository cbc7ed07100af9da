package isa

import (
	"encoding/binary"
	"fmt"
)

// Decode reads the instruction at the start of code, which lies at addr. The
// error is a *DecodeError: bytes that are no instruction of the target, an
// instruction that ends beyond code, or a field that the target does not
// define. Code may be of any length and hold any bytes.
//
// Sources stand in the order of the assembler's text; an operand that the
// text gives as "off" has Kind None and keeps its place:
//
//	load           Dst = data; Src = address, scalar address
//	store, atomic  Src = address, data, scalar address (Dst of an atomic that returns)
//	buffer load    Dst = data; Src = address, resource, scalar offset
//	buffer store   Src = data, address, resource, scalar offset (Dst too for an atomic that returns)
//	LDS            Src = address, data 0, data 1
//	s_load         Dst = data; Src = base, scalar offset
//	s_store        Src = data, base, scalar offset
//	s_cmpk, s_setreg  Src[0] = the register
//
// Vector carries and masks that an encoding leaves implicit but the text
// shows (VCC) are set like the others. A load to LDS has no Dst. An
// instruction that reads its own destination (v_fmac_f32, v_mov_b32 with a
// preserving SDWA) does not list it among the sources.
func Decode(t Target, code []byte, addr uint64) (Inst, error) {
	d := decoder{target: t}
	d.in.Addr = addr
	for d.have < len(d.in.Raw) && len(code) >= 4*d.have+4 {
		d.in.Raw[d.have] = binary.LittleEndian.Uint32(code[4*d.have:])
		d.have++
	}
	if d.decode() {
		d.in.Size = uint8(4 * d.size)
		for i := d.size; i < len(d.in.Raw); i++ {
			d.in.Raw[i] = 0
		}
		return d.in, nil
	}
	return Inst{}, &DecodeError{Addr: addr, Words: append([]uint32(nil), d.in.Raw[:d.have]...), Target: t, Reason: d.reason}
}

// decoder is the state of one Decode.
type decoder struct {
	in      Inst
	target  Target
	have    int // dwords present
	size    int // dwords the instruction takes so far
	row     *row
	sh      *shape
	literal bool // an operand took the literal
	reason  string
}

// fail records why the bytes are no instruction; it is false for use in
// return statements.
func (d *decoder) fail(format string, args ...any) bool {
	if d.reason == "" {
		d.reason = fmt.Sprintf(format, args...)
	}
	return false
}

// take makes the instruction n dwords long.
func (d *decoder) take(n int) bool {
	if n > d.have {
		return d.fail("truncated: the instruction takes %d bytes and %d are left", 4*n, 4*d.have)
	}
	d.size = n
	return true
}

// find looks an opcode up.
func (d *decoder) find(table []row, enc Encoding, opcode uint32) bool {
	r := &table[opcode]
	if r.op == InvalidOp {
		return d.fail("unknown opcode: encoding %s opcode %#x", enc, opcode)
	}
	if !r.on.has(d.target) {
		return d.fail("unknown opcode: encoding %s opcode %#x is %s, which %s lacks", enc, opcode, r.op, d.target)
	}
	d.row, d.sh = r, &shapes[r.shape]
	d.in.Op, d.in.Enc = r.op, r.enc
	return true
}

// decode dispatches on the leading bits of the first dword (CDNA4 ISA,
// chapter "Microcode Formats").
func (d *decoder) decode() bool {
	if d.target != GFX942 && d.target != GFX950 {
		return d.fail("%s is not a target", d.target)
	}
	if !d.take(1) {
		return false
	}
	w := d.in.Raw[0]
	switch {
	case w>>31 == 0:
		return d.vector32(w)
	case w>>30 == 0b10:
		return d.scalar(w)
	}
	if !d.take(2) {
		return false
	}
	w1 := d.in.Raw[1]
	switch w >> 26 {
	case 0b110000:
		return d.smem(w, w1)
	case 0b110100:
		if w>>23 == 0b110100111 {
			return d.vop3p(w, w1)
		}
		return d.vop3(w, w1)
	case 0b110110:
		return d.ds(w, w1)
	case 0b110111:
		return d.flat(w, w1)
	case 0b111000:
		return d.mubuf(w, w1)
	case 0b111010:
		return d.mtbuf(w, w1)
	}
	return d.fail("unknown encoding: leading bits %06b", w>>26)
}

// bit is bit i of w.
func bit(w uint32, i uint) bool { return w>>i&1 != 0 }

// field is the bits hi..lo of w.
func field(w uint32, hi, lo uint) uint32 { return w >> lo & (1<<(hi-lo+1) - 1) }
