// Package proof holds the theorems about the metadata builder's arithmetic and
// proves them, for every length, at every point of a grid of settings.
//
// The formulas are the ones that run: the theorems call package metadata's own
// functions, and its whole way of the lengths through the builder, with terms
// for integers (Terms). What comes out, a term over a length, goes to provers
// that share nothing but it:
//
//   - "go" decides by exhaustion over residues; see periodic.go for the lemma
//     that makes this complete. It needs no tool.
//   - "z3-int", "z3-bv32", "cvc5-int" and "cvc5-bv32" pass SMT-LIB 2 text to a
//     solver that is on PATH: lengths are unbounded integers, or 32-bit vectors
//     as on the device. Settings are constants, so that all terms are linear.
//
// What is right is not taken from the builder: go counts positions one by one
// (counting.go); the solvers get the same by induction on the length.
package proof
