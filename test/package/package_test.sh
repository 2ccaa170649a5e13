#!/usr/bin/env bash
# An installed redlock, as its users build on it.
#
#   package_test.sh install|pkgconfig|testing|cmake|descriptor|headers|symbols|command|manual|completions|
#                   documents|debian|python
#
# `install` puts the build BUILD into the folder STAGE; the others look only there. Environment:
# BUILD, STAGE, LIBDIR, INCLUDEDIR, MANDIR and DATADIR (below the prefix), CC, CMAKE, FLAGS (for compiler and
# linker), PYTHON.
set -euo pipefail
export LC_ALL=C
shopt -s extglob

here=$(cd -- "$(dirname -- "$0")" && pwd)
root=$STAGE/root
library=$root/$LIBDIR/libredlock.so
debian=$here/../../debian
read -ra flags <<<"${FLAGS:-}"
warnings=(-Wall -Wextra -Wpedantic -Werror)

die() { printf '%s\n' "$*" >&2; exit 1; }

# Installed in one place and moved to another, so that whatever remembers the first fails.
test_install() {
    rm -rf -- "$STAGE"
    "$CMAKE" --install "$BUILD" --prefix "$STAGE/elsewhere" >/dev/null
    mv -- "$STAGE/elsewhere" "$root"
    ! grep -rlF -e "$STAGE" -e "$BUILD" "$root/$LIBDIR/cmake" "$root/$LIBDIR/pkgconfig" "$root/$INCLUDEDIR" ||
        die "these files know where they were built or installed"
}

pc() { pc_of redlock "$@"; }
pc_of() { PKG_CONFIG_PATH=$root/$LIBDIR/pkgconfig pkg-config "${@:2}" "$1"; }

# consume NAME LIBRARIES...
consume() {
    local name=$1
    shift
    read -ra includes <<<"$(pc --cflags)"
    "$CC" "${flags[@]}" "${warnings[@]}" "${includes[@]}" "$here/consumer/consumer.c" \
        -o "$STAGE/$name" "$@"
    LD_LIBRARY_PATH=$root/$LIBDIR:${LD_LIBRARY_PATH:-} "$STAGE/$name"
}

# A program as it is, with masters inside the process. It is linked with either library for tests; or with
# libredlock, and the other one is loaded before that.
test_testing() {
    local libs example=$here/../../examples/testing.c
    read -ra libs <<<"$(pc_of redlock-testing --libs --static)"
    "$CC" "${flags[@]}" "${warnings[@]}" "-I$root/$INCLUDEDIR" "$example" -o "$STAGE/five" \
        "${libs[@]/#-lredlock-testing/-l:libredlock-testing.a}"
    "$STAGE/five"
    read -ra libs <<<"$(pc_of redlock-testing --libs)"
    "$CC" "${flags[@]}" "${warnings[@]}" "-I$root/$INCLUDEDIR" "$example" -o "$STAGE/five-shared" "${libs[@]}"
    with_library "$STAGE/five-shared"
    ! needs_shared_library "$STAGE/five-shared" || die "it needs libredlock besides"
    export REDLOCK_NODES=memory://5
    blocking blocking-testing -lredlock-testing
    with_library "$STAGE/blocking-testing"
    blocking blocking -lredlock
    ! with_library "$STAGE/blocking" 2>"$STAGE/said" || die "libredlock has masters inside the process"
    grep 'link libredlock-testing' "$STAGE/said" >/dev/null || die "no word of it: $(<"$STAGE/said")"
    [[ ${flags[*]} == *sanitize* ]] ||
        with_library env LD_PRELOAD="$root/$LIBDIR/libredlock-testing.so" "$STAGE/blocking"
}

with_library() { LD_LIBRARY_PATH=$root/$LIBDIR:${LD_LIBRARY_PATH:-} "$@"; }

blocking() {
    "$CC" "${flags[@]}" "-I$root/$INCLUDEDIR" "$here/../../examples/blocking.c" -o "$STAGE/$1" \
        "-L$root/$LIBDIR" "$2"
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
    # The packages of what it needs itself need not be there: nothing is found but redlock.
    PKG_CONFIG_LIBDIR=$root/$LIBDIR/pkgconfig pc --cflags --libs >/dev/null ||
        die "its users need more packages"
    [[ ${shared[*]} == *-lev* ]] || die "libev does not come along"
    [[ ${shared[*]} != *-lhiredis* ]] || die "the shared library's own needs are passed on"
}

