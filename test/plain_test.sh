#!/usr/bin/env bash
# The reader of plain.py finds each kind of fault, in each kind of file; and nothing in what is plain.
set -euo pipefail
export LC_ALL=C.UTF-8
here=$(cd -- "$(dirname -- "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf -- "$tree"' EXIT
mkdir -- "$tree/test"
cp -- "$here/plain.py" "$tree/test"
cd -- "$tree"
git init -q

die() { printf '%s\n' "$*" >&2; exit 1; }

# write FILE TEXT: as the only file, and nothing allowed.
write() {
    rm -rf -- "$tree"/try*
    printf '%b\n' "$2" >"$1"
    : >test/plain.allowed
    git add -A
}

findings() { python3 test/plain.py 2>/dev/null || true; }

finds() { # ADVICE FILE TEXT
    write "$2" "$3"
    findings | grep -qF -- "$1" || die "no '$1' in $2: $3"
}

passes() { # FILE TEXT
    write "$1" "$2"
    [[ -z $(findings) ]] || die "not plain in $1: $(findings)"
}

long=$(printf 'word %.0s' {1..31})
clause='begin with a noun'
finds "$clause" try.md 'Whoever has arrived may end.'
finds "$clause" try.md 'A party arrives. What it said counts.'
finds "$clause" try.md '| a | What it said counts |'
finds "$clause" try.scd '*x*\n\tWhat it said counts.'
finds "$clause" try.c '/* What it said counts. */'
finds "$clause" try.c 'int x; // What it said counts.'
finds "$clause" try.h '/* A party arrives.\n * What it said counts. */'
finds "$clause" try.c 'puts("What it said "\n     "counts.");'
finds "$clause" try.lua '-- What it said counts.'
finds "$clause" try.py '"""What it said counts."""'
finds "$clause" try.py 'x = 1  \n# What it said counts.'
finds "$clause" try.sh '#!/bin/sh\n# What it said counts.'
finds "$clause" try.txt '# What it said counts.'
finds 'name the person' try.md 'A lock is free; who waits may have it.'
finds 'name the thing' try.md 'A lock is free; what waits may have it.'
finds 'say the number' try.md 'A master has so many waiters.'
finds 'say who tells' try.md 'The waiter is told.'
finds 'say who does it' try.md 'Nothing is to be turned on.'
finds 'put the clause' try.md 'Nobody needs it who watches.'
finds 'say what is alike' try.c '/* The same for readers. */'
finds 'no such idiom' try.md 'It keeps the token of before.'
finds '31 words' try.md "$long"
finds '111 columns' try.py "x = '$(printf 'x%.0s' {1..105})'"

passes try.md 'What is a lease?'
passes try.md '    What stands in code is code.'
passes try.md '```\nWhat stands in code is code.\n```'
passes try.md 'The client is told by each master. It says `so many`.'
passes try.md '# What it promises'
passes try.h \
    '/*\n * lines.h    a list of names that is far too long for a sentence\n * keys.h     another one\n */'
passes try.c 'puts("one" "two");'

# A row of the list of what stays takes a finding away, and one that takes none is a finding.
write try.md 'Whoever has arrived may end.'
echo 'try.md: Whoever has arrived: a quotation' >test/plain.allowed
[[ -z $(findings) ]] || die "an allowed place is found: $(findings)"
echo 'try.md: nowhere: a quotation' >test/plain.allowed
findings | grep -qF 'nothing needs the row' || die 'a row that nothing needs is kept'
printf 'try.md: word %d: a quotation\n' {1..21} >test/plain.allowed
[[ $(python3 test/plain.py 2>&1) == *'at most 20 rows'* ]] || die '21 rows are taken'
