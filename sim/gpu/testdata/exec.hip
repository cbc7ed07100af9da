// Kernels of exec_hip_test.go: each thread computes one element.
#define KERNEL extern "C" __attribute__((global))
typedef unsigned u32;
typedef unsigned long long u64;
typedef long long i64;
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f16v __attribute__((ext_vector_type(16)));
typedef int i8v __attribute__((ext_vector_type(8)));
#define I() (__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x())

KERNEL void int_division(int *out, const int *a, const int *b) {
  int i = I();
  int x = a[i], y = b[i];
  u32 ux = x, uy = y;
  out[4 * i + 0] = y == 0 || (x == (int)0x80000000 && y == -1) ? 0 : x / y;
  out[4 * i + 1] = y == 0 || (x == (int)0x80000000 && y == -1) ? 0 : x % y;
  out[4 * i + 2] = y == 0 ? 0 : ux / uy;
  out[4 * i + 3] = y == 0 ? 0 : ux % uy;
}

KERNEL void long_division(i64 *out, const i64 *a, const i64 *b) {
  int i = I();
  i64 x = a[i], y = b[i];
  u64 ux = x, uy = y;
  bool bad = y == 0 || (x == (i64)0x8000000000000000 && y == -1);
  out[4 * i + 0] = bad ? 0 : x / y;
  out[4 * i + 1] = bad ? 0 : x % y;
  out[4 * i + 2] = y == 0 ? 0 : ux / uy;
  out[4 * i + 3] = x * y;
}

KERNEL void bits(u64 *out, const u64 *a, const u64 *b) {
  int i = I();
  u64 x = a[i], y = b[i];
  u32 lo = x, hi = x >> 32, s = y & 31;
  out[8 * i + 0] = __builtin_popcountll(x) + 100 * __builtin_popcount(lo);
  out[8 * i + 1] = (x ? __builtin_clzll(x) : 64) + 100 * (lo ? __builtin_ctz(lo) : 32);
  out[8 * i + 2] = __builtin_bitreverse64(x);
  out[8 * i + 3] = x << (y & 63) ^ x >> (y & 63) ^ (u64)((i64)x >> (y & 63));
  out[8 * i + 4] = (u64)lo * hi;
  out[8 * i + 5] = (u64)((i64)(int)lo * (int)hi);
  out[8 * i + 6] = (lo << s | (s ? hi >> (32 - s) : 0)) + ((u64)__builtin_bswap32(hi) << 32);
  out[8 * i + 7] = (x > y ? x - y : y - x) + ((i64)x < (i64)y ? 7 : 0);
}

KERNEL void floats(float *out, const float *a, const float *b) {
  int i = I();
  float x = a[i], y = b[i];
  out[8 * i + 0] = x / y;
  out[8 * i + 1] = __builtin_sqrtf(x);
  out[8 * i + 2] = __builtin_fmaf(x, y, x);
  out[8 * i + 3] = __builtin_floorf(x) + __builtin_truncf(y);
  out[8 * i + 4] = __builtin_fmaxf(x, y) - __builtin_fminf(x, y);
  out[8 * i + 5] = (float)(double)x + (float)(_Float16)y;
  out[8 * i + 6] = (float)((double)x / (double)y);
  out[8 * i + 7] = __builtin_fabsf(x) > 1e9f ? 0.0f : (float)(int)x + (float)(u64)(x < 0 ? -x : x);
}

// Loops of different length, a switch and an early return.
KERNEL void diverge(int *out, const int *a) {
  int i = I();
  int x = a[i], steps = 0;
  if (x <= 0) {
    out[i] = -1;
    return;
  }
  while (x != 1) {
    x = x & 1 ? 3 * x + 1 : x >> 1;
    steps++;
  }
  switch (steps % 5) {
  case 0: steps *= 3; break;
  case 1: steps -= 100; break;
  case 3: steps ^= 0x55; break;
  }
  out[i] = steps;
}

KERNEL void lanes(u64 *out, const int *a) {
  int i = __builtin_amdgcn_workitem_id_x();
  int x = a[i];
  u64 odd = __builtin_amdgcn_ballot_w64(x & 1);
  int below = __builtin_amdgcn_mbcnt_hi(odd >> 32, __builtin_amdgcn_mbcnt_lo(odd, 0));
  // The sum over each row of 16 lanes, by moves within it.
  int s = x;
  s += __builtin_amdgcn_update_dpp(0, s, 0x118, 0xf, 0xf, true);
  s += __builtin_amdgcn_update_dpp(0, s, 0x114, 0xf, 0xf, true);
  s += __builtin_amdgcn_update_dpp(0, s, 0x112, 0xf, 0xf, true);
  s += __builtin_amdgcn_update_dpp(0, s, 0x111, 0xf, 0xf, true);
  int moved = __builtin_amdgcn_ds_bpermute(4 * (63 - i), x);
  int first = __builtin_amdgcn_readfirstlane(x), seventh = __builtin_amdgcn_readlane(x, 7);
  out[4 * i + 0] = odd;
  out[4 * i + 1] = (u64)(u32)below << 32 | (u32)s;
  out[4 * i + 2] = (u32)moved;
  out[4 * i + 3] = (u64)(u32)first << 32 | (u32)seventh;
}

KERNEL void bytes(float *out, const int *a, const float *x, int *codes) {
  int i = I();
  out[4 * i + 0] = __builtin_amdgcn_cvt_f32_fp8(a[i], 0);
  out[4 * i + 1] = __builtin_amdgcn_cvt_f32_fp8(a[i], 1);
  out[4 * i + 2] = __builtin_amdgcn_cvt_f32_fp8(a[i], 2);
  out[4 * i + 3] = __builtin_amdgcn_cvt_f32_fp8(a[i], 3);
  int c = __builtin_amdgcn_cvt_pk_fp8_f32(x[4 * i], x[4 * i + 1], 0, false);
  codes[i] = __builtin_amdgcn_cvt_pk_fp8_f32(x[4 * i + 2], x[4 * i + 3], c, true);
}

// One wave: out = A * B^T, A and B^T 16 x 32 (32 x 16) fp8 row by row.
KERNEL void matrix16(float *out, const long *a, const long *b) {
  int l = __builtin_amdgcn_workitem_id_x();
  f4 d = {0, 0, 0, 0};
  d = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(a[l % 16 * 4 + l / 16], b[l % 16 * 4 + l / 16], d, 0, 0, 0);
  for (int i = 0; i < 4; i++) out[(4 * (l / 16) + i) * 16 + l % 16] = d[i];
}

KERNEL void matrix32(float *out, const long *a, const long *b) {
  int l = __builtin_amdgcn_workitem_id_x();
  f16v d = {};
  d = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(a[l % 32 * 2 + l / 32], b[l % 32 * 2 + l / 32], d, 0, 0, 0);
  for (int i = 0; i < 16; i++) out[(8 * (i / 4) + 4 * (l / 32) + i % 4) * 32 + l % 32] = d[i];
}
