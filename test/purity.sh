#!/usr/bin/env bash
# The core is pure: it includes and calls nothing but its own, and keeps no state.
#
#   test/purity.sh SOURCES OBJECT…
#
# SOURCES is lib/core; the objects are what the build made of it.
set -euo pipefail
export LC_ALL=C
sources=$1
shift
bad=0

complain() {
    printf '%s\n' "$*" >&2
    bad=1
}

# Headers of its own, and those of C that need no system.
allowed_headers='<(stdbool|stddef|stdint|string|stdio)\.h>'
while IFS=: read -r file line; do
    header=$(sed -E 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*//; s/[[:space:]]*(\/[*\/].*)?$//' <<<"$line")
    [[ $header =~ ^$allowed_headers$ ]] && continue
    own=${header//\"/}
    [[ $header == \"*\" && $own != */* && -e $sources/$own ]] && continue
    complain "$file includes $header"
done < <(grep -EH '^[[:space:]]*#[[:space:]]*include' "$sources"/*.[ch])

# <stdio.h> is there for snprintf only, as the symbols show; a sanitizer, a profile or
# the stack protector may add calls of its own.
allowed_calls='mem(cpy|set|move|cmp)|str(cmp|len)|snprintf'
allowed_calls+='|__(mem(cpy|set|move)|snprintf)_chk|__stack_chk_(fail|guard)|_GLOBAL_OFFSET_TABLE_'
allowed_calls+='|__(asan|ubsan|tsan|sanitizer|gcov|llvm)_.*'

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
