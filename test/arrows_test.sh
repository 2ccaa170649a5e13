#!/usr/bin/env bash
# Shows that arrows.sh finds a circle, and an excuse that is not needed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p room.dir

# compile FILE CODE
compile() { "${CC:-cc}" -x c -c - -o "room.dir/$1.c.o" <<<"$2"; }

# expect PATTERN ARGUMENT…: the pattern is in the output of arrows.sh; "no circle" alone is no
# failure.
expect() {
    local pattern=$1 said status=0
    shift
    said=$("$here/arrows.sh" "$@") || status=$?
    if [[ ! $said =~ ^$pattern$ ]] || { [[ $pattern == 'no circle'* ]] && ((status)); } ||
        { [[ $pattern != 'no circle'* ]] && ((status == 0)); }; then
        echo "expected '$pattern', not '$said' (status $status)" >&2
        exit 1
    fi
}

compile top 'void middle(void); void top(void) { middle(); }'
compile middle 'void below(void); void middle(void) { below(); }'
compile below 'void below(void) {}'
expect 'no circle of 3 files' room.dir/*.o
expect 'below is in no circle: .*' --excused below room.dir/*.o

all='(below|middle|top)'
echo 'below top' >includes
expect "a circle: $all $all $all" --also includes room.dir/*.o
echo 'top header' >includes
expect 'no circle of 4 files' --also includes room.dir/*.o

compile below 'void top(void); void below(void) { top(); }'
expect "a circle: $all $all $all" room.dir/*.o
expect "a circle: $all $all $all" --excused middle room.dir/*.o
expect 'no circle of 3 files, but for top middle below' --excused 'top middle below' room.dir/*.o
echo "arrows.sh finds circles"
