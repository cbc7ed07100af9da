"""Writes Go tables of the CDNA3 (gfx942) and CDNA4 (gfx950) instruction sets.

    python isagen.py OUTPUT.go

The data is AMD's machine-readable CDNA4 ISA as the Python package tinygrad
ships it (tinygrad.runtime.autogen.amd.cdna): opcode numbers, and for each
operand its number format, its size and the registers it may name. What that
data does not say is in the lists below, each with its reason; the tests of
sim/isa hold the result against LLVM for both targets.
"""
import fnmatch
import re
import sys

from tinygrad.runtime.autogen.amd.cdna import enum as amd
from tinygrad.runtime.autogen.amd.cdna.operands import OPERANDS

# Opcodes that CDNA4 added: gfx942 lacks them. The data holds CDNA4 only, so
# the difference is written down here ("AMD Instinct CDNA4 ISA", section
# "Changes from MI300").
GFX950_ONLY = [
    # New VALU operations.
    "V_PRNG_B32", "V_PERMLANE16_SWAP_B32", "V_PERMLANE32_SWAP_B32", "V_BITOP3_B16", "V_BITOP3_B32",
    "V_ASHR_PK_I8_I32", "V_ASHR_PK_U8_I32",
    "V_MINIMUM3_F32", "V_MAXIMUM3_F32", "V_PK_MINIMUM3_F16", "V_PK_MAXIMUM3_F16",
    "V_DOT2C_F32_BF16", "V_DOT2_F32_BF16",
    # Conversions for bf16 and for the block-scaled formats.
    "V_CVT_F32_BF16", "V_CVT_PK_F16_F32", "V_CVT_PK_BF16_F32", "V_CVT_SR_F16_F32", "V_CVT_SR_BF16_F32",
    "V_CVT_SCALEF32_*",
    # Block-scaled and double-rate matrix operations.
    "V_MFMA_LD_SCALE_B32", "V_MFMA_*_F8F6F4", "V_MFMA_SCALE_*",
    "V_MFMA_F32_16X16X32_F16", "V_MFMA_F32_32X32X16_F16", "V_MFMA_F32_16X16X32_BF16", "V_MFMA_F32_32X32X16_BF16",
    "V_MFMA_I32_16X16X64_I8", "V_MFMA_I32_32X32X32_I8",
    "V_SMFMAC_F32_16X16X64_F16", "V_SMFMAC_F32_32X32X32_F16", "V_SMFMAC_F32_16X16X64_BF16", "V_SMFMAC_F32_32X32X32_BF16",
    "V_SMFMAC_I32_16X16X128_I8", "V_SMFMAC_I32_32X32X64_I8",
    "V_SMFMAC_F32_16X16X128_*", "V_SMFMAC_F32_32X32X64_*",
    # Memory: transposing LDS reads, wide loads to LDS, packed bf16 buffer atomics.
    "DS_READ_B64_TR_*", "DS_READ_B96_TR_*",
    "GLOBAL_LOAD_LDS_DWORDX3", "GLOBAL_LOAD_LDS_DWORDX4",
    "BUFFER_ATOMIC_PK_ADD_BF16",
]

# Opcodes that CDNA3 had and CDNA4 took out: the reduced-precision xf32
# matrix operations. The data still numbers them.
GFX942_ONLY = ["V_MFMA_F32_*_XF32"]

# Names that LLVM (and with it every listing) spells otherwise.
RENAMED = {
    "V_ACCVGPR_READ": "V_ACCVGPR_READ_B32",
    "V_ACCVGPR_WRITE": "V_ACCVGPR_WRITE_B32",
    "V_MAD_MIX_F32": "V_FMA_MIX_F32",
    "V_MAD_MIXLO_F16": "V_FMA_MIXLO_F16",
    "V_MAD_MIXHI_F16": "V_FMA_MIXHI_F16",
}

