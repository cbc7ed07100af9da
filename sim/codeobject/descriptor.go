package codeobject

import (
	"encoding/binary"
	"fmt"
)

const descriptorSize = 64

// readDescriptor reads the kernel descriptor at the symbol called name and
// checks it against the metadata.
func (f *File) readDescriptor(k *Kernel, name string, symbols map[string]symbol) error {
	s, ok := symbols[name]
	if !ok {
		return fmt.Errorf("kernel %s has no descriptor: symbol %s is missing", k.Name, name)
	}
	b, err := f.bytes(s.addr, descriptorSize)
	if err != nil {
		return fmt.Errorf("descriptor of kernel %s: %w", k.Name, err)
	}
	le := binary.LittleEndian
	d := Descriptor{
		GroupSegmentSize:   le.Uint32(b),
		PrivateSegmentSize: le.Uint32(b[4:]),
		KernargSize:        le.Uint32(b[8:]),
		EntryOffset:        int64(le.Uint64(b[16:])),
		Rsrc3:              le.Uint32(b[44:]),
		Rsrc1:              le.Uint32(b[48:]),
		Rsrc2:              le.Uint32(b[52:]),
		Properties:         le.Uint16(b[56:]),
		KernargPreload:     le.Uint16(b[58:]),
	}
	// Older compilers leave the descriptor's kernarg size 0.
	if d.KernargSize != 0 && d.KernargSize != k.KernargSize {
		return mismatch(k.Name, "bytes of arguments", d.KernargSize, k.KernargSize)
	}
	if d.GroupSegmentSize != k.LDS {
		return mismatch(k.Name, "bytes of LDS", d.GroupSegmentSize, k.LDS)
	}
	if d.PrivateSegmentSize != k.Scratch {
		return mismatch(k.Name, "bytes of scratch", d.PrivateSegmentSize, k.Scratch)
	}
	k.Descriptor = d
	k.Entry = s.addr + uint64(d.EntryOffset)
	if k.Entry%4 != 0 || !f.executable(k.Entry) {
		return fmt.Errorf("descriptor of kernel %s is damaged: its entry %#x lies outside the code", k.Name, k.Entry)
	}
	if c, ok := symbols[k.Name]; ok && c.addr == k.Entry {
		k.CodeSize = c.size
	}
	return nil
}

func mismatch(kernel, what string, descriptor, metadata uint32) error {
	return fmt.Errorf("kernel %s: its descriptor says %d %s, its metadata %d", kernel, descriptor, what, metadata)
}

// executable reports whether an instruction can lie at addr.
func (f *File) executable(addr uint64) bool {
	for _, s := range f.Segments {
		if s.Executable && addr >= s.Addr && addr-s.Addr < uint64(len(s.Data)) && uint64(len(s.Data))-(addr-s.Addr) >= 4 {
			return true
		}
	}
	return false
}
