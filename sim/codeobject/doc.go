// Package codeobject reads AMDGPU code objects (ELF64, code object versions 3
// to 6), bare or in a clang offload bundle: their loadable segments, kernels,
// argument metadata and kernel descriptors. It trusts nothing in the file.
package codeobject

// File is one code object.
type File struct {
	Target     string // "gfx942"
	Features   string // e.g. ":sramecc+:xnack-" as far as e_flags tell; "" when unspecified
	ABIVersion int    // code object version 3..6
	Segments   []Segment
	Kernels    []Kernel // in the order of the metadata

	Relocations []Relocation // to be applied by whoever loads the segments
}

// Relocation is an R_AMDGPU_RELATIVE64: the 8 bytes at Addr hold the load bias
// (load address minus Addr's own space) plus Addend.
type Relocation struct {
	Addr   uint64
	Addend uint64
}

// Segment is a loadable range of the file's own address space.
type Segment struct {
	Addr       uint64
	Data       []byte
	MemSize    uint64 // >= len(Data); the rest is zero
	Executable bool
	Writable   bool
}

// Kernel is one entry point with everything needed to launch it.
type Kernel struct {
	Name          string
	Entry         uint64 // address of its first instruction
	CodeSize      uint64 // of its symbol; 0 when unknown
	Args          []Arg
	KernargSize   uint32
	LDS           uint32 // static bytes
	Scratch       uint32 // bytes per lane
	VGPRs, AGPRs  int
	SGPRs         int
	WavefrontSize int
	MaxWorkgroup  int // flat workgroup size limit
	UniformGroups bool
	DynamicStack  bool
	Descriptor    Descriptor
}

// Arg is one kernel argument.
type Arg struct {
	Name      string // "" when the metadata has none
	Offset    uint32
	Size      uint32
	ValueKind string // "global_buffer", "by_value", "hidden_block_count_x", ...
	TypeName  string
}

// Hidden reports whether the runtime, not the caller, provides the argument.
func (a Arg) Hidden() bool { return len(a.ValueKind) >= 7 && a.ValueKind[:7] == "hidden_" }

// Descriptor is the 64-byte kernel descriptor (llvm AMDGPUUsage, "Kernel Descriptor").
type Descriptor struct {
	GroupSegmentSize    uint32
	PrivateSegmentSize  uint32
	KernargSize         uint32
	EntryOffset         int64
	Rsrc1, Rsrc2, Rsrc3 uint32
	Properties          uint16
	KernargPreload      uint16
}