# Opcodes that the data leaves out: the global wave sync instructions that take
# a value. Opcode number, then operands.
MISSING = {"DSOp": {
    153: ("DS_GWS_INIT", {"addr": ("FMT_NUM_B32", 32, "OPR_VGPR")}),
    155: ("DS_GWS_SEMA_BR", {"addr": ("FMT_NUM_B32", 32, "OPR_VGPR")}),
    157: ("DS_GWS_BARRIER", {"addr": ("FMT_NUM_B32", 32, "OPR_VGPR")}),
}}

# Operands that the data describes as 16-bit numbers of another kind than the
# instruction reads: a shift count of 32 bits, an exponent that is an integer.
CORRECTED = {
    "V_ALIGNBIT_B32": {"src2": ("FMT_NUM_B32", 32, "OPR_SRC_SIMPLE")},
    "V_ALIGNBYTE_B32": {"src2": ("FMT_NUM_B32", 32, "OPR_SRC_SIMPLE")},
}
EXPONENTS = {"V_LDEXP_F16": ("src1", "vsrc1")}

# Opcodes that the data has and no assembler or disassembler does.
UNKNOWN_TO_LLVM = ["S_SET_VALU_COEXEC_MODE"]

# Opcodes that the data gives an e64 form which LLVM neither writes nor reads.
NO_VOP3 = ["V_READFIRSTLANE_B32", "V_SWAP_B32", "V_ACCVGPR_MOV_B32"]

# Operands of opcodes that the data numbers but does not describe. They follow
# from the names: xf32 inputs are pairs of dwords.
F32 = lambda n: ("FMT_NUM_PK%d_F32" % n, 32 * n)
UNDESCRIBED = {
    "V_MFMA_F32_16X16X8_XF32": {
        "vdst": F32(4) + ("OPR_VGPR_OR_ACCVGPR",), "src0": F32(2) + ("OPR_SRC_VGPR_OR_ACCVGPR",),
        "src1": F32(2) + ("OPR_SRC_VGPR_OR_ACCVGPR",), "src2": F32(4) + ("OPR_SRC_VGPR_OR_ACCVGPR_OR_CONST",)},
    "V_MFMA_F32_32X32X4_XF32": {
        "vdst": F32(16) + ("OPR_VGPR_OR_ACCVGPR",), "src0": F32(2) + ("OPR_SRC_VGPR_OR_ACCVGPR",),
        "src1": F32(2) + ("OPR_SRC_VGPR_OR_ACCVGPR",), "src2": F32(16) + ("OPR_SRC_VGPR_OR_ACCVGPR_OR_CONST",)},
    "V_MFMA_LD_SCALE_B32": {
        "src0": ("FMT_NUM_B32", 32, "OPR_SRC_SIMPLE"), "src1": ("FMT_NUM_B32", 32, "OPR_SRC_SIMPLE")},
    "DS_GWS_SEMA_V": {}, "DS_GWS_SEMA_P": {}, "DS_GWS_SEMA_RELEASE_ALL": {},
}

# The tables: Go name, number of opcodes, and which of AMD's opcode sets fill
# it under which encoding. VOP3 and VOP3SD share an opcode space, as do packed
# math and the matrix core.
TABLES = [
    ("sop1Table", 256, [("SOP1Op", "SOP1")]),
    ("sop2Table", 128, [("SOP2Op", "SOP2")]),
    ("sopcTable", 128, [("SOPCOp", "SOPC")]),
    ("sopkTable", 32, [("SOPKOp", "SOPK")]),
    ("soppTable", 128, [("SOPPOp", "SOPP")]),
    ("smemTable", 256, [("SMEMOp", "SMEM")]),
    ("vop1Table", 256, [("VOP1Op", "VOP1")]),
    ("vop2Table", 64, [("VOP2Op", "VOP2")]),
    ("vopcTable", 256, [("VOPCOp", "VOPC")]),
    ("vop3Table", 1024, [("VOP3Op", "VOP3"), ("VOP3SDOp", "VOP3SD")]),
    ("vop3pTable", 128, [("VOP3POp", "VOP3P")]),
    ("vop3px2Table", 128, [("VOP3PX2Op", "VOP3PX2")]),
    ("dsTable", 256, [("DSOp", "DS")]),
    ("mubufTable", 128, [("MUBUFOp", "MUBUF")]),
    ("mtbufTable", 16, [("MTBUFOp", "MTBUF")]),
    ("flatTable", 128, [("FLATOp", "FLAT")]),
    ("globalTable", 128, [("GLOBALOp", "GLOBAL")]),
    ("scratchTable", 128, [("SCRATCHOp", "SCRATCH")]),
]

