package codeobject

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// Numbers of the AMDGPU ABI that debug/elf does not name.
const (
	emAMDGPU         = 224
	osABIAMDGPUHSA   = 64
	noteMetadata     = 32 // NT_AMDGPU_METADATA, msgpack
	noteMetadataV2   = 10 // NT_AMD_HSA_METADATA, YAML text
	relocNone        = 0
	relocRelative64  = 13
	maxSegmentMemory = 256 << 20
)

// readELF reads one code object. Nothing in data is trusted: every range is
// checked against the file before it is used.
func readELF(data []byte) (*File, error) {
	if !bytes.HasPrefix(data, []byte(elf.ELFMAG)) {
		return nil, notELF(data)
	}
	if len(data) < 64 {
		return nil, fmt.Errorf("code object is truncated: %d bytes are less than an ELF header", len(data))
	}
	if data[elf.EI_CLASS] != byte(elf.ELFCLASS64) || data[elf.EI_DATA] != byte(elf.ELFDATA2LSB) {
		return nil, errors.New("not an AMDGPU code object: it is not a little-endian ELF64 file")
	}
	le := binary.LittleEndian
	if m := le.Uint16(data[18:]); m != emAMDGPU {
		return nil, fmt.Errorf("not an AMDGPU code object: ELF machine is %s, expected EM_AMDGPU (compile with --offload-device-only)", elf.Machine(m))
	}
	f := &File{}
	flags := le.Uint32(data[48:])
	if err := f.identify(data, flags); err != nil {
		return nil, err
	}
	if t := elf.Type(le.Uint16(data[16:])); t != elf.ET_DYN && t != elf.ET_EXEC {
		return nil, fmt.Errorf("code object is %s, expected a linked one (ET_DYN): link it with ld.lld -shared", t)
	}
	e, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("code object is truncated or damaged: %w", err)
	}
	defer e.Close()
	for _, s := range e.Sections {
		// A compressed section that the loader maps does not exist; refusing it
		// keeps a small file from unpacking to a huge one.
		if s.Flags&elf.SHF_COMPRESSED != 0 && s.Flags&elf.SHF_ALLOC != 0 {
			return nil, fmt.Errorf("code object is damaged: loaded section %q is compressed", s.Name)
		}
	}
	if err := f.readSegments(e, data); err != nil {
		return nil, err
	}
	if err := f.readRelocations(e, data); err != nil {
		return nil, err
	}
	meta, err := readNotes(e, data)
	if err != nil {
		return nil, err
	}
	symbols, err := dynamicSymbols(e)
	if err != nil {
		return nil, err
	}
	if err := f.readMetadata(meta, symbols); err != nil {
		return nil, err
	}
	return f, nil
}

// identify sets target, features and version from the ELF header.
func (f *File) identify(data []byte, flags uint32) error {
	name, ok := machNames[flags&0xff]
	if !ok {
		return fmt.Errorf("code object is for an unknown target (e_flags %#x): supported are %s", flags, strings.Join(supportedTargets, " and "))
	}
	if !supported(name) {
		return fmt.Errorf("code object is for %s, which is not supported: %s are", name, strings.Join(supportedTargets, " and "))
	}
	if abi := data[elf.EI_OSABI]; abi != osABIAMDGPUHSA {
		return fmt.Errorf("code object has OS ABI %d, expected %d (AMDGPU HSA): compile for amdgcn-amd-amdhsa", abi, osABIAMDGPUHSA)
	}
	// ELFABIVERSION_AMDGPU_HSA_V3 is 1, V4 2, V5 3, V6 4.
	version := int(data[elf.EI_ABIVERSION]) + 2
	if version < 3 || version > 6 {
		return fmt.Errorf("code object version %d is not supported: 3 to 6 are", version)
	}
	f.Target, f.ABIVersion, f.Features = name, version, features(flags, version)
	return nil
}

// readSegments takes the loadable segments, in address order and disjoint.
func (f *File) readSegments(e *elf.File, data []byte) error {
	var end, total uint64
	for i, p := range e.Progs {
		if p.Type != elf.PT_LOAD || p.Memsz == 0 {
			continue
		}
		raw, err := slice(data, p.Off, p.Filesz)
		if err != nil {
			return fmt.Errorf("code object is truncated: segment %d: %w", i, err)
		}
		if p.Filesz > p.Memsz || p.Vaddr < end || p.Memsz > maxSegmentMemory || p.Vaddr > 1<<40 {
			return fmt.Errorf("code object is damaged: segment %d at %#x has %d bytes in the file and %d in memory", i, p.Vaddr, p.Filesz, p.Memsz)
		}
		end = p.Vaddr + p.Memsz
		if total += p.Memsz; total > maxSegmentMemory {
			return fmt.Errorf("code object needs more than %d bytes of memory for its segments", maxSegmentMemory)
		}
		f.Segments = append(f.Segments, Segment{
			Addr: p.Vaddr, Data: raw, MemSize: p.Memsz,
			Executable: p.Flags&elf.PF_X != 0, Writable: p.Flags&elf.PF_W != 0,
		})
	}
	for _, s := range f.Segments {
		if s.Executable {
			return nil
		}
	}
	return errors.New("code object has no executable segment")
}

