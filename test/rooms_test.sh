#!/usr/bin/env bash
# test/rooms.sh notices what it is there to notice: each fault is made in a copy of lib.
#
#   test/rooms_test.sh LIB OBJECT…      CC chooses the compiler
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
CC=${CC:-cc}
lib=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
missed=0

# must_fail WHAT WORDS [OBJECT…]: the report has those words.
must_fail() {
    local what=$1 words=$2 report
    shift 2
    if report=$("$here/rooms.sh" "$work/lib" "$@" 2>&1); then
        echo "not noticed: $what"
        missed=1
    elif ! grep -q -- "$words" <<<"$report"; then
        printf '%s: expected "%s", got:\n%s\n' "$what" "$words" "$report"
        missed=1
    fi
    rm -rf "$work/lib"
    cp -R "$lib" "$work/lib"
}

cp -R "$lib" "$work/lib"
"$here/rooms.sh" "$work/lib" "$@"

echo '#include "pump.h"' >>"$work/lib/client/step.h"
must_fail 'a circle of includes' 'circle: .*client/pump' "$@"

mkdir -p "$work/redlock_client.dir/client"
echo 'void pump_step(void); void more(void); void more(void) { pump_step(); }' >"$work/step.c"
"$CC" -c -o "$work/redlock_client.dir/client/step.c.o" "$work/step.c"
must_fail 'a circle of calls' 'circle: .*client/step' "$@" "$work/redlock_client.dir/client/step.c.o"

mkdir -p "$work/redlock_core.dir/core/masters"
echo 'void claim_wake(void); void more(void); void more(void) { claim_wake(); }' >"$work/master.c"
"$CC" -c -o "$work/redlock_core.dir/core/masters/master.c.o" "$work/master.c"
must_fail 'a circle in the core' 'circle: .*core/masters/master' "$@" \
    "$work/redlock_core.dir/core/masters/master.c.o"

mkdir -p "$work/redlock_sync.dir"
echo 'void pump_step(void); void more(void); void more(void) { pump_step(); }' >"$work/sync_call.c"
"$CC" -c -o "$work/redlock_sync.dir/sync_call.c.o" "$work/sync_call.c"
must_fail 'a call past redlock.h' 'sync/sync_call calls pump_step' "$@" "$work/redlock_sync.dir/sync_call.c.o"

echo '#include <ev.h>' >>"$work/lib/io/link.c"
must_fail 'a link that knows libev' 'io/link.c includes <ev.h>' "$@"

echo '#include <ev.h>' >>"$work/lib/client/loop.c"
must_fail 'a pump on libev alone' 'client/loop.c includes <ev.h>' "$@"

echo '#include <ev.h>' >>"$work/lib/client/pump.c"
must_fail 'a pump that knows libev' 'client/pump.c includes <ev.h>' "$@"

echo '#include "client.h"' >>"$work/lib/io/link.h"
must_fail 'an arrow upward' 'io/link.h includes "client.h" of client' "$@"

echo '#include <ev.h>' >>"$work/lib/sync/sync.c"
must_fail 'sync that knows libev' 'sync/sync.c includes <ev.h>' "$@"

echo '#include "engine.h"' >>"$work/lib/sync/sync_call.c"
must_fail 'sync that knows the core' 'sync/sync_call.c includes "engine.h" of core' "$@"

echo '#include "lease/lease.h"' >>"$work/lib/client/pump.c"
must_fail 'a client that comes in by another door' 'client/pump.c includes "lease/lease.h" of core' "$@"

echo '#include "ground/names.h"' >>"$work/lib/client/pump.c"
must_fail 'a client that comes in beside the door' 'client/pump.c includes "ground/names.h" of core' "$@"

echo '#include "masters/master.h"' >>"$work/lib/core/engine.h"
must_fail 'a door that shows a machine' 'core/engine.h lets everybody see "masters/master.h"' "$@"

echo '#include "lease/lease.h"' >>"$work/lib/core/lease/view.h"
must_fail 'a view that shows a lease' 'core/lease/view.h lets everybody see "lease/lease.h"' "$@"

echo '#include "recipes/latch.h"' >>"$work/lib/core/recipes/barrier_passage.c"
must_fail 'a recipe that knows another' \
    'core/recipes/barrier_passage.c includes "recipes/latch.h" of one recipe' "$@"

echo '#include "recipes/barrier.h"' >>"$work/lib/core/recipes/tasks.c"
must_fail 'tasks that know a recipe' 'core/recipes/tasks.c includes "recipes/barrier.h" of one recipe' "$@"

echo '#include "ledger/claim.h"' >>"$work/lib/core/masters/master.c"
report=$("$here/purity.sh" "$work/lib/core" "$@" 2>&1 || true)
if ! grep -q 'master.c includes "ledger/claim.h"' <<<"$report"; then
    echo 'not noticed: an arrow upward within the core'
    missed=1
fi

exit "$missed"
