#!/usr/bin/env bash
# A program that was compiled with this release's headers runs with a library whose structs have all grown by
# a field. These are the structs that may grow, by libredlock.abi, and the program uses them all.
#
#   older.sh
#
# Environment: CC, CMAKE, CLUSTER (cluster-scripts/cluster).
set -euo pipefail
export LC_ALL=C
here=$(cd -- "$(dirname -- "$0")" && pwd)
root=$(cd -- "$here/../.." && pwd)
program=$here/consumer/older.c

die() { printf 'older: %s\n' "$*" >&2; exit 1; }

# shellcheck source=test/package/shared_library.sh
. "$here/shared_library.sh"

growing() { sed -n 's/^struct \(redlock_[a-z_]*\) [0-9]* grows.*/\1/p' "$here/libredlock.abi"; }

# Each gets a last field that this release has not.
grow() {
    local struct
    for struct in "$@"; do
        grep -qw "$struct" "$program" || die "$program does not use $struct"
        sed -i "s/^} $struct;/    int64_t grown_;\n&/" "$work"/new/include/{redlock.h,redlock/*.h}
        grep -qB1 "^} $struct;" "$work"/new/include/{redlock.h,redlock/*.h} || die "no $struct"
    done
    (($(grep -rh 'grown_;' "$work/new/include" | wc -l) == $#)) || die "not every struct has grown: $*"
}

finish() {
    "$CLUSTER" stop --dir "$work/cluster" >/dev/null
    rm -rf -- "$work"
}

work=$(mktemp -d)
trap finish EXIT
mkdir -- "$work/new"
cp -r -- "$root"/{CMakeLists.txt,README.md,cmake,include,lib} "$work/new"
mapfile -t structs < <(growing)
grow "${structs[@]}"
must_build "$work/new" "$work/build"
"$CC" -Wall -Wextra -Werror "-I$root/include" "$program" -o "$work/older" "-L$work/build/lib" -lredlock
eval "$("$CLUSTER" start -n 3 --no-adopt --dir "$work/cluster")"
LD_LIBRARY_PATH=$work/build/lib "$work/older" ||
    die 'the program does not run with a library whose structs have grown'
