// Package hip holds our own HIP kernels: sources, manifests and compiled code
// objects for gfx942 and gfx950, embedded so that Go alone runs them. README.md
// says what each is; build.sh rebuilds the code objects.
package hip

import "embed"

// FS holds NAME.yaml, the manifests; obj/NAME.TARGET.hsaco, the code objects
// that they name; and the sources.
//
//go:embed *.yaml obj/*.hsaco *.hip common.h
var FS embed.FS
