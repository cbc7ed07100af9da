package profile

// dots makes the dots of one row with up to tokensAtOnce tokens.
type dots struct {
	p          *Profile
	q          []byte // in the order of the matrix core
	heads, dim int
	out        []float32 // [tokens][heads]
	order      []int     // of the dims, nil: as they are
	k          []byte    // tokens in that order
	zero       []float32 // the matrix core's first accumulator
	tree       *Tree     // of the products, without a matrix core; nil: a chain
	q32, k32   []float32 // decoded values, without a matrix core
}

func (p *Profile) newDots(row Row, heads, dim int) *dots {
	d := &dots{p: p, q: row.Q, heads: heads, dim: dim, out: make([]float32, tokensAtOnce*heads)}
	if p.Rule != nil {
		d.zero = make([]float32, tokensAtOnce*heads)
		if d.order = p.Dims[dim]; d.order != nil {
			d.q = make([]byte, len(row.Q))
			d.k = make([]byte, tokensAtOnce*dim)
			d.permute(d.q, row.Q)
		}
		return d
	}
	d.tree = p.Dots[dim]
	d.q32, d.k32 = make([]float32, heads*dim), make([]float32, dim)
	for i, b := range row.Q {
		d.q32[i] = p.Format.Decode(b)
	}
	return d
}

// permute puts each head_dim values of from in the matrix core's order.
func (d *dots) permute(to, from []byte) {
	for at := 0; at < len(from); at += d.dim {
		part := from[at : at+d.dim]
		for k, dim := range d.order {
			to[at+k] = part[dim]
		}
	}
}

// make is the dots of n tokens, [n][heads]; they last until the next call.
func (d *dots) make(k []byte, n int) []float32 {
	if d.p.Rule != nil {
		if d.order != nil {
			d.permute(d.k, k[:n*d.dim])
			k = d.k
		}
		d.p.Rule.MulAdd(d.p.Format, d.p.Format, n, d.heads, d.dim, k, d.q, d.zero, d.out)
		return d.out[:n*d.heads]
	}
	for t := range n {
		for i, b := range k[t*d.dim : (t+1)*d.dim] {
			d.k32[i] = d.p.Format.Decode(b)
		}
		for h := range d.heads {
			q := d.q32[h*d.dim : (h+1)*d.dim]
			if d.tree != nil {
				d.out[t*d.heads+h] = d.tree.sum(q, d.k32)
			} else {
				d.out[t*d.heads+h] = chain(q, d.k32)
			}
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
