// Package serving is a serving engine in miniature: what lies between a
// scheduler's decisions and the metadata that the layers' kernels of a step
// read. Requests arrive, are prefilled in chunks, decode with speculative
// tokens, finish and are preempted; pages are allocated and freed; steps are
// padded to captured graph sizes, and a captured step is replayed with the same
// addresses and new contents; the ranks of decode context parallelism run side
// by side.
//
// It computes nothing: a cache slot holds the name of the token that was
// written there (Cell), and what a step did is a Record that says which
// buffers were read, what they held at that moment and which slots were
// written. Whoever judges a step judges its record.
//
// An engine is deterministic: the same configuration and the same steps give
// the same records. It can be made with one planted Fault.
package serving
