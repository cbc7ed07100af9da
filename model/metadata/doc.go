// Package metadata is vLLM's DeepseekV32IndexerMetadataBuilder.build (vLLM
// 0.33.0, vllm/v1/attention/backends/mla/indexer.py, compressor_utils.py beside
// it, and the device kernels that they launch): from the lengths of the
// requests of a step to the lengths, block tables, slots and prefill chunks
// that the paged MQA-logits kernels read.
//
// A Builder owns persistent buffers. They keep their address, and whatever a
// step leaves unwritten, from one step to the next, as buffers captured in a
// device graph do; what Step and Build return are views of them.
//
// The arithmetic of lengths and slots (Expand, ExpandFrom, Localize, Compress,
// PrefillLength, LocalPosition, StatePlace) and the whole way of the lengths
// through the builder (Lengths) are written once over the interface Arith: the
// builder runs them with int32, and a prover runs the same functions with
// terms.
package metadata
