// Package exhaust runs a metadata kernel's code object, on the emulator, for
// every request length up to a bound, under each setting of a grid, and holds
// each element that it writes to the model's proved formulas. The formulas in
// turn are held, at every length, to a walk over the positions that only
// counts.
//
// Where properties/proof proves the arithmetic for all lengths, this shows that
// the machine code does that arithmetic: a compiler's division by a constant, a
// register too narrow, a loop that ends early would show here and not there.
//
// The work is cut into units of some tenths of a second. Each is a sweep (a
// kind of launch under one setting) and a range of lengths; a launch has
// hundreds or thousands of requests. Units run on several goroutines, the
// shortest lengths first, and what was found does not depend on how many. A
// checkpoint names the units that are done.
package exhaust
