// mfma_split: 16x16x32 fp8 matrix cores, the context of a row split over
// workgroups, one length per request (the design of AITER's one-length
// kernels, written anew).
//
// Cache layout: block-flat, any page size. Row j of request b sees pos <=
// ctx[b] - next_n + j. Positions are written in tiles of 64: past the length
// as -inf, never at or past max_model_len. Only cache slots of visible
// positions are read.
//
// Work: workgroup = row * splits + split; 4 waves, each takes 16 positions of
// a tile of 64. q and the weights of the row are staged in LDS.
//
// Order of floating-point operations (profile mfma16-tree), for each position,
// with g = 0..3 (lane / 16) and i = 0..3 (result register), head = 16c + 4g + i:
//   part[g][i] = +0
//   for c = 0 .. heads/16-1:
//     acc = +0; for s = 0 .. head_dim/32-1:
//       acc = mfma_16x16x32(q[16c..][32s..32s+31], k[32s..32s+31], acc)
//     part[g][i] = fma(relu(round(acc * scale)), weight[head], part[g][i])
//   lane[g] = round(round(part[g][0] + part[g][1]) + round(part[g][2] + part[g][3]))
//   logit = round(round(lane[0] + lane[1]) + round(lane[2] + lane[3]))
// relu is max(x, 0), and 0 for NaN.
//
// Variants:
//   PER_HEAD   kernel mfma_stage1: leaves the sum over heads to its caller and
//              writes round(relu(round(acc * scale)) * weight[head]) to
//              [heads, rows, max_model_len] (profile mfma16-heads, heads summed
//              from 0 up)
//   FAULT_B02  the bound runs the wrong way: pos <= ctx - j
//   FAULT_B12  the last tile is written whole, past max_model_len
#include "common.h"

enum { TILE = 64, WAVE_TILE = 16, MAX_HEADS = 128, MAX_DIM = 128 };

#ifndef PER_HEAD
// add_xor16 adds the value of lane l ^ 16, add_xor32 that of lane l ^ 32.
DEVICE f32 add_xor16(f32 x) {
  const i32 other = __builtin_amdgcn_ds_swizzle(__builtin_bit_cast(i32, x),
                                                (16 << 10) | 31);
  return x + __builtin_bit_cast(f32, other);
}
DEVICE f32 add_xor32(f32 x, u32 lane) {
  const i32 other = __builtin_amdgcn_ds_bpermute((lane ^ 32) * 4,
                                                 __builtin_bit_cast(i32, x));
  return x + __builtin_bit_cast(f32, other);
}
#endif

// Tile is what a wave needs to score its 16 positions. Lane l works on position
// l % 16; k is that position's first value, null where it is not visible.
struct Tile {
  const u8* q;      // LDS, [heads][head_dim]
  const f32* weight; // LDS, [heads]
  const u8* k;
  f32 scale;
  i32 heads;
  u32 lane;
};

// score calls use(head, i, x) for the four heads 16c + 4*(lane/16) + i of each
// block c of 16, with x = relu(dot * scale). STEPS is head_dim / 32.
template <int STEPS, typename Use>
DEVICE void score(const Tile& t, Use use) {
  const u32 column = t.lane % 16, group = t.lane / 16;
  u64 k[STEPS];
#pragma unroll
  for (int s = 0; s < STEPS; s++) {
    k[s] = t.k ? load_u64_align4(t.k + 32 * s + 8 * group) : 0;
  }
  for (i32 c = 0; c < t.heads; c += 16) {
    const u8* q = t.q + (c + column) * (32 * STEPS) + 8 * group;
    f32x4 acc = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
      acc = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(
          *(const u64*)(q + 32 * s), k[s], acc, 0, 0, 0);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
      use(c + 4 * (i32)group + i, i, relu(acc[i] * t.scale));
    }
  }
}

template <typename Use>
DEVICE void score_any(const Tile& t, i32 head_dim, Use use) {
  if (head_dim == 128) {
    score<4>(t, use);
  } else if (head_dim == 64) {
    score<2>(t, use);
  } else {
    score<1>(t, use);
  }
}

#ifdef PER_HEAD
#define NAME mfma_stage1
#else
#define NAME mfma_split
#endif

