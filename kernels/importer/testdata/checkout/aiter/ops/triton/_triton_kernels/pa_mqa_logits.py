"""Small kernels with the interfaces of AITER's, for the importer's tests.

The imports below must never run: the test machine has no torch, and the package
that they name does not exist.
"""

import torch
import triton
import triton.language as tl

from aiter.nowhere import decorate, helper, tl_extra

try:
    from triton.nowhere import hint
except ImportError:

    @triton.jit
    def hint(x):
        return x


DEFAULT = torch.device("cuda")
STEP: tl.constexpr = tl.constexpr(1)
WORD = tl.constexpr(STEP.value * 4)


def launcher(q):
    return helper(q, tl_extra)


@triton.jit
def _rectify(x):
    return tl.maximum(hint(x), 0.0)


@triton.jit
def _row_logits(Q, K, W, heads, ChunkQ: tl.constexpr, HiddenDim: tl.constexpr):
    helper = tl.arange(0, HiddenDim)
    head = tl.arange(0, ChunkQ)
    q = tl.load(Q + head[:, None] * HiddenDim + helper[None, :]).to(tl.float32)
    k = tl.load(K + helper).to(tl.float32)
    dots = tl.sum(q * k[None, :], axis=1)
    return tl.sum(_rectify(dots) * tl.load(W + head), axis=0)


@decorate
@triton.jit
def _deepgemm_fp8_paged_mqa_logits(
    batch_size, next_n, heads_num,
    Q_buffer, stride_q_batch, stride_q_next_n, stride_q_heads,
    KV_buffer, stride_k_seq, scale_buffer, stride_scale_seq,
    context_len_ptr, kv_indices, weights, stride_w_batch,
    OutLogits_buffer, stride_out_batch: tl.int64, max_model_len, max_blk_len,
    ChunkQ: tl.constexpr, ChunkK: tl.constexpr, HiddenDim: tl.constexpr, SplitKV: tl.constexpr = 1,
):
    row = tl.program_id(0) % (batch_size * next_n)
    split = tl.program_id(0) // (batch_size * next_n)
    pid_next_n = row % next_n
    request = row // next_n
    context_length = tl.load(context_len_ptr + request)
    for pos in range(split, context_length, SplitKV * STEP):
        slot = tl.load(kv_indices + request * max_blk_len + pos)
        logit = _row_logits(
            Q_buffer + request * stride_q_batch + pid_next_n * stride_q_next_n,
            KV_buffer + slot * stride_k_seq, weights + row * stride_w_batch, heads_num, ChunkQ, HiddenDim)
        logit = logit * tl.load(scale_buffer + slot * stride_scale_seq)
        logit = tl.where(pos <= context_length - next_n + pid_next_n, logit, float("-inf"))
        tl.store(OutLogits_buffer + row * stride_out_batch + pos, logit, mask=pos < max_model_len)


@triton.jit()
def _deepgemm_fp8_paged_mqa_logits_stage1(
    batch_size, next_n, heads_num,
    Q_buffer, stride_q_batch, stride_q_next_n, stride_q_heads,
    KV_buffer, stride_k_seq, scale_buffer, stride_scale_seq,
    context_len_ptr, kv_indices, weights, stride_w_batch,
    Out_buffer, stride_out_heads, stride_out_batch, max_model_len, max_blk_len,
    ChunkQ: tl.constexpr, ChunkK: tl.constexpr, HiddenDim: tl.constexpr, SplitKV: tl.constexpr = 1,
):
    pid_next_n = tl.program_id(0) % next_n
    context_length = tl.load(context_len_ptr + tl.program_id(0) // next_n)
    inside = tl.arange(0, ChunkK) <= context_length - pid_next_n
    tl.store(Out_buffer + tl.arange(0, ChunkK), tl.where(inside, 0.0, float("-inf")))


@triton.jit
def _deepgemm_fp8_paged_mqa_logits_ragged_k(
    batch_size, next_n, heads_num,
    Q_buffer, stride_q_batch, stride_q_next_n, stride_q_heads,
    KV_buffer, stride_k_seq, scale_buffer, stride_scale_seq,
    prefix_sum_context_lens, kv_indices, weights, stride_w_batch,
    OutLogits_buffer, stride_out_batch, max_model_len, novelty,
    ChunkQ: tl.constexpr, ChunkK: tl.constexpr, HiddenDim: tl.constexpr, SplitKV: tl.constexpr = 1,
):
    tl.store(OutLogits_buffer, novelty)


@triton.jit
def _deepgemm_fp8_paged_mqa_logits_stage1_ragged_k(
    batch_size, next_n, heads_num,
    Q_buffer, stride_q_batch, stride_q_next_n, stride_q_heads,
    KV_buffer, stride_k_seq, scale_buffer, stride_scale_seq,
    prefix_sum_context_lens, kv_indices, weights, stride_w_batch,
    Out_buffer, stride_out_heads, stride_out_batch, max_model_len,
    ChunkQ: tl.constexpr, ChunkK: tl.constexpr, HiddenDim: tl.constexpr, SplitKV: tl.constexpr = 1,
):
    tl.store(Out_buffer, tl_extra.zero(Q_buffer))
