#!/usr/bin/env bash
# The same seeds tell the same story, whatever compiler made the simulator and
# however hard it tried.
#
#   hash_test.sh SIMULATOR SOURCE_DIR
set -euo pipefail
simulator=$1
source=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
seeds=1..300

hash_of() {
    "$1" --seeds "$seeds" | sed -n 's/^trace hash //p'
}

want=$(hash_of "$simulator")
[[ $want =~ ^[0-9a-f]{16}$ ]]
sources=("$source"/lib/core/*.c)
for file in "$source"/test/sim/*.c; do
    [[ $file == */differential.c ]] || sources+=("$file")
done
for compiler in gcc clang; do
    command -v "$compiler" >/dev/null || continue
    for level in -O0 -O2; do
        "$compiler" -std=gnu11 "$level" -DREDLOCK_MUTANTS -I"$source/lib/core" -o "$scratch/sim" \
            "${sources[@]}"
        got=$(hash_of "$scratch/sim")
        printf '%s %s: %s\n' "$compiler" "$level" "$got"
        if [[ $got != "$want" ]]; then
            printf 'the simulator under test: %s\n' "$want" >&2
            exit 1
        fi
    done
done
