#include "go_asm.h"
#include "textflag.h"

// The operands of an instruction are in Go's order: sources from last to
// first, then the destination.

// BYTES is 32 times the byte b.
#define BYTES(name, b) \
	DATA name<>+0(SB)/8, $b;  \
	DATA name<>+8(SB)/8, $b;  \
	DATA name<>+16(SB)/8, $b; \
	DATA name<>+24(SB)/8, $b; \
	GLOBL name<>(SB), RODATA|NOPTR, $32

BYTES(magnitude, 0x7f7f7f7f7f7f7f7f)
BYTES(field, 0x0f0f0f0f0f0f0f0f)
BYTES(ones, 0x0101010101010101)
BYTES(above, 0x1f1f1f1f1f1f1f1f) // nonZero-1

// PICK repeats byte 2p in the lower 16 bytes and byte 2p+1 in the upper ones.
#define PICK(p, even, odd) \
	DATA picks<>+(32*p)(SB)/8, $even;    \
	DATA picks<>+(32*p+8)(SB)/8, $even;  \
	DATA picks<>+(32*p+16)(SB)/8, $odd;  \
	DATA picks<>+(32*p+24)(SB)/8, $odd

PICK(0, 0x0000000000000000, 0x0101010101010101)
PICK(1, 0x0202020202020202, 0x0303030303030303)
PICK(2, 0x0404040404040404, 0x0505050505050505)
PICK(3, 0x0606060606060606, 0x0707070707070707)
PICK(4, 0x0808080808080808, 0x0909090909090909)
PICK(5, 0x0a0a0a0a0a0a0a0a, 0x0b0b0b0b0b0b0b0b)
PICK(6, 0x0c0c0c0c0c0c0c0c, 0x0d0d0d0d0d0d0d0d)
PICK(7, 0x0e0e0e0e0e0e0e0e, 0x0f0f0f0f0f0f0f0f)
GLOBL picks<>(SB), RODATA|NOPTR, $256

// MOST16 raises the bytes of Y1 to the largest of 16 products' exponents: of
// even k in its lower half, of odd k in its upper half. DX has the row's
// exponents and R8 those of the columns.
#define MOST(p) \
	VPSHUFB picks<>+(32*p)(SB), Y0, Y2; \
	VPADDB (32*p)(R8), Y2, Y2;          \
	VPMAXUB Y2, Y1, Y1
#define MOST16 \
	VBROADCASTI128 (DX), Y0; \
	MOST(0); MOST(1); MOST(2); MOST(3); MOST(4); MOST(5); MOST(6); MOST(7)

// PRODUCT adds product k of 16 columns, cut toward zero in the units whose
// inverses are s0 and s1, to sum0 and sum1. All steps but the cut are exact.
#define PRODUCT(k, s0, s1, sum0, sum1) \
	VBROADCASTSS (4*k)(CX), Y8;    \
	VMULPS s0, Y8, Y9;             \
	VMULPS s1, Y8, Y10;            \
	VMULPS (64*k)(BX), Y9, Y9;     \
	VMULPS (64*k+32)(BX), Y10, Y10; \
	VCVTTPS2DQ Y9, Y9;             \
	VCVTTPS2DQ Y10, Y10;           \
	VPADDD Y9, sum0, sum0;         \
	VPADDD Y10, sum1, sum1

// JOIN4 leaves in out the sums (in X10, as integers) joined with the
// accumulators (in X12) of four columns; the exponents of the three factors are
// in X13, X14 and X8.
#define JOIN4(t, sum, acc, out) \
	VPMOVZXDQ X13, t;         \
	VPSLLQ $52, t, t;         \
	VCVTDQ2PD X10, sum;       \
	VMULPD t, sum, sum;       \
	VROUNDPD $9, sum, sum;    \
	VPMOVZXDQ X14, t;         \
	VPSLLQ $52, t, t;         \
	VCVTPS2PD X12, acc;       \
	VMULPD t, acc, acc;       \
	VROUNDPD $9, acc, acc;    \
	VBROADCASTSD lateWide_weight(AX), t; \
	VFMADD231PD acc, t, sum;  \
	VPMOVZXDQ X8, t;          \
	VPSLLQ $52, t, t;         \
	VMULPD t, sum, sum;       \
	VCVTPD2PSY sum, out

