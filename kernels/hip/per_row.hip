// per_row: 32x32x16 fp8 matrix cores, one length per row (reads the table
// through its row stride).
//
// Cache layout: block-flat, any page size. Positions from the length on are
// left unwritten.
//
// Work: grid (split, row); 2 waves, each takes 32 positions of a tile of 64.
// Positions are the matrix rows and heads the columns, so the sum over heads
// runs across lanes (DPP). q is read through a buffer resource: a head that
// does not exist (heads = 16) is an out-of-range offset and reads as 0.
//
// Order of floating-point operations (profile mfma32-lanes), for each position,
// with m = 0..31 (head within a block of 32):
//   part[m] = +0
//   for c = 0 .. ceil(heads/32)-1:
//     acc = +0; for s = 0 .. head_dim/16-1:
//       acc = mfma_32x32x16(k[16s..16s+15], q[32c..][16s..16s+15], acc)
//     part[m] = round(part[m] + round(relu(acc) * weight[32c + m]))
//   (q and weight of a head >= heads count as 0)
//   for x = 1, 2, 4, 8, 16:  part[m] = round(part[m] + part[m ^ x])  all at once
//   logit = round(part[0] * scale)
// relu is max(x, 0), and 0 for NaN.
//
// Variants:
//   WIDE       kernel per_row_wide, gfx950 only: mfma_f32_32x32x64_f8f6f4, unscaled,
//              with head_dim/64 steps in place of head_dim/16
//   FAULT_B08  the last tile is not written unless it is full
#include "common.h"

enum { TILE = 64, WAVE_TILE = 32 };

template <int CONTROL>
DEVICE f32 add_dpp(f32 x) {
  const i32 bits = __builtin_bit_cast(i32, x);
  const i32 other =
      __builtin_amdgcn_update_dpp(0, bits, CONTROL, 0xf, 0xf, true);
  return x + __builtin_bit_cast(f32, other);
}

// sum_32 adds over the 32 lanes of each half of the wave; every lane gets the
// sum. Once groups of 2^n lanes hold equal values, a mirror of 2^(n+1) lanes
// is the exchange with lane ^ 2^n.
DEVICE f32 sum_32(f32 x) {
  x = add_dpp<0xb1>(x);  // quad_perm [1,0,3,2]
  x = add_dpp<0x4e>(x);  // quad_perm [2,3,0,1]
  x = add_dpp<0x141>(x); // row_half_mirror
  x = add_dpp<0x140>(x); // row_mirror
#if defined(__gfx950__)
  const u32 bits = __builtin_bit_cast(u32, x);
  const auto swapped = __builtin_amdgcn_permlane16_swap(bits, bits, false, false);
  // Copies first: clang 22 reads element 0 for a bit cast of any element.
  const u32 even = swapped[0], odd = swapped[1];
  return __builtin_bit_cast(f32, even) + __builtin_bit_cast(f32, odd);
#else
  const i32 other = __builtin_amdgcn_ds_swizzle(__builtin_bit_cast(i32, x),
                                                (16 << 10) | 31);
  return x + __builtin_bit_cast(f32, other);
#endif
}

// STEP is how many dims one matrix-core instruction takes. A lane gives it STEP/2
// values of its row or column, from STEP/2 * (lane / 32) on.
#ifdef WIDE
#define NAME per_row_wide
enum { STEP = 64 };
typedef i32 Operand __attribute__((ext_vector_type(8)));

DEVICE Operand load_k(const u8* p) {
  struct __attribute__((packed, aligned(4))) words {
    Operand v;
  };
  return ((const words*)p)->v;
}
DEVICE Operand load_q(__amdgpu_buffer_rsrc_t q, u32 offset) {
  const u32x4 lo = __builtin_amdgcn_raw_buffer_load_b128(q, offset, 0, 0);
  const u32x4 hi = __builtin_amdgcn_raw_buffer_load_b128(q, offset + 16, 0, 0);
  return (Operand){(i32)lo.x, (i32)lo.y, (i32)lo.z, (i32)lo.w,
                   (i32)hi.x, (i32)hi.y, (i32)hi.z, (i32)hi.w};
}
DEVICE f32x16 multiply(Operand k, Operand q, f32x16 acc) {
  // Formats 0: both e4m3. Constant scales of 0 select the unscaled form.
  return __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(k, q, acc, 0, 0, 0, 0,
                                                         0, 0);
}
#else
#define NAME per_row
enum { STEP = 16 };
typedef u64 Operand;

