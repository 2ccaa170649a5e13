#!/usr/bin/env bash
# The README as a newcomer meets it.  It is short, and the first commands stand near its top.  Its blocks are
# pasted into one shell, with a home and a tree of its own.  A program goes into the file named above it.
#
#   readme.sh        paste it
#   readme.sh lines  count its lines only
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
unset REDLOCK_NODES REDLOCK_NODES_FILE CFLAGS LDFLAGS

die() { printf 'README.md: %s\n' "$*" >&2; exit 1; }

stands_above() { (($(grep -n -m1 -- "$1" README.md | cut -d: -f1) < $2)) || die "'$1' stands below line $2"; }

count_lines() {
    (($(wc -l <README.md) <= 150)) || die 'more than 150 lines'
    stands_above '^redlock run' 20
    stands_above 'cluster-scripts/install' 30
    stands_above 'cluster-scripts/demo' 30
    stands_above 'test/run' 30
}

# The blocks as one script: those of a shell as they are, those of C into a file.
script() {
    awk '
        /^```/ && kind == "c" { print "END"; kind = ""; next }
        /^```/ && kind { kind = ""; next }
        /^```/ { kind = substr($0, 4); if (kind == "c") print "cat >" file " <<\"END\""; next }
        kind { print; next }
        match($0, /`[a-z]+\.c`/) { file = substr($0, RSTART + 1, RLENGTH - 2) }' README.md
}

clean_up() {
    (cd -- "$home/redlock" && TMPDIR=$home cluster-scripts/cluster stop) >/dev/null 2>&1 || true
    rm -rf -- "$home"
}

# paste: in a shell of its own, which ends at the first command that fails.
paste() {
    mkdir -- "$home/redlock"
    git ls-files -z | xargs -0 cp --parents -t "$home/redlock"
    (
        cd -- "$home/redlock"
        script >"$home/script"
        env -i HOME="$home" TMPDIR="$home" PATH="$PATH" TERM=dumb bash -e "$home/script"
    ) >"$home/said" 2>&1 || { tail -n 40 "$home/said" >&2; die 'a command failed'; }
}

says() { grep -q -- "$1" "$home/said" || { tail -n 40 "$home/said" >&2; die "it does not say '$1'"; }; }

count_lines
[[ ${1:-} != lines ]] || exit 0
home=$(mktemp -d)
trap clean_up EXIT
paste
says '^no other host runs this now$'
says '^worker [0-3]$'
says '^fence [1-9][0-9]*$'
says 'deploy.*held'
says 'a step of work'
