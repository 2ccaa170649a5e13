#!/usr/bin/env bash
# guard.sh: what a pair costs in counts, which no busy machine can blur: instructions of the client
# (valgrind --tool=callgrind) and its allocations (memcheck's total) at c = 256, its system calls
# (strace) at c = 1. Each may not exceed its limit in guard.limits.
#
#     guard.sh BIN      the folder of redlock-bench and redlock; exit status 77: nothing to count with
#
# Each figure is the difference of two runs, so that start and end do not count.
set -euo pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
readonly HERE SKIPPED=77
readonly BENCH=${1:?}/redlock-bench CLUSTER=$HERE/../cluster-scripts/cluster
export REDLOCK=$1/redlock
failed=0 counted=0

clean_up() {
    "$CLUSTER" stop --dir "$work/masters" >/dev/null 2>&1 || true
    rm -rf -- "$work"
}

# pairs C N TOOL...: runs N pairs, C in flight, under a tool.
pairs() {
    local c=$1 n=$2
    shift 2
    "$@" "$BENCH" --nodes "$nodes" --json --no-syscalls --request-timeout 2500 \
        -c "$c" --pairs "$n" pairs >"$work/json" 2>"$work/errors" &&
        grep -q '"failed":0,' "$work/json" || { cut -c1-600 "$work/errors" "$work/json" >&2; return 1; }
}

instructions() {
    pairs "$1" "$2" valgrind --tool=callgrind --callgrind-out-file=/dev/null &&
        sed -n 's/^==[0-9]*== Collected : //p' "$work/errors"
}

allocations() {
    pairs "$1" "$2" valgrind --tool=memcheck --leak-check=no --undef-value-errors=no &&
        sed -n 's/.*total heap usage: \([0-9,]*\) allocs.*/\1/p' "$work/errors" | tr -d ,
}

syscalls() {
    pairs "$1" "$2" strace -f -c -o "$work/strace" &&
        awk '$NF == "total" { print $4 }' "$work/strace"
}

# guard WHAT C FEW MANY LIMIT
guard() {
    local few many each
    few=$("$1" "$2" "$3") && many=$("$1" "$2" "$4") || { echo "FAILED: could not count $1"; failed=1; return; }
    each=$(awk -v a="$few" -v b="$many" -v n="$(($4 - $3))" 'BEGIN { printf "%.2f", (b - a) / n }')
    counted=1
    if awk -v a="$each" -v b="$5" 'BEGIN { exit !(a > b) }'; then
        echo "FAILED: $1 per pair at c = $2: $each, more than the limit of $5"
        failed=1
    else
        echo "ok: $1 per pair at c = $2: $each, limit $5"
    fi
}

# Some containers have strace and may not trace.
may_trace() { strace -o /dev/null true 2>/dev/null; }

main() {
    local what c few many limit
    work=$(mktemp -d)
    trap clean_up EXIT
    "$CLUSTER" start --dir "$work/masters" -n 5 >/dev/null
    nodes=$("$CLUSTER" nodes --dir "$work/masters")
    while read -r what c few many limit; do
        case $what in
            '' | '#'*) continue ;;
            syscalls) may_trace || { echo "skipped: $what: strace is missing or may not trace"; continue; } ;;
            *) command -v valgrind >/dev/null || { echo "skipped: $what: valgrind is missing"; continue; } ;;
        esac
        guard "$what" "$c" "$few" "$many" "$limit"
    done <"$HERE/guard.limits"
    ((counted || failed)) || exit "$SKIPPED"
    exit "$failed"
}

main
