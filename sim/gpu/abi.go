package gpu

import (
	"encoding/binary"
	"fmt"

	"mqaproof/sim/codeobject"
)

// What a wave finds in its registers and in memory when it starts (llvm
// AMDGPUUsage: "Kernel Descriptor", "Initial Kernel Execution State",
// "Kernel Argument Metadata").

// Bits of the kernel descriptor's properties: which user SGPRs are set up.
const (
	wantPrivateSegmentBuffer = 1 << iota // V# of scratch; unused with architected flat scratch
	wantDispatchPtr
	wantQueuePtr
	wantKernargPtr
	wantDispatchID
	wantFlatScratchInit
	wantPrivateSegmentSize
)

// Apertures: addresses through which FLAT instructions reach LDS and scratch,
// as the Linux driver sets them for this family. The low 32 bits are an offset.
const (
	sharedAperture  = uint64(0x0001_0000_0000_0000)
	privateAperture = uint64(0x0002_0000_0000_0000)
)

func le64(x uint64) []byte { return binary.LittleEndian.AppendUint64(nil, x) }

// explicitSize is how many bytes of arguments the caller has to give.
func explicitSize(k *codeobject.Kernel) uint32 {
	if len(k.Args) == 0 {
		return k.KernargSize
	}
	n := uint32(0)
	for _, a := range k.Args {
		if !a.Hidden() {
			n = max(n, a.Offset+a.Size)
		}
	}
	return n
}

// kernelArguments is the kernarg segment: the caller's bytes, then the hidden
// arguments.
func (l *launch) kernelArguments() ([]byte, error) {
	k := l.prog.kernel
	if n := explicitSize(k); uint32(len(l.Kernarg)) < n {
		return nil, fmt.Errorf("%d bytes of arguments are given, its metadata asks for %d", len(l.Kernarg), n)
	}
	if uint64(len(l.Kernarg)) > uint64(k.KernargSize) {
		return nil, fmt.Errorf("%d bytes of arguments are given, its kernarg segment has %d", len(l.Kernarg), k.KernargSize)
	}
	b := make([]byte, k.KernargSize)
	copy(b, l.Kernarg)
	for _, a := range k.Args {
		if !a.Hidden() {
			continue
		}
		v, err := l.hiddenArgument(a.ValueKind)
		if err != nil {
			return nil, err
		}
		if a.Size > 8 {
			return nil, fmt.Errorf("hidden argument %s has %d bytes", a.ValueKind, a.Size)
		}
		copy(b[a.Offset:a.Offset+a.Size], le64(v))
	}
	return b, nil
}

// hiddenArgument is the value of an argument that the runtime provides.
func (l *launch) hiddenArgument(kind string) (uint64, error) {
	switch kind {
	case "hidden_block_count_x":
		return uint64(l.Grid[0]), nil
	case "hidden_block_count_y":
		return uint64(l.Grid[1]), nil
	case "hidden_block_count_z":
		return uint64(l.Grid[2]), nil
	case "hidden_group_size_x":
		return uint64(l.Block[0]), nil
	case "hidden_group_size_y":
		return uint64(l.Block[1]), nil
	case "hidden_group_size_z":
		return uint64(l.Block[2]), nil
	case "hidden_grid_dims":
		return uint64(l.dims()), nil
	case "hidden_dynamic_lds_size":
		return uint64(l.DynamicLDS), nil
	case "hidden_private_base":
		return privateAperture >> 32, nil
	case "hidden_shared_base":
		return sharedAperture >> 32, nil
	case "hidden_none",
		"hidden_remainder_x", "hidden_remainder_y", "hidden_remainder_z", // grids are whole workgroups
		"hidden_global_offset_x", "hidden_global_offset_y", "hidden_global_offset_z",
		// Services of a runtime that is not there: a null pointer.
		"hidden_printf_buffer", "hidden_hostcall_buffer", "hidden_multigrid_sync_arg",
		"hidden_heap_v1", "hidden_default_queue", "hidden_completion_action", "hidden_queue_ptr":
		return 0, nil
	}
	return 0, fmt.Errorf("hidden argument %s is not supported", kind)
}

// dims is the number of dimensions of the grid.
func (l *launch) dims() int {
	for i := 2; i > 0; i-- {
		if l.Grid[i] > 1 || l.Block[i] > 1 {
			return i + 1
		}
	}
	return 1
}

