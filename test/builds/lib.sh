# Shared by the tests of builds: a copy of the tree, in a folder that goes with the test.
set -euo pipefail
export LC_ALL=C
unset CFLAGS LDFLAGS CMAKE_GENERATOR

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
source=${SOURCE:-$here/../..}
CMAKE=${CMAKE:-cmake}
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

die() { printf '%s\n' "$*" >&2; exit 1; }

skip() { printf '%s\n' "$*"; exit 77; }

has() { command -v -- "$1" >/dev/null; }

copy_tree() {
    mkdir -p -- "$1"
    cp -R -- "$source"/{CMakeLists.txt,CMakePresets.json,README.md} \
        "$source"/{bench,cmake,examples,include,lib,test,testing,tools} "$1"
}

# logged NAME COMMAND...: shows the command's output only if it fails.
logged() {
    local log=$work/$1.log
    shift
    "$@" >"$log" 2>&1 || { tail -n 40 -- "$log" >&2; die "failed: $*"; }
}
