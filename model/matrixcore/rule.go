package matrixcore

import "fmt"

// Rounding is how a number that is cut loses its low bits.
type Rounding uint8

const (
	Trunc   Rounding = iota // toward zero
	Floor                   // toward minus infinity
	Nearest                 // to the nearest, ties to even
)

// Cut is an alignment: the fraction bits that are kept below the common
// exponent, and how the rest is dropped.
type Cut struct {
	Bits     int
	Rounding Rounding
}

// Join says where the accumulator meets the products of a group.
type Join uint8

const (
	// JoinLate adds the accumulator to the finished sum of the products.
	JoinLate Join = iota
	// JoinEarly aligns the accumulator with the products, as one more term.
	JoinEarly
)

// Lanes says which products of a group share a sub-sum.
type Lanes uint8

const (
	// Interleaved puts product k into sub-sum k % SubSums.
	Interleaved Lanes = iota
	// Consecutive puts Group/SubSums consecutive products into each sub-sum.
	Consecutive
)

// Rule describes how a matrix core accumulates. K products go through the
// accumulator in groups of Group consecutive k. In a group:
//
//  1. Product k belongs to sub-sum k % SubSums, or k / (Group/SubSums) with
//     Consecutive lanes. In each sub-sum the products
//     (and with JoinEarly the accumulator) are cut by Product at their largest
//     exponent and added exactly.
//  2. The sub-sums are cut by SubSum at the larger of their exponents and added
//     exactly. With SubSums = 1 there is nothing to do.
//  3. With JoinLate, sum and accumulator meet at M, the larger of their
//     exponents: the sum is cut by Sum at M, the accumulator by Acc, or counts
//     as zero when its exponent is below M - AccReach; they are added exactly.
//  4. The result is rounded to the next group's accumulator: to nearest even
//     float32 when ResultBits is 0, else its normalised significand is cut by
//     ResultRounding to ResultBits fraction bits.
//
// With AddC the chain starts from zero and C is added to its end by one float32
// addition; otherwise C is the first accumulator, and a result of ResultBits
// bits keeps float32's smallest exponent.
type Rule struct {
	Name     string
	Verified bool   // compared with the hardware it names, bit for bit
	Source   string // where the rule comes from

	Group   int
	SubSums int
	Product Cut
	SubSum  Cut

	Join     Join
	Sum      Cut // JoinLate only
	Acc      Cut // JoinLate only
	AccReach int // JoinLate only

	ResultBits int // 0: float32, to nearest even
	AddC       bool

	// The rest is the zero value in every rule that is known from hardware:
	// what else is plausible, for kernels/calibrate to tell apart. A rule that
	// uses any of it is computed by the reference loop.

	Lanes          Lanes    // which products share a sub-sum
	ResultRounding Rounding // with ResultBits
	Normalise      bool     // products are renormalised to 1 <= |s| < 2 before exponents are compared
	FlushFP8       bool     // subnormal fp8 codes count as zero
	FlushFloat32   bool     // subnormal C, accumulators and results count as zero
}

// known reports whether the rule leaves the fields alone that no hardware is
// known to use: the fast paths have only those.
func (r *Rule) known() bool {
	return r.Lanes == Interleaved && r.ResultRounding == Trunc && !r.Normalise && !r.FlushFP8 && !r.FlushFloat32
}

// CDNA3 is the fp8 MFMA of gfx942.
var CDNA3 = &Rule{
	Name:     "cdna3",
	Verified: true,
	Source:   "arXiv 2511.10909 (microsoft/MMA-Sim), validated by its authors against MI300X",
	Group:    16,
	SubSums:  2,
	Product:  Cut{24, Trunc},
	SubSum:   Cut{24, Floor},
	Join:     JoinLate,
	Sum:      Cut{31, Floor},
	Acc:      Cut{24, Floor},
	AccReach: 25,
}

// Hopper is the fp8 wgmma of sm_90, run from a zero accumulator.
var Hopper = &Rule{
	Name:       "hopper",
	Verified:   true,
	Source:     "measured on an H200: 122,880 of 122,880 outputs",
	Group:      32,
	SubSums:    1,
	Product:    Cut{13, Trunc},
	Join:       JoinEarly,
	ResultBits: 13,
	AddC:       true,
}

// CDNA4Assumed is CDNA3's arithmetic under another name, used for the fp8 MFMA
// of gfx950. No public bit-accurate description of CDNA4 is known: this is an
// assumption, and what rests on it is unverified.
var CDNA4Assumed = assumeCDNA4()

func assumeCDNA4() *Rule {
	r := *CDNA3
	r.Name = "cdna4-assumed"
	r.Verified = false
	r.Source = "an assumption: CDNA3's arithmetic"
	return &r
}

// All is every named rule.
func All() []*Rule { return []*Rule{CDNA3, Hopper, CDNA4Assumed} }

// Find is the rule with that name.
func Find(name string) (*Rule, error) {
	for _, r := range All() {
		if r.Name == name {
			return r, nil
		}
	}
	return nil, fmt.Errorf("matrixcore: no rule is named %q: want cdna3, hopper or cdna4-assumed", name)
}

// Check reports what makes the rule meaningless or too wide for 64-bit sums.
func (r *Rule) Check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("matrixcore: rule %q: %s", r.Name, fmt.Sprintf(format, args...))
	}
	switch {
	case r.Group < 1 || r.Group > 256:
		return bad("group is %d, want 1 to 256", r.Group)
	case r.SubSums < 1 || r.Group%r.SubSums != 0:
		return bad("%d sub-sums do not divide a group of %d", r.SubSums, r.Group)
	case r.Join == JoinEarly && r.SubSums != 1:
		return bad("an accumulator that joins early needs one sub-sum, not %d", r.SubSums)
	case r.ResultBits < 0 || r.ResultBits > 23:
		return bad("result keeps %d fraction bits, want 1 to 23, or 0 for float32", r.ResultBits)
	case r.ResultRounding > Nearest:
		return bad("result rounding is %d, want trunc, floor or nearest", r.ResultRounding)
	case r.Lanes > Consecutive:
		return bad("lanes are %d, want interleaved or consecutive", r.Lanes)
	case r.AccReach < 0:
		return bad("accumulator reach is negative")
	}
	cuts := []struct {
		name string
		cut  Cut
		used bool
	}{
		{"product", r.Product, true},
		{"sub-sum", r.SubSum, r.SubSums > 1},
		{"sum", r.Sum, r.Join == JoinLate},
		{"accumulator", r.Acc, r.Join == JoinLate},
	}
	for _, c := range cuts {
		if c.used && (c.cut.Bits < 1 || c.cut.Bits > 40 || c.cut.Rounding > Nearest) {
			return bad("%s cut is %d bits by rounding %d, want 1 to 40 bits by trunc, floor or nearest", c.name, c.cut.Bits, c.cut.Rounding)
		}
	}
	return nil
}