DEVICE Operand load_k(const u8* p) { return load_u64_align4(p); }
DEVICE Operand load_q(__amdgpu_buffer_rsrc_t q, u32 offset) {
  return __builtin_bit_cast(
      u64, __builtin_amdgcn_raw_buffer_load_b64(q, offset, 0, 0));
}
DEVICE f32x16 multiply(Operand k, Operand q, f32x16 acc) {
  return __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(k, q, acc, 0, 0, 0);
}
#endif

KERNEL(128) NAME(const u8* __restrict__ q, const f32* __restrict__ weights,
                 const u8* __restrict__ cache,
                 const i32* __restrict__ block_table,
                 const i32* __restrict__ lengths, f32* __restrict__ logits,
                 i64 page_bytes, i64 table_stride, i64 lengths_stride,
                 i64 logits_stride, i32 next_n, i32 heads, i32 head_dim,
                 i32 page, i32 max_model_len, i32 splits) {
  const i32 split = __builtin_amdgcn_workgroup_id_x();
  const i32 row = __builtin_amdgcn_workgroup_id_y();
  const i32 b = row / next_n, j = row % next_n;
  const u32 tid = __builtin_amdgcn_workitem_id_x();
  const u32 lane = tid % 64, column = lane % 32, half = lane / 32;
  const i32 wave = __builtin_amdgcn_readfirstlane(tid / 64);

  const i32 length =
      min_i32(lengths[b * lengths_stride + j], max_model_len);
#ifdef FAULT_B08
  const i32 tiles = length / TILE;
#else
  const i32 tiles = ceil_div(length, TILE);
#endif
  const i32 tiles_per_split = ceil_div(tiles, splits);
  const i32 first = split * tiles_per_split;
  const i32 end = min_i32(first + tiles_per_split, tiles);

  // A raw buffer over the row's q; 0x27000 is a plain 32-bit data format.
  const u32 q_bytes = (u32)(heads * head_dim);
  auto q_row = __builtin_amdgcn_make_buffer_rsrc(
      (void*)(q + (i64)row * heads * head_dim), 0, q_bytes, 0x27000);
  const f32* weight = weights + (i64)row * heads;
  f32* out = logits + row * logits_stride;
  const i32* pages = block_table + b * table_stride;

  for (i32 tile = first; tile < end; tile++) {
    const i32 start = tile * TILE + wave * WAVE_TILE;
    if (start >= length) break;

    // This lane feeds the matrix core with position start + column.
    const u8* k = 0;
    if (start + (i32)column < length) {
      const i32 pos = start + (i32)column;
      k = cache + pages[pos / page] * page_bytes + (i64)(pos % page) * head_dim +
          STEP / 2 * half;
    }
    f32x16 part = 0.0f;
    for (i32 c = 0; c < heads; c += 32) {
      const i32 head = c + (i32)column;
      const bool exists = head < heads;
      const u32 q_offset =
          exists ? (u32)(head * head_dim) + STEP / 2 * half : 0x80000000u;
      const f32 w = exists ? weight[head] : 0.0f;
      f32x16 acc = 0.0f;
      for (i32 d = 0; d < head_dim; d += STEP) {
        acc = multiply(k ? load_k(k + d) : (Operand)0, load_q(q_row, q_offset + d),
                       acc);
      }
#pragma unroll
      for (int i = 0; i < 16; i++) part[i] = part[i] + relu(acc[i]) * w;
    }

    // Register i of this half holds position 8*(i/4) + 4*half + i%4, equal in
    // all 32 lanes: lane i stores it.
    f32 sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 16; i++) {
      const f32 total = sum_32(part[i]);
      if ((i32)column == i) sum = total;
    }
    const i32 i = (i32)column;
    const i32 pos = start + 8 * (i / 4) + 4 * (i32)half + i % 4;
    if (i < 16 && pos < length) {
      const u8* scales =
          cache + pages[pos / page] * page_bytes + (i64)page * head_dim;
      out[pos] = sum * *(const f32*)(scales + (i64)(pos % page) * 4);
    }
  }
}
