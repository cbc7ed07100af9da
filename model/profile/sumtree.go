package profile

// Tree writes the sum out for so many heads. Partial sums that no head goes to
// add +0, which FromZero says, and are left out. The first head of a partial
// sum counts as rounded: fma(x, w, +0) is round(x*w).
func (s *HeadSum) Tree(heads int) *Tree {
	parts := make([]*Tree, s.Partials)
	for h := range heads {
		part := &parts[h%s.Partials]
		if *part == nil {
			*part = Leaf(h)
		} else {
			*part = Node(*part, &Tree{Term: h, Fused: s.Fused})
		}
	}
	for _, f := range s.Folds {
		for m := range parts {
			if m/f.Stride%f.Count != 0 {
				continue
			}
			for i := 1; i < f.Count && m+i*f.Stride < len(parts); i++ {
				switch part := parts[m+i*f.Stride]; {
				case part == nil:
				case parts[m] == nil:
					parts[m] = part
				default:
					parts[m] = Node(parts[m], part)
				}
			}
		}
	}
	return parts[0]
}
