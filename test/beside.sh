#!/usr/bin/env bash
# beside.sh LOGS STEP: a step of test/run (steps.sh) that gives way to the steps beside it, unless its tests
# wait for masters. LOGS/STEP.counts gets how many passed and failed.
set -euo pipefail
cd "$(dirname "$0")/.."
. test/steps.sh

logs=$1 passed=0 failed=0
# Linux may share out the processors among sessions, whatever the priorities within them.
give_way() {
    renice -n 19 -p $$ >/dev/null
    { echo 19 >/proc/self/autogroup; } 2>/dev/null || true
}

[[ $2 == thread_tests ]] || give_way
"$2"
echo "$passed $failed" >"$logs/$2.counts"
