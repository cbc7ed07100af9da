//go:build !amd64

package matrixcore

// vectors: there is assembly for amd64 only, and the functions below are not
// called.
var vectors = false

func avxLate(*lateWide, *wideColumns, *float32, *uint8, int, *float32) bool { panic(noVectors) }
func avxEarly(*earlyWide, *wideColumns, *float32, *uint8, int, int, *float32) {
	panic(noVectors)
}
func avxUnpackRow(*wideFormat, *uint8, int, *float32, *uint8) bool { panic(noVectors) }
func avxUnpackColumns(*wideFormat, *uint8, int, int, *wideColumns) uint16 {
	panic(noVectors)
}
func avxFinish(_, _, _ *float32, _ uint16) { panic(noVectors) }

const noVectors = "matrixcore: no vector code for this processor"