# Where each named field goes in a Go shape. Fields of one encoding never
# share a place.
PLACES = {
    "vdst": "dst", "sdst": "sdst", "vdata": "dst", "sdata": "dst",
    "src0": "a", "ssrc0": "a", "addr": "a", "vaddr": "a", "sbase": "a", "simm16": "a",
    "src1": "b", "vsrc1": "b", "ssrc1": "b", "data": "b", "data0": "b", "srsrc": "b",
    "src2": "c", "data1": "c", "saddr": "c", "soffset": "c",
}
# In scalar encodings the only destination is sdst, which is then the first.
SCALAR = {"SOP1", "SOP2", "SOPC", "SOPK", "SOPP", "SMEM"}

CLASSES = {
    "OPR_VGPR": "inVGPR", "OPR_VGPR_OR_ACCVGPR": "inVGPROrAcc", "OPR_ACCVGPR": "inAcc",
    "OPR_SRC": "inSrc", "OPR_SRC_NOLIT": "inSrc", "OPR_SRC_SIMPLE": "inSrc", "OPR_SRC_NOLDS": "inSrc",
    "OPR_SRC_VGPR": "inSrcVGPR", "OPR_SRC_ACCVGPR": "inSrcAcc",
    "OPR_SRC_VGPR_OR_ACCVGPR": "inSrcVGPROrAcc", "OPR_SRC_VGPR_OR_ACCVGPR_OR_CONST": "inSrcVGPROrAccOrConst",
    "OPR_SREG": "inSGPR", "OPR_SREG_NOVCC": "inSGPR", "OPR_SDST": "inSGPR",
    "OPR_SSRC": "inSSrc", "OPR_SSRC_NOLIT": "inSSrc", "OPR_SSRC_LANESEL": "inLaneSelect",
    "OPR_VGPR_OR_LDS": "inSrcVGPR", "OPR_SMEM_OFFSET": "inSMEMOffset",
    "OPR_SIMM16": "inImm16", "OPR_SIMM8": "inImm8", "OPR_SIMM4": "inImm4",
    "OPR_LABEL": "inLabel", "OPR_HWREG": "inHwreg", "OPR_SENDMSG": "inSendmsg", "OPR_WAITCNT": "inWaitcnt",
}


def number_format(fmt):
    """The Go name of a number format: what a constant operand means in it."""
    if fmt in ("FMT_NUM_F16", "FMT_NUM_F32", "FMT_NUM_F64", "FMT_NUM_BF16"):
        return "num" + fmt[len("FMT_NUM_"):]
    if fmt == "FMT_NUM_I64":
        return "numI64"
    if m := re.fullmatch(r"FMT_NUM_[UIB](\d+)", fmt):
        return "numInt" if int(m[1]) > 16 else "numInt16"
    if m := re.fullmatch(r"FMT_NUM_PK2_(F16|BF16|F32)", fmt):
        return "numPk" + m[1]
    if re.fullmatch(r"FMT_NUM_PK2_[UIB]16", fmt):
        return "numPkInt16"
    if fmt == "FMT_NUM_PK2_B32":
        return "numPkInt32"
    if m := re.fullmatch(r"FMT_NUM_PK\d+_(F32|F64|I32)", fmt):
        return "numMatrix" + m[1]
    if fmt == "FMT_NUM_M64":
        return "numMask"
    return "numBits"


