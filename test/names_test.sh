#!/usr/bin/env bash
# test/names.py notices what it is there to notice: each fault is made in a copy of lib.
#
#   test/names_test.sh LIB
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
lib=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
missed=0

# must_fail WORDS: the report of the copy, which has a fault by now, has those words.
must_fail() {
    local report
    if report=$("$here/names.py" "$work/lib" 2>&1) || ! grep -q -- "$1" <<<"$report"; then
        printf 'expected "%s", got:\n%s\n' "$1" "$report"
        missed=1
    fi
    fresh_copy
}

fresh_copy() {
    rm -rf "${work:?}/lib"
    cp -R "$lib" "$work/lib"
}

# add CODE: to a file of the copy.
add() { printf '%s\n' "$1" >>"$work/lib/core/lease/queue.c"; }

fresh_copy
"$here/names.py" "$work/lib"

for ((i = 0; i <= 20; i++)); do
    for file in queue place; do
        printf 'static void one_%d(void)\n{\n}\n' "$i" >>"$work/lib/core/lease/$file.c"
    done
done
must_fail '^one_20: core/lease/place.c core/lease/queue.c'

add $'void wait_is_over(void)\n{\n}'
must_fail 'wait_is_over asks, and returns nothing'
add $'static bool retries(struct lease *lease)\n{\n    return lease;\n}'
must_fail 'retries asks, and may write to struct lease \*lease'
add $'bool queue_is_full(const struct lease *lease)\n{\n    return lease->attempt->yields++;\n}'
must_fail 'queue_is_full asks, and assigns to ->yields++'
add $'static bool may_go(const struct lease *lease)\n{\n    queue_push(NULL, 0, NULL);\n    return lease;\n}'
must_fail 'may_go asks, and calls queue_push'
add $'static void note_what_is_left(void)\n{\n}'
"$here/names.py" "$work/lib" >/dev/null

((missed == 0))
