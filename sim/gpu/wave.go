package gpu

// Lanes is the width of a wave.
const Lanes = 64

// vreg is one vector register: a dword for each lane.
type vreg [Lanes]uint32

// Scalar register file indices, as encoded.
const (
	regFlatScratch = 102
	regVCC         = 106
	regM0          = 124
	regEXEC        = 126
)

// firstAcc is the index in Wave.V of accumulation VGPR 0.
const firstAcc = 256

// allLanes is the EXEC of a wave with no lane switched off.
const allLanes = ^uint64(0)

// execFn does all the work of one predecoded instruction. It advances nothing:
// the loop sets w.pc to the next instruction before the call, and branches
// overwrite it.
type execFn func(w *Wave)

// Wave is the state of one wave of 64 lanes.
type Wave struct {
	S    [128]uint32 // scalar registers by encoding, except EXEC and VCC which live below
	EXEC uint64
	VCC  uint64
	SCC  bool
	V    []vreg // VGPRs 0..255, then accumulation VGPRs at 256..511 (only as many as the kernel uses may be backed)
	pc   int    // index of the next step in prog.steps
	mode uint32 // MODE register

	prog *Program
	wg   *workgroup // LDS, barrier, workgroup id, memory
	id   int        // wave within the workgroup

	executed, vector uint64
	done, atBarrier  bool
	trap             *Trap // set by an execFn to stop the run

	stop    bool // the loop leaves after the current instruction: end, barrier or trap
	scratch laneScratch

	private private // scratch memory of its lanes
	ticks   uint64  // what the clock shows
}

// laneScratch is room for the intermediate vectors of one instruction: copies
// of scalars, modified sources, results that are not for all lanes.
type laneScratch struct {
	bcast [6]vreg   // scalar sources, one value in all lanes
	value [6]uint32 // what bcast holds now, so that a scalar used again is not copied again
	valid [6]bool
	mod   [6]vreg // sources after DPP, SDWA, neg and abs
	out   [2]vreg // a result before it is merged into its register
	mfma  *mfmaScratch
}

// stopWith ends the wave's run with a trap whose place the loop fills in.
func (w *Wave) stopWith(kind TrapKind, reason string) {
	w.trap = &Trap{Kind: kind, Reason: reason}
	w.stop = true
}

// readS is the dword of scalar register n, by encoding.
func (w *Wave) readS(n int) uint32 {
	if n < regVCC {
		return w.S[n]
	}
	switch n {
	case regVCC:
		return uint32(w.VCC)
	case regVCC + 1:
		return uint32(w.VCC >> 32)
	case regEXEC:
		return uint32(w.EXEC)
	case regEXEC + 1:
		return uint32(w.EXEC >> 32)
	}
	return w.S[n&127]
}

// writeS sets the dword of scalar register n, by encoding.
func (w *Wave) writeS(n int, x uint32) {
	if n < regVCC {
		w.S[n] = x
		return
	}
	switch n {
	case regVCC:
		w.VCC = w.VCC&^0xffffffff | uint64(x)
	case regVCC + 1:
		w.VCC = w.VCC&0xffffffff | uint64(x)<<32
	case regEXEC:
		w.EXEC = w.EXEC&^0xffffffff | uint64(x)
	case regEXEC + 1:
		w.EXEC = w.EXEC&0xffffffff | uint64(x)<<32
	default:
		w.S[n&127] = x
	}
}

// readS64 is the pair of scalar registers n and n+1, the low dword first.
func (w *Wave) readS64(n int) uint64 {
	switch n {
	case regVCC:
		return w.VCC
	case regEXEC:
		return w.EXEC
	}
	return uint64(w.readS(n)) | uint64(w.readS(n+1))<<32
}

// writeS64 sets the pair of scalar registers n and n+1, the low dword first.
func (w *Wave) writeS64(n int, x uint64) {
	switch n {
	case regVCC:
		w.VCC = x
	case regEXEC:
		w.EXEC = x
	default:
		w.writeS(n, uint32(x))
		w.writeS(n+1, uint32(x>>32))
	}
}

// merge copies the lanes of src that are on in mask to dst. It, selectLanes and
// fill are variables for the sake of processors that do better.
var merge = func(dst, src *vreg, mask uint64) {
	for i := range dst {
		on := -uint32(mask >> uint(i) & 1)
		dst[i] ^= (dst[i] ^ src[i]) & on
	}
}
