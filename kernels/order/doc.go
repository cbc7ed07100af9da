// Package order derives a kernel's numeric profile (package model/profile) from
// what it computes: it runs the kernel on probes, inputs that are chosen so
// that each possible order of operations gives another result, and gives the
// one profile that explains all results, or an error that says which probe no
// profile of the family explains.
//
// The kernel is a black box. Nothing is read from its code but the width of its
// matrix-core instructions, which does not show in any result, so the same
// probes work on a GPU.
//
// # Orders of summation
//
// The trees are found as FPRev finds them (Xie, Dai, Xu, Zhang: FPRev: Revealing
// the Order of Floating-Point Summation in Numerical Libraries and Hardware,
// arXiv 2411.00442): one term is +M, another -M, all others are 1, with M so
// large that M+1 rounds to M. A 1 is lost when it is added to a partial sum
// that holds one of the two, and counts when it is added after they met. So the
// result counts the terms outside the smallest partial sum that holds both,
// and all such sizes together give the tree. Here the terms are the heads, set
// by their weights, and then the dims of one head's dot, set by q and k.
//
// # What is found after the trees
//
//   - Where the scale is multiplied in and what relu makes of a NaN: the
//     candidates that give other bits are told apart by products that round,
//     negative scales, NaNs and infinities.
//   - Which terms are taken by a fused multiply-add: the term's product does not
//     fit float32, and its rounded value is subtracted where it is added. What is
//     left is the rounding error when it was fused and 0 when it was not.
//   - Whether a sum can be -0: all terms are -0. That is all that can be seen of
//     accumulators that start from zero.
//   - Which dims a matrix core takes together, and in which order: in a group
//     all terms besides +M and -M are lost, so that a group is a node of the
//     tree with many leaves. Which of them share a sub-sum: a small negative
//     product beside a large one is cut toward zero in the same sub-sum and
//     floored in the other.
//
// At the end the profile must give the kernel's bits on dots that every clause
// of the matrix core's rule decides, and on whole cases of random data of all
// styles, a long context among them.
//
// # What is outside the family
//
// There is no profile, and the error says which probe showed it, for sums in
// more than float32, orders that depend on the position, products or relus of
// another kind, other rules of the matrix core than the target's, chains of the
// matrix core that go on from a sum, and results that flush subnormals. The
// rule itself is not searched for: for a GPU whose rule is not known that is
// the job of calibration.
package order
