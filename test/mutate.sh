#!/usr/bin/env bash
# Shows that the tests of the core can fail: each safety rule is broken in a copy of the
# tree, one at a time, and at least one unit test or scenario must notice.
#
#   test/mutate.sh [NAME…]     CC chooses the compiler
set -euo pipefail
export LC_ALL=C
root=$(cd "$(dirname "$0")/.." && pwd)
CC=${CC:-cc}
units='quorum deadlines round master claim renewals fence logical'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lib" "$work/test"
cp -R "$root/lib/core" "$work/lib/"
cp -R "$root/test/unit" "$root/test/script" "$work/test/"
cd "$work"
survived=0 killed=0

compile() { "$CC" -std=gnu11 -O0 -Ilib/core -Itest/unit -c "$1" -o "$(basename "$1" .c).o"; }

link() {
    local unit core
    core=$(for source in lib/core/*.c; do basename "$source" .c; done | sed 's/$/.o/')
    # shellcheck disable=SC2086
    "$CC" runner.o fake.o $core -o runner || return
    for unit in $units; do
        # shellcheck disable=SC2086
        "$CC" "test_$unit.o" fake.o $core -lcmocka -o "test_$unit" || return
    done
}

# The tests that fail, one per line.
failing() {
    local unit scenario
    for unit in $units; do
        timeout 20 "./test_$unit" >/dev/null 2>&1 || echo "unit/test_$unit"
    done
    for scenario in test/script/scenarios/*.txt; do
        timeout 20 ./runner "$scenario" >/dev/null 2>&1 || echo "script/$(basename "$scenario" .txt)"
    done
}

unfit() {
    printf '%-22s %s\n' "$1" "$2"
    survived=$((survived + 1))
}

# Breaks FILE, and looks who notices.
break_and_look() {
    local name=$1 file=lib/core/$2 edit=$3 caught
    sed -E -i "$edit" "$file"
    if cmp -s "$root/$file" "$file"; then
        unfit "$name" "the edit of $file did not take: mend it"
        return
    fi
    if ! { compile "$file" && link; } >log 2>&1; then
        unfit "$name" "does not build: $(head -n 3 log)"
        return
    fi
    caught=$(failing)
    if [[ -z $caught ]]; then
        unfit "$name" SURVIVED
        return
    fi
    printf '%-22s caught by %s (%d in all)\n' "$name" "$(tail -n 1 <<<"$caught")" \
        "$(wc -l <<<"$caught")"
    killed=$((killed + 1))
}

declare -A wanted=()
for name in "$@"; do wanted[$name]=1; done

mutant() {
    ((${#wanted[@]} == 0)) || [[ -n ${wanted[$1]:-} ]] || return 0
    break_and_look "$@"
    cp "$root/lib/core/$2" "lib/core/$2"
    compile "lib/core/$2"
}

for source in lib/core/*.c test/script/*.c; do compile "$source"; done
for unit in $units; do compile "test/unit/test_$unit.c"; done
link
caught=$(failing)
[[ -z $caught ]] || { printf 'unbroken, and yet these fail: %s\n' "${caught//$'\n'/ }"; exit 1; }

# within FUNCTION WHAT WITH: an edit inside one function.
within() { printf '/^[a-z].*[ *]%s\\(/,/^\\}/s~%s~%s~' "$1" "$2" "$3"; }

# What a majority is, and how long it stands.
mutant quorum-half quorum.c "$(within quorum_of '/ 2 \+ [^;]*' '/ 2 + (masters < 2)')"
mutant won-too-early quorum.c "$(within quorum_verdict 'yes >= quorum' 'yes + 1 >= quorum')"
mutant lost-too-late quorum.c "$(within quorum_verdict 'yes \+ undecided < quorum' 'yes + undecided < quorum - 1')"
mutant no-drift quorum.c "$(within quorum_promise 'quorum_drift\(ttl, drift_ppm\)' '0 * drift_ppm')"
mutant no-drift-floor quorum.c "$(within quorum_drift ' \+ DRIFT_FLOOR' '')"
mutant minority-validity quorum.c "$(within quorum_valid_until 'quorum_of\(masters\) - 1' '(quorum_of(masters) - 1) / 2')"
mutant dated-from-reply claim.c "$(within hear_setting 'reply->tag\.sent_at' 'e->now')"
# When it is tested.
mutant renewal-after-end hearing.c "$(within lease_hear 'holding_notice_the_end\(e, lease\);' ';')"
mutant told-untested lease.c "$(within lease_tell 'holding_notice_the_end\(e, lease\);' ';')"
mutant extend-after-end holding.c "$(within lease_extend 'holding_notice_the_end\(e, lease\);' ';')"
mutant won-untested acquiring.c "$(within round_won 'holding_is_over\(e, lease\)' 'false')"
mutant no-margin holding.c "$(within holding_lost_at 'lease->terms\.margin' '0')"
mutant other-round hearing.c "$(within hear_in_round 'reply->tag\.round != round->number' 'false')"
# What is given back, when, and behind what.
mutant no-rollback acquiring.c "$(within acquiring_failed 'claim_abandon\(e, [^;]*' 'claim_forget(e, lease->claim)')"
mutant cancel-keeps acquiring.c "$(within acquiring_cancel 'claim_abandon\(e, lease->claim, 0\)' 'claim_forget(e, lease->claim)')"
mutant released-too-soon holding.c "$(within lose '\? 0 : lease->valid_until' '? 0 : 0')"
mutant not-repeated claim.c "$(within hear_release 'deadlines_at_latest\(.*RELEASE_AGAIN\)' '(void)RELEASE_AGAIN')"
mutant former-not-killed master.c "$(within come_up 'end_former_connections\(e, index\);' '')"
mutant owed-forgotten engine.c "$(within engine_master_up 'claims_pay\(e, master\);' '')"
mutant unknown-is-refused claim.c "$(within expect_to_be_set 'presence = UNSURE' 'presence = ABSENT')"
mutant never-written-off claim.c "$(within claim_wake 'write_off\(e, claim\)' 'come_due(e, claim)')"
mutant without-deadline claim.c "$(within wake_at 'deadlines_at_latest\(.*LOOK_AGAIN\)' '(void)LOOK_AGAIN')"
mutant many-miscounted claim.c "$(within hear_setting 'if \(at->setting < SETTING_MANY\)' 'if (at->setting)')"
mutant late-answer-not-dated claim.c "$(within hear_setting 'may_last\(e, claim, reply->tag\.ttl\); .*' '')"
mutant late-place-not-dated claim.c "$(within hear_setting '^        may_last\(e, claim, reply->tag\.ttl\);$' '')"
mutant valid-while-released releasing.c "$(within releasing_begin 'lease->valid_until = 0;' '')"
# Restarted masters.
mutant heals-abstaining asking.c "$(within lease_ask 'master_may_grant\(e, &e->masters\[master\]\)' 'true')"
mutant abstaining-grants master.c "$(within master_may_grant '!master_abstains\(e, master\)' 'true')"
mutant shorter-ttl-grants master.c "$(within reckon_quarantine 'master->facts\.max_ttl_ms < e->max_ttl_ms' 'false')"
mutant longest-of-one quorum.c "$(within quorum_longest 'masters > 2' 'false')"
mutant longest-is-spread master.c "$(within say_hello 'e->config\.max_ttl_ms' 'e->max_ttl_ms')"
mutant longest-not-reckoned master.c "$(within learn_longest_ttl 'reckon_quarantine\(e, master\);' '')"
mutant heals-for-ever asking.c "$(within lease_ask '\? lease->valid_until : 0' '? 0 : 0')"
mutant replica-votes master.c "$(within is_acceptable 'strcmp\(hello->role, "master"\) != 0' 'false')"
mutant twin-votes master.c "$(within is_acceptable 'twin != index' 'false')"
# Waiting, and ending.
mutant never-woken acquiring.c "$(within lease_acquire 'lease_schedule\(e, lease\);' '')"
mutant waits-for-ever acquiring.c "$(within may_wait 'e->now >= lease_wait_until\(lease\)' 'false')"
mutant renewals-scattered holding.c "$(within renewal_step 'e->held\.count < RENEW_TOGETHER' 'true')"
mutant renewed-too-soon holding.c "$(within holding_renew_when ' \+ step - 1' '')"
mutant hung-is-kept master.c "$(within watch_up 'e->now >= master->progress_at' 'false \&\& e->now >= master->progress_at')"
mutant stop-teaches-patience master.c "$(within learn_round_trip 'sample <= stall\(e, master\)' 'true')"
mutant stop-is-first-trip master.c "$(within learn_round_trip 'sample < ROUND_TRIP_FIRST' 'true')"
mutant busy-is-silent master.c "$(within master_overdue 'master->progress_at > asked_at \? [^;]*' 'asked_at')"
mutant busy-for-ever master.c "$(within master_overdue 'overdue < latest \? overdue : latest' 'overdue + 0 * latest')"
mutant closed-too-early engine.c "$(within check_closed 'e->abandoned' 'false')"
# Fences.
mutant fence-unstored fencing.c "$(within fencing_weigh 'stored\(e, round, round->fence\) >= e->quorum' 'true')"
mutant fence-unanswered fencing.c "$(within fencing_weigh 'have >= enough' 'true')"
mutant fence-bare fencing.c "$(within fencing_weigh 'e->quorum - \(.*\);' 'e->quorum - 1;')"
mutant fence-for-ever fencing.c "$(within fencing_weigh 'have \+ may_yet_store\(e, round\) < enough' 'false')"
mutant fence-unfounded fencing.c "$(within is_founded 'kept >= e->quorum' 'true')"
mutant fence-outlives-basis fencing.c "$(within fencing_valid_until 'lease->round->basis & BIT\(i\)' 'true')"
mutant basis-of-all-grants fencing.c "$(within fix_fence ' && grants\[i\] <= round->fence' '')"
mutant basis-not-noticed fencing.c "$(within fencing_notice '!stands\(e, lease, master\)' 'false')"
mutant basis-without-clock claim.c "$(within hear_raise 'at->promise = 0;' ';')"
mutant confirmed-too-soon acquiring.c "$(within weigh_confirmed 'is_short \&\& fencing_may_be_confirmed\(e, lease\)' 'false')"
mutant fence-minimum fence.c "$(within rank_of_fence 'quorum - 1 - [^;]*' '0 * quorum')"
mutant fence-maximum fence.c "$(within fence_of 'sorted\[rank_of_fence\(masters\)\]' 'sorted[count - 1]')"
mutant grace-never-ends fencing.c "$(within waits_for_last_grants 'round->grace > e->now' 'true')"
mutant grace-ends-unseen round.c "$(within round_expire 'round->grace = 0' '(void)0')"
mutant no-grace fencing.c "$(within waits_for_last_grants 'return round->grace > e->now' 'return false')"
mutant raise-not-hoped fencing.c "$(within ask_to_raise ' \|\| ballot->state == BALLOT_ASKED' '')"
mutant raise-asked-once fencing.c "$(within ask_to_raise 'ballot->again = false;' '')"
mutant raise-for-grant hearing.c "$(within asks_again 'reply->tag\.kind != lease->round->kind' 'false')"
mutant raise-forgets-names claim.c "$(within what_is_left ' \|\| reply->tag\.kind == REQUEST_RAISE' '')"
mutant raise-finds-token claim.c "$(within hear_raise 'now_absent\([^;]*' '(void)at')"
mutant grant-counts-twice round.c "$(within round_may_say_yes ' && !says_yes\(&round->ballots\[i\]\)' '')"
mutant not-stored-is-held acquiring.c "$(within why_failed ' \|\| not_stored' '')"
mutant clock-believed logical.c "$(within logical_hear '!logical_believes\(e, clock\)' 'false')"
mutant clock-unbelieved logical.c "$(within furthest_ahead 'CLOCK_WINDOW \+' '')"
mutant clock-carries logical.c "$(within logical_believes 'wall_of_quorum\(e\)' 'e->clock')"
mutant clock-unvouched logical.c "$(within masters_at 'e->masters\[i\]\.clock >= clock' 'false')"
mutant vouched-in-vain fencing.c "$(within fencing_record 'fencing_vouch\(e, round\);' '')"
mutant vouch-not-awaited round.c "$(within round_may_say_yes 'may \? may \+ doubted : 0' 'may + 0 * doubted')"
mutant wall-of-one logical.c "$(within wall_of_quorum 'quorum_reached\([^;]*' 'walls[0]')"
mutant proposal-repeated logical.c "$(within logical_propose 'e->clock \+ 1' 'e->clock')"
mutant token-reused claim.c "$(within claim_fresh_token 'MUTANT\(TOKEN_REUSED\) \? same : e->random->bytes' 'same')"
mutant raised-is-complete round.c "$(within round_stop_hoping 'round->incomplete = true;' '')"
mutant fence-kept-untold acquiring.c "$(within acquiring_unsay 'lease->fence = 0;' '')"
mutant fence-kept-cancelled acquiring.c "$(within acquiring_cancel 'lease->fence = 0;' '')"
mutant fence-before-told lease.c "$(within lease_fence 'lease->untold & BIT\(OUTCOME_ACQUIRED\)' 'false')"

# Waiting in turn.
mutant ticket-of-few waiting.c "$(within waiting_ticket 'told >= e->quorum' 'told > 0')"
mutant ticket-minimum waiting.c "$(within waiting_ticket 'clock > ticket \&\&' 'clock \&\& (!ticket || clock < ticket) \&\&')"
mutant ticket-not-awaited waiting.c "$(within waiting_for_ticket 'may_tell >= e->quorum' 'false')"
mutant ticket-awaited-in-vain waiting.c "$(within waiting_for_ticket 'may_tell >= e->quorum' 'true')"
mutant refreshed-by-own-life waiting.c "$(within refresh 'lease->round->life' 'life_of(lease)')"
mutant older-answer-counts waiting.c "$(within waiting_hear 'reply->tag\.sent_at == ballot->asked_at' 'true')"
mutant refresh-voids waiting.c "$(within refresh 'listening_keep\(e\);' 'listening_keep(e), lease->round->number = engine_next_round(e);')"
mutant push-dated-from-now waiting.c "$(within take_push ': ballot->stood_at' ': e->now')"
mutant old-push-counts waiting.c "$(within take_push 'clock <= ballot->clock' 'false')"
mutant abstaining-pushes waiting.c "$(within take_push '!master_may_grant\(e, \&e->masters\[master\]\)' 'false')"
mutant over-counts waiting.c "$(within forget_what_is_over 'promise <= e->now' 'promise < 0')"
mutant expiry-not-awaited waiting.c "$(within hear_queued 'await_expiry\(e, lease\);' '')"
mutant expiry-awaited-by-all waiting.c "$(within await_expiry ' \&\& ballot->position == 0' '')"
mutant minority-sleeps waiting.c "$(within granted 'waiting_wake_by\(lease, [^;]*;' '(void)lease;')"
mutant push-of-another waiting.c "$(within take_push '!listening_to_same_process\(e, master\)' 'false')"
mutant process-not-forgotten engine.c "$(within engine_master_replaced 'waiting_forget_process\(lease, master\)' '(void)lease, (void)master')"
mutant silent-is-asked waiting.c "$(within ask_master 'master_is_silent\(e, \&e->masters\[master\]\)' 'false')"
mutant cut-off-keeps waiting.c "$(within waiting_look_around '!minority_reaches_quorum\(e, 0\)' 'false')"
mutant cut-off-stands waiting.c "$(within contend 'minority_reaches_quorum\(e, 0\)' 'true')"
mutant cut-off-goes-on waiting.c "$(within waiting_wake 'minority_is_connected\(e\)' 'true')"
mutant cut-off-sleeps waiting.c "$(within waiting_master_up 'waiting_wake_by\(.*EAGER_LEAST\)\);' '(void)EAGER_LEAST;')"
mutant silent-is-reached master.c "$(within master_is_silent 'master->in_flight' 'false')"
mutant yields-unpaused waiting.c "$(within waiting_pause '!before' 'true')"
mutant yields-unheard minority.c "$(within minority_weigh ' \&\& has_heard_the_others\(e, lease->round\)' '')"
mutant retried-at-once acquiring.c "$(within retries 'is_drawn \? 0 : waiting_pause\(e, lease\)' '0 * is_drawn')"
mutant outranked-never minority.c "$(within yield_to 'round->outranked \|= ahead;' '')"
mutant outranked-at-once minority.c "$(within yield_to 'round->ahead_alone & ahead' 'true')"
mutant outranked-for-ever minority.c "$(within minority_comes_back 'e->now >= round->outranked_until' 'false')"
mutant no-yield minority.c "$(within minority_weigh 'ahead \&\& has_heard_the_others\(e, lease->round\)' 'false')"
mutant yields-nothing waiting.c "$(within withdraw 'claim_abandon\(e, lease->claim, 0\)' 'claim_forget(e, lease->claim)')"
mutant never-aside minority.c "$(within minority_weigh 'is_kept_by_another\(e, lease->round\)' 'false')"
mutant aside-at-once minority.c "$(within minority_look_at 'round->few_since \+ patience' 'round->few_since + (patience ? 1 : 0)')"
mutant aside-for-few minority.c "$(within is_kept_by_another 'held > lease_masters\(e\) - e->quorum' 'held > 0')"
mutant aside-for-ever waiting.c "$(within granted 'round->aside = 0;' '')"
mutant aside-of-half minority.c "$(within stand_aside '!minority_reaches_quorum\(e, minority_avoids\(round\) \| ours\)' 'false')"
mutant aside-of-too-few minority.c "$(within minority_comes_back '!minority_reaches_quorum\(e, minority_avoids\(round\)\)' 'false')"
mutant aside-not-ended minority.c "$(within minority_comes_back 'e->now >= round->aside_until' 'false')"
mutant aside-forgotten waiting.c "$(within await_expiry 'lease->round->aside & BIT\(i\)' 'false')"
mutant aside-by-the-second minority.c "$(within keeps 'ballot->position > 0' 'false')"
mutant aside-while-growing waiting.c "$(within granted 'round->few_since = e->now' 'if (!round->few_since) round->few_since = e->now')"
mutant place-not-passed passing.c "$(within passing_leave 'can_pass_place\(lease, next\)' 'false')"
mutant place-passed-to-fenced passing.c "$(within can_pass_place 'to->terms\.fence' 'false')"
mutant question-of-other-ttl passing.c "$(within can_pass_place 'from->terms\.ttl == to->terms\.ttl' 'true')"
mutant ticket-not-passed passing.c "$(within passing_leave 'lease->state == LEASE_WAITING' 'false')"
mutant next-not-woken passing.c "$(within passing_leave 'lease_schedule\(e, next\);' '')"
mutant stands-in-any-step acquiring.c "$(within retries 'is_drawn \? 0' 'is_drawn \&\& (acquiring_again(e, lease), true) ? 0')"
mutant refused-while-raised hearing.c "$(within lease_record 'case ANSWER_QUEUED:.*' 'case (enum answer)99:')"
mutant given-is-confirmed acquiring.c "$(within round_won 'given \&\& !round->confirms \&\& e->now < valid_until' 'false')"
mutant given-not-renewed acquiring.c "$(within round_won 'if \(given \&\& !round->confirms\)' 'if (false)')"
mutant confirmed-by-some acquiring.c "$(within confirm 'round->incomplete \|= !has;' '')"
mutant handed-to-fenced passing.c "$(within can_take_over '!next->terms\.fence' 'true')"
mutant handed-on-attached passing.c "$(within can_take_over '!holder->claim->foreign' 'true')"
mutant handed-too-late passing.c "$(within can_take_over 'e->now < end - next->terms\.margin' 'true')"
mutant handed-for-ever passing.c "$(within was_handed_enough 'claim->handed >= HANDED_MOST' 'false')"
mutant handed-at-once-enough passing.c "$(within was_handed_enough ' \&\& handed_for >= HANDED_FIRST' '')"
mutant handed-for-long passing.c "$(within was_handed_enough 'handed_for >= handed_at_most\(e\)' 'false')"
mutant handed-past-others passing.c "$(within passing_hand_over '!waiting_is_next\(e, next\)' 'false')"
mutant handed-never-late passing.c "$(within passing_hand_over '!waiting_is_next\(e, next\)' 'true')"
mutant next-by-any-place waiting.c "$(within waiting_is_next ' \&\& !ballot->position' '')"
mutant place-at-turn passing.c "$(within passing_enter ' \|\| needs_place\(e, lease\)' '')"
mutant ticket-passed-late passing.c "$(within pass_ticket ' \|\| !shares_place\(from, to\)' '')"
mutant place-for-ever passing.c "$(within shares_place 'to->asked_at <= drawn_at \+ SHARES_PLACE' 'true')"
mutant renewed-after-the-end holding.c "$(within holding_renew_when 'at < latest' 'true')"
mutant renewal-put-off acquiring.c "$(within acquiring_take_over 'renew_at < lease->wake_at' 'false')"
mutant handed-and-kept passing.c "$(within passing_hand_over 'holder->valid_until = 0;' '')"
mutant handed-short acquiring.c "$(within acquiring_take_over 'is_short \|\| !lease->terms\.renew' 'false')"
mutant handed-with-question passing.c "$(within give_claim 'round_copy\([^;]*;' ';')"
mutant stood-is-absent claim.c "$(within what_is_left ' \|\| reply->tag\.claim->stands' '')"
mutant line-not-counted line.c "$(within line_leave 'e->in_lines--;' '')"
mutant line-kept line.c "$(within line_leave '!line->first' 'false')"
mutant line-cut line.c "$(within line_leave 'line->last = round->before;' ';')"
mutant listens-for-ever listening.c "$(within listening_look 'e->now >= e->listen_until' 'false')"
mutant listens-no-more listening.c "$(within listening_ended '\{0\}' '{.asked = true}')"
mutant listens-to-the-dead listening.c "$(within listening_lost 'unsubscribe\(e, master\);' '(void)e, (void)master;')"
mutant subscribes-for-ever listening.c "$(within end_the_dead 'e->now >= sub->due' 'false')"
mutant never-probed listening.c "$(within probe 'e->now < sub->heard_at \+ QUIET' 'true')"
mutant probed-in-vain listening.c "$(within listening_heard 'sub->due = 0;' '')"
mutant other-not-asked listening.c "$(within listening_begun 'master_look\(e, master\);' '')"
mutant heard-nothing-before listening.c "$(within listening_begun 'lease_look_again\(e, lease, master\);' '')"

printf '%d caught, %d not\n' "$killed" "$survived"
((survived == 0))
