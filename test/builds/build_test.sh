#!/usr/bin/env bash
# Builds the library as its users build it, and a program with the result.
#
#   build_test.sh WAY    one of the ways below
#   build_test.sh all    all of them, which takes many minutes
#
# Environment: CMAKE, SOURCE (the tree).
# shellcheck source=test/builds/lib.sh
source "$(dirname -- "$0")/lib.sh"

readonly HARDENING='-O2 -Wall -Werror=format-security -fstack-protector-strong -fstack-clash-protection
 -fcf-protection -D_FORTIFY_SOURCE=2 -fPIE'
readonly HARD_LINKS='-pie -Wl,-z,relro -Wl,-z,now -Wl,-z,defs -Wl,--as-needed'

# A way to build, as arguments of cmake.
ways() {
    local library='-DREDLOCK_TESTS=OFF -DREDLOCK_TOOLS=OFF'
    local hard=("-DCMAKE_C_FLAGS=${HARDENING//$'\n'/}" "-DCMAKE_EXE_LINKER_FLAGS=$HARD_LINKS"
        "-DCMAKE_SHARED_LINKER_FLAGS=${HARD_LINKS#-pie }")
    way flags 'Unix Makefiles' gcc $library "${hard[@]/FLAGS=/FLAGS=-flto=auto }" \
        -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON -DCMAKE_UNITY_BUILD=ON
    # It is about another thing than optimisation, which takes most of the time.
    way no-tls 'Unix Makefiles' gcc -DREDLOCK_TESTS=OFF -DREDLOCK_TLS=OFF -DCMAKE_C_FLAGS_RELWITHDEBINFO=-O0
    way clang Ninja clang $library -DCMAKE_C_FLAGS=-flto -DCMAKE_UNITY_BUILD=ON \
        -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON
    # The rest takes minutes.
    local generator compiler
    for generator in 'Unix Makefiles' Ninja; do
        for compiler in gcc clang; do
            local name=${generator##* }-$compiler
            way "$name-everything" "$generator" "$compiler"
            way "$name-ipo" "$generator" "$compiler" $library -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON
            way "$name-flto" "$generator" "$compiler" -DREDLOCK_TESTS=OFF -DCMAKE_C_FLAGS=-flto
            way "$name-unity" "$generator" "$compiler" -DREDLOCK_TESTS=OFF -DCMAKE_UNITY_BUILD=ON
            way "$name-hardened" "$generator" "$compiler" -DREDLOCK_TESTS=OFF "${hard[@]}"
            way "$name-no-lto" "$generator" "$compiler" $library -DREDLOCK_LTO=OFF
            way "$name-release" "$generator" "$compiler" $library -DCMAKE_BUILD_TYPE=Release
            way "$name-debug" "$generator" "$compiler" $library -DCMAKE_BUILD_TYPE=Debug
        done
    done
}

# way NAME GENERATOR COMPILER ARGUMENT...
way() {
    known+=" $1"
    [[ $wanted == all || $wanted == "$1" ]] || return 0
    has "$3" || { echo "$1: left out, no $3"; return; }
    [[ $2 != Ninja ]] || has ninja || { echo "$1: left out, no ninja"; return; }
    build "$@"
    echo "$1: built and used"
    built=$((built + 1))
}

build() {
    local name=$1 generator=$2 compiler=$3
    shift 3
    copy_tree "$work/$name"
    cd -- "$work/$name"
    logged "$name-configure" "$CMAKE" -B build -G "$generator" -DCMAKE_C_COMPILER="$compiler" "$@"
    logged "$name-build" "$CMAKE" --build build -j4
    local openssl=()
    ! is_with_tls || openssl=(-lssl -lcrypto)
    use "$compiler" shared -lredlock
    use "$compiler" static -l:libredlock.a "${openssl[@]}"
    use "$compiler" testing -Lbuild/testing -l:libredlock-testing.a "${openssl[@]}"
    [[ $name != no-tls ]] || refuses_tls
    is_plain
    knows_what_changed
    cd -- "$work" && rm -rf -- "${work:?}/$name"
}

# use COMPILER NAME LIBRARY...: a program built without any of the options.
use() {
    local compiler=$1 name=$2
    shift 2
    "$compiler" -Iinclude test/package/consumer/consumer.c -o "consumer_$name" -Lbuild/lib "$@" -lev \
        -lhiredis -lsodium -pthread
    LD_LIBRARY_PATH=build/lib "./consumer_$name" >/dev/null || die "the program with the $name library fails"
}

is_with_tls() { grep -q '^REDLOCK_TLS:BOOL=ON$' build/CMakeCache.txt; }

refuses_tls() {
    ! is_with_tls || die 'REDLOCK_TLS=OFF counts for nothing'
    ! readelf -d build/bin/redlock | grep -E 'lib(ssl|crypto)' || die 'a command without TLS needs OpenSSL'
    ! build/bin/redlock nodes --nodes rediss://127.0.0.1:1 2>said ||
        die 'a command without TLS takes rediss://'
    grep -F 'this build has no TLS' said >/dev/null || die "rediss:// is refused with other words: $(<said)"
}

is_plain() {
    readelf -SW build/lib/libredlock.a >sections 2>warnings
    [[ ! -s warnings ]] || die "the static library has something else than objects: $(<warnings)"
    ! grep -F .gnu.lto_ sections || die "the static library must not need the same compiler"
}

# No target is made twice, and a target is made anew when its source changes.
knows_what_changed() {
    local before
    before=$(stat -c %y build/lib/redlock.o build/lib/libredlock.{a,so})
    logged again "$CMAKE" --build build -j4
    [[ $before == "$(stat -c %y build/lib/redlock.o build/lib/libredlock.{a,so})" ]] ||
        die "it was linked again for nothing"
    echo 'int redlock_is_new(void); int redlock_is_new(void) { return 1; }' >>lib/client/error.c
    logged changed "$CMAKE" --build build -j4
    nm build/lib/libredlock.a | grep redlock_is_new >named || die "a changed source is not in the library"
}

wanted=${1-} built=0 known=''
ways
[[ $wanted == all || -n $wanted && " $known " == *" $wanted "* ]] || die "the ways are: all$known"
((built)) || skip 'there is no compiler for it'
