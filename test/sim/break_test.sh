#!/usr/bin/env bash
# The comparison with a real master notices when one reply of the model is changed.
#
#   break_test.sh DIFFERENTIAL
set -euo pipefail
for broken in 'break acquire' 'break grant' 'break raise' 'break queue' 'break renew' 'break release' 'break peek' 'break hello' \
    'break-batch renew' 'break-batch release' 'break-batch grant'; do
    read -r how kind <<<"$broken"
    if "$1" --commands 4000 "--$how" "$kind" >/dev/null; then
        printf 'a wrong reply to %s went unnoticed\n' "$broken" >&2
        exit 1
    fi
done
