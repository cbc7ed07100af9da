"""A small Gluon kernel with the interface of AITER's, for the importer's tests."""

import torch
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from aiter.nowhere import get_cdna_version

try:
    _ASKED = get_cdna_version()
    _LANES = tl.constexpr(64 if _ASKED in (3, 4) else 32)
except NameError:
    _LANES = tl.constexpr(0)


@triton.jit
def _add(a, b):
    return a + b


@gluon.jit
def _gluon_deepgemm_fp8_paged_mqa_logits(
    batch_size, next_n, heads_num,
    Q_buffer, stride_q_batch, stride_q_next_n, stride_q_heads,
    KV_buffer, stride_k_seq, scale_buffer, stride_scale_seq,
    context_len_ptr, kv_indices, weights, stride_w_batch,
    OutLogits_buffer, stride_out_batch, max_model_len, max_block_len, num_block, SplitKV: gl.constexpr,
    ChunkQ: tl.constexpr, ChunkK: tl.constexpr, HiddenDim: tl.constexpr, KVBlockSize: tl.constexpr = 1,
    CDNA_VERSION: gl.constexpr = 3, ARCH: gl.constexpr = "gfx942",
):
    layout: gl.constexpr = gl.BlockedLayout([1], [_LANES], [4], [0])
    head = gl.arange(0, ChunkQ, layout=layout)
    weight = gl.amd.cdna3.buffer_load(ptr=weights, offsets=head)
    total = gl.reduce(weight, axis=0, combine_fn=_add)
    if gl.load(context_len_ptr) <= max_block_len - SplitKV:
        gl.store(OutLogits_buffer, total)
