// Package importer compiles the paged MQA-logits kernels that AITER and vLLM
// ship, and those of vLLM's metadata builder, from the packages on the user's machine, and writes each as a manifest
// and a code object that package kernels loads. Nothing of the packages is
// imported as Python: compile.py takes a kernel out of its file by syntax tree.
//
// A manifest says what a kernel's caller does, so this package knows how each
// kernel is launched. The sources of those facts:
//
//   - AITER's Triton kernels: aiter/ops/triton/pa_mqa_logits.py of amd-aiter
//     0.1.7.post2.dev18, and aiter/ops/triton/attention/pa_mqa_logits.py of
//     later checkouts;
//   - AITER's Gluon kernels: the latter, _compile_deepgemm_fp8_paged_mqa_logits;
//   - vLLM's block-flat kernel: rocm_fp8_paged_mqa_logits_triton in
//     vllm/v1/attention/ops/rocm_aiter_mla_sparse.py of vllm 0.33.0;
//   - vLLM's kernels of the metadata builder: DeepseekV32IndexerMetadataBuilder
//     and build_prefill_chunk_metadata in vllm/v1/attention/backends/mla/indexer.py,
//     and get_compressed_slot_mapping in compressor_utils.py beside it.
//
// Parameters are matched by name, and a name that is not known here stops the
// import of that kernel: its interface has changed. What may differ between
// versions and changes a manifest is read from the source itself: which way
// the row bound runs, and whether stores are cut at max_model_len.
package importer
