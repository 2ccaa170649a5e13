#!/usr/bin/env bash
# The programs at the head of redlock.h, as they stand there, each as C and as C++. On local masters each
# takes the lock and gives it back, and does no work while another holder has the lock. The command finds its
# module for TLS.
#
# It builds on the installed tree STAGE/root. Environment: STAGE, LIBDIR and INCLUDEDIR (below the prefix),
# CC, FLAGS (for compiler and linker).
set -euo pipefail
export LC_ALL=C

readonly LOCK=report
here=$(cd -- "$(dirname -- "$0")" && pwd)
cluster=$here/../../cluster-scripts/cluster
root=$STAGE/root
folder=$STAGE/first
masters=$(mktemp -d)
read -ra flags <<<"${FLAGS:-}"

die() { printf '%s\n' "$*" >&2; exit 1; }

end() {
    "$cluster" stop --dir "$masters/secure" || true
    "$cluster" stop --dir "$masters" || true
    rm -rf -- "$masters"
}

# A program is a paragraph of the comment that is indented and begins with #include.
write_programs() {
    awk -v folder="$folder" '
        /^ \*\// { exit }
        !program && /^ \*     #include/ { program = folder "/" ++count ".c" }
        program && sub(/^ \*($|     )/, "") { print >program; next }
        { program = "" }' "$root/$INCLUDEDIR/redlock.h"
    compgen -G "$folder/*.c" | grep -cF . | grep -qx 2 || die "the head of redlock.h has not two programs"
}

start_masters() {
    export REDLOCK=$root/bin/redlock REDLOCK_NODES
    trap end EXIT
    "$cluster" start -n 3 -p free --dir "$masters" >/dev/null
    REDLOCK_NODES=$("$cluster" nodes --dir "$masters")
}

# compile PROGRAM LANGUAGE STANDARD
compile() {
    "$CC" -x "$2" "-std=$3" -Wall -Wextra -Werror "${flags[@]}" "-I$root/$INCLUDEDIR" "$1.c" \
        -o "$1" "-L$root/$LIBDIR" -lredlock
}

run() { LD_LIBRARY_PATH=$root/$LIBDIR:${LD_LIBRARY_PATH:-} timeout 60 "$@"; }

takes_the_lock() {
    run "$1" | grep 'a step of work' >/dev/null || die "it does not take the lock: $1"
    run "$REDLOCK" run "$LOCK" -- true || die "it does not give the lock back: $1"
}

# The command hands the list of masters to nobody.
is_refused() {
    local said status=0
    said=$(run "$REDLOCK" run "$LOCK" -- env REDLOCK_NODES="$REDLOCK_NODES" "$1") || status=$?
    [[ $status == 1 && -z $said ]] || die "it works while another one has the lock '$LOCK': $1"
}

# A build may have no module.
command_speaks_tls() {
    compgen -G "$root/$LIBDIR/redlock/tls-*" >/dev/null || return 0
    "$cluster" start --tls -n 1 --dir "$masters/secure" >/dev/null
    REDLOCK_NODES=$("$cluster" nodes --dir "$masters/secure") run "$REDLOCK" run "$LOCK" -- true ||
        die 'the installed command does not speak TLS'
}

languages=(c:c11)
! "$CC" -x c++ -fsyntax-only - </dev/null 2>/dev/null || languages+=(c++:c++17)
rm -rf -- "$folder"
mkdir -- "$folder"
write_programs
start_masters
for source in "$folder"/*.c; do
    for language in "${languages[@]}"; do
        compile "${source%.c}" "${language%:*}" "${language#*:}"
        takes_the_lock "${source%.c}"
        is_refused "${source%.c}"
    done
done
command_speaks_tls
