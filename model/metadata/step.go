package metadata

// Metadata is what the builder makes of a step. Slices are views of the
// builder's buffers or of the batch, valid until the next step; those of
// Prefill are the step's own.
//
// Fields of vLLM's metadata that no ROCm kernel reads are left out: DeepGEMM's
// schedule and the tensor-parallel row shards (CUDA only). Prefill context
// parallelism is not modelled.
type Metadata struct {
	Counts
	SlotMapping []int64   // (tokens) slot of each token, or with compression of the state it completes; -1: none
	SeqLens     []int32   // the batch's
	BlockTable  [][]int32 // the batch's; nil for a step without tokens
	Decode      *Decode   // nil without decodes
	Prefill     *Prefill  // nil without prefills
}

// Step makes the metadata of one step. An error leaves the buffers as they
// were.
func (b *Builder) Step(batch Batch) (*Metadata, error) {
	if err := batch.validate(b.cfg); err != nil {
		return nil, err
	}
	m := &Metadata{Counts: b.split(batch), SlotMapping: batch.SlotMapping, SeqLens: batch.SeqLens}
	shape := shapeOf(batch, m.Counts)
	if m.NumDecodes > 0 {
		if err := b.fits(shape); err != nil {
			return nil, err
		}
	}
	if err := b.checkSlots(batch); err != nil {
		return nil, err
	}
	if m.NumPrefills > 0 {
		var err error
		if m.Prefill, err = b.prefill(batch, m.NumDecodes); err != nil {
			return nil, err
		}
	}
	if b.cfg.CompressRatio > 1 {
		m.SlotMapping = b.compressSlots(batch)
	}
	if batch.NumActualTokens > 0 {
		m.BlockTable = batch.BlockTable
	}
	if m.NumDecodes > 0 {
		m.Decode = b.decode(batch, shape)
	}
	return m, nil
}
