// metadata: the decode part of the indexer's metadata on the device, integers
// only. Four kernels, launched one after the other:
//
//   expand       table[b][j] = max(0, len[b] - next_n + 1 + j)
//   localize     a global length -> the number of its positions on this DCP rank
//   compress     a length -> complete compressed states, floor(length / ratio)
//   last_column  per_request[b] = table[b][next_n - 1]
//
// localize and compress work element by element, in place when in == out. The
// fault "localized before expanded" (B06) is a manifest that launches localize
// on the request lengths first.
#include "common.h"

DEVICE i32 global_id() {
  return __builtin_amdgcn_workgroup_id_x() *
             __builtin_amdgcn_workgroup_size_x() +
         __builtin_amdgcn_workitem_id_x();
}

KERNEL(64) expand(const i32* lengths, i32* table, i32 batch, i32 next_n) {
  const i32 row = global_id();
  if (row >= batch * next_n) return;
  table[row] = max_i32(0, lengths[row / next_n] - next_n + 1 + row % next_n);
}

// Position p lives on rank (p / interleave) % world: of x positions, rank has
// interleave for each whole round of world * interleave, and its share of the
// last round.
KERNEL(64) localize(const i32* in, i32* out, i32 count, i32 world, i32 rank,
                    i32 interleave) {
  const i32 i = global_id();
  if (i >= count) return;
  const i32 x = in[i];
  const i32 base = x / interleave / world * interleave;
  const i32 rest = x - base * world - rank * interleave;
  out[i] = base + min_i32(max_i32(rest, 0), interleave);
}

KERNEL(64) compress(const i32* in, i32* out, i32 count, i32 ratio) {
  const i32 i = global_id();
  if (i >= count) return;
  out[i] = in[i] / ratio;
}

KERNEL(64) last_column(const i32* table, i32* per_request, i32 batch,
                       i32 next_n) {
  const i32 b = global_id();
  if (b >= batch) return;
  per_request[b] = table[b * next_n + next_n - 1];
}
