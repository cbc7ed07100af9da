package codeobject

import "slices"

// supportedTargets are those with a decoder and an emulator.
var supportedTargets = []string{"gfx942", "gfx950"}

func supported(target string) bool { return slices.Contains(supportedTargets, target) }

// machNames names EF_AMDGPU_MACH, the low byte of e_flags (llvm AMDGPUUsage,
// "AMDGPU ELF Header e_flags"). Targets without an emulator are listed so that
// a refusal can name them.
var machNames = map[uint32]string{
	0x20: "gfx600", 0x21: "gfx601", 0x3a: "gfx602",
	0x22: "gfx700", 0x23: "gfx701", 0x24: "gfx702", 0x25: "gfx703", 0x26: "gfx704", 0x3b: "gfx705",
	0x28: "gfx801", 0x29: "gfx802", 0x2a: "gfx803", 0x3c: "gfx805", 0x2b: "gfx810",
	0x2c: "gfx900", 0x2d: "gfx902", 0x2e: "gfx904", 0x2f: "gfx906", 0x30: "gfx908", 0x31: "gfx909",
	0x3f: "gfx90a", 0x32: "gfx90c", 0x40: "gfx940", 0x4b: "gfx941", 0x4c: "gfx942", 0x4f: "gfx950",
	0x33: "gfx1010", 0x34: "gfx1011", 0x35: "gfx1012", 0x42: "gfx1013",
	0x36: "gfx1030", 0x37: "gfx1031", 0x38: "gfx1032", 0x39: "gfx1033", 0x3e: "gfx1034", 0x3d: "gfx1035", 0x45: "gfx1036",
	0x41: "gfx1100", 0x46: "gfx1101", 0x47: "gfx1102", 0x44: "gfx1103",
	0x43: "gfx1150", 0x4a: "gfx1151", 0x55: "gfx1152", 0x58: "gfx1153",
	0x48: "gfx1200", 0x4e: "gfx1201",
	0x51: "gfx9-generic", 0x5f: "gfx9-4-generic", 0x52: "gfx10-1-generic", 0x53: "gfx10-3-generic",
	0x54: "gfx11-generic", 0x59: "gfx12-generic",
}

// features spells the xnack and sramecc settings of e_flags as target IDs do.
// Code object version 3 has one bit each; later ones have two, of which "any"
// and "unsupported" spell nothing.
func features(flags uint32, version int) string {
	s := ""
	if version == 3 {
		for _, f := range []struct {
			bit  uint32
			name string
		}{{0x200, "sramecc"}, {0x100, "xnack"}} {
			if flags&f.bit != 0 {
				s += ":" + f.name + "+"
			} else {
				s += ":" + f.name + "-"
			}
		}
		return s
	}
	switch flags & 0xc00 {
	case 0x800:
		s += ":sramecc-"
	case 0xc00:
		s += ":sramecc+"
	}
	switch flags & 0x300 {
	case 0x200:
		s += ":xnack-"
	case 0x300:
		s += ":xnack+"
	}
	return s
}
