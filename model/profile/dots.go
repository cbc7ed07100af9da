package profile

// dots makes the dots of one row with up to tokensAtOnce tokens.
type dots struct {
	p          *Profile
	q          []byte
	heads, dim int
	out        []float32 // [tokens][heads]
	zero       []float32 // the matrix core's first accumulator
	q32, k32   []float32 // decoded values, without a matrix core
}

func (p *Profile) newDots(row Row, heads, dim int) *dots {
	d := &dots{p: p, q: row.Q, heads: heads, dim: dim, out: make([]float32, tokensAtOnce*heads)}
	if p.Rule != nil {
		d.zero = make([]float32, tokensAtOnce*heads)
		return d
	}
	d.q32, d.k32 = make([]float32, heads*dim), make([]float32, dim)
	for i, b := range row.Q {
		d.q32[i] = p.Format.Decode(b)
	}
	return d
}

// make is the dots of n tokens, [n][heads]; they last until the next call.
func (d *dots) make(k []byte, n int) []float32 {
	if d.p.Rule != nil {
		d.p.Rule.MulAdd(d.p.Format, d.p.Format, n, d.heads, d.dim, k, d.q, d.zero, d.out)
		return d.out[:n*d.heads]
	}
	for t := range n {
		for i, b := range k[t*d.dim : (t+1)*d.dim] {
			d.k32[i] = d.p.Format.Decode(b)
		}
		for h := range d.heads {
			d.out[t*d.heads+h] = chain(d.q32[h*d.dim:(h+1)*d.dim], d.k32)
		}
	}
	return d.out[:n*d.heads]
}

// chain adds the products in order. Each is exact in float32, so this is the
// fused chain too.
func chain(q, k []float32) float32 {
	var dot float32
	for i, x := range q {
		dot = add(dot, mul(x, k[i]))
	}
	return dot
}
