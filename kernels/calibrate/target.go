package calibrate

import (
	"fmt"

	"mqaproof/model/fp8"
	"mqaproof/model/matrixcore"
	"mqaproof/sim/isa"
)

// Target is a GPU that can be calibrated: one whose fp8 matrix instructions
// the probe's kernels use. It is written as the compiler writes it.
type Target string

// The targets.
const (
	GFX942 Target = "gfx942" // CDNA3
	GFX950 Target = "gfx950" // CDNA4
)

// Targets is all of them.
func Targets() []Target { return []Target{GFX942, GFX950} }

// ParseTarget is the target of that name.
func ParseTarget(name string) (Target, error) {
	for _, t := range Targets() {
		if string(t) == name {
			return t, nil
		}
	}
	return "", fmt.Errorf("calibrate: no probe for target %q: want %s or %s", name, GFX942, GFX950)
}

// Format is the target's own e4m3.
func (t Target) Format() fp8.Format {
	if t == GFX942 {
		return fp8.E4M3FNUZ
	}
	return fp8.E4M3FN
}

// named is the named rules that are worth a mention on the target.
func (t Target) named() []*matrixcore.Rule {
	if t == GFX950 {
		return []*matrixcore.Rule{matrixcore.CDNA4Assumed, matrixcore.CDNA3, matrixcore.Hopper}
	}
	return []*matrixcore.Rule{matrixcore.CDNA3, matrixcore.Hopper}
}

// Instruction is one matrix instruction, D[n][n] = C + A[n][k] * B[k][n], as
// the probe runs it: lane l of 64 holds row (A) or column (B) l % N, and the
// bytes from l/N * K*N/64 on of it.
type Instruction struct {
	Name   string // "16x16x32": also the kernel's symbol is "probe_" + Name
	Op     isa.Op
	Format fp8.Format
	N, K   int

	tiles tiles
}

// tiles says which tiles an instruction gets: see Inputs.
type tiles struct {
	drawn    int      // those of the seeds from 0 up
	searched []uint64 // those of these seeds
	dense    int
}

// Kernel is the symbol in the probe's code object.
func (in Instruction) Kernel() string { return "probe_" + in.Name }

// Tiles is how many tiles the probe runs through the instruction.
func (in Instruction) Tiles() int {
	return in.tiles.drawn + len(in.tiles.searched) + in.tiles.dense + 1
}

func (in Instruction) bytesOfLane() int { return in.N * in.K / 64 }

// Instructions is the fp8 matrix instructions of the target.
func (t Target) Instructions() []Instruction {
	f := t.Format()
	narrow := tiles{160, searched942, 10}
	if t == GFX950 {
		narrow.searched = nil // the wider instructions have them
	}
	out := []Instruction{
		{"16x16x32", isa.V_MFMA_F32_16X16X32_FP8_FP8, f, 16, 32, narrow},
		{"32x32x16", isa.V_MFMA_F32_32X32X16_FP8_FP8, f, 32, 16, tiles{48, nil, 4}},
	}
	if t == GFX950 {
		out = append(out,
			Instruction{"16x16x128", isa.V_MFMA_F32_16X16X128_F8F6F4, f, 16, 128, tiles{160, searched950, 10}},
			Instruction{"32x32x64", isa.V_MFMA_F32_32X32X64_F8F6F4, f, 32, 64, tiles{48, nil, 4}})
	}
	return out
}