test_cmake() {
    rm -rf -- "$STAGE/consumer"
    "$CMAKE" -S "$here/consumer" -B "$STAGE/consumer" -DCMAKE_PREFIX_PATH="$root" \
        -DCMAKE_C_COMPILER="$CC" -DCMAKE_C_FLAGS="${flags[*]}" \
        -DEXAMPLE="$here/../../examples/libev.c" >/dev/null
    "$CMAKE" --build "$STAGE/consumer"
    says_what_is_wrong "$STAGE/consumer/example"
    "$STAGE/consumer/consumer_redlock"
    "$STAGE/consumer/consumer_redlock_static"
    "$STAGE/consumer/consumer_redlock_testing"
    "$STAGE/consumer/consumer_redlock_testing_static"
    needs_shared_library "$STAGE/consumer/consumer_redlock" || die "redlock::redlock is not shared"
}

# A program on a descriptor has no need of libev's headers, nor to name its library.
test_descriptor() {
    "$CC" "${flags[@]}" "${warnings[@]}" "-I$root/$INCLUDEDIR" "$here/../../examples/loops/poll.c" \
        -o "$STAGE/descriptor" "-L$root/$LIBDIR" -lredlock
    says_what_is_wrong env LD_LIBRARY_PATH="$root/$LIBDIR:${LD_LIBRARY_PATH:-}" "$STAGE/descriptor"
}

# A program that is given nodes that cannot be used.
says_what_is_wrong() {
    ! REDLOCK_NODES=redis:// "$@" 2>"$STAGE/said" || die "it takes any list of masters: $*"
    grep 'redis://' "$STAGE/said" >/dev/null || die "it does not run: $(<"$STAGE/said")"
}

# Each header alone, as the first that a file includes.
test_headers() {
    local header compiler standard
    (($(cat "$root/$INCLUDEDIR"/redlock.h "$root/$INCLUDEDIR"/redlock/!(testing).h | wc -l) <= 1600)) ||
        die 'the headers have more than 1,600 lines: reasons go to doc/design'
    (($(wc -l <"$root/$INCLUDEDIR/redlock/testing.h") <= 200)) ||
        die 'redlock/testing.h has more than 200 lines'
    for compiler in gcc clang; do
        command -v -- "$compiler" >/dev/null || continue
        for standard in 99 11 17 2x; do
            in_language "$compiler" c "-std=c$standard"
        done
    done
    for compiler in g++ clang++; do
        command -v -- "$compiler" >/dev/null || continue
        for standard in 11 14 17 20 2b; do
            in_language "$compiler" c++ "-std=c++$standard"
        done
        for standard in 17 20 2b; do
            in_language "$compiler" c++ "-std=c++$standard" redlock.hpp
        done
        in_language "$compiler" c++ -std=c++17 redlock/testing.hpp
    done
}

