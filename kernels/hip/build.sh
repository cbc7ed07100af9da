#!/bin/sh
# Compiles the kernels of variants.txt, bad/variants.txt and steps/variants.txt.
#
#   build.sh [OUTDIR]
#
# Writes OUTDIR/NAME.TARGET.hsaco, and OUTDIR/bad/ and OUTDIR/steps/ likewise;
# without OUTDIR, the committed ones: obj/, bad/ and steps/. Needs clang-22, lld-22 and llvm-22
# (another compiler: CLANG=... OBJCOPY=...). The same sources and the same
# compiler give the same bytes in any folder.
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
clang=${CLANG:-clang-22}
objcopy=${OBJCOPY:-llvm-objcopy-22}
if [ $# -gt 0 ]; then
	mkdir -p "$1/bad" "$1/steps"
	out=$(CDPATH= cd -- "$1" && pwd)
	bad=$out/bad
	steps=$out/steps
else
	out=$here/obj
	bad=$here/bad
	steps=$here/steps
fi
mkdir -p "$out"

# build LIST OUTDIR: relative source names, so that no path of this machine
# can reach the output.
build() {
	cd "$(dirname -- "$1")"
	grep -v '^#' "$1" | while read -r name source targets options; do
		[ -n "$name" ] || continue
		for target in $(echo "$targets" | tr , ' '); do
			file=$2/$name.$target.hsaco
			# shellcheck disable=SC2086 # options are words
			"$clang" -x hip --offload-arch=$target --offload-device-only \
				--no-gpu-bundle-output -nogpuinc -nogpulib -std=c++17 -O3 -g0 \
				-Wall -Wextra -Werror -ffp-contract=off -fno-ident -fuse-cuid=none \
				-fno-discard-value-names \
				$options "$source" -o "$file"
			"$objcopy" --strip-all --remove-section=.comment "$file"
			chmod 644 "$file"
		done
	done
}

build "$here/variants.txt" "$out"
build "$here/bad/variants.txt" "$bad"
build "$here/steps/variants.txt" "$steps"
