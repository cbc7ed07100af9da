// A paged MQA-logits kernel whose order of operations is put together by the
// test: one thread a position, 8 heads of 8 dims, interleaved cache of one
// token a page. The test defines
//
//   DOT(h)   the dot of head h, of P(h, d) = q[h][d] * k[d]
//   TERM(h)  A(h) * B(h), the two last factors of head h's term
//   SUM      the sum over heads, of A(h) and B(h)
//   LOGIT    of SUM and the scale s
//   RELU(x)
//
// and builds it as our own kernels are built, without contraction.
typedef unsigned char u8;
typedef int i32;
typedef long i64;
typedef float f32;

enum { HEADS = 8, DIM = 8 };

static inline __attribute__((device)) f32 decode(u8 code) {
  return __builtin_amdgcn_cvt_f32_fp8(code, 0);
}

extern "C" __attribute__((global, amdgpu_flat_work_group_size(64, 64))) void
orders(const u8* __restrict__ q, const f32* __restrict__ weights,
       const u8* __restrict__ cache, const i32* __restrict__ block_table,
       const i32* __restrict__ lengths, f32* __restrict__ logits,
       i64 table_stride, i64 logits_stride, i32 next_n) {
  const i32 row = __builtin_amdgcn_workgroup_id_x();
  const i32 b = row / next_n;
  const i32 length = lengths[row];
  for (i32 pos = __builtin_amdgcn_workitem_id_x(); pos < length; pos += 64) {
    const u8* token =
        cache + (i64)block_table[b * table_stride + pos] * (DIM + 4);
    f32 k[DIM];
    for (i32 d = 0; d < DIM; d++) k[d] = decode(token[d]);
    const f32 s = *(const f32*)(token + DIM);
    f32 dot[HEADS], w[HEADS];
    for (i32 h = 0; h < HEADS; h++) {
      f32 p[DIM];
      for (i32 d = 0; d < DIM; d++) {
        p[d] = decode(q[((i64)row * HEADS + h) * DIM + d]) * k[d];
      }
      dot[h] = DOT;
      w[h] = weights[(i64)row * HEADS + h];
    }
    logits[(i64)row * logits_stride + pos] = LOGIT;
  }
}
