// Package matrixcore is the arithmetic of fp8 matrix cores, to the bit: how a
// tile's products are grouped, aligned, cut and summed.
//
// A rule is data (Rule): a new GPU is a new value, not new code. The reference
// loop in reference.go is that data read aloud; MulAdd gives the same bits
// faster.
//
// # Numbers
//
// Every number is a significand and an exponent, s*2^e. A normal one has
// 1 <= |s| < 2; a subnormal keeps the smallest exponent of its format (-7 for
// e4m3fnuz, -6 for e4m3fn, -126 for float32) with |s| < 1; a zero is s = 0,
// e = -126. A product has the significand s_a*s_b, not renormalised, and the
// exponent e_a + e_b. To cut such a number to f bits at exponent E is to round
// s*2^(f+e-E) to an integer and to read that integer in units of 2^(E-f).
//
// # Paths
//
// MulAdd takes one of three paths, all of the same bits. The wide one (wide.go)
// computes 16 outputs of a row at a time with AVX2, a whole rule in vector
// registers, and is as fast on hostile data as on dull; the narrow one (late.go,
// early.go) is portable integer arithmetic that leaves out the cuts where no
// product can lose a bit; the reference loop is left for rules of another shape
// than CDNA3's and Hopper's. On one core the wide path computes 4 to 8 thousand
// million products a second, 65 to 100 times what the reference loop does
// (BenchmarkMulAdd prints the ratio).
//
// # NaN and infinity
//
// If the exact sum of a group's products and the accumulator is NaN or
// infinite, so is the group's result; fp8 has no infinities, so infinities come
// from C or from a result beyond float32. NaN results are the quiet NaN
// 0x7fc00000: the payload that a GPU would give is not modelled.
package matrixcore
