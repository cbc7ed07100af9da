// Package metadata is the decode part of vLLM's
// DeepseekV32IndexerMetadataBuilder.build (vLLM 0.33.0,
// vllm/v1/attention/backends/mla/indexer.py): from the lengths of the requests
// of a step to the lengths, block table and companions that the paged
// MQA-logits kernel reads.
//
// A Builder owns persistent buffers. They keep their address, and whatever a
// step leaves unwritten, from one step to the next, as buffers captured in a
// device graph do; what Build returns are views of them.
//
// The arithmetic of the lengths (Expand, ExpandFrom, Localize, Compress) is
// written once over the interface Arith: the builder runs it with int32, and a
// prover can run the same functions with terms.
package metadata
