#!/usr/bin/env bash
# Builds the Debian packages in a clean tree that has nothing but what debian/control asks for, twice, for
# they must be the same. Then it looks at them with lintian, installs them in another clean tree, and shows
# the demo with the installed command.
#
#   test/package/debian.sh [FOLDER]
#
# The packages and lintian's words stay in FOLDER, if it is given. It packs HEAD, without changes that are not
# committed. It takes some minutes, room below TMPDIR, and root, for chroot and debootstrap; packages come
# from where this machine's apt gets them. The masters are this machine's.
set -euo pipefail
called_in=$PWD
cd "$(dirname "$0")/../.."
. cluster-scripts/lib.sh
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
# All that is mounted below goes away with this process, whatever becomes of it.
((EUID == 0)) || die 'run this as root: it makes trees of a Debian of their own'
[[ -n ${REDLOCK_UNSHARED:-} ]] || REDLOCK_UNSHARED=yes exec unshare --mount -- "$0" "$@"

step() { printf '\n== %s\n' "$*"; }

# ---- trees -----------------------------------------------------------------------------------

# quietly COMMAND...: its words are shown if it fails.
quietly() {
    local output
    output=$("$@" 2>&1 </dev/null) || { tail -n 40 <<<"$output" >&2; die "failed: $*"; }
}

# sources SUITE...: lines for a sources.list, of the suites that this machine's apt knows by that codename.
sources() {
    local suite
    for suite; do
        # shellcheck disable=SC2016
        apt-get indextargets --format 'deb $(SITE) $(RELEASE) $(COMPONENT)' \
            'Created-By: Packages' "Codename: $suite"
    done | sort -u
}

# Sets SUITE, SITE.
look_at_apt() {
    # shellcheck source=/dev/null
    SUITE=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
    read -r _ SITE _ < <(sources "$SUITE") || true
    [[ -n $SITE ]] || die "this machine's apt has no packages of $SUITE: run apt-get update"
    eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
    export http_proxy https_proxy
}

in_tree() { chroot "$work/$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin HOME=/root LC_ALL=C.UTF-8 "${@:2}"; }

# make_tree NAME: a copy of the first one.
make_tree() {
    cp -a -- "$work/base" "$work/$1"
    mount -t proc proc "$work/$1/proc"
}

make_base() {
    debootstrap --variant=minbase "$SUITE" "$work/base" "$SITE" &&
        sources "$SUITE" "$SUITE-updates" "$SUITE-security" >"$work/base/etc/apt/sources.list" &&
        apt-config dump Acquire >"$work/base/etc/apt/apt.conf.d/of-this-machine" &&
        cp -L /etc/resolv.conf /etc/hosts "$work/base/etc" &&
        in_tree base apt-get update
}

apt_in() {
    quietly in_tree "$1" "DEBIAN_FRONTEND=$DEBIAN_FRONTEND" \
        apt-get "$2" -y --no-install-recommends "${@:3}"
}

# ---- what is tried ---------------------------------------------------------------------------

# package_in FOLDER LOG OPTIONS
package_in() {
    git archive --prefix="$1/redlock/" HEAD | tar -x -C "$work/build"
    # shellcheck disable=SC2016
    in_tree build "DEB_BUILD_OPTIONS=$3" "DEB_BUILD_PROFILES=$3" \
        sh -c 'cd "/$0/redlock" && exec dpkg-buildpackage -us -uc -b -j2' "$1" >"$2" 2>&1 </dev/null ||
        { tail -n 60 "$2" >&2; die 'dpkg-buildpackage failed'; }
}

# lintian comes later: what it brings along is not for the build.
build() {
    make_tree build
    apt_in build install build-essential
    mkdir -p "$work/build/asked"
    git archive HEAD debian | tar -x -C "$work/build/asked"
    apt_in build build-dep /asked
    package_in src "$work/build.log" ''
    (cd "$work/build/src" && ls -- *.deb)
    grep 'tests passed' "$work/build.log" || die 'no test was run'
}

build_again() {
    local package
    package_in another/folder "$work/again.log" nocheck
    ! grep 'tests passed' "$work/again.log" || die 'nocheck is not heeded'
    for package in "$work"/build/src/*.deb; do
        cmp -- "$package" "$work/build/another/folder/${package##*/}" ||
            die 'they depend on where they are built'
    done
    echo 'the same bytes'
}

