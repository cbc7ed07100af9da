#!/bin/sh
# Compiles the probe's kernels.
#
#   build.sh [OUTDIR]
#
# Writes OUTDIR/probe.TARGET.hsaco, without OUTDIR the committed ones. Needs
# clang-22, lld-22 and llvm-22 (another compiler: CLANG=... OBJCOPY=...). The
# same source and the same compiler give the same bytes in any folder.
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
out=${1:-$here}
mkdir -p "$out"
out=$(CDPATH= cd -- "$out" && pwd)
cd "$here"
for target in gfx942 gfx950; do
	"${CLANG:-clang-22}" -x hip --offload-arch=$target --offload-device-only \
		--no-gpu-bundle-output -nogpuinc -nogpulib -std=c++17 -O3 -g0 \
		-Wall -Wextra -Werror -fno-ident -fuse-cuid=none \
		-fno-discard-value-names \
		probe.hip -o "$out/probe.$target.hsaco"
	"${OBJCOPY:-llvm-objcopy-22}" --strip-all --remove-section=.comment "$out/probe.$target.hsaco"
	chmod 644 "$out/probe.$target.hsaco"
done
