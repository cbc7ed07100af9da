// fp8 conversions: the target's instructions, and the same in integer and
// float32 arithmetic that has nothing to do with them. For convert_test.go.
#include "../common.h"

typedef f32 f32x2 __attribute__((ext_vector_type(2)));

// to_e4m3 is the code nearest to x, ties to even, and NaN for what is beyond
// the largest value. The code's last bit is bit 20 of a normal float32; adding
// half of it, less one when it is 0, carries as rounding to even does. A result
// below the smallest normal number is rounded by adding 2^k whose last bit is
// the smallest subnormal.
DEVICE u32 to_e4m3(f32 x, bool fnuz) {
  const u32 bits = __builtin_bit_cast(u32, x);
  const u32 mag = bits & 0x7fffffffu, sign = bits >> 24 & 0x80u;
  const u32 top = fnuz ? 0x7fu : 0x7eu;
  const i32 bias = fnuz ? 8 : 7;
  u32 code;
  if (mag < (u32)(128 - bias) << 23) {
    const f32 shift = fnuz ? 0x1p13f : 0x1p14f; // 2^23 times the smallest subnormal
    const f32 y = __builtin_bit_cast(f32, mag) + shift;
    code = __builtin_bit_cast(u32, y) - __builtin_bit_cast(u32, shift);
  } else {
    code = (mag + 0x7ffffu + (mag >> 20 & 1u) >> 20) - ((u32)(127 - bias) << 3);
  }
  if (mag >= 0x7f800000u || code > top) return fnuz ? 0x80u : sign | 0x7fu;
  return fnuz && code == 0 ? 0 : sign | code;
}

// encode: x[4] of each thread to one word, by v_cvt_pk_fp8_f32 with either half
// as its destination, and by to_e4m3. n counts words.
KERNEL(64) encode(const f32* x, u32* hard, u32* soft, i32 n) {
  const i32 i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  if (i >= n) return;
  x += (i64)4 * i;
  i32 word = 0x5aa5c33c; // each half is kept or overwritten
  word = __builtin_amdgcn_cvt_pk_fp8_f32(x[0], x[1], word, false);
  word = __builtin_amdgcn_cvt_pk_fp8_f32(x[2], x[3], word, true);
  hard[i] = word;
  u32 own = 0;
#pragma unroll
  for (int j = 0; j < 4; j++) own |= to_e4m3(x[j], NATIVE_FNUZ) << 8 * j;
  soft[i] = own;
}

// decode: one word of codes a thread; y[12] gets v_cvt_f32_fp8 of each byte,
// v_cvt_pk_f32_fp8 of each half, and decode_e4m3.
KERNEL(64) decode(const u32* codes, f32* y) {
  const i32 i = __builtin_amdgcn_workitem_id_x();
  const u32 w = codes[i];
  y += 12 * i;
  y[0] = __builtin_amdgcn_cvt_f32_fp8(w, 0);
  y[1] = __builtin_amdgcn_cvt_f32_fp8(w, 1);
  y[2] = __builtin_amdgcn_cvt_f32_fp8(w, 2);
  y[3] = __builtin_amdgcn_cvt_f32_fp8(w, 3);
  const f32x2 low = __builtin_amdgcn_cvt_pk_f32_fp8(w, false);
  const f32x2 high = __builtin_amdgcn_cvt_pk_f32_fp8(w, true);
  y[4] = low[0];
  y[5] = low[1];
  y[6] = high[0];
  y[7] = high[1];
#pragma unroll
  for (int j = 0; j < 4; j++) y[8 + j] = decode_e4m3(w >> 8 * j & 0xff, NATIVE_FNUZ);
}
