package isa

import (
	"fmt"
	"strconv"
	"strings"
)

// waitcnt writes the counters of s_waitcnt that wait for something; all of
// them when none does.
func (t *text) waitcnt(imm uint16) {
	vm, exp, lgkm := imm&0xf|imm>>14<<4, imm>>4&7, imm>>8&0xf
	all := vm == 63 && exp == 7 && lgkm == 15
	for _, c := range [3]struct {
		name   string
		v, max uint16
	}{{"vmcnt", vm, 63}, {"expcnt", exp, 7}, {"lgkmcnt", lgkm, 15}} {
		if all || c.v != c.max {
			t.b = fmt.Appendf(t.b, " %s(%d)", c.name, c.v)
		}
	}
}

var hwregNames = map[uint16]string{
	1: "HW_REG_MODE", 2: "HW_REG_STATUS", 3: "HW_REG_TRAPSTS", 4: "HW_REG_HW_ID", 5: "HW_REG_GPR_ALLOC",
	6: "HW_REG_LDS_ALLOC", 7: "HW_REG_IB_STS", 15: "HW_REG_SH_MEM_BASES", 16: "HW_REG_TBA_LO", 17: "HW_REG_TBA_HI",
	18: "HW_REG_TMA_LO", 19: "HW_REG_TMA_HI", 20: "HW_REG_XCC_ID", 21: "HW_REG_SQ_PERF_SNAPSHOT_DATA",
	22: "HW_REG_SQ_PERF_SNAPSHOT_DATA1", 23: "HW_REG_SQ_PERF_SNAPSHOT_PC_LO", 24: "HW_REG_SQ_PERF_SNAPSHOT_PC_HI",
}

// hwreg writes a hardware register with its bit range.
func (t *text) hwreg(imm uint16) {
	id, offset, size := imm&0x3f, imm>>6&0x1f, imm>>11+1
	name, ok := hwregNames[id]
	if !ok {
		name = strconv.Itoa(int(id))
	}
	if offset == 0 && size == 32 {
		t.b = fmt.Appendf(t.b, "hwreg(%s)", name)
		return
	}
	t.b = fmt.Appendf(t.b, "hwreg(%s, %d, %d)", name, offset, size)
}

var (
	messageNames = map[uint16]string{
		1: "MSG_INTERRUPT", 2: "MSG_GS", 3: "MSG_GS_DONE", 4: "MSG_SAVEWAVE", 5: "MSG_STALL_WAVE_GEN",
		6: "MSG_HALT_WAVES", 7: "MSG_ORDERED_PS_DONE", 8: "MSG_EARLY_PRIM_DEALLOC", 9: "MSG_GS_ALLOC_REQ",
		10: "MSG_GET_DOORBELL", 15: "MSG_SYSMSG",
	}
	gsOps  = [4]string{"GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"}
	sysOps = map[uint16]string{1: "SYSMSG_OP_ECC_ERR_INTERRUPT", 2: "SYSMSG_OP_REG_RD", 4: "SYSMSG_OP_TTRACE_PC"}
)

// sendmsg writes a message by name where all of its fields have one.
func (t *text) sendmsg(imm uint16) {
	id, op, stream := imm&0xf, imm>>4&7, imm>>8&3
	name, ok := messageNames[id]
	switch {
	case !ok:
	case id == 2 || id == 3: // geometry shader messages carry an operation and a stream
		if op > 3 || op == 0 && (id == 2 || stream != 0) {
			break
		}
		if op == 0 {
			t.b = fmt.Appendf(t.b, "sendmsg(%s, %s)", name, gsOps[op])
		} else {
			t.b = fmt.Appendf(t.b, "sendmsg(%s, %s, %d)", name, gsOps[op], stream)
		}
		return
	case id == 15:
		if sys := sysOps[op]; sys != "" && stream == 0 {
			t.b = fmt.Appendf(t.b, "sendmsg(%s, %s)", name, sys)
			return
		}
	case op == 0 && stream == 0:
		t.b = fmt.Appendf(t.b, "sendmsg(%s)", name)
		return
	}
	if imm != id|op<<4|stream<<8 {
		t.str(strconv.Itoa(int(imm)))
		return
	}
	t.b = fmt.Appendf(t.b, "sendmsg(%d, %d, %d)", id, op, stream)
}

