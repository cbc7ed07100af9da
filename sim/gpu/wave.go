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
}
