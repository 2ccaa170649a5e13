#!/usr/bin/env bash
# A seed tells one story, whatever fresh memory has in it.
#
#   replay_test.sh SIMULATOR
set -euo pipefail

hash_of() {
    env "$1" "$2" --seeds 1..200 | sed -n 's/^trace hash //p'
}

first=$(hash_of MALLOC_PERTURB_=0 "$1")
again=$(hash_of MALLOC_PERTURB_=85 "$1")
printf '%s, and again %s\n' "$first" "$again"
[[ $first =~ ^[0-9a-f]{16}$ && $first == "$again" ]]