# in_language COMPILER LANGUAGE STANDARD [HEADER]; without one, all headers of C.
in_language() {
    local header how=("$1" -x "$2" "$3" "${warnings[@]}" "-I$root/$INCLUDEDIR" -fsyntax-only -)
    shift 3
    (($#)) || set -- redlock.h redlock/{leases,look,nodes,recipes,sync,testing}.h
    for header; do
        printf '#include <%s>\n' "$header" | "${how[@]}" || die "<$header>: ${how[*]:0:4}"
    done
}

# One by one, or several of one type.
declared() {
    printf '#include <redlock/recipes.h>\n#include <redlock/sync.h>\n' |
        "$CC" -E -P "-I$root/$INCLUDEDIR" -x c - | tr '\n' ' ' | tr ';' '\n' |
        sed -nE '/visibility\("default"\)/!d; s/.*_call (redlock_[a-z_, ]+)$/\1/; t several
            s/.*[ *](redlock_[a-z_]+)\(.*/\1/p; d; :several; s/, */\n/g; p' | sort -u
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

# Each page is where `man` looks, and says which version it is of.
test_manual() {
    local source page version
    version=$("$root/bin/redlock" --version)
    for source in "$here"/../../doc/man/*.scd; do
        page=$(basename -- "$source" .scd)
        grep -F "\"$version\"" "$root/$MANDIR/man${page##*.}/$page" >/dev/null ||
            die "not installed, or of another version: $page (without scdoc there are no pages)"
    done
}

test_completions() {
    local file
    for file in bash-completion/completions/redlock zsh/site-functions/_redlock \
        fish/vendor_completions.d/redlock.fish; do
        [[ -s $root/$DATADIR/$file ]] || die "not installed: $file"
    done
}

# Messages and pages name these.
test_documents() {
    local file
    for file in README.md operating.md fencing.md json.md design/validity.md examples/users.acl; do
        [[ -s $root/$DATADIR/doc/redlock/$file ]] || die "not installed: $file"
    done
}

# The claims of debian/ are true: the version, the symbols, and in which package each file goes.
# test/package/debian.sh builds and tries the packages.
test_debian() {
    local version
    version=$(pc --modversion)
    [[ $(sed -n '1s/^redlock (\(.*\)) .*/\1/p' "$debian/changelog") == "$version" ]] ||
        die "the first entry of debian/changelog is not of $version"
    diff <(sed -n 's/^ \(.*\) .*/\1/p' "$debian/libredlock0.symbols") <(exported_with_versions) ||
        die "debian/libredlock0.symbols (<) is not what is exported (>)"
    each_file_has_a_package
    what_is_named_is_there
}

# The source distribution for Python builds on what is installed, and has the tests of the page.
test_python() {
    local version name folder=$STAGE/python
    "$PYTHON" -c 'import cffi, setuptools' || { echo "no cffi or setuptools for $PYTHON"; exit 77; }
    rm -rf -- "$folder"
    mkdir -- "$folder"
    cp -R -- "$here/../../bindings/python" "$folder/source"
    version=$(pc --modversion) name=redlock-quorum-$version
    set_up source sdist --dist-dir ..
    tar -x -C "$folder" -f "$folder/$name.tar.gz"
    set_up "$name" build --build-lib ../built
    export PYTHONPATH=$folder/built REDLOCK_TESTING_LIBRARY=$root/$LIBDIR/libredlock-testing.so
    [[ -e $folder/built/redlocks/py.typed ]] || die 'without its types'
    with_library "$PYTHON" "$folder/$name/examples/test_worker.py"
    export REDLOCK_NODES=memory://5
    ! with_library "$PYTHON" -c 'import redlocks; redlocks.Client()' 2>"$folder/said" ||
        die 'it has masters inside the process'
    grep 'Misuse.*libredlock-testing' "$folder/said" >/dev/null || die "no word of it: $(<"$folder/said")"
}

# set_up FOLDER WORDS...
set_up() {
    (cd -- "$folder/$1" && PKG_CONFIG_PATH=$root/$LIBDIR/pkgconfig "$PYTHON" setup.py "${@:2}") \
        >"$folder/said" 2>&1 || die "$(<"$folder/said")"
}

exported_with_versions() {
    nm -D --defined-only "$library" | awk '{ sub(/@@/, "@", $3); print $3 ($2 == "A" ? "@" $3 : "") }' | sort
}

# Examples come from the sources.
what_is_named_is_there() {
    local pattern
    while IFS= read -r pattern; do
        compgen -G "$debian/../$pattern" >/dev/null || die "debian/ names what is not there: $pattern"
    done < <(cat "$debian"/*.examples)
}

# debian/*.install is for Debian's folders.
each_file_has_a_package() {
    local file patterns pattern
    mapfile -t patterns < <(cat "$debian"/*.install)
    while IFS= read -r file; do
        file=${file/#"$LIBDIR"/lib/*}
        file=usr/${file/zsh\/site-functions/zsh\/vendor-completions}
        for pattern in "${patterns[@]}"; do
            # shellcheck disable=SC2053
            [[ $file != $pattern && $file != $pattern/* ]] || continue 2
        done
        die "in no package of debian/*.install: $file"
    done < <(cd -- "$root" && find . ! -type d -printf '%P\n')
}

"test_$1"
