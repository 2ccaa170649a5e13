#!/usr/bin/env bash
# redlock in the tree of another project, which gets a library from it and no other target.
#
# Environment: CMAKE, CC, SOURCE (the tree).
# shellcheck source=test/builds/lib.sh
source "$(dirname -- "$0")/lib.sh"

# parent NAME ARGUMENT...: built in the folder $work/NAME.
parent() {
    local name=$1
    shift
    logged configure "$CMAKE" -S "$here/parent" -B "$work/$name" -DCMAKE_C_COMPILER="${CC:-cc}" \
        -DREDLOCK_SOURCE="$work/tree" -DCONSUMER="$source/test/package/consumer/consumer.c" "$@"
    logged build "$CMAKE" --build "$work/$name" -j2
    logged test "$CMAKE" -E chdir "$work/$name" ctest
    grep -q 'passed.* out of 2$' "$work/test.log" || die "there are other tests than the parent's own"
    logged install "$CMAKE" --install "$work/$name" --prefix "$work/$name/stage"
    [[ $(cd "$work/$name/stage" && find . -type f) == ./bin/app_redlock ]] ||
        die "something else is installed than the parent's own: $(find "$work/$name/stage" -type f)"
    [[ ! $(find "$work/$name" -type f -executable -name 'redlock*' ! -name '*.so.*') ]] ||
        die "programs of redlock were built"
}

needs_shared_library() { readelf -d "$1" | grep 'NEEDED.*libredlock\.so\.0\]' >/dev/null; }

copy_tree "$work/tree"
parent added
! needs_shared_library "$work/added/app_redlock" ||
    die "redlock::redlock is shared, though nobody asked for it"
parent fetched -DFETCH=ON -DBUILD_SHARED_LIBS=ON
needs_shared_library "$work/fetched/app_redlock" ||
    die "redlock::redlock is static, though BUILD_SHARED_LIBS is on"