// JOIN puts two sub-sums of eight columns and the accumulators at off(DI)
// together. even and odd are the sub-sums, se and so their inverse units; all
// four are used up. Lanes of Y15 become nonzero where an accumulator is tiny.
#define JOIN(se, so, even, odd, off) \
	VPMINSD so, se, Y8; \ // the coarser unit
	VPBROADCASTD lateWide_extra(AX), Y9; \
	VPSUBD Y8, se, se;           \
	VPSUBD Y8, so, so;           \
	VPSRLD $23, se, se;          \
	VPSRLD $23, so, so;          \
	VPADDD Y9, se, se;           \
	VPADDD Y9, so, so;           \
	VPSRAVD se, even, even;      \
	VPSRAVD so, odd, odd;        \
	VPADDD odd, even, even;      \
	VPSRLD $23, Y8, Y8;          \
	VPBROADCASTD lateWide_zeros(AX), Y9; \
	VPCMPGTD Y9, Y8, Y9;         \
	VPSRLD $25, Y9, Y9;          \ // 127 where all products are zero, to be out of the way
	VPBROADCASTD lateWide_most(AX), Y10; \
	VPSUBD Y8, Y10, Y8;          \
	VPSUBD Y9, Y8, Y8;           \ // Y8: exponent of the sum
	VMOVDQU off(DI), Y9;         \ // Y9: accumulator
	VPCMPEQD Y10, Y10, Y10;      \
	VPSRLD $1, Y10, Y10;         \
	VPAND Y10, Y9, Y10;          \
	VPBROADCASTD lateWide_tiny(AX), Y11; \
	VPCMPGTD Y10, Y11, Y11;      \
	VPXOR Y12, Y12, Y12;         \
	VPCMPGTD Y12, Y10, Y12;      \
	VPAND Y12, Y11, Y11;         \
	VPOR Y11, Y15, Y15;          \
	VPSRLD $23, Y10, Y10;        \ // Y10: exponent of the accumulator
	VPMAXSD Y8, Y10, Y11;        \ // Y11: where they meet
	VPBROADCASTD lateWide_reach(AX), Y12; \
	VPSUBD Y12, Y11, Y12;        \
	VPCMPGTD Y12, Y10, Y12;      \
	VPAND Y12, Y9, Y12;          \ // Y12: accumulator, if within reach
	VPBROADCASTD lateWide_sum(AX), Y13; \
	VPADDD Y8, Y13, Y13;         \
	VPSUBD Y11, Y13, Y13;        \
	VPBROADCASTD lateWide_acc(AX), Y14; \
	VPSUBD Y11, Y14, Y14;        \
	VPBROADCASTD lateWide_result(AX), Y8; \
	VPADDD Y11, Y8, Y8;          \
	VMOVDQA even, Y10;           \
	JOIN4(se, so, odd, X11);     \
	VEXTRACTI128 $1, Y13, X13;   \
	VEXTRACTI128 $1, Y14, X14;   \
	VEXTRACTI128 $1, Y8, X8;     \
	VEXTRACTI128 $1, Y10, X10;   \
	VEXTRACTI128 $1, Y12, X12;   \
	JOIN4(se, so, odd, X10);     \
	VINSERTF128 $1, X10, Y11, Y11; \
	VPSLLD $1, Y9, Y10;          \ // infinities and NaNs stay
	VPSRAD $24, Y10, Y10;        \
	VPCMPEQD Y12, Y12, Y12;      \
	VPCMPEQD Y12, Y10, Y10;      \
	VBLENDVPS Y10, Y9, Y11, Y11; \
	VMOVDQU Y11, off(DI)

