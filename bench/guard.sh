#!/usr/bin/env bash
# guard.sh: what a pair costs in counts, which a busy machine hardly blurs. At c = 256 these are the client's
# instructions (valgrind --tool=callgrind) and its allocations (memcheck's total), at c = 1 its system calls
# (strace). Each may not exceed its limit in guard.limits. And twice as many of a kind, all at once, may not
# cost much more than twice the instructions.
#
#     guard.sh BIN      the folder of redlock-bench and redlock; exit status 77: no tool that counts
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

# pairs C N TOOL...: runs N pairs, C in flight, under a tool. None may fail, however slow this is.
pairs() {
    local c=$1 n=$2
    shift 2
    "$@" "$BENCH" --json --no-syscalls --ttl 30000 --request-timeout 7500 \
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

# each WHAT C FEW MANY: the cost of one more pair.
each() {
    local few many
    few=$("$1" "$2" "$3") && many=$("$1" "$2" "$4") &&
        awk -v a="$few" -v b="$many" -v n="$(($4 - $3))" 'BEGIN { printf "%.2f", (b - a) / n }'
}

# growth SCENARIO FEW MANY LIMIT: instructions of MANY divided by those of FEW, in the best of eight tries.
# How replies fall together makes a sixth of them. Masters that are too slow for a tool make a try void.
growth() {
    local none few many times=
    for _ in {1..8}; do
        none=$(of_many "$1" 1) && few=$(of_many "$1" "$2") && many=$(of_many "$1" "$3") || continue
        times=$(awk -v a="$none" -v b="$few" -v c="$many" 'BEGIN { printf "%.2f", (c - a) / (b - a) }')
        exceeds "$times" "$4" || break
    done
    [[ $times ]] || { echo "FAILED: could not count $1"; failed=1; return; }
    tell "instructions of $3 $1 by those of $2" "$times" "$4"
}

of_many() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$BENCH" --json --no-syscalls --ttl 30000 \
        --request-timeout 7500 --seconds 0.1 --warm 0 --leases "$2" "$1" >"$work/json" 2>"$work/errors" &&
        ! grep -qE '"(untold|tasks_failed|failed)":[1-9]' "$work/json" &&
        sed -n 's/^==[0-9]*== Collected : //p' "$work/errors"
}

# New masters on other ports: the cost of a pair differs by 1 % between sets of masters.
fresh_masters() {
    "$CLUSTER" stop --dir "$work/masters" >/dev/null 2>&1 || true
    "$CLUSTER" start --dir "$work/masters" -n 5 >/dev/null
    REDLOCK_NODES=$("$CLUSTER" nodes --dir "$work/masters")
    export REDLOCK_NODES
}

exceeds() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b) }'; }

# tell WHAT COUNT LIMIT
tell() {
    counted=1
    if exceeds "$2" "$3"; then
        echo "FAILED: $1: $2, more than the limit of $3"
        failed=1
    else
        echo "ok: $1: $2, limit $3"
    fi
}

# guard WHAT C FEW MANY LIMIT: the least of up to twelve counts. A busy machine cuts batches in two,
# which only adds to a count, by 1 to 2 %; each count has the client's own cost in it.
guard() {
    local cost least=
    for _ in {1..12}; do
        cost=$(each "$1" "$2" "$3" "$4") || { echo "FAILED: could not count $1"; failed=1; return; }
        if [[ -z $least ]] || exceeds "$least" "$cost"; then least=$cost; fi
        exceeds "$least" "$5" || break
        fresh_masters
    done
    tell "$1 per pair at c = $2" "$least" "$5"
}

# Some containers have strace and may not trace.
may_trace() { strace -o /dev/null true 2>/dev/null; }

main() {
    local what c few many limit
    work=$(mktemp -d)
    trap clean_up EXIT
    fresh_masters
    while read -r what c few many limit; do
        case $what in
            '' | '#'*) continue ;;
            syscalls) may_trace || { echo "skipped: $what: strace is missing or may not trace"; continue; } ;;
            *) command -v valgrind >/dev/null || { echo "skipped: $what: valgrind is missing"; continue; } ;;
        esac
        case $what in
            growth) growth "$c" "$few" "$many" "$limit" ;;
            *) guard "$what" "$c" "$few" "$many" "$limit" ;;
        esac
    done <"$HERE/guard.limits"
    ((counted || failed)) || exit "$SKIPPED"
    exit "$failed"
}

main
