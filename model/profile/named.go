package profile

import (
	"fmt"
	"slices"
	"strings"

	"mqaproof/model/fp8"
	"mqaproof/model/matrixcore"
)

// Machine is what a target's kernels compute with.
type Machine struct {
	Target string
	Format fp8.Format // the target's own e4m3
	Rule   *matrixcore.Rule
}

var machines = []Machine{
	{"gfx942", fp8.E4M3FNUZ, matrixcore.CDNA3},
	{"gfx950", fp8.E4M3FN, matrixcore.CDNA4Assumed},
	{"sm_90", fp8.E4M3FN, matrixcore.Hopper},
}

// MachineOf is the machine of a target (gfx942, gfx950, sm_90).
func MachineOf(target string) (Machine, error) {
	var known []string
	for _, m := range machines {
		if m.Target == target {
			return m, nil
		}
		known = append(known, m.Target)
	}
	return Machine{}, fmt.Errorf("profile: the arithmetic of target %q is not known; known are %s", target, strings.Join(known, ", "))
}

// design is a profile before its target is chosen.
type design struct {
	name, about string
	targets     []string
	step        int // 0: no matrix core
	scale       Scale
	sum         HeadSum
}

var (
	amd = []string{"gfx942", "gfx950"}
	// lanes16 folds result register i = 0..3 and then lane group g = 0..3, the
	// partial sum of head 16c + 4g + i being 4g + i.
	lanes16 = []Fold{{1, 2}, {2, 2}, {4, 2}, {8, 2}}
	lanes32 = []Fold{{1, 2}, {2, 2}, {4, 2}, {8, 2}, {16, 2}}
)

var designs = []design{
	{
		name:    "scalar-seq",
		about:   "float32 fma over dims, then heads one after the other, relu(dot)*weight rounded, scale last",
		targets: amd,
		scale:   ScaleLast,
		sum:     HeadSum{Partials: 1, FromZero: true},
	},
	{
		name:    "mfma16-tree",
		about:   "16x16x32 matrix core; scale before relu; heads 16 apart by fma; then registers (0+1)+(2+3), lanes xor 16, lanes xor 32",
		targets: amd,
		step:    32,
		scale:   ScaleBeforeRelu,
		sum:     HeadSum{Partials: 16, Fused: true, FromZero: true, Folds: lanes16},
	},
	{
		name:    "mfma16-heads",
		about:   "16x16x32 matrix core; scale before relu; relu*weight rounded for each head; heads added from 0 up by the caller",
		targets: amd,
		step:    32,
		scale:   ScaleBeforeRelu,
		sum:     HeadSum{Partials: 1},
	},
	{
		name:    "mfma32-lanes",
		about:   "32x32x16 matrix core; heads 32 apart, relu(dot)*weight rounded; then lanes xor 1, 2, 4, 8, 16; scale last",
		targets: amd,
		step:    16,
		scale:   ScaleLast,
		sum:     HeadSum{Partials: 32, FromZero: true, Folds: lanes32},
	},
	{
		name:    "mfma32x64-lanes",
		about:   "mfma32-lanes with the 32x32x64 matrix core of gfx950",
		targets: []string{"gfx950"},
		step:    64,
		scale:   ScaleLast,
		sum:     HeadSum{Partials: 32, FromZero: true, Folds: lanes32},
	},
}

var all = buildAll()

func buildAll() (ps []*Profile) {
	for _, d := range designs {
		for _, m := range machines {
			if !slices.Contains(d.targets, m.Target) {
				continue
			}
			p := &Profile{Name: d.name, Target: m.Target, About: d.about, Format: m.Format, Step: d.step, Scale: d.scale, Sum: d.sum}
			if d.step > 0 {
				p.Rule = m.Rule
			}
			ps = append(ps, p)
		}
	}
	return ps
}

// All is every named profile on every target it is for, in a fixed order.
func All() []*Profile { return slices.Clone(all) }

// Names is the names of the profiles.
func Names() []string {
	var names []string
	for _, d := range designs {
		names = append(names, d.name)
	}
	return names
}

// Find is the profile of that name on a target.
func Find(name, target string) (*Profile, error) {
	var targets []string
	for _, p := range all {
		if p.Name != name {
			continue
		}
		if p.Target == target {
			return p, nil
		}
		targets = append(targets, p.Target)
	}
	if targets == nil {
		return nil, fmt.Errorf("profile: no profile is named %q; there are %s", name, strings.Join(Names(), ", "))
	}
	return nil, fmt.Errorf("profile: %s is for %s, not for target %q", name, strings.Join(targets, " and "), target)
}