KERNEL(256) NAME(
    const u8* __restrict__ q, const f32* __restrict__ weights,
    const u8* __restrict__ cache, const i32* __restrict__ block_table,
    const i32* __restrict__ lengths, f32* __restrict__ logits, i64 page_bytes,
    i64 table_stride, i64 logits_stride,
#ifdef PER_HEAD
    i64 head_stride,
#endif
    i32 next_n, i32 heads, i32 head_dim, i32 page, i32 max_model_len,
    i32 splits) {
  SHARED u8 q_lds[MAX_HEADS * MAX_DIM] __attribute__((aligned(16)));
  SHARED f32 w_lds[MAX_HEADS] __attribute__((aligned(16)));

  const i32 group_id = __builtin_amdgcn_workgroup_id_x();
  const i32 split = group_id % splits;
  const i32 row = group_id / splits;
  const i32 b = row / next_n, j = row % next_n;
  const u32 tid = __builtin_amdgcn_workitem_id_x();
  const u32 lane = tid % 64;
  const i32 wave = __builtin_amdgcn_readfirstlane(tid / 64);

  const i32 context = lengths[b];
  if (context <= 0) return; // a padding request
#ifdef FAULT_B02
  const i32 visible = min_i32(context - j + 1, max_model_len);
#else
  const i32 visible = min_i32(context - next_n + j + 1, max_model_len);
#endif
  // Never reads a slot past the request's own tokens, whatever the mask says.
  const i32 readable = min_i32(visible, context);

  const i32 tiles = ceil_div(max_i32(visible, 0), TILE);
  const i32 tiles_per_split = ceil_div(tiles, splits);
  const i32 first = split * tiles_per_split;
  const i32 end = min_i32(first + tiles_per_split, tiles);
  if (first >= end) return;

  const u8* q_row = q + (i64)row * heads * head_dim;
  for (i32 i = tid * 16; i < heads * head_dim; i += 256 * 16) {
    *(u32x4*)(q_lds + i) = *(const u32x4*)(q_row + i);
  }
  if ((i32)tid < heads) w_lds[tid] = weights[(i64)row * heads + tid];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");

  f32* out = logits + row * logits_stride;
  for (i32 tile = first; tile < end; tile++) {
    const i32 start = tile * TILE + wave * WAVE_TILE;
    const i32 pos = start + (i32)(lane % WAVE_TILE);
#ifdef FAULT_B12
    const bool inside = true;
#else
    const bool inside = pos < max_model_len;
#endif
    if (start >= visible) { // nothing to score for this wave
#ifdef PER_HEAD
      for (i32 h = (i32)(lane / WAVE_TILE); h < heads; h += 4) {
        if (inside) out[h * head_stride + pos] = NEG_INF;
      }
#else
      if (lane < WAVE_TILE && inside) out[pos] = NEG_INF;
#endif
      continue;
    }
    const u8* k = 0;
    f32 scale = 0.0f;
    if (pos < readable) {
      const i64 physical = block_table[b * table_stride + pos / page];
      const i32 slot = pos % page;
      const u8* base = cache + physical * page_bytes;
      k = base + (i64)slot * head_dim;
      scale = *(const f32*)(base + (i64)page * head_dim + (i64)slot * 4);
    }
    const Tile t = {q_lds, w_lds, k, scale, heads, lane};
#ifdef PER_HEAD
    score_any(t, head_dim, [&](i32 head, int, f32 x) {
      const f32 logit = pos < visible ? x * w_lds[head] : NEG_INF;
      if (inside) out[head * head_stride + pos] = logit;
    });
#else
    f32x4 part = {0.0f, 0.0f, 0.0f, 0.0f};
    score_any(t, head_dim, [&](i32 head, int i, f32 x) {
      part[i] = __builtin_fmaf(x, w_lds[head], part[i]);
    });
    f32 logit = (part[0] + part[1]) + (part[2] + part[3]);
    logit = add_xor32(add_xor16(logit), lane);
    if (pos >= visible) logit = NEG_INF;
    if (lane < WAVE_TILE && inside) out[pos] = logit;
#endif
  }
}
