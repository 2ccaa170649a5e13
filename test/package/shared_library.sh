# A shared library of its own for a test, with what debuggers read. Environment: CC, CMAKE.

build() {
    "${CMAKE:-cmake}" -S "$1" -B "$2" -DCMAKE_C_COMPILER="${CC:-cc}" -DCMAKE_BUILD_TYPE=Debug \
        -DREDLOCK_TESTS=OFF -DREDLOCK_TOOLS=OFF -DREDLOCK_TESTING=OFF -DREDLOCK_MANUALS=OFF &&
        "${CMAKE:-cmake}" --build "$2" -j2 --target redlock_shared
}

# must_build SOURCE FOLDER: the library is FOLDER/lib/libredlock.so.
must_build() {
    local log
    log=$(build "$@" 2>&1) || die "$1 does not build: $(tail -n 20 <<<"$log")"
}
