package matrixcore

import "golang.org/x/sys/cpu"

// vectors reports whether the processor has what wide_amd64.s needs; tests
// switch it off.
var vectors = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// avxLate takes the accumulators of a row's 16 outputs through so many groups
// of 16 products. It reports whether one was too small for it on the way, and
// what it left is then of no use.
//
//go:noescape
func avxLate(r *lateWide, y *wideColumns, xf *float32, xe *uint8, groups int, acc *float32) (tiny bool)

// avxEarly takes the accumulators of a row's 16 outputs through so many groups
// of so many blocks of 16 products.
//
//go:noescape
func avxEarly(r *earlyWide, y *wideColumns, xf *float32, xe *uint8, groups, blocks int, acc *float32)

// avxUnpackRow unpacks 32*n32 codes and reports whether a NaN is among them.
//
//go:noescape
func avxUnpackRow(f *wideFormat, codes *uint8, n32 int, floats *float32, exps *uint8) (nan bool)

// avxUnpackColumns unpacks so many blocks of 16 k of 16 columns, which are
// stride bytes apart, and tells which columns have a NaN.
//
//go:noescape
func avxUnpackColumns(f *wideFormat, codes *uint8, stride, blocks int, y *wideColumns) (nans uint16)

// avxFinish is d = c + acc for 16 outputs; a NaN, and what nans has a bit for,
// becomes the one NaN.
//
//go:noescape
func avxFinish(d, c, acc *float32, nans uint16)
