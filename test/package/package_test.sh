#!/usr/bin/env bash
# What an installed redlock is to those who build on it.
#
#   package_test.sh install|pkgconfig|cmake|headers|symbols|command
#
# `install` puts the build BUILD into the folder STAGE; the others look at nothing else.
# Environment: BUILD, STAGE, LIBDIR and INCLUDEDIR (below the prefix), CC, CXX (may be
# missing), CMAKE, FLAGS (for compiler and linker).
set -euo pipefail
export LC_ALL=C

here=$(cd -- "$(dirname -- "$0")" && pwd)
root=$STAGE/root
library=$root/$LIBDIR/libredlock.so
read -ra flags <<<"${FLAGS:-}"

die() { printf '%s\n' "$*" >&2; exit 1; }

# Installed in one place and moved to another, so that whatever remembers the first fails.
test_install() {
    rm -rf -- "$STAGE"
    "$CMAKE" --install "$BUILD" --prefix "$STAGE/elsewhere" >/dev/null
    mv -- "$STAGE/elsewhere" "$root"
    ! grep -rlF -e "$STAGE" -e "$BUILD" "$root/$LIBDIR/cmake" "$root/$LIBDIR/pkgconfig" "$root/$INCLUDEDIR" ||
        die "these files know where they were built or installed"
}

pc() { PKG_CONFIG_PATH=$root/$LIBDIR/pkgconfig pkg-config "$@" redlock; }

# consume NAME LIBRARIES...
consume() {
    local name=$1
    shift
    read -ra includes <<<"$(pc --cflags)"
    "$CC" "${flags[@]}" -Wall -Wextra -Werror "${includes[@]}" "$here/consumer/consumer.c" \
        -o "$STAGE/$name" "$@"
    LD_LIBRARY_PATH=$root/$LIBDIR "$STAGE/$name"
}

needs_shared_library() { readelf -d "$1" | grep -q 'NEEDED.*libredlock\.so\.0\]'; }

test_pkgconfig() {
    local shared static
    read -ra shared <<<"$(pc --libs)"
    read -ra static <<<"$(pc --libs --static)"
    consume shared "${shared[@]}"
    needs_shared_library "$STAGE/shared" || die "not linked with the shared library"
    # The linker prefers a shared library unless told otherwise.
    consume static "${static[@]/#-lredlock/-l:libredlock.a}"
    ! needs_shared_library "$STAGE/static" || die "not linked with the static library"
    [[ ${shared[*]} != *-lev* ]] || die "the shared library's own needs are passed on"
}

test_cmake() {
    rm -rf -- "$STAGE/consumer"
    "$CMAKE" -S "$here/consumer" -B "$STAGE/consumer" -DCMAKE_PREFIX_PATH="$root" \
        -DCMAKE_C_COMPILER="$CC" -DCMAKE_C_FLAGS="${flags[*]}" >/dev/null
    "$CMAKE" --build "$STAGE/consumer"
    "$STAGE/consumer/consumer_redlock"
    "$STAGE/consumer/consumer_redlock_static"
    needs_shared_library "$STAGE/consumer/consumer_redlock" || die "redlock::redlock is not shared"
}

# Each header alone, as the first that a file includes.
test_headers() {
    local header warnings=(-pedantic -Wall -Wextra -Werror -fsyntax-only "-I$root/$INCLUDEDIR")
    while read -r header; do
        printf '#include <%s>\n' "$header" | "$CC" -std=c11 "${warnings[@]}" -x c -
        [[ -z ${CXX:-} ]] || printf '#include <%s>\n' "$header" | "$CXX" -std=c++17 "${warnings[@]}" -x c++ -
    done < <(cd "$root/$INCLUDEDIR" && find redlock.h redlock -name '*.h')
}

declared() {
    printf '#include <redlock.h>\n#include <redlock/sync.h>\n' |
        "$CC" -E -P "-I$root/$INCLUDEDIR" -x c - | tr '\n' ' ' | tr ';' '\n' |
        sed -n 's/.*visibility("default")[^;]*[ *]\(redlock_[a-z_]*\)(.*/\1/p' | sort -u
}

exported() { nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u; }

test_symbols() {
    local extra missing
    extra=$(comm -13 <(declared) <(exported))
    missing=$(comm -23 <(declared) <(exported))
    (($(exported | wc -l) > 30)) || die "hardly anything is exported"
    [[ -z $extra ]] || die "exported, but in no header: $extra"
    [[ -z $missing ]] || die "in a header, but not exported: $missing"
}

test_command() {
    "$root/bin/redlock" --version
    ! needs_shared_library "$root/bin/redlock" || die "the command needs the shared library"
}

"test_$1"
