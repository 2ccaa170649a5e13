#!/usr/bin/env bash
# A seed tells one story, whatever compiler made the simulator and however hard it tried.
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
sources=("$source"/lib/core/*.c "$source"/lib/core/*/*.c
    "$source"/lib/recipes/once.c
    "$source"/lib/io/{address,double_none,nodes_file,tls_terms,tls_none}.c "$source"/lib/settings/*.c)
for file in "$source"/lib/client/*.c "$source"/test/sim/*.c \
    "$source"/testing/model/model_*.c; do
    case $file in
        */differential.c | */real.c | */*_check.c | */asserts.c) ;;
        */client/loop.c | */client/process.c | */client/memory.c) ;;
        *) sources+=("$file") ;;
    esac
done
read -ra sodium <<<"$(pkg-config --cflags --libs libsodium)"
# The simulator under test is gcc's at -O2.  One of another compiler differs from it in both ways.
compiler=clang
command -v clang >/dev/null || compiler=gcc
"$compiler" -std=gnu11 -O0 -include "$source/test/sim/turns.h" -I"$source/include" \
    -I"$source/lib/client" -I"$source/lib/settings" -I"$source/lib/io" -I"$source/lib/wire" \
    -I"$source/lib/core" -I"$source/testing/model" -I"$source/test/sim" \
    -o "$scratch/sim" "${sources[@]}" "${sodium[@]}"
got=$(hash_of "$scratch/sim")
printf '%s -O0: %s\n' "$compiler" "$got"
if [[ $got != "$want" ]]; then
    printf 'the simulator under test: %s\n' "$want" >&2
    exit 1
fi
