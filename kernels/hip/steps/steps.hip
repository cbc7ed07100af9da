// Parts of the builder's work on the device, one kernel each, as vLLM has them
// in Triton: for tests of steps and of running every length. None is a built-in
// subject. With FAULT each is wrong in its own way, said beside it.
#include "../common.h"

DEVICE i32 global_id() {
  return __builtin_amdgcn_workgroup_id_x() *
             __builtin_amdgcn_workgroup_size_x() +
         __builtin_amdgcn_workitem_id_x();
}

// uniform: a row a token, all requests of next_n tokens. FAULT: padding
// requests get lengths below 0 (B05).
KERNEL(64) uniform(const i32* seq_lens, const i32* block_table, i32* lengths,
                   i32* pages, i32* decode_lens, i32 tokens, i32 next_n,
                   i32 width) {
  const i32 t = global_id();
  if (t >= tokens) return;
  const i32 r = t / next_n;
  const i32 length = seq_lens[r] - next_n + 1 + t % next_n;
#ifdef FAULT
  lengths[t] = length;
#else
  lengths[t] = max_i32(length, 0);
#endif
  decode_lens[t] = 1;
  for (i32 c = 0; c < width; c++) pages[t * width + c] = block_table[r * width + c];
}

// varlen: a row a token, padding at the end, the buffer behind it cleared; the
// request is found by walking. FAULT: a length is kept in 12 bits.
KERNEL(64) varlen(const i32* starts, const i32* seq_lens, const i32* block_table,
                  i32* lengths, i32* pages, i32* decode_lens, i32* indices,
                  i32* depths, i32 batch, i32 tokens, i32 capacity, i32 width) {
  const i32 t = global_id();
  if (t < batch) depths[t] = starts[t + 1] - starts[t];
  if (t >= capacity) return;
  if (t >= tokens) {
    lengths[t] = 0;
    return;
  }
  const i32 actual = starts[batch];
  const bool valid = t < actual;
  i32 r = 0;
  while (valid && starts[r + 1] <= t) r++;
  const i32 length = valid ? seq_lens[r] - starts[r + 1] + t + 1 : 0;
#ifdef FAULT
  lengths[t] = length & 0xfff;
#else
  lengths[t] = length;
#endif
  decode_lens[t] = 1;
  indices[t] = valid ? r : batch + t - actual;
  for (i32 c = 0; c < width; c++)
    pages[t * width + c] = valid ? block_table[r * width + c] : 0;
}

// prefill: a workgroup a request. FAULT: the interleave is taken to count
// tokens where it counts states.
KERNEL(64) prefill(const i32* starts, const i32* seq_lens, const i32* cu,
                   const i32* local_cu, i32* seqs, i32* row_starts,
                   i32* row_ends, i32 from, i32 to, i32 rank, i32 world,
                   i32 interleave, i32 ratio) {
  const i32 r = __builtin_amdgcn_workgroup_id_x();
  const i32 lane = __builtin_amdgcn_workitem_id_x();
  const i32 n = starts[r + 1] - starts[r];
#ifndef FAULT
  if (world > 1) interleave /= ratio;
#endif
  for (i32 i = lane; i < n; i += 64) {
    const i32 row = starts[r] + i;
    if (row < from || row >= to) continue;
    const i32 x = (seq_lens[r] - n + 1 + i) / ratio;
    const i32 base = x / interleave / world * interleave;
    const i32 rest = x - base * world - rank * interleave;
    row_starts[row - from] = local_cu[r];
    row_ends[row - from] =
        local_cu[r] + base + min_i32(max_i32(rest, 0), interleave);
  }
  for (i32 k = cu[r] + lane; k < cu[r + 1]; k += 64) seqs[k] = r;
}

// slots: a workgroup a request. FAULT: a token without a slot of its own gets
// one all the same.
KERNEL(64) slots(const i32* starts, const i32* seq_lens, const i32* block_table,
                 const i64* own, i64* out, i32 width, i32 page, i32 world,
                 i32 interleave, i32 ratio) {
  const i32 r = __builtin_amdgcn_workgroup_id_x();
  const i32 lane = __builtin_amdgcn_workitem_id_x();
  const i32 n = starts[r + 1] - starts[r];
  for (i32 i = lane; i < n; i += 64) {
    const i32 t = starts[r] + i;
    const i32 pos = seq_lens[r] - n + i;
    i64 slot = -1;
#ifdef FAULT
    const bool has = pos >= 0 && own[t] >= -1;
#else
    const bool has = own[t] != -1;
#endif
    if (has && (pos + 1) % ratio == 0) {
      const i32 local =
          pos / (interleave * world) * interleave + pos % interleave;
      const i32 state = local / ratio;
      slot = (i64)block_table[r * width + state / page] * page + state % page;
    }
    out[t] = slot;
  }
}
