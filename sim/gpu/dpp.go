package gpu

import "mqaproof/sim/isa"

// dppControl is how a data-parallel primitive moves source 0 between lanes.
type dppControl struct {
	from    [Lanes]uint8 // lane to read
	valid   uint64       // lanes whose source lane exists
	written uint64       // lanes that row_mask and bank_mask let through
	zero    bool         // bound_ctrl: lanes without a source read 0; else they are not written
	sources [Lanes]uint64
}

// dppOf resolves the DPP fields (CDNA3 ISA, "Data Parallel Primitives").
func dppOf(in *isa.Inst) (*dppControl, error) {
	d := &dppControl{zero: in.DPP.BoundCtrl}
	ctrl := in.DPP.Ctrl
	n := int(ctrl & 15)
	for i := range Lanes {
		row, at := i&^15, i&15
		from := -1
		switch {
		case ctrl <= 0xff: // quad_perm
			from = i&^3 | int(ctrl>>(2*(i&3))&3)
		case ctrl > 0x100 && ctrl <= 0x10f: // row_shl: towards lane 0
			if at+n < 16 {
				from = i + n
			}
		case ctrl > 0x110 && ctrl <= 0x11f: // row_shr
			if at >= n {
				from = i - n
			}
		case ctrl > 0x120 && ctrl <= 0x12f: // row_ror
			from = row | (at-n)&15
		case ctrl == 0x130: // wave_shl:1
			if i < 63 {
				from = i + 1
			}
		case ctrl == 0x134: // wave_rol:1
			from = (i + 1) & 63
		case ctrl == 0x138: // wave_shr:1
			from = i - 1
		case ctrl == 0x13c: // wave_ror:1
			from = (i - 1) & 63
		case ctrl == 0x140: // row_mirror
			from = row | 15 - at
		case ctrl == 0x141: // row_half_mirror
			from = i&^7 | 7 - i&7
		case ctrl == 0x142: // row_bcast:15, lane 15 of each row to the next row
			from = row - 1
		case ctrl == 0x143: // row_bcast:31, lane 31 to rows 2 and 3
			if i >= 32 {
				from = 31
			}
		case ctrl >= 0x150 && ctrl <= 0x15f: // row_newbcast
			from = row | n
		default:
			return nil, unsupported("DPP control %#x", ctrl)
		}
		if from >= 0 {
			d.from[i] = uint8(from)
			d.valid |= 1 << i
			d.sources[i] = 1 << from
		}
		if in.DPP.RowMask>>(i>>4)&1 != 0 && in.DPP.BankMask>>(i>>2&3)&1 != 0 {
			d.written |= 1 << i
		}
	}
	return d, nil
}

// usable is the lanes whose source lane exists and is on in exec.
func (d *dppControl) usable(exec uint64) uint64 {
	if exec == allLanes {
		return d.valid
	}
	var m uint64
	for i, s := range d.sources {
		if exec&s != 0 {
			m |= 1 << i
		}
	}
	return m
}

// writes is the lanes that an instruction under this control writes.
func (d *dppControl) writes(exec uint64) uint64 {
	m := exec & d.written
	if !d.zero {
		m &= d.usable(exec)
	}
	return m
}

// move puts the moved source into dst, which is not src; lanes without a
// source get 0.
func (d *dppControl) move(dst, src *vreg, exec uint64) {
	m := d.usable(exec)
	for i := range dst {
		dst[i] = src[d.from[i]&63] & -uint32(m>>uint(i)&1)
	}
}