def slot(operand):
    fmt, bits, registers = operand
    fmt, registers = getattr(fmt, "name", fmt), getattr(registers, "name", registers)
    num = number_format(fmt)
    if num == "numInt16" and registers.startswith("OPR_SSRC"):
        num = "numInt"  # scalar instructions read constants as 32 bits
    return "slot{%s, %d, %s}" % (CLASSES[registers], max(1, (bits + 31) // 32), num)


def shape(encoding, fields):
    places = {}
    for field, operand in fields.items():
        place = PLACES.get(field)
        if place is None:
            continue  # scale_src0 and scale_src1 are always one dword
        if place == "sdst" and encoding in SCALAR:
            place = "dst"
        assert place not in places, (encoding, fields)
        places[place] = slot(operand)
    return "shape{" + ", ".join("%s: %s" % (p, places[p]) for p in ("dst", "sdst", "a", "b", "c") if p in places) + "}"


def canonical(name):
    name = re.sub(r"_E(32|64)$", "", name)
    return RENAMED.get(name, name)


def targets(name):
    if any(fnmatch.fnmatchcase(name, p) for p in GFX950_ONLY):
        return "on950"
    if any(fnmatch.fnmatchcase(name, p) for p in GFX942_ONLY):
        return "on942"
    return "onBoth"


def opcodes(opset):
    """Number, name and operands of each opcode of one of AMD's sets."""
    for member in getattr(amd, opset):
        name = canonical(member.name)
        fields = dict(OPERANDS.get(member, UNDESCRIBED.get(name, {})))
        fields.update(CORRECTED.get(name, {}))
        for field in EXPONENTS.get(name, ()):
            if field in fields:
                fields[field] = ("FMT_NUM_I32",) + fields[field][1:]
        yield member.value, name, fields
    for number, (name, fields) in MISSING.get(opset, {}).items():
        yield number, name, fields


def main(path):
    names, shapes, tables = set(), {}, []
    for table, size, sets in TABLES:
        rows = {}
        for opset, encoding in sets:
            for number, name, fields in opcodes(opset):
                if encoding == "VOP3" and name in NO_VOP3 or name in UNKNOWN_TO_LLVM:
                    continue
                enc = encoding
                if enc == "VOP3P" and re.match(r"V_(S?MFMA(?!_LD_SCALE)|ACCVGPR)", name):
                    enc = "MFMA"
                names.add(name)
                index = shapes.setdefault(shape(encoding, fields), len(shapes))
                assert number not in rows and number < size, (table, name)
                rows[number] = "%d: {%s, %s, %s, %d}," % (number, name, enc, targets(name), index)
        tables.append((table, size, [rows[k] for k in sorted(rows)]))
    for pattern in GFX950_ONLY + GFX942_ONLY:
        if not any(fnmatch.fnmatchcase(n, pattern) for n in names):
            sys.exit("isagen: no opcode of the package matches %r: is this another version of the ISA?" % pattern)

    ops = sorted(names)
    out = ["// Code generated by isagen from AMD's machine-readable CDNA4 ISA (tinygrad 0.14.0). DO NOT EDIT.", "", "package isa", ""]
    out += ["const (", "\tInvalidOp Op = iota"] + ["\t" + n for n in ops] + ["\tnumOps", ")", ""]
    out += ["var opNames = [numOps]string{"] + ['\t%s: "%s",' % (n, n.lower()) for n in ops] + ["}", ""]
    out += ["var shapes = [...]shape{"] + ["\t%d: %s," % (i, s[len("shape"):]) for s, i in shapes.items()] + ["}", ""]
    for table, size, rows in tables:
        out += ["var %s = [%d]row{" % (table, size)] + ["\t" + r for r in rows] + ["}", ""]
    with open(path, "w", encoding="ascii") as f:
        f.write("\n".join(out))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: isagen.py OUTPUT.go")
    main(sys.argv[1])
