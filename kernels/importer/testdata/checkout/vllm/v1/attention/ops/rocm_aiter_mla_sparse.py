"""A small kernel with the interface of vLLM's, for the importer's tests."""

import torch

from vllm.triton_utils import tl, triton

DTYPE = torch.float8_e4m3fnuz


@triton.jit
def _fp8_paged_mqa_logits_decode_kernel(
    q_ptr, kv_val_ptr, kv_scale_ptr, weights_ptr, ctx_lens_ptr, block_tables_ptr, logits_ptr,
    stride_q_b, stride_q_n, stride_q_h, stride_w_row, stride_kvblk_fp8, stride_kvblk_f32, scale_region_off,
    stride_bt_b, stride_logits_row, max_blocks, max_model_len,
    NUM_HEADS: tl.constexpr, HEAD_SIZE: tl.constexpr, BLOCK_SIZE: tl.constexpr, BLOCK_KV: tl.constexpr,
    N_SPLITS: tl.constexpr, NEXT_N: tl.constexpr, CTX_PER_ROW: tl.constexpr,
):
    row = tl.program_id(0)
    if CTX_PER_ROW:
        length = tl.load(ctx_lens_ptr + row)
    else:
        length = tl.load(ctx_lens_ptr + row // NEXT_N) - NEXT_N + row % NEXT_N + 1
    pos = tl.program_id(1) * BLOCK_KV + tl.arange(0, BLOCK_KV)
    tl.store(logits_ptr + row * stride_logits_row + pos, pos * 1.0, mask=pos < tl.minimum(length, max_model_len))
