// One kernel for each fp8 matrix instruction: workgroup t, a single wave, runs
// the instruction once on tile t.
//
//   a, b  [tiles][N][K] fp8: rows of A, columns of B
//   c, d  [tiles][N][N] float32, row by row
//
// Lane l holds row (A) or column (B) l % N, and of it the K*N/64 bytes from
// l/N * K*N/64 on. In a 16x16 result lane l holds column l % 16, rows
// 4*(l/16) + i; in a 32x32 one column l % 32, rows 8*(i/4) + 4*(l/32) + i%4.
typedef unsigned int u32;
typedef unsigned char u8;
typedef long i64;
typedef float f32;
typedef f32 f32x4 __attribute__((ext_vector_type(4)));
typedef f32 f32x16 __attribute__((ext_vector_type(16)));
typedef int i32x8 __attribute__((ext_vector_type(8)));

#define KERNEL \
  extern "C" __attribute__((global, amdgpu_flat_work_group_size(64, 64))) void
#define DEVICE static inline __attribute__((device, always_inline))

template <int N>
DEVICE int row(int lane, int i) {
  return N == 16 ? 4 * (lane / 16) + i : 8 * (i / 4) + 4 * (lane / 32) + i % 4;
}

template <int N, int K, typename Fragment, typename Result, typename Use>
DEVICE void probe(const u8* a, const u8* b, const f32* c, f32* d, Use use) {
  const i64 tile = __builtin_amdgcn_workgroup_id_x();
  const int lane = __builtin_amdgcn_workitem_id_x();
  const i64 at = tile * N * K + lane % N * K + lane / N * (K * N / 64);
  static_assert(sizeof(Fragment) == K * N / 64, "a lane's share of a tile");
  Result acc;
#pragma unroll
  for (int i = 0; i < N * N / 64; i++) {
    acc[i] = c[tile * N * N + row<N>(lane, i) * N + lane % N];
  }
  acc = use(*(const Fragment*)(a + at), *(const Fragment*)(b + at), acc);
#pragma unroll
  for (int i = 0; i < N * N / 64; i++) {
    d[tile * N * N + row<N>(lane, i) * N + lane % N] = acc[i];
  }
}

KERNEL probe_16x16x32(const u8* a, const u8* b, const f32* c, f32* d) {
  probe<16, 32, i64, f32x4>(a, b, c, d, [](i64 x, i64 y, f32x4 acc) {
    return __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(x, y, acc, 0, 0, 0);
  });
}

KERNEL probe_32x32x16(const u8* a, const u8* b, const f32* c, f32* d) {
  probe<32, 16, i64, f32x16>(a, b, c, d, [](i64 x, i64 y, f32x16 acc) {
    return __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(x, y, acc, 0, 0, 0);
  });
}

#if defined(__gfx950__)
// Formats 0 are e4m3 for A and B; scales of 0 with an op_sel of 0 select the
// unscaled instruction.
KERNEL probe_16x16x128(const u8* a, const u8* b, const f32* c, f32* d) {
  probe<16, 128, i32x8, f32x4>(a, b, c, d, [](i32x8 x, i32x8 y, f32x4 acc) {
    return __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(x, y, acc, 0, 0, 0, 0, 0, 0);
  });
}

KERNEL probe_32x32x64(const u8* a, const u8* b, const f32* c, f32* d) {
  probe<32, 64, i32x8, f32x16>(a, b, c, d, [](i32x8 x, i32x8 y, f32x16 acc) {
    return __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(x, y, acc, 0, 0, 0, 0, 0, 0);
  });
}
#endif
