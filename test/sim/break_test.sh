#!/usr/bin/env bash
# The comparison with a real master notices when one reply of the model is changed.  It also notices when a
# rule is broken of shared names, slots, announcements, latches, or the clock.
#
#   break_test.sh DIFFERENTIAL
set -euo pipefail
for broken in \
    'break acquire' 'break grant' 'break raise' 'break queue' 'break renew' 'break upgrade' 'break release' \
    'break peek' 'break hello' 'break announce' 'break unsay' 'break observe' 'break arrive' 'break depart' \
    'break tally' 'break mend' 'break drop' 'break-batch renew' 'break-batch release' 'break-batch grant' \
    'flaw dead_readers_have' 'flaw keeps_readers' 'flaw marker_of_last' 'flaw readers_barge' \
    'flaw frees_for_readers' 'flaw always_converts' 'flaw upgrades_beside' 'flaw heals_marked' \
    'flaw passes_registry' 'flaw new_places_pass' 'flaw renewals_hide_slots' 'flaw announces_for_anyone' \
    'flaw latch_of_any_process' 'flaw drops_young' 'flaw proposals_uncut' 'flaw grants_keep_clock' \
    'flaw forgets_skew'; do
    read -r how kind <<<"$broken"
    commands=4000
    # It ends with the first difference: for the rarest flaw after 30,000 commands, and at times after 90,000.
    [[ $how != flaw ]] || commands=400000
    if "$1" --commands "$commands" "--$how" "$kind" >/dev/null; then
        printf '%s went unnoticed\n' "$broken" >&2
        exit 1
    fi
done