// dispatchPacket is the AQL kernel dispatch packet (HSA runtime specification).
func (l *launch) dispatchPacket() []byte {
	b := make([]byte, 64)
	le := binary.LittleEndian
	le.PutUint16(b[0:], 2) // kernel dispatch
	le.PutUint16(b[2:], uint16(l.dims()))
	for i := range 3 {
		le.PutUint16(b[4+2*i:], uint16(l.Block[i]))
		le.PutUint32(b[12+4*i:], l.Grid[i]*l.Block[i])
	}
	k := l.prog.kernel
	le.PutUint32(b[24:], scratchSize(k))
	le.PutUint32(b[28:], l.lds)
	le.PutUint64(b[32:], codeBase+k.Entry-uint64(k.Descriptor.EntryOffset))
	le.PutUint64(b[40:], kernargBase)
	return b
}

// initWave gives the wave its registers at the start of workgroup g.
func (l *launch) initWave(w *Wave, g *workgroup) {
	k := l.prog.kernel
	d := &k.Descriptor
	w.S = [128]uint32{}
	w.VCC, w.SCC = 0, false
	for _, r := range l.prog.used {
		clear(w.V[r[0]:r[1]])
	}
	w.pc = l.prog.entry
	w.executed, w.vector, w.ticks = 0, 0, 0
	w.done, w.atBarrier, w.stop, w.trap = false, false, false, nil
	// FLOAT_MODE, ENABLE_DX10_CLAMP and ENABLE_IEEE_MODE of compute_pgm_rsrc1,
	// where the MODE register has them.
	w.mode = d.Rsrc1>>12&0xff | d.Rsrc1>>21&1<<8 | d.Rsrc1>>23&1<<9

	users := int(d.Rsrc2 >> 1 & 31)
	at := 0
	put := func(words ...uint32) {
		for _, x := range words {
			if at < users {
				w.S[at] = x
			}
			at++
		}
	}
	pointer := func(x uint64) { put(uint32(x), uint32(x>>32)) }
	if d.Properties&wantPrivateSegmentBuffer != 0 {
		put(0, 0, 0, 0)
	}
	if d.Properties&wantDispatchPtr != 0 {
		pointer(packetBase)
	}
	if d.Properties&wantQueuePtr != 0 {
		pointer(queueBase)
	}
	if d.Properties&wantKernargPtr != 0 {
		pointer(kernargBase)
	}
	if d.Properties&wantDispatchID != 0 {
		pointer(0)
	}
	if d.Properties&wantFlatScratchInit != 0 {
		pointer(0)
	}
	if d.Properties&wantPrivateSegmentSize != 0 {
		put(scratchSize(k))
	}
	// Preloaded arguments: length in bits 6:0, offset in 15:7, both in dwords.
	// The kernel starts at its entry, whose first instructions load them again
	// for hardware that does not preload; both ways give the same.
	first := int(d.KernargPreload >> 7)
	for i := range int(d.KernargPreload & 0x7f) {
		if o := 4 * (first + i); o+4 <= len(l.kernarg) {
			put(binary.LittleEndian.Uint32(l.kernarg[o:]))
		}
	}
	at, users = users, len(w.S)
	for i := range 3 {
		if d.Rsrc2>>(7+i)&1 != 0 {
			put(g.id[i])
		}
	}
	if d.Rsrc2>>10&1 != 0 {
		put(uint32(l.waves)) // workgroup info: the number of waves
	}

	// VGPR 0 packs the work-item's position, 10 bits a dimension, as many as
	// ENABLE_VGPR_WORKITEM_ID asks for.
	ids := d.Rsrc2 >> 11 & 3
	bx, by, bz := l.Block[0], l.Block[1], l.Block[2]
	w.EXEC = 0
	for lane := range uint32(Lanes) {
		item := uint32(w.id)*Lanes + lane
		if item >= bx*by*bz {
			break
		}
		w.EXEC |= 1 << lane
		v := item % bx
		if ids >= 1 {
			v |= item / bx % by << 10
		}
		if ids >= 2 {
			v |= item / bx / by << 20
		}
		w.V[0][lane] = v
	}
	w.private.reset(scratchSize(k))
}