// func avxLate(r *lateWide, y *wideColumns, xf *float32, xe *uint8, groups int, acc *float32) (tiny bool)
TEXT ·avxLate(SB), NOSPLIT, $0-49
	MOVQ r+0(FP), AX
	MOVQ y+8(FP), BX
	MOVQ xf+16(FP), CX
	MOVQ xe+24(FP), DX
	MOVQ groups+32(FP), SI
	MOVQ acc+40(FP), DI
	LEAQ wideColumns_exps(BX), R8
	VPXOR Y15, Y15, Y15

group:
	VPXOR Y1, Y1, Y1
	MOST16
	VEXTRACTI128 $1, Y1, X2
	VPBROADCASTD lateWide_unit(AX), Y8
	VPMOVZXBD X1, Y4
	VPMOVZXBD X2, Y6
	VPSRLDQ $8, X1, X1
	VPSRLDQ $8, X2, X2
	VPMOVZXBD X1, Y5
	VPMOVZXBD X2, Y7
	VPSUBD Y4, Y8, Y0
	VPSUBD Y5, Y8, Y1
	VPSUBD Y6, Y8, Y2
	VPSUBD Y7, Y8, Y3
	VPSLLD $23, Y0, Y0
	VPSLLD $23, Y1, Y1
	VPSLLD $23, Y2, Y2
	VPSLLD $23, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7
	PRODUCT(0, Y0, Y1, Y4, Y5)
	PRODUCT(1, Y2, Y3, Y6, Y7)
	PRODUCT(2, Y0, Y1, Y4, Y5)
	PRODUCT(3, Y2, Y3, Y6, Y7)
	PRODUCT(4, Y0, Y1, Y4, Y5)
	PRODUCT(5, Y2, Y3, Y6, Y7)
	PRODUCT(6, Y0, Y1, Y4, Y5)
	PRODUCT(7, Y2, Y3, Y6, Y7)
	PRODUCT(8, Y0, Y1, Y4, Y5)
	PRODUCT(9, Y2, Y3, Y6, Y7)
	PRODUCT(10, Y0, Y1, Y4, Y5)
	PRODUCT(11, Y2, Y3, Y6, Y7)
	PRODUCT(12, Y0, Y1, Y4, Y5)
	PRODUCT(13, Y2, Y3, Y6, Y7)
	PRODUCT(14, Y0, Y1, Y4, Y5)
	PRODUCT(15, Y2, Y3, Y6, Y7)
	JOIN(Y0, Y2, Y4, Y6, 0)
	JOIN(Y1, Y3, Y5, Y7, 32)
	ADDQ $64, CX
	ADDQ $16, DX
	ADDQ $1024, BX
	ADDQ $256, R8
	DECQ SI
	JNZ  group
	VPTEST Y15, Y15
	SETNE  tiny+48(FP)
	VZEROUPPER
	RET

// func avxEarly(r *earlyWide, y *wideColumns, xf *float32, xe *uint8, groups, blocks int, acc *float32)
TEXT ·avxEarly(SB), NOSPLIT, $0-56
	MOVQ r+0(FP), AX
	MOVQ y+8(FP), BX
	MOVQ xf+16(FP), CX
	MOVQ xe+24(FP), DX
	MOVQ groups+32(FP), SI
	MOVQ acc+48(FP), DI
	LEAQ wideColumns_exps(BX), R8

group:
	VPXOR Y1, Y1, Y1
	MOVQ blocks+40(FP), R9

most:
	MOST16
	ADDQ $16, DX
	ADDQ $256, R8
	DECQ R9
	JNZ  most

	VEXTRACTI128 $1, Y1, X2
	VPMAXUB X2, X1, X1
	VPMOVZXBD X1, Y2
	VPSRLDQ $8, X1, X1
	VPMOVZXBD X1, Y3
	VMOVUPS (DI), Y4
	VMOVUPS 32(DI), Y5
	VPBROADCASTD earlyWide_acc(AX), Y8
	VPSLLD $1, Y4, Y6
	VPSLLD $1, Y5, Y7
	VPSRLD $24, Y6, Y6
	VPSRLD $24, Y7, Y7
	VPSUBD Y8, Y6, Y6
	VPSUBD Y8, Y7, Y7
	VPMAXSD Y6, Y2, Y2
	VPMAXSD Y7, Y3, Y3
	VPBROADCASTD earlyWide_unit(AX), Y8
	VPSUBD Y2, Y8, Y0
	VPSUBD Y3, Y8, Y1
	VPSLLD $23, Y0, Y0
	VPSLLD $23, Y1, Y1
	VMULPS Y0, Y4, Y4
	VMULPS Y1, Y5, Y5
	VCVTTPS2DQ Y4, Y4
	VCVTTPS2DQ Y5, Y5
	MOVQ blocks+40(FP), R9