look() {
    apt_in build install lintian
    in_tree build sh -c 'exec lintian --allow-root --display-info --fail-on error,warning /src/*.changes' |
        tee "$work/lintian.log"
    printf '%d tags\n' "$(grep -c '^[EWI]: ' "$work/lintian.log" || true)"
}

install_command() {
    local package
    make_tree user
    mkdir "$work/user/debs"
    for package in redlock libredlock0 libredlock-dev; do
        cp -- "$work/build/src/$package"_*.deb "$work/user/debs/$package.deb"
    done
    apt_in user install man-db
    apt_in user install /debs/redlock.deb
    in_tree user redlock --version
}

# The demo's files have the same path in the tree and outside of it.
show_demo() {
    mkdir -p "$work/user$work"
    ln -s / "$work/user$work/user"
    printf '#!/bin/sh\nexec chroot "%s" /usr/bin/redlock "$@"\n' "$work/user" >"$work/redlock"
    chmod +x "$work/redlock"
    TMPDIR=$work/user/tmp REDLOCK=$work/redlock cluster-scripts/demo
}

read_manual() {
    local page
    for page in redlock redlock-run '7 redlock'; do
        # shellcheck disable=SC2086
        in_tree user env MANWIDTH=80 man $page >"$work/page" 2>"$work/complaints"
        [[ ! -s $work/complaints ]] || die "man $page: $(<"$work/complaints")"
        [[ $(head -n 1 "$work/page") == redlock*'('*')'* ]] || die "man $page: not its page"
        [[ $(wc -L <"$work/page") -le 80 ]] || die "man $page: a line is longer than 80"
        printf 'man %s: %d lines\n' "$page" "$(wc -l <"$work/page")"
    done
}

# The README's program, by the README's line.
compile() {
    local line
    # shellcheck disable=SC2016
    line=$(sed -n 's/.*`\(cc example\.c [^`]*\)`.*/\1/p' README.md)
    apt_in user install gcc libc6-dev pkg-config /debs/libredlock-dev.deb /debs/libredlock0.deb
    cp examples/libev.c "$work/user/tmp/example.c"
    in_tree user sh -c "cd /tmp && $line -o example && ldd example" | grep redlock
}

# The five tests of the page, with the libredlock-testing of libredlock-dev.
lock_in_python() {
    cp -- "$work/build/src"/python3-redlocks_*.deb "$work/user/debs/python3-redlocks.deb"
    apt_in user install /debs/python3-redlocks.deb
    in_tree user python3 /usr/share/doc/python3-redlocks/examples/test_worker.py
}

# The copies that man keeps of the pages that it has shown are man's.
leave() {
    apt_in user purge redlock libredlock-dev libredlock0 python3-redlocks
    ! (cd "$work/user" && find . -xdev -name '*redlock*' |
        grep -v -E '^\./(debs|tmp|proc|var/cache/man|var/cache/apt)/') ||
        die 'this was left behind'
}

# ---- all of it -------------------------------------------------------------------------------

finish() {
    local status=$?
    umount "$work"/*/proc 2>/dev/null || true
    rm -rf --one-file-system -- "$work"
    exit "$status"
}

(($# <= 1)) || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 64; }
folder=${1:-}
[[ -z $folder || $folder == /* ]] || folder=$called_in/$folder
cluster-scripts/install build package
look_at_apt
work=$(mktemp -d)
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

step "a clean $SUITE"
quietly make_base
step 'dpkg-buildpackage'
build
step 'dpkg-buildpackage in another folder, without tests'
build_again
step 'lintian'
look
if [[ $folder ]]; then
    mkdir -p -- "$folder"
    cp -- "$work"/build/src/*redlock*_* "$work/lintian.log" "$work/build.log" "$folder"
fi
step 'the command, installed in another tree'
install_command
step 'the manual, 80 columns wide'
read_manual
step 'the demo, with the installed command'
show_demo
step 'a program that uses the library'
compile
step 'a lock in Python'
lock_in_python
step 'uninstalled'
leave
