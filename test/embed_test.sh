#!/usr/bin/env bash
# With any change in a script of the masters, hello is another one: a master that knows the hello of a library
# knows all its scripts.
#
#   test/embed_test.sh SOURCE_DIR      CMAKE chooses the program
set -euo pipefail
export LC_ALL=C
source=$1
CMAKE=${CMAKE:-cmake}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
missed=0

# hash_of NAME: of the scripts as they are in the copy.
hash_of() {
    local list
    list=$(printf '%s,' "$work"/scripts/*.lua)
    "$CMAKE" -DSCRIPTS="${list%,}" -DOUTPUT="$work/scripts.h" -P "$source/cmake/EmbedScripts.cmake"
    sed -n "s/^#define SCRIPT_${1}_SHA1 \"\(.*\)\"/\1/p" "$work/scripts.h"
}

renew_scripts() {
    rm -rf "$work/scripts"
    cp -R "$source/lib/wire/scripts" "$work/scripts"
}

renew_scripts
was=$(hash_of HELLO)
[[ $was =~ ^[0-9a-f]{40}$ ]]
for name in acquire survey value; do # of claims, of a task, a part of others
    echo 'local another_line' >>"$work/scripts/$name.lua"
    if [[ $(hash_of HELLO) == "$was" ]]; then
        echo "hello stays the same with another $name.lua"
        missed=1
    fi
    renew_scripts
done

echo '-- a comment' >>"$work/scripts/acquire.lua"
if [[ $(hash_of HELLO) != "$was" ]]; then
    echo 'a comment makes another hello: masters are sent all scripts for nothing'
    missed=1
fi
exit "$missed"
