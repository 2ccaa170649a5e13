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
page=$work/doc/design/validity.md table=$work/test/rules.table
scenario=$work/test/script/scenarios/acquire.txt test=$work/test/live/test_each.c

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
must_fail 'a scenario of no rule' "acquire says 'rule: V99'" "$scenario" 's/^# rule: /&V99, /'
must_fail 'a rule without a test' "V8: no test says 'rule: V8'" "$test" 's/V8/V9/'
must_fail 'a test of no rule' "live/test_each says 'rule: V99'" "$test" 's/rule: /&V99, /'
must_fail 'a rule without a mutant' 'V8: names no mutant, and no code of lib' "$page" 's,renew.lua,leader.c,'
must_fail 'a mutant that is not there' 'V2: no mutant NO_DRUFT' "$table" 's/NO_DRIFT/NO_DRUFT/'
must_fail 'a model that is not there' 'B1: no model lunch-model' "$table" 's/^B1 .*/&, lunch-model/'
must_fail 'a row of no rule' 'rules.table has V99' "$table" 's/^V2 /V99 /'
must_fail 'code that is not there' 'V3: no code quorum_valid_untal' \
    "$page" 's/quorum_valid_until/quorum_valid_untal/'
must_fail 'an id that stands twice' 'V1 stands in 2 rows' "$page" '/^| V1 |/p'
must_fail 'a row that lacks a cell' 'V1: its row has not three cells' "$page" '/^| V1 |/s/ | quorum_of |$/ |/'
must_fail 'a chapter that is too long' 'validity.md: has ' "$page" '$s/.*/&\n'"$(printf '\\n%.0s' {1..200})/"
must_fail 'a line that is too long' 'validity.md: line 1 has ' "$page" "1s/\$/$(printf '%0120d' 0)/"

exit $missed
