package model

import (
	"fmt"
	"math"
	"math/big"
)

// exactPrecision holds any logit of finite inputs without rounding: a dot is a
// multiple of 2^-20 below 2^27, weights and scales are float32s, whose bits lie
// between 2^-149 and 2^128, and there are at most 2^8 heads: under 640 bits.
const exactPrecision = 1024

// ExactLogit is the logit of a row at a local position without any rounding,
//
//	scale[pos] * sum over heads of w[row, h] * max(0, dot(q[row, h], k[pos]))
//
// ok is false when a NaN or an infinity takes part, for which there is no such
// number. The mask is not applied: pos may be any of the request's.
func ExactLogit(in *Inputs, row, pos int) (v *big.Float, ok bool) {
	c, f := in.Case, in.Format
	request := row / c.NextN
	scale := float64(in.ScaleAt(request, pos))
	if !finite(scale) {
		return nil, false
	}
	key := in.KCodes(request)[pos*c.HeadDim : (pos+1)*c.HeadDim]
	for _, b := range key {
		if f.IsNaN(b) {
			return nil, false
		}
	}
	// Fixed counts smallest subnormals, so dots are integers times its square.
	unit := new(big.Float).SetPrec(exactPrecision).SetFloat64(float64(f.MinSubnormal()) * float64(f.MinSubnormal()))
	sum := newExact(0)
	for h := range c.Heads {
		w := float64(in.WeightAt(row, h))
		if !finite(w) {
			return nil, false
		}
		query := in.QCodes(row)[h*c.HeadDim : (h+1)*c.HeadDim]
		dot := int64(0)
		for d, b := range query {
			if f.IsNaN(b) {
				return nil, false
			}
			dot += int64(f.Fixed(b)) * int64(f.Fixed(key[d]))
		}
		if dot <= 0 {
			continue
		}
		term := new(big.Float).SetPrec(exactPrecision).SetInt64(dot)
		sum.Add(sum, term.Mul(term, newExact(w)))
	}
	sum.Mul(sum, unit)
	return sum.Mul(sum, newExact(scale)), true
}

func newExact(v float64) *big.Float { return new(big.Float).SetPrec(exactPrecision).SetFloat64(v) }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// ExactRow gives the logits of a row at all local positions of its request, on
// exact data, where they are float32s: any correct kernel must give these
// bits. The mask is not applied.
func (in *Inputs) ExactRow(row int) ([]float32, error) {
	c := in.Case
	if c.Data != Exact {
		return nil, fmt.Errorf("case: data is %s; only %s data have exact float32 logits", c.Data, Exact)
	}
	var decode [256]int32
	for b := range decode {
		if v := in.Format.Decode(byte(b)); v == v { // not a NaN
			decode[b] = int32(v)
		}
	}
	query := make([]int32, c.Heads*c.HeadDim)
	for i, b := range in.QCodes(row) {
		query[i] = decode[b]
	}
	request := row / c.NextN
	keys, scales := in.KCodes(request), in.Scales(request)
	key := make([]int32, c.HeadDim)
	out := make([]float32, len(scales))
	for pos := range out {
		for d, b := range keys[pos*c.HeadDim : (pos+1)*c.HeadDim] {
			key[d] = decode[b]
		}
		sum := int32(0)
		for h, w := range in.WeightRow(row) {
			dot := int32(0)
			for d, q := range query[h*c.HeadDim : (h+1)*c.HeadDim] {
				dot += q * key[d]
			}
			sum += int32(w) * max(dot, 0)
		}
		out[pos] = float32(sum) * scales[pos]
	}
	return out, nil
}
