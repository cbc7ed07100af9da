package order

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mqaproof/kernels"
	"mqaproof/model/matrixcore"
	"mqaproof/model/profile"
	"mqaproof/sim/isa"
)

// Shapes at which kernels that take any are probed: those of the generator of
// cases, and a few that no power of two describes.
var (
	anyHeads = []int{1, 2, 3, 4, 5, 8, 16, 32, 64}
	anyDims  = []int{4, 8, 16, 32, 64, 128}
)

// Derive finds the numeric profile that gives the subject's logits to the bit,
// at every number of heads and head_dim that its manifest lists. It is the
// kernel's on that target, whatever the wiring. An error says which probe does
// not fit; no profile is given then. Progress gets short lines; it may be nil.
func Derive(ctx context.Context, s *kernels.Subject, progress func(string)) (*profile.Profile, error) {
	if progress == nil {
		progress = func(string) {}
	}
	if s.Manifest.Kind != kernels.Logits {
		return nil, fmt.Errorf("order: %s gives no logits", s)
	}
	machine, err := profile.MachineOf(s.Target)
	if err != nil {
		return nil, fmt.Errorf("order: %s: %w", s, err)
	}
	p, err := derive(ctx, s, machine.Rule, progress)
	if err != nil {
		return nil, fmt.Errorf("order: %s: %w", s, err)
	}
	progress("comparing with the kernel on random data")
	if err := verify(ctx, s, p); err != nil {
		return nil, fmt.Errorf("order: %s: %w", s, err)
	}
	return p, nil
}

func derive(ctx context.Context, s *kernels.Subject, rule *matrixcore.Rule, progress func(string)) (*profile.Profile, error) {
	heads, dims := s.Manifest.Limits.Heads, s.Manifest.Limits.HeadDim
	if heads == nil {
		heads = anyHeads
	}
	if dims == nil {
		dims = anyDims
	}
	p := &profile.Profile{
		Name: "derived/" + s.Name, Target: s.Target, Format: s.Format(),
		About: "derived from what the code object gives on probes",
	}

	trees, fromZero := map[int]*profile.Tree{}, map[int]bool{}
	terms := map[int]candidate{}
	for _, h := range heads {
		progress(fmt.Sprintf("heads: the tree of %d", h))
		b, err := newBench(ctx, s, h, slices.Min(dims))
		if err != nil {
			return nil, err
		}
		if terms[h], err = b.headSum(h, trees, fromZero); err != nil {
			return nil, err
		}
	}
	// One head does not tell a scale of the sum from one of the term.
	most := slices.Max(heads)
	for h, c := range terms {
		if h > 1 && c != terms[most] {
			return nil, fmt.Errorf("%v with %d heads, %v with %d: no profile describes both", c, h, terms[most], most)
		}
	}
	p.Scale, p.Relu = terms[most].scale, terms[most].relu
	if err := fitHeads(p, trees, fromZero); err != nil {
		return nil, err
	}

	orders := map[int]*dotOrder{}
	for _, d := range dims {
		progress(fmt.Sprintf("dims: the order of %d", d))
		b, err := newBench(ctx, s, slices.Min(heads), d)
		if err != nil {
			return nil, err
		}
		if orders[d], err = b.dot(rule); err != nil {
			return nil, err
		}
	}
	if err := fitDims(p, orders, rule); err != nil {
		return nil, err
	}
	if p.Rule != nil {
		p.Step = step(s, rule)
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	for _, d := range dims {
		progress(fmt.Sprintf("dims: dots of %d", d))
		b, err := newBench(ctx, s, slices.Min(heads), d)
		if err != nil {
			return nil, err
		}
		if err := b.checkDots(p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// headSum finds all about the sum over h heads.
func (b *bench) headSum(h int, trees map[int]*profile.Tree, fromZero map[int]bool) (candidate, error) {
	tree, err := b.headTree()
	if err != nil {
		return candidate{}, err
	}
	if fromZero[h], err = b.neverMinusZero(); err != nil {
		return candidate{}, err
	}
	c, err := b.term(tree, fromZero[h])
	if err != nil {
		return candidate{}, err
	}
	trees[h] = tree
	return c, b.fuse(tree, c.scale)
}

// step is the dims of the kernel's matrix-core instructions, for people: its
// groups do not tell, and no bit depends on it. Where there are several kinds,
// or none is known, it is one group.
func step(s *kernels.Subject, rule *matrixcore.Rule) int {
	target, err := isa.ParseTarget(s.Target)
	if err != nil {
		return rule.Group
	}
	found := map[int]bool{}
	for _, seg := range s.CodeObject().Segments {
		if !seg.Executable {
			continue
		}
		isa.Disassemble(target, seg.Data, seg.Addr, func(in isa.Inst, err error) bool {
			if err == nil {
				if k := instructionDims(in.String()); k > 0 {
					found[k] = true
				}
			}
			return true
		})
	}
	if len(found) != 1 {
		return rule.Group
	}
	for k := range found {
		if k%rule.Group == 0 {
			return k
		}
	}
	return rule.Group
}

// instructionDims is the 32 of v_mfma_f32_16x16x32_fp8_fp8; 0 for anything else.
func instructionDims(text string) int {
	var m, n, k int
	at := strings.Index(text, "v_mfma_f32_")
	if at < 0 || !strings.Contains(text, "fp8_fp8") && !strings.Contains(text, "f8f6f4") {
		return 0
	}
	if _, err := fmt.Sscanf(text[at:], "v_mfma_f32_%dx%dx%d_", &m, &n, &k); err != nil {
		return 0
	}
	return k
}
