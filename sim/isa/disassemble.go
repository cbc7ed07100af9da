package isa

// Disassemble decodes code from its start, which lies at addr, and calls visit
// for each instruction. Where bytes are no instruction, visit gets the error
// and an Inst with only Addr and Size set, and decoding goes on after those
// four bytes (or the fewer that are left). It stops when visit returns false.
func Disassemble(t Target, code []byte, addr uint64, visit func(Inst, error) bool) {
	for len(code) > 0 {
		in, err := Decode(t, code, addr)
		if err != nil {
			in = Inst{Addr: addr, Size: uint8(min(4, len(code)))}
		}
		if !visit(in, err) {
			return
		}
		code = code[in.Size:]
		addr += uint64(in.Size)
	}
}
