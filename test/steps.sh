# steps.sh: the steps of test/run. Sourced by bash, in the folder of the project; the caller has $logs,
# $passed and $failed.
# shellcheck shell=bash disable=SC2154

# Labels of tests that need the processors, and hardly a master.
busy='sim|model|mutants|fuzz|builds'

# Is told now, and once more at the end of all.
failure() { echo "FAILED: $*" | tee -a "$logs/failed" || true; }

count() { if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); failure "$*"; fi; }

# All of it, or one target.
build() {
    cmake --preset "$1" >"$logs/$1.configure" || { cat "$logs/$1.configure"; return 1; }
    cmake --build "$2" ${3:+--target "$3"} >"$logs/$1.build" 2>&1 ||
        { tail -n 60 "$logs/$1.build"; return 1; }
}

# ctest's own lines, then its counts added to ours.  Each call has a folder for ctest's files, so two may run
# at once.
run_tests() {
    local folder told total bad name build=$1
    folder=$(mktemp -d "$logs/ctest.XXXXXX") told=$folder/told
    echo "subdirs(\"$PWD/$1\")" >"$folder/CTestTestfile.cmake"
    shift
    ctest --test-dir "$folder" --output-on-failure "$@" 2>&1 | tee "$told" || true
    read -r bad total < <(
        sed -n 's/.* \([0-9]*\) tests failed out of \([0-9]*\).*/\1 \2/p' "$told" | tail -n 1
    ) || {
        bad=1 total=1
        failure "$build: ctest ended before it had told its counts"
    }
    passed=$((passed + total - bad))
    failed=$((failed + bad))
    while read -r name; do
        failure "$build: $name"
    done < <(sed '1,/^The following tests FAILED:/d' "$told" |
        sed -n 's/^[[:space:]]*[0-9]* - \(.* (.*)\).*/\1/p')
}

check_format() {
    git ls-files '*.c' '*.h' '*.cpp' '*.hpp' | xargs clang-format --dry-run -Werror
}

# The analyzer goes through a file once for each way in which the build has it: here that is one.  It leaves a
# function after 30,000 states; without that, as by hand, after 225,000, which takes eight times as long.
readonly states=(-extra-arg={-Xclang,-analyzer-config,-Xclang,max-nodes=30000})
check_tidy() {
    build tidy build/tidy lib/generated/scripts.h || return
    git ls-files 'lib/*.c' 'tools/*.c' |
        xargs -P2 -n4 clang-tidy -p build/tidy --quiet "${states[@]}" 2>"$logs/tidy" ||
        { tail -n 60 "$logs/tidy"; return 1; }
}

busy_tests() { run_tests build -j2 -L "$busy"; }

# clang makes the one that has all targets, so that its warnings are heard for all of them.
sanitized_builds() {
    count build asan build/asan
    count build tsan build/tsan threads
}

thread_tests() { run_tests build/tsan -j2 -L threads; }

linters() {
    count check_format
    count check_tidy
}
