#!/usr/bin/env bash
# Library, command and examples compiled for a machine on which they cannot be linked here.
#
#   compile_test.sh musl|32
#
# Environment: GENERATED (the folder of scripts.h), SOURCE (the tree).
# shellcheck source=test/builds/lib.sh
source "$(dirname -- "$0")/lib.sh"
cd -- "$source"

read -ra own < <(pkg-config --cflags hiredis libsodium)
# Files that speak TLS need OpenSSL's headers; without them tls_none.c is in their place.
needs_openssl='^lib/io/tls(_names|_setup|_socket|_why)?\.c$'
! pkg-config --exists openssl || needs_openssl='^$'

# folder_of HEADER: where gcc finds it.
folder_of() {
    local path
    path=$(printf '#include <%s>\n' "$1" | gcc "${own[@]}" -E -x c - |
        sed -n "s|^# 1 \"\(/[^\"]*/$1\)\".*|\1|p" | head -n 1)
    [[ $path ]] || die "<$1> is not here"
    printf '%s\n' "${path%/"$1"}"
}

# The headers of the libraries without those of glibc, which are in the same folder.
lend() {
    local header
    for header in hiredis/hiredis.h sodium/core.h; do
        mkdir -p -- "$work/include"
        ln -s -- "$(folder_of "$header")/${header%/*}" "$work/include/"
    done
    for header in ev.h sodium.h; do
        ln -s -- "$(folder_of "$header")/$header" "$work/include/"
    done
    for header in linux/watchdog.h asm/ioctl.h asm-generic/ioctl.h; do # the kernel's, of no libc
        ln -s -- "$(folder_of "$header")/${header%/*}" "$work/include/"
    done
    [[ $needs_openssl == '^$' ]] || return 0
    mkdir -p -- "$work/include/openssl" # which may be in two folders
    for header in ssl.h opensslconf.h; do
        ln -s -- "$(folder_of "openssl/$header")"/openssl/*.h "$work/include/openssl/"
    done 2>/dev/null || true
}

case ${1-} in
    musl)
        has musl-gcc || skip 'there is no musl-gcc (package musl-tools)'
        lend
        compiler=(musl-gcc -isystem "$work/include" -isystem "$work/include/hiredis")
        ;;
    32)
        # The kernel's headers are those of 64 bits.
        compiler=(gcc -m32 -Wno-psabi "${own[@]}" -idirafter "/usr/include/$(gcc -print-multiarch)")
        echo '#include <stdlib.h>' | "${compiler[@]}" -E -x c - >"$work/log" 2>&1 ||
            skip 'gcc has no headers for 32 bits (package libc6-dev-i386)'
        ;;
    *) die 'usage: compile_test.sh musl|32' ;;
esac

flags=(-std=gnu11 -Wall -Wextra -Werror -Iinclude -Ilib/core -Ilib/wire -Ilib/io -Ilib/settings
    -Ilib/client -Ilib/recipes -Ilib/sync "-I$GENERATED")
tool_flags=(-D_GNU_SOURCE -Ilib -Itools -Itools/report -Itools/options -Itools/run
    -Itools/masters '-DTLS_MODULE="tls.so"')
count=0 bad=0
for file in lib/*/*.c lib/*/*/*.c tools/*.c tools/*/*.c examples/*.c; do
    [[ ! $file =~ $needs_openssl ]] || continue
    special=()
    [[ $file != tools/* ]] || special=("${tool_flags[@]}")
    "${compiler[@]}" "${special[@]}" "${flags[@]}" -fsyntax-only "$file" || bad=$((bad + 1))
    count=$((count + 1))
done
((bad == 0)) || die "$bad of $count files do not compile"
echo "$count files compile"
