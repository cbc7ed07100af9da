// What our kernels share: types, ids and fp8 decoding, from clang builtins
// alone, so that they compile without a ROCm installation.
//
// Build with -ffp-contract=off: an operation is fused only where a kernel says
// __builtin_fmaf, so that the order of operations in its head comment is the
// order of the machine code.
#pragma once

typedef unsigned char u8;
typedef int i32;
typedef unsigned int u32;
typedef long i64;
typedef unsigned long u64;
typedef float f32;
typedef f32 f32x4 __attribute__((ext_vector_type(4)));
typedef f32 f32x16 __attribute__((ext_vector_type(16)));
typedef u32 u32x4 __attribute__((ext_vector_type(4)));

#define DEVICE static inline __attribute__((device, always_inline))
#define SHARED __attribute__((shared))
// KERNEL(n) is an entry point for workgroups of exactly n work-items.
#define KERNEL(n) \
  extern "C" __attribute__((global, amdgpu_flat_work_group_size(n, n))) void

#define NEG_INF (-__builtin_inff())

DEVICE i32 min_i32(i32 a, i32 b) { return a < b ? a : b; }
DEVICE i32 max_i32(i32 a, i32 b) { return a > b ? a : b; }
DEVICE i32 ceil_div(i32 a, i32 b) { return (a + b - 1) / b; }

// relu is max(x, 0) by v_max_f32: a NaN becomes 0.
DEVICE f32 relu(f32 x) { return __builtin_fmaxf(x, 0.0f); }

// load_u64_align4 reads eight bytes that are aligned to four only, as the tokens of a
// block-flat cache with one-token pages are.
DEVICE u64 load_u64_align4(const u8* p) {
  struct __attribute__((packed, aligned(4))) word {
    u64 v;
  };
  return ((const word*)p)->v;
}

// NATIVE_FNUZ is 1 where the target's own e4m3 is e4m3fnuz (CDNA3) and 0 where
// it is e4m3fn (CDNA4).
#if defined(__gfx942__)
#define NATIVE_FNUZ 1
#elif defined(__gfx950__)
#define NATIVE_FNUZ 0
#else
#error "a target whose fp8 format is not known here"
#endif

// decode_e4m3 is the value of an fp8 byte, without the conversion instructions.
// e4m3fnuz: bias 8, the one NaN is 0x80. e4m3fn: bias 7, NaN is 0x7f and 0xff.
// Neither has infinities. Exponent and mantissa put where a float32 has them
// give the value too small by the difference of the biases; the multiplication
// that makes up for it is exact, subnormals included (as long as float32
// subnormals are not flushed, which is how clang sets the MODE register).
DEVICE f32 decode_e4m3(u32 byte, bool fnuz) {
  const bool nan = fnuz ? byte == 0x80u : (byte & 0x7fu) == 0x7fu;
  const f32 magnitude = __builtin_bit_cast(f32, (byte & 0x7fu) << 20) *
                        (fnuz ? 0x1p119f : 0x1p120f);
  const u32 sign = (byte & 0x80u) << 24;
  const u32 bits = __builtin_bit_cast(u32, magnitude) | sign;
  return nan ? __builtin_nanf("") : __builtin_bit_cast(f32, bits);
}
