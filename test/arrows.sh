#!/usr/bin/env bash
# The arrows run one way: no file calls a file that calls it back, directly or through others.
#
#   test/arrows.sh [--excused "FILE…"] [--also ARROWS] OBJECT…
#
# The objects are what the build made of the files.  ARROWS is a file of arrows that are no calls,
# such as includes: FROM TO, one a line.  An excused file may be in a circle for now; the list only
# shrinks: to excuse one that is in no circle is an error as well.
set -euo pipefail
export LC_ALL=C

excused='' also=/dev/null
while [[ ${1:-} == --* ]]; do
    case $1 in
        --excused) excused=$2 ;;
        --also) also=$2 ;;
    esac
    shift 2
done

# Of PATH: SYMBOL TYPE …, where a path is …/redlock_core.dir/core/claim.c.o, the file is core/claim.
{ cat "$also" && nm -A -P "$@"; } | awk -v excused="$excused" '
    NF == 2           { file[$1]; file[$2]; if ($1 != $2) reaches[$1, $2]; next }
    { sub(/.*\.dir\/(\.\/)?/, "", $1); sub(/\.c\.o:$/, "", $1); file[$1] }
    $3 ~ /^[TDBRVC]$/ { owner[$2] = $1 }
    $3 == "U"         { use[$1, $2] }
    END {
        for (pair in use) {
            split(pair, part, SUBSEP)
            if (part[2] in owner && owner[part[2]] != part[1])
                reaches[part[1], owner[part[2]]]
        }
        for (over in file)
            for (from in file)
                if ((from, over) in reaches)
                    for (to in file)
                        if ((over, to) in reaches)
                            reaches[from, to]
        count = split(excused, list, " ")
        for (i = 1; i <= count; i++) {
            is_excused[list[i]]
            if (!((list[i], list[i]) in reaches)) {
                print list[i] " is in no circle: do not excuse it any more"
                bad = 1
            }
        }
        for (one in file) {
            files++
            if (!((one, one) in reaches) || one in is_excused || one in told)
                continue
            circle = one
            for (other in file)
                if (other != one && (one, other) in reaches && (other, one) in reaches) {
                    circle = circle " " other
                    told[other]
                }
            print "a circle: " circle
            bad = 1
        }
        if (bad)
            exit 1
        print "no circle of " files " files" (count ? ", but for " excused : "")
    }'
