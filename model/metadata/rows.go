package metadata

// PrefillLength is how many states the i-th of a request's n prefill tokens
// sees on this rank. Length is the request's global length, those tokens
// included. The states that are complete come first and are then localized:
// interleave counts states here, where Localize after Expand counts tokens.
//
//	Localize((length - n + 1 + i) / ratio)
func PrefillLength[T any, A Arith[T]](a A, length, n, i, ratio, world, rank, interleave T) T {
	context := a.Add(a.Add(a.Sub(length, n), a.Int(1)), i)
	return Localize(a, Compress(a, context, ratio), world, rank, interleave)
}

// LocalPosition is the place of position pos among those of its rank.
//
//	pos / (interleave*world) * interleave + pos mod interleave
func LocalPosition[T any, A Arith[T]](a A, pos, world, interleave T) T {
	round := a.Div(pos, a.Mul(interleave, world))
	return a.Add(a.Mul(round, interleave), Mod(a, pos, interleave))
}

// Unfinished is 0 where the token at pos completes a state of ratio tokens.
//
//	(pos + 1) mod ratio
func Unfinished[T any, A Arith[T]](a A, pos, ratio T) T {
	return Mod(a, a.Add(pos, a.Int(1)), ratio)
}

// StatePlace is where the state of the token at pos lies on its rank: the
// logical page and the place within it, of pages of pageStates states.
func StatePlace[T any, A Arith[T]](a A, pos, ratio, world, interleave, pageStates T) (page, offset T) {
	state := Compress(a, LocalPosition(a, pos, world, interleave), ratio)
	return a.Div(state, pageStates), Mod(a, state, pageStates)
}