block:
	PRODUCT(0, Y0, Y1, Y4, Y5)
	PRODUCT(1, Y0, Y1, Y4, Y5)
	PRODUCT(2, Y0, Y1, Y4, Y5)
	PRODUCT(3, Y0, Y1, Y4, Y5)
	PRODUCT(4, Y0, Y1, Y4, Y5)
	PRODUCT(5, Y0, Y1, Y4, Y5)
	PRODUCT(6, Y0, Y1, Y4, Y5)
	PRODUCT(7, Y0, Y1, Y4, Y5)
	PRODUCT(8, Y0, Y1, Y4, Y5)
	PRODUCT(9, Y0, Y1, Y4, Y5)
	PRODUCT(10, Y0, Y1, Y4, Y5)
	PRODUCT(11, Y0, Y1, Y4, Y5)
	PRODUCT(12, Y0, Y1, Y4, Y5)
	PRODUCT(13, Y0, Y1, Y4, Y5)
	PRODUCT(14, Y0, Y1, Y4, Y5)
	PRODUCT(15, Y0, Y1, Y4, Y5)
	ADDQ $64, CX
	ADDQ $1024, BX
	DECQ R9
	JNZ  block

	// Keep the first bits of the sum and go back from its unit: the inverse of
	// 2^(f-127) is 2^(254-f-127).
	VPBROADCASTD earlyWide_keep(AX), Y2
	VPBROADCASTD earlyWide_one(AX), Y3
	VCVTDQ2PS Y4, Y4
	VCVTDQ2PS Y5, Y5
	VANDPS Y2, Y4, Y4
	VANDPS Y2, Y5, Y5
	VPSUBD Y0, Y3, Y0
	VPSUBD Y1, Y3, Y1
	VMULPS Y0, Y4, Y4
	VMULPS Y1, Y5, Y5
	VMOVUPS Y4, (DI)
	VMOVUPS Y5, 32(DI)
	DECQ SI
	JNZ  group
	VZEROUPPER
	RET

// QUARTER makes floats at off(R9) of the lowest eight codes of Y10, whose
// significands are in Y8 and exponent fields in Y9.
#define QUARTER(r, off) \
	VPMOVZXBD X8, r;       \
	VCVTDQ2PS r, r;        \
	VPMOVZXBD X9, Y15;     \
	VPSLLD $23, Y15, Y15;  \
	VPADDD Y11, Y15, Y15;  \
	VMULPS Y15, r, r;      \
	VPMOVZXBD X10, Y15;    \
	VPSRLD $7, Y15, Y15;   \
	VPSLLD $31, Y15, Y15;  \
	VPOR Y15, r, r;        \
	VMOVDQU r, off(R9)

#define NEXT \
	VPERMQ $0x39, Y8, Y8;  \
	VPERMQ $0x39, Y9, Y9;  \
	VPERMQ $0x39, Y10, Y10

