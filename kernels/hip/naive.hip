// naive: the plainest fp8 paged MQA-logits kernel, one thread a row.
//
// Cache layout: interleaved (a token is head_dim fp8 values, then its float32
// scale). Lengths: one per row, lengths[b * lengths_stride + j]. Positions from
// the length on are left unwritten.
//
// Order of floating-point operations (profile scalar-seq), for each position:
//   sum = +0
//   for h = 0 .. heads-1:
//     dot = +0
//     for d = 0 .. head_dim-1:  dot = fma(q[h][d], k[d], dot)
//     sum = round(sum + round(relu(dot) * weight[h]))
//   logit = round(sum * scale)
// The product of two fp8 values is exact in float32, so the fma equals a
// multiplication and an addition. relu is max(dot, 0), and 0 for NaN.
//
// q is decoded by the target's own conversion instruction, k by hand.
//
// Variants:
//   FAULT_B05  a length of 0 becomes the last position -1, then 4294967295
//   FAULT_B15  a strided view of the lengths is read as if it were contiguous
//   FAULT_B19  k is decoded as the other e4m3 format
#include "common.h"

#ifdef FAULT_B19
#define CACHE_FNUZ (!NATIVE_FNUZ)
#else
#define CACHE_FNUZ NATIVE_FNUZ
#endif

KERNEL(64) naive(const u8* __restrict__ q, const f32* __restrict__ weights,
                 const u8* __restrict__ cache,
                 const i32* __restrict__ block_table,
                 const i32* __restrict__ lengths, f32* __restrict__ logits,
                 i64 page_bytes, i64 table_stride, i64 lengths_stride,
                 i64 logits_stride, i32 rows, i32 next_n, i32 heads,
                 i32 head_dim, i32 page, i32 max_model_len) {
  const i32 row = __builtin_amdgcn_workgroup_id_x() *
                      __builtin_amdgcn_workgroup_size_x() +
                  __builtin_amdgcn_workitem_id_x();
  if (row >= rows) return;
  const i32 b = row / next_n, j = row % next_n;

#ifdef FAULT_B15
  lengths_stride = next_n;
#endif
  const i32 length = lengths[b * lengths_stride + j];

  const u8* q_row = q + (i64)row * heads * head_dim;
  const f32* weight = weights + (i64)row * heads;
  f32* out = logits + row * logits_stride;

#ifdef FAULT_B05
  const u32 last = (u32)(length - 1);
  for (i32 pos = 0; (u32)pos <= last && pos < max_model_len; pos++) {
#else
  for (i32 pos = 0; pos < length && pos < max_model_len; pos++) {
#endif
    const i64 physical = block_table[b * table_stride + pos / page];
    const u8* token =
        cache + physical * page_bytes + (i64)(pos % page) * (head_dim + 4);
    f32 sum = 0.0f;
    for (i32 h = 0; h < heads; h++) {
      const u8* q_head = q_row + (i64)h * head_dim;
      f32 dot = 0.0f;
      for (i32 d = 0; d < head_dim; d += 4) {
        const u32 qw = *(const u32*)(q_head + d);
        const u32 kw = *(const u32*)(token + d);
        dot = __builtin_fmaf(__builtin_amdgcn_cvt_f32_fp8(qw, 0),
                             decode_e4m3(kw & 255u, CACHE_FNUZ), dot);
        dot = __builtin_fmaf(__builtin_amdgcn_cvt_f32_fp8(qw, 1),
                             decode_e4m3((kw >> 8) & 255u, CACHE_FNUZ), dot);
        dot = __builtin_fmaf(__builtin_amdgcn_cvt_f32_fp8(qw, 2),
                             decode_e4m3((kw >> 16) & 255u, CACHE_FNUZ), dot);
        dot = __builtin_fmaf(__builtin_amdgcn_cvt_f32_fp8(qw, 3),
                             decode_e4m3(kw >> 24, CACHE_FNUZ), dot);
      }
      sum = sum + relu(dot) * weight[h];
    }
    out[pos] = sum * *(const f32*)(token + head_dim);
  }
}
