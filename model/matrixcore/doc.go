// Package matrixcore is the arithmetic of fp8 matrix cores, to the bit: how a
// tile's products are grouped, aligned, cut and summed. A profile is data.
package matrixcore