// UNPACK makes floats at f(R9) and exponents at e(R10) of the 32 codes in r.
// Y14 and Y13 tell NaNs, which it notes in Y12; Y11 is the exponent to add.
#define UNPACK(r, f, e) \
	VPAND r, Y14, Y8;       \
	VPCMPEQB Y13, Y8, Y8;   \
	VPOR Y8, Y12, Y12;      \
	VPAND magnitude<>(SB), r, Y8; \
	VPSRLW $3, Y8, Y9;      \
	VPAND field<>(SB), Y9, Y9;    \
	VPMAXUB ones<>(SB), Y9, Y9;   \
	VPXOR Y10, Y10, Y10;    \
	VPCMPEQB Y10, Y8, Y10;  \
	VPADDB above<>(SB), Y9, Y15;  \
	VPANDN Y15, Y10, Y10;   \
	VMOVDQU Y10, e(R10);    \
	VPSUBB ones<>(SB), Y9, Y10;   \
	VPSLLW $3, Y10, Y10;    \
	VPSUBB Y10, Y8, Y8;     \
	VMOVDQA r, Y10;         \
	QUARTER(r, f);          \
	NEXT;                   \
	QUARTER(r, f+32);       \
	NEXT;                   \
	QUARTER(r, f+64);       \
	NEXT;                   \
	QUARTER(r, f+96)

#define FORMAT \
	VPBROADCASTB wideFormat_nanMask(AX), Y14;  \
	VPBROADCASTB wideFormat_nanValue(AX), Y13; \
	VPBROADCASTD wideFormat_exp(AX), Y11;      \
	VPXOR Y12, Y12, Y12

// func avxUnpackRow(f *wideFormat, codes *uint8, n32 int, floats *float32, exps *uint8) (nan bool)
TEXT ·avxUnpackRow(SB), NOSPLIT, $0-41
	MOVQ f+0(FP), AX
	MOVQ codes+8(FP), BX
	MOVQ n32+16(FP), SI
	MOVQ floats+24(FP), R9
	MOVQ exps+32(FP), R10
	FORMAT

next:
	VMOVDQU (BX), Y0
	UNPACK(Y0, 0, 0)
	ADDQ $32, BX
	ADDQ $128, R9
	ADDQ $32, R10
	DECQ SI
	JNZ  next
	VPTEST Y12, Y12
	SETNE  nan+40(FP)
	VZEROUPPER
	RET

// func avxUnpackColumns(f *wideFormat, codes *uint8, stride, blocks int, y *wideColumns) (nans uint16)
TEXT ·avxUnpackColumns(SB), NOSPLIT, $0-42
	MOVQ f+0(FP), AX
	MOVQ codes+8(FP), BX
	MOVQ stride+16(FP), CX
	MOVQ blocks+24(FP), SI
	MOVQ y+32(FP), R9
	LEAQ wideColumns_exps(R9), R10
	LEAQ (CX)(CX*2), DX // 3 columns
	LEAQ (BX)(CX*4), R8
	FORMAT

