#!/usr/bin/env bash
# Whether programs that were built with the last release run with this library. It must have all that stands
# in libredlock.abi, which is the ABI of that release. abidw (Debian: abigail-tools) reads the library.
#
#   abi.sh            compares the two, and has a sentence for each change that breaks programs
#   abi.sh --update   writes libredlock.abi anew, for a release
#
# New functions, types, enumerators and macros may come. A struct may grow behind its end if it begins with
# its size, or if the library alone makes it and shows it by a pointer. A library with a new SONAME may be
# different in all. Environment: CC, CMAKE.
set -euo pipefail
export LC_ALL=C
here=$(cd -- "$(dirname -- "$0")" && pwd)
root=$(cd -- "$here/../.." && pwd)
reference=$here/libredlock.abi

say() { printf 'abi: %s\n' "$*"; }

die() { say "$*" >&2; exit 1; }

# shellcheck source=test/package/shared_library.sh
. "$here/shared_library.sh"

macros() {
    printf '#include "%s"\n' "$root"/include/redlock/*.h | "${CC:-cc}" -E -dM "-I$root/include" -x c -
}

describe() {
    abidw --no-corpus-path --no-comp-dir-path --no-elf-needed "$work/build/lib/libredlock.so" >"$work/abi.xml"
    macros | python3 "$here/abi.py" describe "$work/abi.xml"
}

command -v abidw >/dev/null || die 'abidw not found: install it (Debian: abigail-tools)'
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
must_build "$root" "$work/build"
describe >"$work/now.abi"
if [[ ${1:-} == --update ]]; then
    cp -- "$work/now.abi" "$reference"
    say "$reference is the ABI of this library"
elif breaks=$(python3 "$here/abi.py" compare "$reference" "$work/now.abi"); then
    say "programs that were built with the last release run with this library${breaks:+: $breaks}"
else
    die "programs that were built with the last release may break:" \
        "undo this, or raise SOVERSION in lib/CMakeLists.txt"$'\n'"$breaks"
fi
