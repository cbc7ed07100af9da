"""A small kernel with the interface of vLLM's, for the importer's tests."""

import torch

from vllm.triton_utils import tl, triton


@triton.jit
def _request_of(query_start_loc, token, num_reqs):
    req = 0
    for r in range(0, num_reqs - 1):
        req += (tl.load(query_start_loc + r + 1) <= token).to(tl.int32)
    return req


@triton.jit(do_not_specialize=["num_reqs", "num_tokens", "capacity", "input_stride", "output_stride"])
def _indexer_decode_metadata_kernel(
    query_start_loc, seq_lens, block_table, output_seq_lens, output_block_table, decode_lens, indices, per_req_lens,
    num_reqs, num_tokens, capacity, input_stride, output_stride, BLOCK_COLS: tl.constexpr,
):
    token = tl.program_id(0)
    if token < num_reqs:
        tl.store(per_req_lens + token, tl.load(query_start_loc + token + 1) - tl.load(query_start_loc + token))
    if token >= num_tokens:
        at = num_tokens + (token - num_tokens) * 256 + tl.arange(0, 256)
        tl.store(output_seq_lens + at, 0, at < capacity)
    else:
        actual = tl.load(query_start_loc + num_reqs)
        real = token < actual
        req = _request_of(query_start_loc, token, num_reqs)
        length = tl.load(seq_lens + req) - tl.load(query_start_loc + req + 1) + token + 1
        tl.store(output_seq_lens + token, tl.where(real, length, 0))
        tl.store(decode_lens + token, 1)
        tl.store(indices + token, tl.where(real, req, num_reqs + token - actual))
        col = tl.arange(0, triton.next_power_of_2(BLOCK_COLS))
        pages = tl.load(block_table + req * input_stride + col, real & (col < BLOCK_COLS), other=0)
        tl.store(output_block_table + token * output_stride + col, pages, col < BLOCK_COLS)
