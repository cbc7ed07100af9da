package model

// A preshuffled page is cut into tiles of 16 tokens by 16 dims (AITER's Gluon
// kernels), so that a matrix-core fragment is one contiguous read.
const (
	tileTokens = 16
	tileDims   = 16
)

const scaleBytes = 4 // a float32 per token

// Geometry is where a paged cache holds what: byte addresses of values and
// scales. The zero value is of no use.
type Geometry struct {
	Layout  Layout
	Page    int // tokens (states) of a page
	HeadDim int
}

// PageBytes is the size of one page: Page*(HeadDim+4) in every layout.
func (g Geometry) PageBytes() int { return g.Page * (g.HeadDim + scaleBytes) }

// ValueOffset is the byte of value dim of the token-th token of a physical
// page. token < Page, dim < HeadDim.
func (g Geometry) ValueOffset(page, token, dim int) int {
	base := page * g.PageBytes()
	switch g.Layout {
	case Interleaved:
		return base + token*(g.HeadDim+scaleBytes) + dim
	case Preshuffled:
		return base + token/tileTokens*tileTokens*g.HeadDim + dim/tileDims*tileTokens*tileDims +
			token%tileTokens*tileDims + dim%tileDims
	default:
		return base + token*g.HeadDim + dim
	}
}

// ScaleOffset is the first of the four bytes (little-endian float32) of the
// scale of the token-th token of a physical page.
func (g Geometry) ScaleOffset(page, token int) int {
	base := page * g.PageBytes()
	if g.Layout == Interleaved {
		return base + token*(g.HeadDim+scaleBytes) + g.HeadDim
	}
	return base + g.Page*g.HeadDim + token*scaleBytes
}
