#!/usr/bin/env bash
# The core is pure: it includes and calls nothing but its own, and keeps no state.
#
#   test/purity.sh [--asserts] SOURCES OBJECT…
#
# SOURCES is lib/core; the objects are what the build made of it, with assertions or without.
set -euo pipefail
export LC_ALL=C
asserts=no
if [[ $1 == --asserts ]]; then
    asserts=yes
    shift
fi
sources=$1
shift
bad=0

complain() {
    printf '%s\n' "$*" >&2
    bad=1
}

# Headers of its own, and those of C that need no system.  Of its rooms each includes itself and
# those below it; the door, beside the rooms, includes all.
declare -A below=([ground]='' [masters]='ground' [ledger]='ground masters'
    [lease]='ground masters ledger' [recipes]='ground masters lease'
    [.]='ground masters ledger lease recipes .')
allowed_headers='<(stdbool|stddef|stdint|string|stdio)\.h>'
while IFS=: read -r file line; do
    header=$(sed -E 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*//
        s/[[:space:]]*(\/[*\/].*)?$//' <<<"$line")
    [[ $header =~ ^$allowed_headers$ || $file:$header == */sanity.h:'<assert.h>' ]] && continue
    own=${header//\"/}
    room=$(realpath --relative-to="$sources" "$(dirname "$file")")
    [[ $header == \"*\" && -e $sources/$own && -v below[$room] &&
        " $room ${below[$room]} " == *" $(dirname "$own") "* ]] && continue
    complain "$file includes $header"
done < <(grep -EHr '^[[:space:]]*#[[:space:]]*include' --include='*.[ch]' "$sources")

# <stdio.h> is there for snprintf only, as the symbols show; a sanitizer, a profile or
# the stack protector may add calls of its own; clang makes bcmp of some memcmp.
allowed_calls='mem(cpy|set|move|cmp|chr)|bcmp|str(cmp|len)|snprintf'
allowed_calls+='|__(mem(cpy|set|move)|snprintf)_chk|__stack_chk_(fail|guard)|_GLOBAL_OFFSET_TABLE_'
allowed_calls+='|__(asan|ubsan|tsan|sanitizer|gcov|llvm)_.*'

asserting=$(nm --undefined-only "$@" | grep -cE ' U __assert(_fail|13)?$' || true)
if [[ $asserts == yes ]]; then
    ((asserting > 0)) || complain "the core asserts nothing"
    allowed_calls+='|__assert(_fail|13)?'
fi

own_symbols=$(nm --defined-only --extern-only "$@" | awk 'NF == 3 { print $3 }')
for symbol in $(nm --undefined-only "$@" | awk '$1 == "U" { print $2 }' | sort -u); do
    [[ $symbol =~ ^($allowed_calls)$ ]] && continue
    grep -qxF "$symbol" <<<"$own_symbols" && continue
    complain "the core calls $symbol"
done

# Writable data, common symbols and thread-local ones: a core has none.
sanitized=$(nm "$@" | grep -cE ' __(asan|tsan)_' || true)
if ((sanitized == 0)); then
    while read -r _ kind symbol; do
        complain "the core keeps state in $symbol ($kind)"
    done < <(nm "$@" | awk 'NF == 3 && $2 ~ /^[bBdDgGsSC]$/')
fi

((bad == 0)) || exit 1
echo "pure: $# objects"
