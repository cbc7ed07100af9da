package model

// The tensors as numbers, for references. They come from the values as they
// were drawn, not from the cache's bytes, so a fault in a layout or a block
// table cannot hide in both.

// LocalLen is how many local positions (tokens, or states under compression)
// of a request this rank holds.
func (in *Inputs) LocalLen(request int) int { return in.starts[request+1] - in.starts[request] }

// LocalState is the global state (the global position, without compression) of
// a local position of a request.
func (in *Inputs) LocalState(request, pos int) int {
	return int(in.states[in.starts[request]+pos])
}

// QAt is q of a row's head and dim.
func (in *Inputs) QAt(row, head, dim int) float32 {
	return in.Format.Decode(in.Q[(row*in.Case.Heads+head)*in.Case.HeadDim+dim])
}

// KAt is k of a local position of a request.
func (in *Inputs) KAt(request, pos, dim int) float32 {
	return in.Format.Decode(in.keys[(in.starts[request]+pos)*in.Case.HeadDim+dim])
}

// ScaleAt is the scale of a local position of a request.
func (in *Inputs) ScaleAt(request, pos int) float32 { return in.scales[in.starts[request]+pos] }

// WeightAt is the weight of a row's head.
func (in *Inputs) WeightAt(row, head int) float32 { return in.Weights[row*in.Case.Heads+head] }

// QCodes are the fp8 codes of a row, [Heads, HeadDim], a view.
func (in *Inputs) QCodes(row int) []byte {
	n := in.Case.Heads * in.Case.HeadDim
	return in.Q[row*n : (row+1)*n : (row+1)*n]
}

// KCodes are the fp8 codes of a request, [LocalLen, HeadDim], a view.
func (in *Inputs) KCodes(request int) []byte {
	lo, hi := in.starts[request]*in.Case.HeadDim, in.starts[request+1]*in.Case.HeadDim
	return in.keys[lo:hi:hi]
}

// Scales are the scales of a request, [LocalLen], a view.
func (in *Inputs) Scales(request int) []float32 {
	lo, hi := in.starts[request], in.starts[request+1]
	return in.scales[lo:hi:hi]
}

// WeightRow are the weights of a row, [Heads], a view.
func (in *Inputs) WeightRow(row int) []float32 {
	n := in.Case.Heads
	return in.Weights[row*n : (row+1)*n : (row+1)*n]
}

// QMatrix is a row's q as float64, [Heads, HeadDim] row-major, new.
func (in *Inputs) QMatrix(row int) []float64 { return in.float64s(in.QCodes(row)) }

// KMatrix is a request's k as float64, [LocalLen, HeadDim] row-major, new.
func (in *Inputs) KMatrix(request int) []float64 { return in.float64s(in.KCodes(request)) }

func (in *Inputs) float64s(codes []byte) []float64 {
	var decode [256]float64
	for b := range decode {
		decode[b] = float64(in.Format.Decode(byte(b)))
	}
	out := make([]float64, len(codes))
	for i, b := range codes {
		out[i] = decode[b]
	}
	return out
}
