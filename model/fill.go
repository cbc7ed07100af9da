package model

import (
	"encoding/binary"
	"math"
)

// poisonScale is the NaN that scales of unwritten slots hold; its payload
// tells it from a NaN of arithmetic in a dump.
const poisonScale = 0x7fc0dead

// fillCache writes the null page (zeros), the tokens, and NaN everywhere else.
func (in *Inputs) fillCache() {
	cache, c := &in.Cache, in.Case
	size := cache.Pages * cache.PageBytes
	cache.Bytes = make([]byte, size)
	cache.Defined = make([]bool, size)
	for i := range cache.PageBytes {
		cache.Defined[i] = true
	}
	unwritten := cache.Bytes[cache.PageBytes:]
	for i := range unwritten {
		unwritten[i] = in.Format.NaN()
	}
	for page := 1; page < cache.Pages; page++ {
		for token := range c.Page {
			binary.LittleEndian.PutUint32(cache.Bytes[cache.Geometry.ScaleOffset(page, token):], poisonScale)
		}
	}
	for i := range c.Requests {
		for pos := range in.LocalLen(i) {
			page, token := in.Slot(i, pos)
			s := in.starts[i] + pos
			cache.writeToken(page, token, in.keys[s*c.HeadDim:(s+1)*c.HeadDim], in.scales[s])
		}
	}
}

// writeToken stores the values and the scale of one slot.
func (c *Cache) writeToken(page, token int, values []byte, scale float32) {
	run := len(values) // bytes that lie together
	if c.Geometry.Layout == Preshuffled {
		run = tileDims
	}
	for d := 0; d < len(values); d += run {
		o := c.Geometry.ValueOffset(page, token, d)
		copy(c.Bytes[o:o+run], values[d:d+run])
		c.define(o, run)
	}
	o := c.Geometry.ScaleOffset(page, token)
	binary.LittleEndian.PutUint32(c.Bytes[o:], math.Float32bits(scale))
	c.define(o, scaleBytes)
}

func (c *Cache) define(from, n int) {
	for i := from; i < from+n; i++ {
		c.Defined[i] = true
	}
}
