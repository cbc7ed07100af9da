package calibrate

// The seeds of the tiles that TestChooseTiles found, for the 16x16x32 of gfx942
// and for the 16x16x128 of gfx950.
var (
	searched942 []uint64
	searched950 []uint64
)
