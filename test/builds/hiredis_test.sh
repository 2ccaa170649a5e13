#!/usr/bin/env bash
# Headers of one hiredis with the library of another are refused. A whole hiredis in a folder of its
# own is found, though the system has another.
#
# Environment: CMAKE, CC, SOURCE (the tree).
# shellcheck source=test/builds/lib.sh
source "$(dirname -- "$0")/lib.sh"

# A prefix with headers that say 9.8.7, and a library that says the same.
read -ra own < <(pkg-config --cflags hiredis)
header=$(printf '#include <hiredis/hiredis.h>\n' | gcc "${own[@]}" -E -x c - |
    sed -n 's|^# 1 "\(/.*/hiredis/hiredis\.h\)".*|\1|p' | head -n 1)
prefix=$work/prefix
mkdir -p -- "$prefix/include" "$prefix/lib/pkgconfig"
cp -R -- "${header%/*}" "$prefix/include/"
sed -i -E 's/(define HIREDIS_MAJOR).*/\1 9/; s/(define HIREDIS_MINOR).*/\1 8/
    s/(define HIREDIS_PATCH).*/\1 7/; s/(define HIREDIS_SONAME).*/\1 9.8.0/' \
    "$prefix/include/hiredis/hiredis.h"
# As hiredis 1.0 writes it: the folder with the header, not the one above it.
cat >"$prefix/lib/pkgconfig/hiredis.pc" <<PC
prefix=$prefix
Name: hiredis
Description: not the system's
Version: 9.8.7
Libs: -L\${prefix}/lib -lhiredis
Cflags: -I\${prefix}/include/hiredis
PC
cat >"$work/library.c" <<'C'
void *redisReaderCreate(void);
void *redisReaderCreate(void) { return 0; }
void redisReaderFree(void *reader);
void redisReaderFree(void *reader) { (void)reader; }
C
library() {
    gcc -shared -fPIC -Wl,-soname,libhiredis.so.9.8.0 "$work/library.c" -o "$prefix/lib/libhiredis.so"
}

configure() {
    rm -rf -- "$work/build"
    "$CMAKE" -S "$source" -B "$work/build" -DREDLOCK_TESTS=OFF "$@" >"$work/said" 2>&1
}

refused() {
    local what=$1
    shift
    ! configure "$@" || die "accepted: $what"
    tr -s ' \n' ' ' <"$work/said" >"$work/sentence"
    grep -F "$what" "$work/sentence" >/dev/null ||
        die "refused, but without a word of '$what': $(<"$work/said")"
}

version=$(pkg-config --modversion hiredis)
refused "pkg-config found $version, but the headers are of 9.8.7" -DCMAKE_C_FLAGS="-I$prefix/include"

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
refused 'the headers are of 9.8.7 (libhiredis.so.9.8.0), but libhiredis.so.'

library
configure || die "a hiredis that is whole is refused: $(<"$work/said")"
