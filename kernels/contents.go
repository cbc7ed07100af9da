package kernels

import (
	"encoding/binary"
	"math"

	"mqaproof/model"
)

// contents is a tensor's bytes before the run: its size and, for inputs, its
// data. Step is nil for a kernel without one.
func (t *tensor) contents(in *model.Inputs, step *model.Step) (size uint64, data []byte) {
	if t.steps != nil || step != nil && t.name == "block_table" {
		return t.stepContents(step)
	}
	b, rows := uint64(len(in.Global)), uint64(in.Rows)
	switch t.name {
	case "q":
		data = in.Q
	case "weights":
		data = floatBytes(in.Weights)
	case "cache":
		data = in.Cache.Bytes
	case "block_table":
		data = intBytes(in.BlockTable)
	case "table":
		data = tableBytes(in)
	case "per_request":
		data = intBytes(in.PerRequest)
	case "seq_lens":
		data = intBytes(in.Global)
	case "prefix":
		data = intBytes(in.Prefix)
	case "kv_indices":
		data = intBytes(in.KVIndices)
	case "logits":
		return 4 * rows * uint64(in.Width), nil
	case "head_logits":
		return 4 * uint64(in.Case.Heads) * rows * uint64(in.Width), nil
	case "per_request_out":
		return 4 * b, nil
	default: // table_out, scratch0..3
		return 4 * rows, nil
	}
	return uint64(len(data)), data
}

// tableBytes is the (B, next_n) lengths with the case's row stride. What lies
// between the rows belongs to other steps upstream; here it is a length that
// cannot pass for the row's own: 0, or 1 where the row's last length is 0.
// A kernel that takes it for a length gives a wrong mask, and never walks
// past the pages that a request has.
func tableBytes(in *model.Inputs) []byte {
	n, stride := in.Case.NextN, lengthsStride(&in.Case)
	if n == stride {
		return intBytes(in.Table)
	}
	b := make([]byte, 0, 4*len(in.Global)*stride)
	for r := range in.Global {
		row := in.Table[r*n : (r+1)*n]
		b = appendInts(b, row)
		gap := uint32(0)
		if row[n-1] == 0 {
			gap = 1
		}
		for range stride - n {
			b = binary.LittleEndian.AppendUint32(b, gap)
		}
	}
	return b
}

func intBytes(v []int32) []byte { return appendInts(make([]byte, 0, 4*len(v)), v) }

func appendInts(b []byte, v []int32) []byte {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, uint32(x))
	}
	return b
}

func floatBytes(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}
