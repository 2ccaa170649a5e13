#!/usr/bin/env bash
# test/rules notices what it is there to notice: each fault is made in a copy of what it reads.
#
#   test/rules_test.sh BIN      where the simulators are
set -euo pipefail
export LC_ALL=C.UTF-8
root=$(cd "$(dirname "$0")/.." && pwd)
bin=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
missed=0
cp -R "$root/doc" "$root/include" "$root/lib" "$root/tools" "$root/test" "$work"
table=$work/doc/design/validity.md scenario=$work/test/script/scenarios/acquire.txt

check() { "$root/test/rules" --root "$work" --check "$bin"; }

# must_fail WHAT WORDS FILE EDIT: with that edit of the file, the report has those words.
must_fail() {
    local what=$1 words=$2 file=$3 edit=$4 report
    cp "$file" "$work/before"
    sed -i "$edit" "$file"
    if report=$(check 2>&1); then
        echo "not noticed: $what"
        missed=1
    elif ! grep -qF -- "$words" <<<"$report"; then
        printf '%s: expected "%s", got:\n%s\n' "$what" "$words" "$report"
        missed=1
    fi
    cp "$work/before" "$file"
}

check
must_fail 'a rule without a scenario' 'V1: names no scenario' "$table" '/^| V1 |/s/one-master[^|]*/– /'
must_fail 'a scenario that is not there' 'V1: no scenario one-mister' "$table" 's/one-master/one-mister/'
must_fail 'a scenario that does not say so' "V3: acquire does not say 'rule: V3'" "$scenario" 's/V3/V4/'
must_fail 'a scenario of another rule' "acquire says 'rule: V99'" "$scenario" 's/^# rule: /&V99, /'
must_fail 'a test that is not there' 'V8: no scenario live/test_eich' \
    "$table" 's,live/test_each,live/test_eich,'
must_fail 'a test that does not say so' "V8: live/test_each does not say 'rule: V8'" \
    "$work/test/live/test_each.c" 's/V8/V9/'
must_fail 'a test of another rule' "live/test_each says 'rule: V99'" \
    "$work/test/live/test_each.c" 's/rule: /&V99, /'
must_fail 'a rule without a mutant' 'V3: names no mutant' "$table" '/^| V3 |/s/RENEWED_BY_MINORITY[^|]*/– /'
must_fail 'a mutant that is not there' 'V2: no mutant NO_DRUFT' "$table" 's/NO_DRIFT/NO_DRUFT/'
must_fail 'a break of nothing' 'V8: no mutant break renow.lua' "$table" 's/break renew.lua/break renow.lua/'
must_fail 'code that is not there' 'V3: no code quorum_valid_untal' \
    "$table" 's/quorum_valid_until/quorum_valid_untal/'
must_fail 'a break of other code' 'V8: its code has nothing of quorum.c, which a mutant breaks' \
    "$table" 's/break renew.lua/break quorum.c/'
must_fail 'a model that is not there' 'V3: no model lunch-model' "$table" '/^| V3 |/s/| – |$/| lunch-model |/'
must_fail 'an id that stands twice' 'V1 stands in 2 rows' "$table" '/^| V1 |/p'
must_fail 'a row that lacks a cell' 'V1: its row has not six cells' "$table" '/^| V1 |/s/| – |$/|/'
must_fail 'a chapter that is too long' 'validity.md: has ' "$table" '$s/.*/&\n'"$(printf '\\n%.0s' {1..200})/"
must_fail 'a line that is too long' 'validity.md: line 1 has ' "$table" "1s/\$/$(printf '%0120d' 0)/"

exit $missed
