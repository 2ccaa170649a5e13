#!/usr/bin/env bash
# test/run tells each failure, also of what it runs beside, and leaves nothing behind.  It is run on a tree of
# its own, with programs that only say how a build or a test went.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap clean_up EXIT
export WORK=$work TMPDIR=$work/tmp PATH=$work/bin:$PATH
missed=0

# Each program that still hangs has a line to read.
clean_up() {
    [[ ! -p $work/never ]] || printf '\n%.0s' {1..9} 1<>"$work/never"
    rm -rf "$work"
}

readonly DEADLINE_S=60

mkdir -p "$work"/{bin,tmp,tree/test,tree/cluster-scripts,tree/build}
cp "$here"/{run,beside.sh,steps.sh} "$work/tree/test"
printf 'use_server() { :; }\ninstall_peers() { :; }\n' >"$work/tree/cluster-scripts/lib.sh"

# program PATH: its text comes from standard input.
program() {
    { echo '#!/usr/bin/env bash'; cat; } >"$1"
    chmod +x "$1"
}

program "$work/tree/cluster-scripts/install" <<<''
program "$work/bin/git" <<<'echo file.c'
program "$work/bin/cmake" <<'CMAKE'
echo "cmake $*"
[[ $* != *"${BREAK_BUILD:-nothing}"* ]] || { echo "cmake is broken"; exit 1; }
CMAKE
program "$work/bin/clang-format" <<<'[[ ! -v BREAK_FORMAT ]] || { echo "format is broken" >&2; exit 1; }'
program "$work/bin/clang-tidy" <<<'[[ ! -v BREAK_TIDY ]] || { echo "tidy is broken" >&2; exit 1; }'

# One test passes.  Where the labels or the folder have the words of BREAK_TEST a second one fails; of
# CRASH_TEST, ctest itself; of END_STEP, whatever has called it.  HANG: it holds $WORK/alive open, and never
# ends.
program "$work/bin/ctest" <<'CTEST'
asked="$(cat "$2/CTestTestfile.cmake") $*"
if [[ -v HANG ]]; then
    exec 9>"$WORK/alive"
    echo hangs >&9
    read -r _ <>"$WORK/never"
fi
[[ $asked != *"${END_STEP:-nothing}"* ]] || kill -9 "$PPID" $$
[[ $asked != *"${CRASH_TEST:-nothing}"* ]] || kill -9 $$
[[ $asked == *"${BREAK_TEST:-nothing}"* ]] || { echo '100% tests passed, 0 tests failed out of 1'; exit; }
cat <<'TOLD'
      7 - of/another (Failed)
50% tests passed, 1 tests failed out of 2

The following tests did not run:
	  3 - skipped/one (Skipped)

The following tests FAILED:
	  4 - broken/one (Timeout)
Errors while running CTest
TOLD
exit 8
CTEST
mkfifo "$work/never" "$work/alive"

# told STATUS WORDS [VARIABLE=VALUE…]: test/run ends so, and has these lines, in this order.
told() {
    local status=$1 words=$2 got=0 report
    shift 2
    report=$(env "$@" "$work/tree/test/run" 2>&1) || got=$?
    [[ $got == "$status" && $report =~ $words ]] && return
    printf 'with %s: expected %s and "%s", got %s and:\n%s\n' "$*" "$status" "$words" "$got" "$report"
    missed=1
}

told 0 $'\n\n8 passed, 0 failed$' NOTHING=
told 1 $'\nFAILED: build: broken/one \(Timeout\)\n8 passed, 1 failed$' 'BREAK_TEST=-L sim'
told 1 $'\n\nFAILED: build/tsan: broken/one \(Timeout\)\n8 passed, 1 failed$' BREAK_TEST=threads
told 1 \
    $'cmake is broken\nFAILED: build asan build/asan\n.*\n\n'\
$'FAILED: build asan build/asan\n7 passed, 1 failed$' \
    BREAK_BUILD='--build build/asan'
told 1 $'cmake is broken\nFAILED: build tsan build/tsan threads\n.*\n7 passed, 1 failed$' \
    BREAK_BUILD='--preset tsan'
told 1 $'format is broken\nFAILED: check_format\n' BREAK_FORMAT=
told 1 $'tidy is broken\nFAILED: check_tidy\n' BREAK_TIDY=
told 1 $'\nFAILED: build: ctest ended before it had told its counts\n7 passed, 1 failed$' 'CRASH_TEST=-L sim'
told 1 $'\nFAILED: busy_tests: it ended before it had told its counts\n7 passed, 1 failed$' 'END_STEP=-L sim'

# ended_by SIGNAL WHOM: both of its ctests end with it, and its files are gone.  WHOM is the process, or -
# before its number for all that stand in the foreground.
ended_by() {
    local signal=$1 whom=$2 run got=0
    HANG='' setsid env --default-signal=INT "$work/tree/test/run" >/dev/null 2>&1 &
    run=$!
    exec 8<"$work/alive"
    read -r -t "$DEADLINE_S" -u 8 && read -r -t "$DEADLINE_S" -u 8
    kill "-$signal" -- "$whom$run"
    read -r -t "$DEADLINE_S" -u 8 || got=$? # 1: nobody can write any more
    wait "$run" 2>/dev/null || true
    [[ $got == 1 && -z $(ls "$TMPDIR") ]] && return
    echo "after $signal: got $got, left: $(ls "$TMPDIR")"
    missed=1
}

ended_by TERM ''
ended_by HUP ''
ended_by INT -
exit "$missed"
