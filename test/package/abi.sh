#!/usr/bin/env bash
# Whether programs that were built with the last tagged version run with this library: abidiff
# (Debian: abigail-tools) compares what both export, and the types of their headers.
#
#   abi.sh [TAG]
#
# New functions and enumerators may come. A struct may grow behind its end if it tells its size, or if the library
# alone makes it and shows it by a pointer. A library with a new SONAME may be different in all.
# Environment: CC, CMAKE.
set -euo pipefail
export LC_ALL=C
here=$(cd -- "$(dirname -- "$0")" && pwd)
root=$(cd -- "$here/../.." && pwd)

growing='options|lease_options|campaign_options|barrier_options|latch_options|sync_result|stats|event|found'

say() { printf 'abi: %s\n' "$*"; }

die() { say "$*" >&2; exit 1; }

# Those of a repository around an unpacked archive are not ours.
last_tag() {
    [[ -e $root/.git ]] || return 0
    git -C "$root" describe --tags --abbrev=0 --match '*[0-9].[0-9]*' 2>/dev/null || true
}

# build SOURCE FOLDER: the shared library alone, with what debuggers read.
build() {
    "${CMAKE:-cmake}" -S "$1" -B "$2" -DCMAKE_C_COMPILER="${CC:-cc}" -DCMAKE_BUILD_TYPE=Debug \
        -DREDLOCK_TESTS=OFF -DREDLOCK_TOOLS=OFF -DREDLOCK_MANUALS=OFF &&
        "${CMAKE:-cmake}" --build "$2" -j2 --target redlock_shared
}

# must_build SOURCE FOLDER
must_build() {
    local log
    log=$(build "$@" 2>&1) || die "$1 does not build: $(tail -n 20 <<<"$log")"
}

soname() { readelf -d "$1" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p'; }

# From abidiff's report, whose paragraphs are one change each: those that programs may not survive.
# What came into a struct's old padding is none that its size tells.
without_growth() {
    awk -v RS= -v ORS='\n\n' -v FS='\n' -v growing="^'struct redlock_($growing) at " '
        function grew(    i, old) {
            if ($1 !~ growing || $2 !~ /^  type size changed from/ || $3 !~ /^  [0-9]+ data member insertions?:$/)
                return 0
            old = number_behind($2, "from")
            for (i = 4; i <= NF; i++)
                if ($i !~ /^    .*, at offset / || number_behind($i, "at offset") < old)
                    return 0
            return 1
        }
        function number_behind(line, words) {
            sub(".*" words " ", "", line)
            return line + 0
        }
        NR > 1 && !grew()'
}

compare() {
    local old=$1 new=$2 report breaks status=0
    report=$(abidiff --leaf-changes-only --no-added-syms --headers-dir1 "$work/old/include" \
        --headers-dir2 "$root/include" "$old" "$new") || status=$?
    # 4: there are changes; 8: of the worst kind.
    (((status & ~12) == 0)) || die "abidiff failed with $status: $report"
    breaks=$(without_growth <<<"$report")
    [[ -z $breaks ]] ||
        die "programs that were built with $tag may break: undo this, or raise SOVERSION in lib/CMakeLists.txt"$'\n'"$breaks"
    say "programs that were built with $tag run with this library"
}

tag=${1:-$(last_tag)}
if [[ -z $tag ]]; then
    say 'no tag yet: nothing to compare with'
    exit 0
fi
command -v abidiff >/dev/null || die 'abidiff not found: install it (Debian: abigail-tools)'
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
mkdir -- "$work/old"
git -C "$root" archive "$tag" | tar -x -C "$work/old"
must_build "$work/old" "$work/old-build"
must_build "$root" "$work/new-build"
old=$work/old-build/lib/libredlock.so new=$work/new-build/lib/libredlock.so
if [[ $(soname "$old") == "$(soname "$new")" ]]; then
    compare "$old" "$new"
else
    say "$tag has $(soname "$old"), this is $(soname "$new"): nobody expects that they agree"
fi
