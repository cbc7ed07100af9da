package metadata

// Expand is the length of the j-th of the n query tokens of a request whose
// global length, those tokens included, is length: the token sees itself and
// all before it.
//
//	max(0, length - n + 1 + j)
//
// The clamp is for padding requests, whose length is 0.
func Expand[T any, A Arith[T]](a A, length, n, j T) T {
	return a.Max(a.Int(0), a.Add(a.Add(a.Sub(length, n), a.Int(1)), j))
}

// ExpandFrom is Expand as the variable-length paths have it: a request's n
// query tokens start at flat index start, and the length is that of flat token
// i. It is not clamped: padding requests have n = 0 and so no token.
//
//	length - n - start + i + 1
func ExpandFrom[T any, A Arith[T]](a A, length, n, start, i T) T {
	return a.Add(a.Add(a.Sub(a.Sub(length, n), start), i), a.Int(1))
}

// Localize is how many of the first x positions of a request the rank holds,
// when position p lives on rank (p/interleave) % world.
//
//	base + clip(x - base*world - rank*interleave, 0, interleave)
//	base = x / interleave / world * interleave
//
// base is what every rank holds of the whole rounds below x; the clip is this
// rank's share of the round that x cuts.
func Localize[T any, A Arith[T]](a A, x, world, rank, interleave T) T {
	base := a.Mul(a.Div(a.Div(x, interleave), world), interleave)
	rest := a.Sub(x, a.Mul(base, world))
	rest = a.Sub(rest, a.Mul(rank, interleave))
	return a.Add(base, a.Min(a.Max(rest, a.Int(0)), interleave))
}

// Compress is how many states of ratio tokens are complete in length tokens.
//
//	length / ratio
func Compress[T any, A Arith[T]](a A, length, ratio T) T {
	return a.Div(length, ratio)
}
