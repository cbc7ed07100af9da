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