// readRelocations takes the dynamic relocations. Only R_AMDGPU_RELATIVE64 can
// be applied without a dynamic linker.
func (f *File) readRelocations(e *elf.File, data []byte) error {
	for _, s := range e.Sections {
		if s.Flags&elf.SHF_ALLOC == 0 || s.Type != elf.SHT_RELA && s.Type != elf.SHT_REL {
			continue
		}
		if s.Type == elf.SHT_REL {
			return fmt.Errorf("code object has relocations without addends (%q), which are not supported", s.Name)
		}
		b, err := slice(data, s.Offset, s.FileSize)
		if err != nil || len(b)%24 != 0 {
			return fmt.Errorf("code object is damaged: relocation section %q has %d bytes at %d", s.Name, s.FileSize, s.Offset)
		}
		for ; len(b) > 0; b = b[24:] {
			r := Relocation{Addr: binary.LittleEndian.Uint64(b), Addend: binary.LittleEndian.Uint64(b[16:])}
			switch kind := binary.LittleEndian.Uint32(b[8:]); kind {
			case relocNone:
				continue
			case relocRelative64:
			default:
				return fmt.Errorf("code object needs a dynamic relocation of type %d at %#x: only R_AMDGPU_RELATIVE64 is supported; link it without undefined symbols", kind, r.Addr)
			}
			if _, err := f.bytes(r.Addr, 8); err != nil {
				return fmt.Errorf("code object is damaged: relocation of %#x: %w", r.Addr, err)
			}
			f.Relocations = append(f.Relocations, r)
		}
	}
	return nil
}

// readNotes is the descriptor of the metadata note.
func readNotes(e *elf.File, data []byte) ([]byte, error) {
	type noteRange struct{ off, size uint64 }
	var ranges []noteRange
	for _, p := range e.Progs {
		if p.Type == elf.PT_NOTE {
			ranges = append(ranges, noteRange{p.Off, p.Filesz})
		}
	}
	if len(ranges) == 0 {
		for _, s := range e.Sections {
			if s.Type == elf.SHT_NOTE {
				ranges = append(ranges, noteRange{s.Offset, s.FileSize})
			}
		}
	}
	for _, r := range ranges {
		b, err := slice(data, r.off, r.size)
		if err != nil {
			return nil, fmt.Errorf("code object is truncated: notes: %w", err)
		}
		for len(b) >= 12 {
			nameSize := uint64(binary.LittleEndian.Uint32(b))
			descSize := uint64(binary.LittleEndian.Uint32(b[4:]))
			kind := binary.LittleEndian.Uint32(b[8:])
			descAt := 12 + align4(nameSize)
			next := descAt + align4(descSize)
			if descAt+descSize > uint64(len(b)) {
				return nil, fmt.Errorf("code object is damaged: a note claims %d and %d bytes of %d", nameSize, descSize, len(b))
			}
			name := strings.TrimRight(string(b[12:12+nameSize]), "\x00")
			desc := b[descAt : descAt+descSize]
			switch {
			case name == "AMDGPU" && kind == noteMetadata:
				return desc, nil
			case name == "AMD" && kind == noteMetadataV2:
				return nil, errors.New("code object has version 2 metadata (YAML), which is not supported: recompile with -mcode-object-version=5")
			}
			b = b[min(next, uint64(len(b))):]
		}
	}
	return nil, errors.New("code object has no kernel metadata (NT_AMDGPU_METADATA note)")
}

func align4(n uint64) uint64 { return (n + 3) &^ 3 }

// symbol is what is needed of a dynamic symbol.
type symbol struct{ addr, size uint64 }

func dynamicSymbols(e *elf.File) (map[string]symbol, error) {
	list, err := e.DynamicSymbols()
	if err != nil {
		return nil, fmt.Errorf("code object has no readable dynamic symbols: %w", err)
	}
	m := make(map[string]symbol, len(list))
	for _, s := range list {
		if s.Section != elf.SHN_UNDEF {
			m[s.Name] = symbol{s.Value, s.Size}
		}
	}
	return m, nil
}

// bytes is the part [addr, addr+n) of the file's address space, which must lie
// in the bytes of one segment.
func (f *File) bytes(addr, n uint64) ([]byte, error) {
	for _, s := range f.Segments {
		if addr >= s.Addr && addr-s.Addr <= uint64(len(s.Data)) && n <= uint64(len(s.Data))-(addr-s.Addr) {
			return s.Data[addr-s.Addr:][:n], nil
		}
	}
	return nil, fmt.Errorf("no segment holds the %d bytes at %#x", n, addr)
}

func slice(data []byte, off, n uint64) ([]byte, error) {
	if off > uint64(len(data)) || n > uint64(len(data))-off {
		end := off + n
		if end < off {
			end = math.MaxUint64
		}
		return nil, fmt.Errorf("bytes %d to %d of %d", off, end, len(data))
	}
	return data[off:][:n:n], nil
}
