// A matrix-core kernel with accumulators of its own making: one wave scores 16
// positions with 16 heads of 128 dims, block-flat cache of pages of 16. The
// test defines
//
//   CHUNK(lane_group, i)  which 8 dims lanes 16g .. 16g+15 give to instruction i
//   DOT(a)                the dots of a(i, acc): instruction i on top of acc
//
// A head's term is round(relu(dot) * weight), lane groups hold 4 heads each.
typedef unsigned char u8;
typedef int i32;
typedef long i64;
typedef unsigned long u64;
typedef float f32;
typedef f32 f32x4 __attribute__((ext_vector_type(4)));

enum { HEADS = 16, DIM = 128, PAGE = 16 };

static inline __attribute__((device)) f32 from(f32 x, i32 lane) {
  return __builtin_bit_cast(
      f32, __builtin_amdgcn_ds_bpermute(lane * 4, __builtin_bit_cast(i32, x)));
}

extern "C" __attribute__((global, amdgpu_flat_work_group_size(64, 64))) void
chains(const u8* __restrict__ q, const f32* __restrict__ weights,
       const u8* __restrict__ cache, const i32* __restrict__ block_table,
       const i32* __restrict__ lengths, f32* __restrict__ logits,
       i64 table_stride, i64 logits_stride, i32 next_n) {
  const i32 row = __builtin_amdgcn_workgroup_id_x();
  const i32 lane = __builtin_amdgcn_workitem_id_x();
  const i32 column = lane % 16, group = lane / 16;
  const i32 length = lengths[row];
  const f32x4 zero = {0.0f, 0.0f, 0.0f, 0.0f};
  for (i32 start = 0; start < length; start += PAGE) {
    const u8* page = cache + (i64)block_table[row / next_n * table_stride + start / PAGE] * (PAGE * (DIM + 4));
    const i32 slot = start + column < length ? column : 0;
    auto a = [&](i32 i, f32x4 acc) {
      const i32 d = 8 * CHUNK(group, i);
      const u64 k = *(const u64*)(page + slot * DIM + d);
      const u64 x = *(const u64*)(q + ((i64)row * HEADS + column) * DIM + d);
      return __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(x, k, acc, 0, 0, 0);
    };
    const f32x4 dot = DOT(a);
    f32 sum = 0.0f;
    for (i32 i = 0; i < 4; i++) {
      sum = sum + __builtin_fmaxf(dot[i], 0.0f) * weights[(i64)row * HEADS + 4 * group + i];
    }
    sum = sum + from(sum, lane ^ 16);
    sum = sum + from(sum, lane ^ 32);
    if (group == 0 && start + column < length) {
      logits[(i64)row * logits_stride + start + column] =
          sum * *(const f32*)(page + PAGE * DIM + 4 * column);
    }
  }
}