next:
	// Y0 to Y7: 16 k of columns 0 to 7 in the lower halves, 8 to 15 in the upper.
	LEAQ (BX)(CX*8), DI
	LEAQ (R8)(CX*8), R11
	VMOVDQU (BX), X0
	VMOVDQU (BX)(CX*1), X1
	VMOVDQU (BX)(CX*2), X2
	VMOVDQU (BX)(DX*1), X3
	VMOVDQU (R8), X4
	VMOVDQU (R8)(CX*1), X5
	VMOVDQU (R8)(CX*2), X6
	VMOVDQU (R8)(DX*1), X7
	VINSERTI128 $1, (DI), Y0, Y0
	VINSERTI128 $1, (DI)(CX*1), Y1, Y1
	VINSERTI128 $1, (DI)(CX*2), Y2, Y2
	VINSERTI128 $1, (DI)(DX*1), Y3, Y3
	VINSERTI128 $1, (R11), Y4, Y4
	VINSERTI128 $1, (R11)(CX*1), Y5, Y5
	VINSERTI128 $1, (R11)(CX*2), Y6, Y6
	VINSERTI128 $1, (R11)(DX*1), Y7, Y7
	// Pairs of columns: k 0-7 in Y8, Y0, Y2, Y4 and k 8-15 in Y1, Y3, Y5, Y7.
	VPUNPCKLBW Y1, Y0, Y8
	VPUNPCKHBW Y1, Y0, Y1
	VPUNPCKLBW Y3, Y2, Y0
	VPUNPCKHBW Y3, Y2, Y3
	VPUNPCKLBW Y5, Y4, Y2
	VPUNPCKHBW Y5, Y4, Y5
	VPUNPCKLBW Y7, Y6, Y4
	VPUNPCKHBW Y7, Y6, Y7
	// Fours of columns.
	VPUNPCKLWD Y0, Y8, Y6  // columns 0-3, k 0-3
	VPUNPCKHWD Y0, Y8, Y8  // 0-3, 4-7
	VPUNPCKLWD Y4, Y2, Y0  // 4-7, 0-3
	VPUNPCKHWD Y4, Y2, Y2  // 4-7, 4-7
	VPUNPCKLWD Y3, Y1, Y4  // 0-3, 8-11
	VPUNPCKHWD Y3, Y1, Y1  // 0-3, 12-15
	VPUNPCKLWD Y7, Y5, Y3  // 4-7, 8-11
	VPUNPCKHWD Y7, Y5, Y5  // 4-7, 12-15
	// Eights of columns, two k a half.
	VPUNPCKLDQ Y0, Y6, Y7  // k 0, 1
	VPUNPCKHDQ Y0, Y6, Y6  // 2, 3
	VPUNPCKLDQ Y2, Y8, Y0  // 4, 5
	VPUNPCKHDQ Y2, Y8, Y8  // 6, 7
	VPUNPCKLDQ Y3, Y4, Y2  // 8, 9
	VPUNPCKHDQ Y3, Y4, Y4  // 10, 11
	VPUNPCKLDQ Y5, Y1, Y3  // 12, 13
	VPUNPCKHDQ Y5, Y1, Y1  // 14, 15
	VPERMQ $0xd8, Y7, Y7
	VPERMQ $0xd8, Y6, Y6
	VPERMQ $0xd8, Y0, Y0
	VPERMQ $0xd8, Y8, Y5
	VPERMQ $0xd8, Y2, Y2
	VPERMQ $0xd8, Y4, Y4
	VPERMQ $0xd8, Y3, Y3
	VPERMQ $0xd8, Y1, Y1
	UNPACK(Y7, 0, 0)
	UNPACK(Y6, 128, 32)
	UNPACK(Y0, 256, 64)
	UNPACK(Y5, 384, 96)
	UNPACK(Y2, 512, 128)
	UNPACK(Y4, 640, 160)
	UNPACK(Y3, 768, 192)
	UNPACK(Y1, 896, 224)
	ADDQ $16, BX
	ADDQ $16, R8
	ADDQ $1024, R9
	ADDQ $256, R10
	DECQ SI
	JNZ  next
	VEXTRACTI128 $1, Y12, X13
	VPOR X13, X12, X12
	VPMOVMSKB X12, AX
	MOVW AX, nans+40(FP)
	VZEROUPPER
	RET

// FINISH is eight results; the lowest bit of each dword of Y3 tells of a NaN.
#define FINISH(off) \
	VMOVUPS off(BX), Y0;       \
	VADDPS off(CX), Y0, Y0;    \
	VCMPPS $3, Y0, Y0, Y1;     \
	VPSLLD $31, Y3, Y2;        \
	VPOR Y2, Y1, Y1;           \
	VBLENDVPS Y1, Y4, Y0, Y0;  \
	VMOVUPS Y0, off(AX)

// func avxFinish(d, c, acc *float32, nans uint16)
TEXT ·avxFinish(SB), NOSPLIT, $0-26
	MOVQ d+0(FP), AX
	MOVQ c+8(FP), BX
	MOVQ acc+16(FP), CX
	VPBROADCASTW nans+24(FP), Y5
	VPMOVZXBD counts<>(SB), Y6
	VPCMPEQD Y4, Y4, Y4
	VPSRLD $23, Y4, Y4
	VPSLLD $22, Y4, Y4 // 0x7fc00000
	VPSRLVD Y6, Y5, Y3
	FINISH(0)
	VPSRLD $8, Y3, Y3
	FINISH(32)
	VZEROUPPER
	RET

DATA counts<>+0(SB)/8, $0x0706050403020100
GLOBL counts<>(SB), RODATA|NOPTR, $8
