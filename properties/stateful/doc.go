// Package stateful is what must hold of a serving engine (sim/serving) after
// every step of any sequence of steps, and the machines that generate such
// sequences: one of rapid, one of gopter's commands, two independent generators
// over one engine. A failing sequence is shrunk to the shortest and kept as a
// corpus entry.
//
// The properties count: they walk positions and cache slots, and share no
// formula with the metadata builder.
package stateful
