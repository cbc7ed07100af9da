"""A small kernel with the interface of vLLM's, for the importer's tests."""

import torch

from vllm.model_executor.nowhere import Warmup
from vllm.triton_utils import tl, triton


class CompressedSlotMappingKernel(Warmup["CompressedSlotMappingKernel.Key"]):
    @staticmethod
    @triton.jit(do_not_specialize=["block_table_stride"])
    def kernel(
        compressed_slot_mapping_ptr, slot_mapping_ptr, query_start_loc_ptr, seq_lens_ptr, block_table_ptr, block_table_stride,
        block_size, dcp_world_size, cp_interleave, COMPRESS_RATIO: tl.constexpr, PAD_ID: tl.constexpr, TRITON_BLOCK_SIZE: tl.constexpr,
    ):
        req = tl.program_id(0)
        first = tl.load(query_start_loc_ptr + req)
        n = tl.load(query_start_loc_ptr + req + 1) - first
        for i in range(0, n, TRITON_BLOCK_SIZE):
            token = i + tl.arange(0, TRITON_BLOCK_SIZE)
            pos = tl.load(seq_lens_ptr + req) - n + token
            own = tl.load(slot_mapping_ptr + first + token, token < n, other=PAD_ID)
            ends = (own != PAD_ID) & ((pos + 1) % COMPRESS_RATIO == 0)
            state = (pos // (cp_interleave * dcp_world_size) * cp_interleave + pos % cp_interleave) // COMPRESS_RATIO
            page = tl.load(block_table_ptr + req * block_table_stride + state // block_size, (token < n) & ends, other=0)
            slot = page.to(tl.int64) * block_size + state % block_size
            tl.store(compressed_slot_mapping_ptr + first + token, tl.where(ends, slot, PAD_ID), token < n)
