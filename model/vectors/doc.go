// Package vectors reads sets of test vectors and holds the model to them.
//
// Two kinds of sets are known:
//
//   - Builder sets (.jsonl): one recorded builder a line, {"config", "steps"},
//     its steps consecutive calls, each {"batch", "expect"}: Sequence. Every
//     field of every step is compared.
//   - Matrix-core sets (.json with a .bin of the same name beside it): a list of
//     tiles, {"kind", "op", "c", "M", "N", "K", "offset"}. At offset the blob
//     holds, back to back, little-endian and row-major: A (M, K) fp8, B
//     transposed (N, K) fp8, C (M, N) float32 and D (M, N) float32, the expected
//     bits. Every output is compared bit for bit; any NaN equals any NaN. A set
//     whose name starts with the name of a rule of package matrixcore (hopper,
//     cdna3) is held to that rule.
package vectors
