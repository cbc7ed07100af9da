#include "textflag.h"

// shifts<> are the left shifts that bring bit l of a 32-bit mask to the sign of
// lane l, for l = 0..31.
DATA shifts<>+0(SB)/4, $31
DATA shifts<>+4(SB)/4, $30
DATA shifts<>+8(SB)/4, $29
DATA shifts<>+12(SB)/4, $28
DATA shifts<>+16(SB)/4, $27
DATA shifts<>+20(SB)/4, $26
DATA shifts<>+24(SB)/4, $25
DATA shifts<>+28(SB)/4, $24
DATA shifts<>+32(SB)/4, $23
DATA shifts<>+36(SB)/4, $22
DATA shifts<>+40(SB)/4, $21
DATA shifts<>+44(SB)/4, $20
DATA shifts<>+48(SB)/4, $19
DATA shifts<>+52(SB)/4, $18
DATA shifts<>+56(SB)/4, $17
DATA shifts<>+60(SB)/4, $16
DATA shifts<>+64(SB)/4, $15
DATA shifts<>+68(SB)/4, $14
DATA shifts<>+72(SB)/4, $13
DATA shifts<>+76(SB)/4, $12
DATA shifts<>+80(SB)/4, $11
DATA shifts<>+84(SB)/4, $10
DATA shifts<>+88(SB)/4, $9
DATA shifts<>+92(SB)/4, $8
DATA shifts<>+96(SB)/4, $7
DATA shifts<>+100(SB)/4, $6
DATA shifts<>+104(SB)/4, $5
DATA shifts<>+108(SB)/4, $4
DATA shifts<>+112(SB)/4, $3
DATA shifts<>+116(SB)/4, $2
DATA shifts<>+120(SB)/4, $1
DATA shifts<>+124(SB)/4, $0
GLOBL shifts<>(SB), RODATA, $128

// Y15 holds half of the mask in all lanes. Lanes of b that it names, else of a.
#define SELECT(at, shift) \
	VPSLLVD shifts<>+shift(SB), Y15, Y0 \
	VMOVUPS at(BX), Y1                  \
	VMOVUPS at(CX), Y2                  \
	VBLENDVPS Y0, Y2, Y1, Y1            \
	VMOVUPS Y1, at(AX)

#define SELECTALL \
	VPBROADCASTD X14, Y15 \
	SELECT(0, 0)          \
	SELECT(32, 32)        \
	SELECT(64, 64)        \
	SELECT(96, 96)        \
	VPSRLQ $32, X14, X14  \
	VPBROADCASTD X14, Y15 \
	SELECT(128, 0)        \
	SELECT(160, 32)       \
	SELECT(192, 64)       \
	SELECT(224, 96)       \
	VZEROUPPER

// func avxSelect(d, a, b *vreg, mask uint64)
TEXT ·avxSelect(SB), NOSPLIT, $0-32
	MOVQ d+0(FP), AX
	MOVQ a+8(FP), BX
	MOVQ b+16(FP), CX
	VMOVQ mask+24(FP), X14
	SELECTALL
	RET

// func avxMerge(dst, src *vreg, mask uint64)
TEXT ·avxMerge(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), AX
	MOVQ AX, BX
	MOVQ src+8(FP), CX
	VMOVQ mask+16(FP), X14
	SELECTALL
	RET

// func avxFill(v *vreg, x uint32)
TEXT ·avxFill(SB), NOSPLIT, $0-12
	MOVQ v+0(FP), AX
	MOVL x+8(FP), DX
	VMOVD DX, X0
	VPBROADCASTD X0, Y0
	VMOVDQU Y0, 0(AX)
	VMOVDQU Y0, 32(AX)
	VMOVDQU Y0, 64(AX)
	VMOVDQU Y0, 96(AX)
	VMOVDQU Y0, 128(AX)
	VMOVDQU Y0, 160(AX)
	VMOVDQU Y0, 192(AX)
	VMOVDQU Y0, 224(AX)
	VZEROUPPER
	RET

// highHalf<> makes the second number of each 16 bytes pick from its own bytes.
DATA highHalf<>+0(SB)/8, $0
DATA highHalf<>+8(SB)/8, $0x0808080808080808
DATA highHalf<>+16(SB)/8, $0
DATA highHalf<>+24(SB)/8, $0x0808080808080808
GLOBL highHalf<>(SB), RODATA, $32

DATA lowDwords<>+0(SB)/8, $0x0000000200000000
DATA lowDwords<>+8(SB)/8, $0x0000000600000004
DATA lowDwords<>+16(SB)/8, $0
DATA lowDwords<>+24(SB)/8, $0
GLOBL lowDwords<>(SB), RODATA, $32

DATA beyondBytes<>+0(SB)/4, $0xf8f8f8f8
GLOBL beyondBytes<>(SB), RODATA, $4

DATA twelves<>+0(SB)/4, $0x0c0c0c0c
GLOBL twelves<>(SB), RODATA, $4

// Y0 collects the selectors that are not 12, which stands for a zero.
#define OTHERS(at) \
	VMOVDQU at(DX), Y1      \
	VPCMPEQB Y13, Y1, Y2    \
	VPANDN Y1, Y2, Y1       \
	VPOR Y1, Y0, Y0

