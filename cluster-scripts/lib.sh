# lib.sh: functions that the scripts of this folder share. Sourced by bash, in the folder of the
# project.
# shellcheck shell=bash

readonly POLL_S=0.02 BUILD_S=1200 NPM_S=120

# ---- messages --------------------------------------------------------------------------------

say() { printf '%s: %s\n' "${0##*/}" "$1" >&2; }

die() {
    say "$1"
    exit 1
}

# ---- time ------------------------------------------------------------------------------------

# From /proc/uptime, because a deadline must not move when the clock is set.
now_ms() {
    local up
    read -r up _ </proc/uptime
    printf '%d' "$((10#${up/./} * 10))"
}

# within MS COMMAND...: polls until COMMAND succeeds; fails at the deadline.
within() {
    local end=$(($(now_ms) + $1))
    shift
    until "$@"; do
        (($(now_ms) < end)) || return 1
        sleep "$POLL_S"
    done
}

# ---- the server ------------------------------------------------------------------------------

# use_server PATH FOLDER: exports REDLOCK_SERVER, for all that start masters; "" means the default
# server. A relative path is one in FOLDER.
use_server() {
    local path=$1
    [[ -n $path ]] || return 0
    [[ $path == /* || $path != */* ]] || path=$2/$path
    command -v -- "$path" >/dev/null || die "--server or REDLOCK_SERVER: $1 is no program that can be run"
    export REDLOCK_SERVER=$path
}

# ---- the build -------------------------------------------------------------------------------

# A build that is there keeps the options it was configured with.
configure_and_build() {
    local generator=(-G Ninja)
    [[ ! -f build/CMakeCache.txt ]] || generator=()
    cmake -S . -B build "${generator[@]}" && cmake --build build --target "$@"
}

# bring_up_to_date TARGET...: in build/; shows the log only if that fails. The folder itself is
# locked: two builds in it at once would write over each other's files.
bring_up_to_date() {
    local output lock
    mkdir -p build
    exec {lock}<build
    flock -w "$BUILD_S" "$lock" || die "another build in $PWD/build takes over $BUILD_S s; try again"
    [[ -x build/bin/redlock ]] || say 'building into build/'
    if ! output=$(configure_and_build "$@" 2>&1 {lock}<&-); then
        tail -n 60 <<<"$output" >&2
        die 'the build failed: its last lines are above'
    fi
    exec {lock}<&-
}

# ---- the packages of other clients -------------------------------------------------------------

# install_peers FOLDER: installs what bench/peers names there, not into the tree. Prints the reason
# of a failure.
install_peers() {
    local folder=$1 output
    mkdir -p "$folder"
    cp bench/peers/package.json "$folder"
    if ! command -v npm >/dev/null; then
        echo 'npm is not installed'
        return 1
    fi
    ! cmp -s bench/peers/package-lock.json "$folder/installed.json" || return 0
    cp bench/peers/package-lock.json "$folder"
    if ! output=$(cd "$folder" && timeout "$NPM_S" npm ci --ignore-scripts --no-audit --no-fund 2>&1); then
        echo "npm could not install it: $(grep -m1 -i error <<<"$output" || echo 'no reason given')"
        return 1
    fi
    cp bench/peers/package-lock.json "$folder/installed.json"
}
