package profile

// dots makes the dots of one row with up to tokensAtOnce tokens.
type dots struct {
	p          *Profile
	q          []byte
	heads, dim int
	out        []float32 // [tokens][heads]
	zero       []float32 // the matrix core's first accumulator
	chains     []chain   // of the matrix core; none: one of all dims as they are
	tree       *Tree     // of the chains, or of the products; nil: there is nothing to choose
	terms, one []float32 // of tree
	q32, k32   []float32 // decoded values, without a matrix core
}

// chain is one chain of the matrix core.
type chain struct {
	dims []int
	q    []byte    // [heads][dims], in their order
	k    []byte    // [tokens][dims]
	out  []float32 // [tokens][heads]
}

func (p *Profile) newDots(row Row, heads, dim int) *dots {
	d := &dots{p: p, q: row.Q, heads: heads, dim: dim, out: make([]float32, tokensAtOnce*heads), tree: p.Dots[dim]}
	if p.Rule != nil {
		d.zero = make([]float32, tokensAtOnce*heads)
		for _, dims := range p.Dims[dim] {
			c := chain{dims: dims, q: make([]byte, heads*len(dims)), k: make([]byte, tokensAtOnce*len(dims)), out: d.out}
			if d.tree != nil {
				c.out = make([]float32, len(d.out))
			}
			c.take(c.q, row.Q, dim)
			d.chains = append(d.chains, c)
			d.terms, d.one = append(d.terms, 0), append(d.one, 1)
		}
		return d
	}
	d.q32, d.k32 = make([]float32, heads*dim), make([]float32, dim)
	for i, b := range row.Q {
		d.q32[i] = p.Format.Decode(b)
	}
	return d
}

// take puts the chain's dims of each dim values of from in the chain's order.
func (c *chain) take(to, from []byte, dim int) {
	for len(from) > 0 {
		for k, d := range c.dims {
			to[k] = from[d]
		}
		to, from = to[len(c.dims):], from[dim:]
	}
}

// make is the dots of n tokens, [n][heads]; they last until the next call.
func (d *dots) make(k []byte, n int) []float32 {
	k = k[:n*d.dim]
	out := d.out[:n*d.heads]
	if d.p.Rule == nil {
		d.inFloat32(k, out)
		return out
	}
	f := d.p.Format
	if d.chains == nil {
		d.p.Rule.MulAdd(f, f, n, d.heads, d.dim, k, d.q, d.zero, out)
		return out
	}
	for i := range d.chains {
		c := &d.chains[i]
		c.take(c.k, k, d.dim)
		d.p.Rule.MulAdd(f, f, n, d.heads, len(c.dims), c.k, c.q, d.zero, c.out)
	}
	if d.tree != nil {
		for i := range out {
			for j := range d.chains {
				d.terms[j] = d.chains[j].out[i]
			}
			out[i] = d.tree.sum(d.terms, d.one)
		}
	}
	return out
}

// inFloat32 makes dots without a matrix core.
func (d *dots) inFloat32(k []byte, out []float32) {
	for i := range out {
		h := i % d.heads
		if h == 0 {
			for j, b := range k[i/d.heads*d.dim:][:d.dim] {
				d.k32[j] = d.p.Format.Decode(b)
			}
		}
		q := d.q32[h*d.dim:][:d.dim]
		if d.tree != nil {
			out[i] = d.tree.sum(q, d.k32)
		} else {
			out[i] = inOrder(q, d.k32)
		}
	}
}

// inOrder adds the products in order. Each is exact in float32, so this is the
// fused chain too.
func inOrder(q, k []float32) float32 {
	var dot float32
	for i, x := range q {
		dot = add(dot, mul(x, k[i]))
	}
	return dot
}