#define PERM(at) \
	VPMOVZXDQ at(CX), Y0    \
	VPMOVZXDQ at(BX), Y1    \
	VPSLLQ $32, Y1, Y1      \
	VPOR Y1, Y0, Y0         \
	VPMOVZXDQ at(DX), Y2    \
	VPCMPEQB Y13, Y2, Y3    \
	VPADDB Y15, Y2, Y2      \
	VPOR Y3, Y2, Y2         \
	VPSHUFB Y2, Y0, Y0      \
	VPERMD Y0, Y14, Y0      \
	VMOVDQU X0, at(AX)

// func avxPermBytes(d, a, b, c *vreg) bool
TEXT ·avxPermBytes(SB), NOSPLIT, $0-33
	MOVQ d+0(FP), AX
	MOVQ a+8(FP), BX
	MOVQ b+16(FP), CX
	MOVQ c+24(FP), DX
	VPBROADCASTD twelves<>(SB), Y13
	VPXOR Y0, Y0, Y0
	OTHERS(0)
	OTHERS(32)
	OTHERS(64)
	OTHERS(96)
	OTHERS(128)
	OTHERS(160)
	OTHERS(192)
	OTHERS(224)
	VPBROADCASTD beyondBytes<>(SB), Y1
	VPTEST Y1, Y0
	JNE other
	VMOVDQU highHalf<>(SB), Y15
	VMOVDQU lowDwords<>(SB), Y14
	PERM(0)
	PERM(16)
	PERM(32)
	PERM(48)
	PERM(64)
	PERM(80)
	PERM(96)
	PERM(112)
	PERM(128)
	PERM(144)
	PERM(160)
	PERM(176)
	PERM(192)
	PERM(208)
	PERM(224)
	PERM(240)
	VZEROUPPER
	MOVB $1, ret+32(FP)
	RET

other:
	VZEROUPPER
	MOVB $0, ret+32(FP)
	RET

// Y15 holds half of the carries in, X14 all of them. The sign of Y0 becomes that
// of the carry out; DI collects the signs.
#define CARRYIN(shift) \
	VPSLLVD shifts<>+shift(SB), Y15, Y3 \
	VPSRAD $31, Y3, Y3

#define CARRYOUT \
	VMOVMSKPS Y0, SI \
	SHLQ $8, DI      \
	ORQ SI, DI

#define ADDCARRY(at, shift) \
	CARRYIN(shift)      \
	VMOVDQU at(BX), Y1  \
	VMOVDQU at(CX), Y2  \
	VPADDD Y2, Y1, Y4   \
	VPSUBD Y3, Y4, Y4   \
	VMOVDQU Y4, at(AX)  \
	VPAND Y2, Y1, Y0    \
	VPOR Y2, Y1, Y1     \
	VPANDN Y1, Y4, Y1   \
	VPOR Y1, Y0, Y0     \
	CARRYOUT

#define SUBBORROW(at, shift) \
	CARRYIN(shift)      \
	VMOVDQU at(BX), Y1  \
	VMOVDQU at(CX), Y2  \
	VPSUBD Y2, Y1, Y4   \
	VPADDD Y3, Y4, Y4   \
	VMOVDQU Y4, at(AX)  \
	VPANDN Y2, Y1, Y0   \
	VPXOR Y13, Y1, Y1   \
	VPOR Y2, Y1, Y1     \
	VPAND Y1, Y4, Y1    \
	VPOR Y1, Y0, Y0     \
	CARRYOUT

#define CARRYSTART \
	VPCMPEQD Y13, Y13, Y13   \
	XORL DI, DI              \
	VPSRLQ $32, X14, X15     \
	VPBROADCASTD X15, Y15

// func avxAddCarry(d, a, b *vreg, in uint64) (out uint64)
TEXT ·avxAddCarry(SB), NOSPLIT, $0-40
	MOVQ d+0(FP), AX
	MOVQ a+8(FP), BX
	MOVQ b+16(FP), CX
	VMOVQ in+24(FP), X14
	CARRYSTART
	ADDCARRY(224, 96)
	ADDCARRY(192, 64)
	ADDCARRY(160, 32)
	ADDCARRY(128, 0)
	VPBROADCASTD X14, Y15
	ADDCARRY(96, 96)
	ADDCARRY(64, 64)
	ADDCARRY(32, 32)
	ADDCARRY(0, 0)
	VZEROUPPER
	MOVQ DI, out+32(FP)
	RET

// func avxSubBorrow(d, a, b *vreg, in uint64) (out uint64)
TEXT ·avxSubBorrow(SB), NOSPLIT, $0-40
	MOVQ d+0(FP), AX
	MOVQ a+8(FP), BX
	MOVQ b+16(FP), CX
	VMOVQ in+24(FP), X14
	CARRYSTART
	SUBBORROW(224, 96)
	SUBBORROW(192, 64)
	SUBBORROW(160, 32)
	SUBBORROW(128, 0)
	VPBROADCASTD X14, Y15
	SUBBORROW(96, 96)
	SUBBORROW(64, 64)
	SUBBORROW(32, 32)
	SUBBORROW(0, 0)
	VZEROUPPER
	MOVQ DI, out+32(FP)
	RET
