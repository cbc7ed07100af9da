// Deliberately bad kernels, for tests of how the tool reports them. All take
// (logits, rows). None is a built-in subject.
#include "../common.h"

// far_read reads 1 TiB away from its tensor.
KERNEL(64) far_read(f32* logits, i32 rows) {
  const i32 i = __builtin_amdgcn_workitem_id_x();
  if (i < rows) logits[i] = logits[i + (1l << 38)];
}

// spin counts odd numbers until it meets 0.
KERNEL(64) spin(f32* logits, i32 rows) {
  u32 odd = 1;
  do {
    __asm__ volatile("" : "+s"(odd)); // keeps the compiler from knowing better
    odd += 2;
  } while (odd != 0);
  logits[0] = (f32)rows;
}

// unknown_opcode holds a word that is no instruction: SOPP opcode 127.
KERNEL(64) unknown_opcode(f32* logits, i32 rows) {
  __asm__ volatile(".long 0xbfff0000");
  logits[0] = (f32)rows;
}
