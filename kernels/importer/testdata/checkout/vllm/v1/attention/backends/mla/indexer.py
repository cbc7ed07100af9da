"""Small kernels with the interfaces of vLLM's, for the importer's tests."""

import torch

from vllm.model_executor.nowhere import Warmup
from vllm.triton_utils import tl, triton


class PrepareUniformDecodeKernel(Warmup["PrepareUniformDecodeKernel.Key"]):
    BLOCK_SIZE = 1024

    @staticmethod
    @triton.jit
    def kernel(
        seq_lens_ptr, decode_seq_lens_ptr, block_table_ptr, block_table_stride, expanded_block_table_ptr, expanded_bt_stride,
        decode_lens_ptr, max_decode_len, BLOCK_SIZE: tl.constexpr,
    ):
        token = tl.program_id(0)
        req = token // max_decode_len
        length = tl.load(seq_lens_ptr + req) - max_decode_len + token % max_decode_len + 1
        tl.store(decode_seq_lens_ptr + token, tl.maximum(length, 0))
        tl.store(decode_lens_ptr + token, 1)
        for first in range(0, expanded_bt_stride, BLOCK_SIZE):
            col = first + tl.arange(0, BLOCK_SIZE)
            pages = tl.load(block_table_ptr + req * block_table_stride + col, col < expanded_bt_stride)
            tl.store(expanded_block_table_ptr + token * expanded_bt_stride + col, pages, col < expanded_bt_stride)


class BuildPrefillChunkMetadataKernel(Warmup["BuildPrefillChunkMetadataKernel.Key"]):
    @staticmethod
    @triton.jit
    def kernel(
        query_start_loc_ptr, uncompressed_seq_lens_ptr, cu_compressed_seq_lens_ptr, row_start_cu_compressed_seq_lens_ptr,
        token_to_seq_ptr, cu_compressed_seq_len_ks_ptr, cu_compressed_seq_len_ke_ptr, query_slice_start, query_slice_stop,
        DCP_RANK, DCP_WORLD, DCP_INTERLEAVE, BLOCK_SIZE: tl.constexpr, COMPRESS_RATIO: tl.constexpr,
    ):
        req = tl.program_id(0)
        first = tl.load(query_start_loc_ptr + req)
        n = tl.load(query_start_loc_ptr + req + 1) - first
        row_start = tl.load(row_start_cu_compressed_seq_lens_ptr + req)
        for i in range(0, n, BLOCK_SIZE):
            row = i + tl.arange(0, BLOCK_SIZE)
            at = first + row - query_slice_start
            mine = (row < n) & (at >= 0) & (at < query_slice_stop - query_slice_start)
            states = (tl.load(uncompressed_seq_lens_ptr + req) - n + 1 + row) // COMPRESS_RATIO
            rounds = states // (DCP_INTERLEAVE * DCP_WORLD) * DCP_INTERLEAVE
            rest = states - rounds * DCP_WORLD - DCP_RANK * DCP_INTERLEAVE
            seen = rounds + tl.minimum(tl.maximum(rest, 0), DCP_INTERLEAVE)
            tl.store(cu_compressed_seq_len_ks_ptr + at, row_start, mine)
            tl.store(cu_compressed_seq_len_ke_ptr + at, row_start + seen, mine)
        start = tl.load(cu_compressed_seq_lens_ptr + req)
        end = tl.load(cu_compressed_seq_lens_ptr + req + 1)
        for i in range(start, end, BLOCK_SIZE):
            at = i + tl.arange(0, BLOCK_SIZE)
            tl.store(token_to_seq_ptr + at, req, at < end)
