package gpu

import (
	"strings"

	"mqaproof/sim/isa"
)

// compileMemory turns a memory instruction into a step. Memory instructions do
// all their work at once, in order, so that waiting for them is nothing.
func compileMemory(in *isa.Inst, p *Program) (execFn, error) {
	step, ok := p.stepAt(in.Addr)
	if !ok {
		return nil, unsupported("instruction outside the program")
	}
	switch in.Enc {
	case isa.SMEM:
		return compileScalarMemory(in, step)
	case isa.DS:
		return compileDS(in, step)
	case isa.FLAT, isa.GLOBAL, isa.SCRATCH:
		return compileFlat(in, step)
	case isa.MUBUF:
		return compileBuffer(in, step)
	}
	return nil, notImplemented()
}

func notImplemented() error {
	return &refusal{TrapUnknownOpcode, "this emulator does not implement it"}
}

// format is how a load or store moves its data.
type format struct {
	size   int  // bytes in memory
	signed bool // sign-extended to 32 bits
	d16    bool // to or from half of a register
	high   bool // the high half
}

// memoryFormats are named by what follows "load_" or "store_" in an opcode's name.
var memoryFormats = map[string]format{
	"ubyte":        {size: 1},
	"sbyte":        {size: 1, signed: true},
	"ushort":       {size: 2},
	"sshort":       {size: 2, signed: true},
	"ubyte_d16":    {size: 1, d16: true},
	"ubyte_d16_hi": {size: 1, d16: true, high: true},
	"sbyte_d16":    {size: 1, d16: true, signed: true},
	"sbyte_d16_hi": {size: 1, d16: true, signed: true, high: true},
	"short_d16":    {size: 2, d16: true},
	"short_d16_hi": {size: 2, d16: true, high: true},
	"byte":         {size: 1},
	"byte_d16_hi":  {size: 1, high: true},
	"short":        {size: 2},
	"dword":        {size: 4},
	"dwordx2":      {size: 8},
	"dwordx3":      {size: 12},
	"dwordx4":      {size: 16},
}

// dsFormats are named by what follows "ds_read_" or "ds_write_".
var dsFormats = map[string]format{
	"u8":         {size: 1},
	"i8":         {size: 1, signed: true},
	"u16":        {size: 2},
	"i16":        {size: 2, signed: true},
	"u8_d16":     {size: 1, d16: true},
	"u8_d16_hi":  {size: 1, d16: true, high: true},
	"i8_d16":     {size: 1, d16: true, signed: true},
	"i8_d16_hi":  {size: 1, d16: true, signed: true, high: true},
	"u16_d16":    {size: 2, d16: true},
	"u16_d16_hi": {size: 2, d16: true, high: true},
	"b8":         {size: 1},
	"b8_d16_hi":  {size: 1, high: true},
	"b16":        {size: 2},
	"b16_d16_hi": {size: 2, high: true},
	"b32":        {size: 4},
	"b64":        {size: 8},
	"b96":        {size: 12},
	"b128":       {size: 16},
}

func (f format) dwords() int { return (f.size + 3) / 4 }

// extend makes a register's value of what memory holds; old is the register
// before. The half that a d16 load does not address keeps its value, as the
// ISA document says.
func (f format) extend(v, old uint32) uint32 {
	if f.signed {
		if f.size == 1 {
			v = uint32(int32(int8(v)))
		} else {
			v = uint32(int32(int16(v)))
		}
	}
	switch {
	case f.d16 && f.high:
		return old&0xffff | v<<16
	case f.d16:
		return old&0xffff0000 | v&0xffff
	}
	return v
}

// suffix is what follows sep in the name of an opcode.
func suffix(op isa.Op, sep string) (string, bool) {
	_, s, ok := strings.Cut(op.String(), sep)
	return s, ok
}

// dataReg is the first of the registers that hold an instruction's data.
func dataReg(o isa.Operand) (int, error) { return vectorReg(o) }
