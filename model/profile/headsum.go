package profile

// headSum makes logits of one row from its dots.
type headSum struct {
	p       *Profile
	weights []float32
	tree    *Tree     // nil: p.Sum
	a, b    []float32 // the terms' last factors, [heads]
	parts   []float32 // [Partials]
}

func (p *Profile) newSum(weights []float32) *headSum {
	heads := len(weights)
	s := &headSum{p: p, weights: weights, a: make([]float32, heads), b: make([]float32, heads)}
	if p.Heads != nil {
		s.tree = p.Heads[heads]
	} else {
		s.parts = make([]float32, p.Sum.Partials)
	}
	return s
}

// logit is the logit of a token from its dots, [heads].
func (s *headSum) logit(dots []float32, scale float32) float32 {
	s.terms(dots, scale)
	var x float32
	if s.tree == nil {
		x = s.folded()
	} else {
		x = s.tree.sum(s.a, s.b)
		if s.p.Sum.FromZero {
			x = add(x, 0)
		}
	}
	if s.p.Scale == ScaleLast {
		return mul(x, scale)
	}
	return x
}

// terms makes a and b: the term of head h is a[h]*b[h].
func (s *headSum) terms(dots []float32, scale float32) {
	kind := s.p.Relu
	switch s.p.Scale {
	case ScaleLast:
		for h, x := range dots {
			s.a[h], s.b[h] = relu(x, kind), s.weights[h]
		}
	case ScaleBeforeRelu:
		for h, x := range dots {
			s.a[h], s.b[h] = relu(mul(x, scale), kind), s.weights[h]
		}
	case ScaleAfterRelu:
		for h, x := range dots {
			s.a[h], s.b[h] = mul(relu(x, kind), scale), s.weights[h]
		}
	case ScaleIntoWeight:
		for h, x := range dots {
			s.a[h], s.b[h] = relu(x, kind), mul(s.weights[h], scale)
		}
	case ScaleAfterWeight:
		for h, x := range dots {
			s.a[h], s.b[h] = mul(relu(x, kind), s.weights[h]), scale
		}
	}
}

// folded is the sum by Sum.
func (s *headSum) folded() float32 {
	sum := &s.p.Sum
	exist := sum.Partials
	if !sum.FromZero {
		exist = min(exist, len(s.a))
	}
	clear(s.parts)
	for h, a := range s.a {
		part := &s.parts[h%sum.Partials]
		switch {
		case sum.Fused:
			*part = FMA(a, s.b[h], *part)
		case h < sum.Partials && !sum.FromZero:
			*part = mul(a, s.b[h])
		default:
			*part = add(*part, mul(a, s.b[h]))
		}
	}
	for _, f := range sum.Folds {
		for m := 0; m < exist; m++ {
			if m/f.Stride%f.Count != 0 {
				continue
			}
			for i := 1; i < f.Count && m+i*f.Stride < exist; i++ {
				s.parts[m] = add(s.parts[m], s.parts[m+i*f.Stride])
			}
		}
	}
	return s.parts[0]
}
