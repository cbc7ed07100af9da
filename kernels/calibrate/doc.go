// Package calibrate finds out how a GPU's fp8 matrix core accumulates, where
// nobody has published it.
//
// WriteProbe writes a folder that its user takes to a machine with that GPU: a
// kernel, its code object, a launcher in Python, and a few hundred tiles. The
// launcher runs every tile through every fp8 matrix instruction of the target
// and writes one file, which Read takes: it says which rules of the family
// (matrixcore.Rule and what else is plausible, see family.go) give exactly
// these outputs, or that none does.
//
// # How the rule is found
//
// The family is a grid of about 10^14 rules. Its fields are of two kinds. A
// shape (shape.go) says which products meet where; there are some hundreds, and
// each is tried. The others (cuts, reach, result) are kept as sets: a box is
// one set of values for each of these fields, and stands for every rule that
// can be picked from them. narrow.go runs one output through a shape for all
// rules of a box at once: where the fields' values lead to different
// intermediate results it splits the box, and at the end only the parts that
// give the observed bits remain. So every rule of the grid is compared with
// every output, and nothing is enumerated twice.
package calibrate
