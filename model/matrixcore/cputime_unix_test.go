//go:build unix

package matrixcore

import (
	"syscall"
	"time"
)

// cpuTime is the processor time that this process has had; on a machine that
// does other things as well it tells more than the clock.
func cpuTime() (time.Duration, bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
