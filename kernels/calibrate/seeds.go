package calibrate

// The seeds of the tiles that TestChooseTiles found, by -choose 20 for the
// 16x16x32 of gfx942 and by -choose 10 for the 16x16x128 of gfx950.
var (
	searched942 = []uint64{0x100023, 0x100047, 0x1003b8, 0x1005fc, 0x100644, 0x100695, 0x10098f, 0x100d96, 0x1011e7, 0x101281}
	searched950 = []uint64{0x100555, 0x1008d1}
)