// gprIndex writes the operands that relative addressing applies to.
func (t *text) gprIndex(imm uint16) {
	if imm > 15 {
		t.hex(uint64(imm))
		return
	}
	var names []string
	for i, n := range [4]string{"SRC0", "SRC1", "SRC2", "DST"} {
		if imm>>i&1 != 0 {
			names = append(names, n)
		}
	}
	t.b = fmt.Appendf(t.b, "gpr_idx(%s)", strings.Join(names, ","))
}

// swizzle writes the pattern of ds_swizzle_b32.
func (t *text) swizzle(imm uint16) {
	if imm == 0 {
		return
	}
	t.str(" offset:")
	switch {
	case imm >= 0xe000:
		t.b = fmt.Appendf(t.b, "swizzle(FFT,%d)", imm&0x1f)
		return
	case imm >= 0xc000:
		t.b = fmt.Appendf(t.b, "swizzle(ROTATE,%d,%d)", imm>>10&1, imm>>5&0x1f)
		return
	case imm&0xff00 == 0x8000:
		t.b = fmt.Appendf(t.b, "swizzle(QUAD_PERM,%d,%d,%d,%d)", imm&3, imm>>2&3, imm>>4&3, imm>>6&3)
		return
	case imm&0x8000 == 0:
		t.bitmaskSwizzle(imm&0x1f, imm>>5&0x1f, imm>>10&0x1f)
		return
	}
	t.b = strconv.AppendUint(t.b, uint64(imm), 10)
}

// bitmaskSwizzle names the common cases of lane' = (lane & and | or) ^ xor.
func (t *text) bitmaskSwizzle(and, or, xor uint16) {
	single := func(v uint16) bool { return v != 0 && v&(v-1) == 0 }
	switch {
	case and == 0x1f && or == 0 && single(xor):
		t.b = fmt.Appendf(t.b, "swizzle(SWAP,%d)", xor)
		return
	case and == 0x1f && or == 0 && xor > 0 && single(xor+1):
		t.b = fmt.Appendf(t.b, "swizzle(REVERSE,%d)", xor+1)
		return
	}
	// and = -group: all lanes of a group read the one that or names.
	if group := (^and&0x1f + 1); group > 1 && single(group) && or < group && xor == 0 {
		t.b = fmt.Appendf(t.b, "swizzle(BROADCAST,%d,%d)", group, or)
		return
	}
	t.str(`swizzle(BITMASK_PERM,"`)
	for i := 4; i >= 0; i-- {
		p0 := (0&and>>i | or>>i) ^ xor>>i
		p1 := (1&(and>>i) | or>>i) ^ xor>>i
		switch p0, p1 := p0&1, p1&1; {
		case p0 == 0 && p1 == 0:
			t.str("0")
		case p0 == 1 && p1 == 1:
			t.str("1")
		case p0 == 0:
			t.str("p")
		default:
			t.str("i")
		}
	}
	t.str(`")`)
}

var dataFormats = [16]string{
	"INVALID", "8", "16", "8_8", "32", "16_16", "10_11_11", "11_11_10", "10_10_10_2", "2_10_10_10", "8_8_8_8",
	"32_32", "16_16_16_16", "32_32_32", "32_32_32_32", "RESERVED_15",
}

var numberFormats = [8]string{"UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "RESERVED_6", "FLOAT"}

// bufferFormat writes the data and number format of MTBUF where they differ
// from 8-bit UNORM.
func (t *text) bufferFormat() {
	d, n := t.in.Format&0xf, t.in.Format>>4&7
	var parts []string
	if d != 1 {
		parts = append(parts, "BUF_DATA_FORMAT_"+dataFormats[d])
	}
	if n != 0 {
		parts = append(parts, "BUF_NUM_FORMAT_"+numberFormats[n])
	}
	if len(parts) > 0 {
		t.b = fmt.Appendf(t.b, " format:[%s]", strings.Join(parts, ","))
	}
}
