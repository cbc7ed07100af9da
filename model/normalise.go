package model

// Normalise gives the case with every default spelled out: DCP off is World 1,
// Rank 0, Interleave 1; no compression is Ratio 1; contiguous lengths have
// LengthsStride NextN; no layout is BlockFlat; pages in order have no PageSeed.
// The case itself is unchanged.
func (c Case) Normalise() Case {
	if c.DCP.World == 0 {
		c.DCP.World = 1
	}
	if c.DCP.World == 1 && c.DCP.Rank == 0 || c.DCP.Interleave == 0 {
		c.DCP.Interleave = 1
	}
	if c.Ratio == 0 {
		c.Ratio = 1
	}
	if c.LengthsStride == 0 {
		c.LengthsStride = c.NextN
	}
	if c.Layout == "" {
		c.Layout = BlockFlat
	}
	if !c.ShufflePages {
		c.PageSeed = 0
	}
	return c
}

// Canonical is the opposite of Normalise: what is at its default is left out
// (zero), except the layout, where an empty one means the kernel's own and a
// named one that layout. Two cases of the same meaning have the same canonical
// form, and so the same JSON.
func (c Case) Canonical() Case {
	c = c.normaliseKeepLayout()
	if c.DCP.World == 1 && c.DCP.Rank == 0 {
		c.DCP = DCP{}
	}
	if c.Ratio == 1 {
		c.Ratio = 0
	}
	if c.LengthsStride == c.NextN {
		c.LengthsStride = 0
	}
	return c
}

func (c Case) normaliseKeepLayout() Case {
	layout := c.Layout
	c = c.Normalise()
	c.Layout = layout
	return c
}
