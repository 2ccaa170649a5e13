#!/usr/bin/env bash
# The comparison with a real master notices when one reply of the model is changed.
#
#   break_test.sh DIFFERENTIAL
set -euo pipefail
for kind in acquire grant raise renew release peek hello; do
    if "$1" --commands 4000 --break "$kind" >/dev/null; then
        printf 'a wrong reply to %s went unnoticed\n' "$kind" >&2
        exit 1
    fi
done
