//go:build !unix

package matrixcore

import "time"

// cpuTime is the processor time that this process has had, where it is known.
func cpuTime() (time.Duration, bool) { return 0, false }
