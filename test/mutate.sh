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
mkdir -p "$work/lib" "$work/test" "$work/whole"
cp -R "$root/lib/core" "$work/lib/"
cp -R "$root/test/unit" "$root/test/script" "$root/test/plain_memory.h" "$work/test/"
cd "$work"
survived=0 killed=0

compile() { "$CC" -std=gnu11 -O0 -fPIC -Ilib/core -Itest/unit -c "$1" -o "$2/$(basename "$1" .c).o"; }

# The core is a library to the tests. A broken file is another one before it, which takes the place of all
# that the file defines: so a mutant costs no link of the core.
break_with() { "$CC" -std=gnu11 -O0 -fPIC -Ilib/core -shared -x c "$1" -o libbroken.so; }

# link NAME OBJECT…: the program NAME.
link() { "$CC" -o "$@" text.o fake.o fake_tasks.o -Wl,--no-as-needed libbroken.so libcore.so -lcmocka -Wl,-rpath,"$work"; }

build() {
    local source unit
    for source in lib/core/*.c lib/core/*/*.c; do compile "$source" whole; done
    "$CC" -shared whole/*.o -o libcore.so
    for source in test/script/*.c; do compile "$source" .; done
    break_with /dev/null
    link runner runner.o why.o
    for unit in $units; do
        compile "test/unit/test_$unit.c" .
        link "test_$unit" "test_$unit.o"
    done
}

failing_scenarios() {
    local scenario status=0
    timeout 20 ./runner test/script/scenarios/*.txt >said 2>&1 || status=$?
    if ((status <= 1)); then
        sed -n 's,^test/script/scenarios/\([^:]*\)\.txt:.*,script/\1,p' said | uniq
        return
    fi
    # It crashed or hangs: which of them do?
    for scenario in test/script/scenarios/*.txt; do
        timeout 20 ./runner "$scenario" >/dev/null 2>&1 || echo "script/$(basename "$scenario" .txt)"
    done
}

failing_units() {
    local unit
    for unit in $units; do
        timeout 20 "./test_$unit" >/dev/null 2>&1 || echo "unit/test_$unit"
    done
}

# The tests that fail, one per line; the unit tests, which take longer, where no scenario notices.
failing() {
    failing_scenarios
    timeout 20 ./runner --starve test/script/scenarios/acquire.txt >/dev/null 2>&1 || echo script/starved/acquire
}

unfit() {
    printf '%-22s %s\n' "$1" "$2"
    survived=$((survived + 1))
}

# Breaks FILE, and sees which tests notice.
break_and_look() {
    local name=$1 file=lib/core/$2 edit=$3 caught
    sed -E -i "$edit" "$file"
    if cmp -s "$root/$file" "$file"; then
        unfit "$name" "the edit of $file did not take: mend it"
        return
    fi
    if ! break_with "$file" >log 2>&1; then
        unfit "$name" "does not build: $(head -n 3 log)"
        return
    fi
    caught=$(failing)
    [[ -n $caught ]] || caught=$(failing_units)
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
}

build
caught=$(failing; failing_units)
[[ -z $caught ]] || { printf 'unbroken, and yet these fail: %s\n' "${caught//$'\n'/ }"; exit 1; }

# within FUNCTION WHAT WITH: an edit inside one function.
within() { printf '/^[a-z].*[ *]%s\\(/,/^\\}/s~%s~%s~' "$1" "$2" "$3"; }

# What a majority is, and how long it lasts.
mutant quorum-half ground/quorum.c "$(within quorum_of 'masters \+ 2' 'masters + (masters < 2 ? 2 : 0)')"
mutant won-too-early ground/quorum.c "$(within quorum_verdict 'yes >= quorum' 'yes + 1 >= quorum')"
mutant lost-too-late ground/quorum.c "$(within quorum_verdict 'yes \+ undecided < quorum' 'yes + undecided < quorum - 1')"
mutant no-drift ground/quorum.c "$(within quorum_promise 'quorum_drift\(ttl, drift_ppm\)' '0 * drift_ppm')"
mutant no-drift-floor ground/quorum.c "$(within quorum_drift ' \+ DRIFT_FLOOR' '')"
mutant minority-validity ground/quorum.c "$(within quorum_valid_until 'quorum - short_of_one' 'quorum - (masters > 1)')"
mutant dated-from-reply ledger/claim.c "$(within hear_setting 'reply->tag\.sent_at' 'e->now')"
# When it is tested.
mutant renewal-after-end lease/machine.c "$(within lease_hear 'losing_notice\(e, lease\);' ';')"
mutant told-untested lease/machine.c "$(within lease_tell 'losing_notice\(e, lease\);' ';')"
mutant extend-after-end lease/machine.c "$(within lease_extend 'losing_notice\(e, lease\);' ';')"
mutant won-untested lease/acquiring.c "$(within round_won 'holding_is_over\(e, lease\)' 'false')"
mutant no-margin lease/holding.c "$(within holding_lost_at 'lease->terms\.margin' '0')"
mutant lost-unnamed lease/losing.c "$(within lose 'round_time_out\([^;]*;' ';')"
mutant inspect-waits lease/inspecting.c "$(within inspecting_weigh '!is_enough' 'true')"
mutant inspect-split lease/inspecting.c "$(within inspecting_weigh 'quorum_agrees\(e, round\)' 'round_yes(round, 0) == 0')"
mutant inspect-no-grace lease/inspecting.c "$(within inspecting_weigh 'round_grace_is_over\([^;]*;' 'true;')"
mutant foreign-unseen lease/queue.c "$(within look_often 'ballot->foreign = foreign' '(void)foreign')"
mutant foreign-of-one lease/queue.c "$(within is_held_by_another_library 'foreign > lease_masters\(e\) - e->quorum' 'foreign > 0')"
mutant foreign-behind lease/queue.c "$(within is_held_by_another_library ' && !ballot->position' '')"
mutant foreign-once lease/queue.c "$(within refresh 'often = AGAIN;' '')"
mutant foreign-early lease/queue.c "$(within refresh 'place, often, looks_often' 'place, lease->attempt->place.life / 3, looks_often')"
mutant foreign-expiry lease/queue.c "$(within await_expiry 'is_foreign \? ours \+ 1 : ' '')"
mutant foreign-makes-way lease/minority.c "$(within keeps '!ballot->foreign \&\& ' '')"
mutant other-round lease/hearing.c "$(within hearing_take 'reply->tag\.round != round->number' 'false')"
# What is given back, when, and behind what.
mutant no-rollback lease/acquiring.c "$(within failed 'claim_abandon\(e, [^;]*' 'claim_forget(e, lease->claim)')"
mutant cancel-keeps lease/acquiring.c "$(within acquiring_cancel 'claim_abandon\(e, lease->claim, 0\)' 'claim_forget(e, lease->claim)')"
mutant released-too-soon lease/losing.c "$(within lose '\? 0 : lease->valid_until' '? 0 : 0')"
mutant not-repeated ledger/claim.c "$(within hear_release 'deadlines_at_latest\(.*RELEASE_AGAIN\)' '(void)RELEASE_AGAIN')"
mutant former-not-killed masters/master.c "$(within come_up 'end_former_connections\(e, index\);' '')"
mutant owed-forgotten engine.c "$(within after_up 'pay_claims\(e, master\);' '')"
mutant unknown-is-refused ledger/claim.c "$(within expect_to_be_set 'presence = UNSURE' 'presence = ABSENT')"
mutant never-written-off ledger/claim.c "$(within claim_wake 'write_off\(e, claim\)' 'come_due(e, claim)')"
mutant without-deadline ledger/claim.c "$(within wake_at 'deadlines_at_latest\(.*LOOK_AGAIN\)' '(void)LOOK_AGAIN')"
mutant many-miscounted ledger/claim.c "$(within hear_setting 'if \(at->setting < SETTING_MANY\)' 'if (at->setting)')"
mutant late-answer-not-dated ledger/claim.c "$(within hear_setting 'may_last\(e, claim, reply->tag\.ttl\); .*' '')"
mutant late-place-not-dated ledger/claim.c "$(within hear_setting '^        may_last\(e, claim, reply->tag\.ttl\);$' '')"
mutant valid-while-released lease/machine.c "$(within end_told 'lease->state == LEASE_IDLE \? 0 : left' 'left')"
# Restarted masters.
mutant heals-abstaining lease/asking.c "$(within lease_ask 'master_may_grant\(e, &e->masters\[master\]\)' 'true')"
mutant abstaining-grants masters/master.c "$(within master_may_grant '!master_abstains\(e, master\)' 'true')"
mutant shorter-ttl-grants masters/master.c "$(within reckon_quarantine 'master->facts\.max_ttl_ms < e->max_ttl_ms' 'false')"
mutant longest-of-one ground/quorum.c "$(within quorum_longest 'masters > 2' 'false')"
mutant longest-is-spread masters/master.c "$(within told_ttl_ms 'e->config\.max_ttl_ms' 'e->max_ttl_ms')"
mutant longest-not-reckoned masters/master.c "$(within learn_longest_ttl 'reckon_quarantine\(e, master\);' '')"
mutant goes-on-though-late lease/losing.c "$(within is_given_up 'round_late\(round, lease_masters\(e\)\) > most' 'false')"
mutant goes-on-though-broken lease/losing.c "$(within is_given_up 'round_broken\(round, lease_masters\(e\)\) > most' 'false')"
mutant heals-for-ever lease/asking.c "$(within lease_ask '\? lease->valid_until : 0' '? 0 : 0')"
mutant replica-votes masters/master.c "$(within is_acceptable 'strcmp\(hello->role, "master"\) != 0' 'false')"
mutant twin-votes masters/master.c "$(within is_acceptable 'twin != index' 'false')"
# Spare votes.
mutant spare-uncounted ground/quorum.c "$(within quorum_of '\(MUTANT\(QUORUM_WITHOUT_SPARE\) \? 0 : spare\)' '0 * spare')"
mutant vouched-by-too-few ground/quorum.c "$(within quorum_vouched 'spare \+ 1 : count' 'spare : count')"
mutant longest-of-liars ground/quorum.c "$(within quorum_longest 'spare \? spare : masters > 2' 'masters > 2')"
mutant wall-of-a-liar masters/logical.c "$(within logical_wall 'rank > least \? rank : least' '1')"
mutant wall-behind-liars masters/logical.c "$(within logical_wall 'rank > least \? rank : least' 'e->quorum')"
mutant vouched-by-liars masters/logical.c "$(within logical_believes 'e->config\.spare > 1 \? e->config\.spare : ' '')"
mutant follows-a-liar masters/logical.c "$(within logical_hear 'vouched_for\(e, clock\)' 'clock')"
mutant yields-to-a-liar lease/minority.c "$(within has_heard_the_others '<= e->config\.spare' '== 99')"
mutant yields-to-none lease/minority.c "$(within has_heard_the_others '<= e->config\.spare' '<= 9')"
mutant twin-ends-client masters/master.c "$(within refuse ' && !e->config\.spare' '')"
mutant dead-vouch masters/master.c "$(within master_closed 'master->clock = 0;' '')"
mutant dead-walls masters/master.c "$(within master_closed 'master->heard = false;' '')"
mutant dead-ttls masters/master.c "$(within master_closed 'master->facts\.max_ttl_ms = 0;' '')"
mutant brief-uncounted masters/master.c "$(within backoff '\(master->brief \? master->brief - 1 : 0\)' '0 * master->brief')"
mutant push-unpaused lease/queue.c "$(within granted 'refresh_by\(lease, ' 'lease_wake_by(lease, ')"
mutant fence-low-again lease/fencing.c "$(within choose_fence 'fence \&\& unfounded' 'false')"
# Waiting, and ending.
mutant never-woken lease/acquiring.c "$(within lease_acquire 'lease_schedule\(e, lease\);' '')"
mutant waits-for-ever lease/acquiring.c "$(within may_wait 'e->now >= lease_wait_until\(lease\)' 'false')"
mutant renewals-scattered lease/holding.c "$(within renewal_step 'e->held\.count < RENEW_TOGETHER' 'true')"
mutant renewed-too-soon lease/holding.c "$(within holding_renew_when ' \+ step - 1' '')"
mutant hung-is-kept masters/master.c "$(within watch_up 'e->now >= master->progress_at' 'false \&\& e->now >= master->progress_at')"
mutant stop-teaches-timeout masters/master.c "$(within learn_round_trip 'sample <= stall\(e, master\)' 'true')"
mutant stop-is-first-trip masters/master.c "$(within learn_round_trip 'sample < ROUND_TRIP_FIRST' 'true')"
mutant busy-is-silent masters/master.c "$(within master_overdue 'master->progress_at > asked_at \? [^;]*' 'asked_at')"
mutant expiry-unpaused lease/queue.c "$(within pause_of 'EXPIRED << .*;' 'EXPIRED + 0 * in_vain;')"
mutant expiry-paused-for-ever lease/queue.c "$(within count_refresh 'e->now < place->refreshed_at \+ often / 2' 'true')"
mutant busy-for-ever masters/master.c "$(within master_overdue 'overdue < latest \? overdue : latest' 'overdue + 0 * latest')"
mutant closed-too-early engine.c "$(within check_closed 'e->abandoned' 'false')"
# Fences.
mutant fence-unstored lease/fencing.c "$(within fencing_weigh 'stored\(e, round, attempt->fence\) >= e->quorum' 'true')"
mutant fence-unanswered lease/fencing.c "$(within fencing_weigh 'have >= enough' 'true')"
mutant fence-bare lease/fencing.c "$(within fencing_weigh 'e->quorum - \(.*\);' 'e->quorum - 1;')"
mutant fence-for-ever lease/fencing.c "$(within fencing_weigh 'have \+ may_yet_store\(e, attempt\) < enough' 'false')"
mutant fence-unfounded lease/fencing.c "$(within fencing_is_founded 'kept >= e->quorum' 'true')"
mutant fence-outlives-basis lease/fencing.c "$(within fencing_valid_until 'lease->attempt->basis & BIT\(i\)' 'true')"
mutant basis-of-all-grants lease/fencing.c "$(within fix_fence ' && grants\[i\] <= attempt->fence' '')"
mutant basis-not-noticed lease/fencing.c "$(within fencing_notice '!is_kept\(e, lease, master\)' 'false')"
mutant basis-without-clock ledger/claim.c "$(within hear_raise 'at->promise = 0;' ';')"
mutant told-almost-over lease/acquiring.c "$(within round_won 'is_almost_over\(e, lease\)' 'false')"
mutant renewed-unasked lease/acquiring.c "$(within is_almost_over ' \&\& lease->terms.renew' '')"
mutant confirmed-too-soon lease/acquiring.c "$(within weigh_confirmed 'is_short \&\& fencing_may_be_confirmed\(e, lease\)' 'false')"
mutant fence-minimum ground/fence.c "$(within fence_of 'sorted\[quorum - 1\]' 'sorted[0]')"
mutant fence-quantile ground/fence.c "$(within fence_of 'sorted\[quorum - 1\]' 'sorted[quorum > 1 ? quorum - 2 : 0]')"
mutant fence-maximum ground/fence.c "$(within fence_of 'sorted\[quorum - 1\]' 'sorted[count - 1]')"
mutant grace-never-ends ground/round.c "$(within round_grace_is_over 'round->grace <= now' 'false')"
mutant grace-ends-unseen ground/round.c "$(within round_expire 'round->grace = 0' '(void)0')"
mutant no-grace lease/fencing.c "$(within waits_for_last_grants 'return !round_grace_is_over[^;]*' 'return false')"
mutant raise-not-hoped lease/fencing.c "$(within ask_to_raise ' \|\| ballot->state == BALLOT_ASKED' '')"
mutant raise-asked-once lease/fencing.c "$(within ask_to_raise 'ballot->again = false;' '')"
mutant raise-for-grant lease/hearing.c "$(within asks_again 'reply->tag\.kind != lease->attempt->round.kind' 'false')"
mutant raise-forgets-names ledger/claim.c "$(within what_is_left ' \|\| reply->tag\.kind == REQUEST_RAISE' '')"
mutant raise-finds-token ledger/claim.c "$(within hear_raise 'now_absent\([^;]*' '(void)at')"
mutant grant-counts-twice ground/round.c "$(within round_may_say_yes ' && !is_yes\(&round->ballots\[i\]\)' '')"
mutant not-stored-is-held lease/acquiring.c "$(within why_failed ' \|\| not_stored' '')"
mutant clock-believed masters/logical.c "$(within logical_hear '!logical_believes\(e, clock\)' 'false')"
mutant clock-unbelieved masters/logical.c "$(within furthest_ahead 'CLOCK_WINDOW \+' '')"
mutant clock-carries masters/logical.c "$(within logical_believes 'logical_wall\(e\)' 'e->clock')"
mutant clock-unvouched masters/logical.c "$(within masters_at 'e->masters\[i\]\.clock >= clock' 'false')"
mutant vouched-in-vain lease/fencing.c "$(within fencing_record 'fencing_vouch\(e, lease->attempt\);' '')"
mutant vouch-not-awaited ground/round.c "$(within round_may_say_yes 'may \? may \+ doubted : 0' 'may + 0 * doubted')"
mutant wall-of-one masters/logical.c "$(within logical_wall 'quorum_ranked\([^;]*' 'walls[0]')"
mutant proposal-repeated masters/logical.c "$(within logical_propose 'e->clock \+ 1' 'e->clock')"
mutant token-reused ledger/claim.c "$(within claim_fresh_token 'token_draw\(e, text_of\(e, claim\)\);' 'token_write(text_of(e, claim), (const uint8_t[TOKEN_RANDOM]){0});')"
mutant raised-is-complete ground/round.c "$(within round_give_up_connecting 'round->incomplete = true;' '')"
mutant fence-kept-untold lease/acquiring.c "$(within acquiring_unsay 'lease->fence = 0;' '')"
mutant fence-kept-cancelled lease/acquiring.c "$(within acquiring_cancel 'lease->fence = 0;' '')"
mutant fence-before-told lease/outcomes.c "$(within lease_fence 'lease->untold & BIT\(OUTCOME_ACQUIRED\)' 'false')"

# Waiting in turn.
mutant ticket-of-few lease/ticket.c "$(within ticket_of 'told >= e->quorum' 'told > 0')"
mutant ticket-minimum lease/ticket.c "$(within ticket_of 'clock > ticket \&\&' 'clock \&\& (!ticket || clock < ticket) \&\&')"
mutant ticket-not-awaited lease/ticket.c "$(within ticket_may_come 'may_tell >= e->quorum' 'false')"
mutant ticket-awaited-in-vain lease/ticket.c "$(within ticket_may_come 'may_tell >= e->quorum' 'true')"
mutant refreshed-by-own-life lease/queue.c "$(within refresh 'lease->attempt->place.life' 'queue_life(lease)')"
mutant older-answer-counts lease/queue.c "$(within queue_hear 'reply->tag\.sent_at == ballot->asked_at' 'true')"
mutant refresh-voids lease/queue.c "$(within refresh 'subscription_keep\(e\);' 'subscription_keep(e), lease->attempt->round.number = engine_next_round(e);')"
mutant push-dated-from-now lease/queue.c "$(within take_push ': ballot->refreshed_at' ': e->now')"
mutant old-push-counts lease/queue.c "$(within take_push 'clock <= ballot->clock' 'false')"
mutant abstaining-pushes lease/queue.c "$(within take_push '!master_may_grant\(e, \&e->masters\[master\]\)' 'false')"
mutant over-counts lease/queue.c "$(within forget_what_is_over 'promise <= e->now' 'promise < 0')"
mutant expiry-not-awaited lease/queue.c "$(within hear_queued 'await_expiry\(e, lease\);' '')"
mutant expiry-awaited-by-all lease/queue.c "$(within await_expiry ' \&\& ballot->position == 0' '')"
mutant minority-sleeps lease/queue.c "$(within granted 'refresh_by\(lease, [^;]*;' '(void)lease;')"
mutant push-of-another lease/queue.c "$(within take_push '!subscription_is_to_same_process\(e, master\)' 'false')"
mutant process-not-forgotten engine.c "$(within after_replaced 'queue_forget_process\(lease, master\)' '(void)lease, (void)master')"
mutant silent-is-asked lease/queue.c "$(within ask_master 'master_is_silent\(e, \&e->masters\[master\]\)' 'false')"
mutant cut-off-keeps lease/queue.c "$(within gives_back '!minority_reaches_quorum\(e, 0\)' 'false')"
mutant cut-off-stays-enqueued lease/queue.c "$(within contend 'minority_reaches_quorum\(e, 0\)' 'true')"
mutant cut-off-goes-on lease/queue.c "$(within queue_woken 'minority_is_connected\(e\)' 'true')"
mutant cut-off-sleeps lease/queue.c "$(within queue_master_up 'lease_wake_by\(.*EAGER_LEAST\)\);' '(void)EAGER_LEAST;')"
mutant silent-is-reached masters/master.c "$(within master_is_silent 'master->in_flight' 'false')"
mutant yields-unpaused lease/yielding.c "$(within yielding_pause '!before' 'true')"
mutant yields-unheard lease/minority.c "$(within minority_weigh ' \&\& has_heard_the_others\(e, lease->attempt, ahead\)' '')"
mutant retried-at-once lease/acquiring.c "$(within retries 'is_drawn \? 0 : yielding_pause\(e, lease\)' '0 * is_drawn')"
mutant outranked-never lease/minority.c "$(within yield_to 'attempt->place.outranked \|= again;' '')"
mutant outranked-at-once lease/minority.c "$(within yield_to 'attempt->ahead_alone & ahead' 'true')"
mutant outranked-for-ever lease/minority.c "$(within minority_comes_back 'e->now >= attempt->place.outranked_until' 'false')"
mutant no-yield lease/minority.c "$(within minority_weigh 'ahead \&\& has_heard_the_others\(e, lease->attempt, ahead\)' 'false')"
mutant yields-nothing lease/yielding.c "$(within withdraw 'claim_abandon\(e, lease->claim, 0\)' 'claim_forget(e, lease->claim)')"
mutant never-aside lease/minority.c "$(within minority_weigh 'is_kept_by_another\(e, lease->attempt\)' 'false')"
mutant withdrawn-at-once lease/minority.c "$(within minority_look_at 'attempt->place.minority_since \+ wait' 'attempt->place.minority_since + (wait ? 1 : 0)')"
mutant aside-for-few lease/minority.c "$(within is_kept_by_another 'held > lease_masters\(e\) - e->quorum' 'held > 0')"
mutant aside-for-ever lease/queue.c "$(within granted 'attempt->place.withdrawn = 0;' '')"
mutant aside-of-half lease/minority.c "$(within make_way '!minority_reaches_quorum\(e, minority_avoids\(attempt\) \| ours\)' 'false')"
mutant aside-of-too-few lease/minority.c "$(within minority_comes_back '!minority_reaches_quorum\(e, minority_avoids\(attempt\)\)' 'false')"
mutant aside-not-ended lease/minority.c "$(within minority_comes_back 'e->now >= attempt->place.withdrawn_until' 'false')"
mutant aside-forgotten lease/queue.c "$(within await_expiry 'lease->attempt->place.withdrawn & BIT\(i\)' 'false')"
mutant aside-by-the-second lease/minority.c "$(within keeps 'ballot->position > 0' 'false')"
mutant aside-while-growing lease/queue.c "$(within granted 'attempt->place.minority_since = e->now' 'if (!attempt->place.minority_since) attempt->place.minority_since = e->now')"
mutant place-not-passed lease/place.c "$(within leave_queue 'place_can_pass\(lease, next\)' 'false')"
mutant place-passed-to-fenced lease/place.c "$(within place_can_pass 'to->terms\.fence' 'false')"
mutant question-of-other-ttl lease/place.c "$(within place_can_pass 'from->terms\.ttl == to->terms\.ttl' 'true')"
mutant ticket-not-passed lease/place.c "$(within leave_queue 'lease_is_waiting\(lease\)' 'false')"
mutant next-not-woken lease/place.c "$(within leave_queue 'lease_schedule\(e, next\);' '')"
mutant enqueued-in-any-step lease/acquiring.c "$(within retries 'is_drawn \? 0' 'is_drawn \&\& (acquiring_again(e, lease), true) ? 0')"
mutant refused-while-raised lease/recording.c "$(within recording_take 'case ANSWER_QUEUED:.*' 'case (enum answer)99:')"
mutant given-is-confirmed lease/acquiring.c "$(within round_won 'given \&\& !confirmed \&\& e->now < lease->valid_until' 'false')"
mutant given-not-renewed lease/acquiring.c "$(within round_won 'if \(given \&\& !confirmed\)' 'if (false)')"
mutant confirmed-by-some lease/acquiring.c "$(within confirm 'round->incomplete \|= !has;' '')"
mutant handed-to-fenced lease/handover.c "$(within can_take_over '!next->terms\.fence' 'true')"
mutant handed-on-attached lease/handover.c "$(within can_take_over '!holder->claim->foreign' 'true')"
mutant handed-whole lease/handover.c "$(within give_claim 'claim_shorten\([^;]*;' ';')"
mutant place-whole lease/place.c "$(within pass_place 'claim_shorten\([^;]*;' ';')"
mutant answered-whole ledger/claim.c "$(within promised 'promise < most' 'true')"
mutant place-never-shorter ledger/claim.c "$(within promised 'most = wanted_until\(e, wanted\)' 'most = quorum_promise(from, wanted, e->config.drift_ppm)')"
mutant handed-too-late lease/handover.c "$(within can_take_over 'e->now < end - next->terms\.margin' 'true')"
mutant handed-for-ever lease/handover.c "$(within was_handed_enough 'claim->handed >= HANDED_MOST' 'false')"
mutant handed-at-once-enough lease/handover.c "$(within was_handed_enough ' \&\& handed_for >= HANDED_FIRST' '')"
mutant handed-for-long lease/handover.c "$(within was_handed_enough 'handed_for >= handed_at_most\(e\)' 'false')"
mutant handed-past-others lease/handover.c "$(within next_waiter 'place_is_next\(e, queue->first\)' 'true')"
mutant handed-never-late lease/handover.c "$(within next_waiter 'place_is_next\(e, queue->first\)' 'false')"
mutant next-by-any-place lease/place.c "$(within place_is_next ' \&\& !ballot->position' '')"
mutant place-at-turn lease/place.c "$(within place_enter ' \|\| needs_place\(e, lease\)' '')"
mutant ticket-passed-late lease/place.c "$(within pass_ticket ' \|\| !shares_place\(from, to\)' '')"
mutant place-for-ever lease/place.c "$(within shares_place 'to->asked_at <= drawn_at \+ SHARES_PLACE' 'true')"
mutant renewed-after-the-end lease/holding.c "$(within holding_renew_when 'at < latest' 'true')"
mutant renewal-put-off lease/acquiring.c "$(within acquiring_take_over 'renew_at < lease->wake_at' 'false')"
mutant handed-short lease/acquiring.c "$(within acquiring_take_over 'is_short \|\| !lease->terms\.renew' 'false')"
mutant handed-with-question lease/handover.c "$(within give_question 'round_copy\([^;]*;' ';')"
mutant handed-lifeless lease/handover.c "$(within give_question 'to->place\.life = from->place\.life;' '')"
mutant enqueued-is-absent ledger/claim.c "$(within what_is_left ' \|\| claim->enqueued' '')"
mutant queue-not-counted lease/local_queue.c "$(within local_queue_leave 'e->waiters--;' '')"
mutant queue-kept lease/local_queue.c "$(within local_queue_leave '!queue->first' 'false')"
mutant queue-cut lease/local_queue.c "$(within local_queue_leave 'queue->last = attempt->before;' ';')"
mutant subscribed-for-ever masters/subscription.c "$(within subscription_look 'e->now >= e->subscribe_until' 'false')"
mutant subscribes-no-more masters/subscription.c "$(within subscription_ended '\{0\}' '{.asked = true}')"
mutant subscribed-to-the-dead engine.c "$(within engine_step 'subscription_lost\(e, event->master\);' '')"
mutant subscribes-for-ever masters/subscription.c "$(within end_the_dead 'e->now >= sub->due' 'false')"
mutant never-probed masters/subscription.c "$(within probe 'e->now < sub->heard_at \+ QUIET' 'true')"
mutant probed-in-vain masters/subscription.c "$(within subscription_heard 'sub->due = 0;' '')"
mutant other-not-asked masters/subscription.c "$(within subscription_begun 'master_look\(e, master\);' '')"
mutant not-asked-after-subscribing engine.c "$(within after_subscribed 'lists_each\(e, \&e->busy, lease_look_again, master\);' '')"
# A held lease that changes.
mutant writer-by-reader-word ledger/modes.c "$(within claim_counts_for_writer 'asks_as_writer \&\& !is_old' '!is_old + 0 * asks_as_writer')"
mutant writer-by-old-word ledger/modes.c "$(within claim_counts_for_writer ' \&\& !is_old' ' + 0 * is_old')"
mutant writer-despite-lost ledger/modes.c "$(within claim_counts_for_writer '!claim->at\[master\]\.doubtful' 'true')"
mutant writer-by-abstainer ledger/modes.c "$(within claim_counts_for_writer 'e->now >= e->masters\[master\]\.abstains_until' 'true')"
mutant writer-uncounted lease/machine.c "$(within lease_hear 'counts \&\& claim_counts\(e, claim, master, reply\)' 'counts')"
mutant writer-vote-uncounted lease/recording.c "$(within recording_take 'if \(round->kind == REQUEST_RENEW \&\& !claim_counts\(e, lease->claim, master, reply\)\)' 'if (false)')"
mutant writer-heal-uncounted lease/recording.c "$(within recording_take 'if \(claim_counts\(e, lease->claim, master, reply\)\)' 'if (true)')"
mutant promises-not-struck ledger/modes.c "$(within claim_upgraded 'claim->at\[i\]\.promise = 0' '(void)masters')"
mutant nothing-struck lease/changing.c "$(within those_that_granted 'if \(lease->attempt->round\.ballots\[i\]\.vote == VOTE_GRANTED\)' '')"
mutant struck-unfollowed lease/changing.c "$(within upgraded 'losing_follow_the_ledger\(e, lease\);' '')"
mutant writer-converts ledger/modes.c "$(within claim_upgraded 'claim->converts = false;' '')"
mutant refused-keeps-alone ledger/modes.c "$(within claim_not_upgraded 'claim->converts = true;' '(void)claim;')"
mutant refused-renewed-late lease/machine.c "$(within lease_tell 'renew_by\(e, lease, e->now\);' ';')"
mutant refused-is-a-risk lease/holding.c "$(within is_renewed_at_once 'return not_upgraded \|\|' 'return')"
mutant read-by-few lease/changing.c "$(within not_upgraded 'answered >= e->quorum' 'answered')"
mutant read-though-yes lease/changing.c "$(within not_upgraded ' \&\& round_yes\(round, lease_masters\(e\)\) < e->quorum' '')"
mutant downgrade-unconverted ledger/modes.c "$(within claim_downgrade 'claim->converts = true;' '')"
mutant downgrade-untold lease/changing.c "$(within changing_downgrade 'lease->downgrading = true;' '')"
mutant downgrade-unrepeated lease/holding.c "$(within renewal_missed ' \|\| lease->downgrading' '')"
mutant downgrade-held-up lease/holding.c "$(within holding_renew ' \|\| lease->downgrading' '')"
mutant change-after-end lease/machine.c "$(within change 'losing_notice\(e, lease\);' ';')"
mutant change-unscheduled lease/machine.c "$(within change 'lease_schedule\(e, lease\);' ';')"
mutant lost-change-unnoted ledger/claim.c "$(within hear_setting 'reply->answer == ANSWER_LOST \&\&' 'false \&\&')"
mutant lost-is-lost-change ledger/claim.c "$(within hear_setting ' \&\& reply->tag\.converts' '')"
mutant lost-change-asked lease/changing.c "$(within ask '!lease->claim->at\[master\]\.doubtful' 'true')"
mutant abstainer-asked lease/changing.c "$(within ask 'lease_may_ask\(e, lease, master\)' 'master_is_up(\&e->masters[master])')"
mutant other-mode-forgotten ledger/claim.c "$(within what_is_left ' \|\| claim_was_changed\(claim\)' '')"
mutant upgrade-forgets-names ledger/claim.c "$(within what_is_left 'reply->tag\.kind == REQUEST_UPGRADE \|\| ' '')"
mutant upgrade-past-max-hold lease/changing.c "$(within changing_upgrade 'e->now >= lease->hold_until' 'false')"
mutant upgrade-unfounded lease/changing.c "$(within changing_weigh '!fencing_is_founded\(e, lease\)' 'false')"
mutant upgrade-keeps-fence lease/changing.c "$(within upgraded 'lease->fence = lease->attempt->fence;' ';')"
mutant upgrade-unproposed lease/changing.c "$(within changing_upgrade 'lease->attempt->round.proposal = logical_propose\(e\)' '(void)0')"
mutant upgrade-unstored lease/changing.c "$(within changing_weigh ' \&\& lease->terms\.fence' ' \&\& false')"
mutant upgrade-stored-anew lease/fencing.c "$(within ask_to_raise 'if \(lease->state != LEASE_UPGRADING\)' 'if (true)')"
mutant upgrade-renews lease/changing.c "$(within changing_upgrade 'lease->wake_at = NEVER;' '')"
mutant upgrade-is-crossed lease/machine.c "$(within extend_later '\(void\)e;' 'extend_held(e, lease); return;')"
mutant upgrade-forgets-extend lease/machine.c "$(within extend_later 'lease->extending = true;' '(void)lease;')"
mutant change-told-in-turn lease/machine.c "$(within next_untold 'changes \?' 'changes \&\& lease->untold == changes << OUTCOME_CHANGED \?')"
mutant writer-untold lease/view.c "$(within lease_is_shared 'untold \|\| ' '(void)untold, ')"
mutant changed-in-memory lease/handover.c "$(within handover_give 'lease_was_changed\(holder\)' 'claim_is_shared(holder->claim)')"

# A lease that is let go of.
mutant forgotten-owed ledger/claim.c "$(within come_due ' \&\& \(!claim->forgotten \|\| MUTANT\(FORGOTTEN_OWED\)\)' '')"
mutant left-in-memory lease/machine.c "$(within release_held 'leaving_is_due\(e, lease\) \|\| ' '')"
mutant left-whole lease/releasing.c "$(within releasing_begin 'if \(leaving_is_due\(e, lease\)\)' 'if (false)')"
mutant left-unprolonged lease/asking.c "$(within ttl_asked 'leaves \?' 'false \&\& leaves ?')"
mutant left-unhealed lease/asking.c "$(within lease_ask ' \|\| lease->state == LEASE_RELEASING' '')"
mutant left-owed lease/releasing.c "$(within end 'leaving_end\(e, lease\);' 'claim_abandon(e, lease->claim, 0);')"
mutant left-though-lost lease/releasing.c "$(within releasing_weigh '!leaving_is_under_way\(lease\) \|\| was_kept\(e, lease\)' 'true')"
mutant left-unlost lease/releasing.c "$(within weigh_refused 'lost \|\| ' '')"
mutant detached-left lease/machine.c "$(within lease_abandon ' \&\& !keep' '')"
mutant left-impatient lease/releasing.c "$(within releasing_give_up 'end\(e, lease, CAUSE_UNAVAILABLE\);' 'claim_abandon(e, lease->claim, 0); end(e, lease, CAUSE_UNAVAILABLE);')"
mutant left-for-ttl lease/asking.c "$(within rest_to_keep 'lease->keep_until - e->now' 'lease->keep_until - e->now < lease->terms.ttl ? lease->terms.ttl : lease->keep_until - e->now')"
mutant left-unconverted lease/leaving.c "$(within leaving_ask 'if \(lease->state == LEASE_UPGRADING\)' 'if (false)')"
mutant left-late-master lease/machine.c "$(within lease_master_up ' \&\& !leaving_is_under_way\(lease\)' '')"
mutant lost-not-left lease/losing.c "$(within lose 'leaving_is_due\(e, lease\) \|\| ' '')"
mutant freed-not-left lease/machine.c "$(within lease_abandon 'leaving_ask\(e, lease\);' ';')"
mutant freed-unkept lease/machine.c "$(within lease_abandon 'stays = true;' ';')"
mutant freed-while-left lease/machine.c "$(within lease_abandon 'stays = leaving_is_under_way\(lease\);' 'stays = false;')"

# Permits.
mutant slot-hint-beyond lease/permits.c "$(within slot_told '\(unsigned\)slot < permit->count' 'true')"
mutant slot-free-on-one lease/permits.c "$(within look 'how_many_say\(e, permit->free_slot, free_slot\) >= e->quorum' 'true')"
mutant slot-free-ignored lease/permits.c "$(within look 'free_slot >= 0 \&\& how_many_say' 'false \&\& how_many_say')"
mutant slot-younger-ignored lease/permits.c "$(within look 'next >= 0 \&\& has_waited' 'false \&\& has_waited')"
mutant slot-younger-at-once lease/permits.c "$(within look ' \&\& has_waited\(e, owner\)' '')"
mutant slot-stands-twice lease/permits.c "$(within stand ' \|\| stands\(owner, slot\)' '')"
mutant slot-ticket-lost lease/permits.c "$(within begin 'owner->attempt->place.ticket' '1')"
mutant slot-tries-on-and-on lease/permits.c "$(within may_try 'lease->attempt->permit->tries < TRIES_MOST' 'true')"
mutant slot-tries-late lease/permits.c "$(within may_try '!is_late \&\& ' '')"
mutant slot-tries-none lease/permits.c "$(within permits_choose 'free_slot >= 0 \&\& may_try\(e, lease\)' 'false')"
mutant slot-line-ignored lease/permits.c "$(within permits_choose 'free_slot >= 0 \|\| next >= 0' 'free_slot >= 0')"
mutant slot-not-first lease/permits.c "$(within first_slot 'return slot;' 'return (slot + 1) % permits;')"
mutant slot-first-for-ever lease/permits.c "$(within first_slot 'e->given_back.slot = -1;' '')"
mutant slot-handed-beyond lease/permits.c "$(within permits_may_have 'slot_number\(claim->names\) < lease->attempt->permit->count' 'true')"
mutant slot-first-place-kept lease/permits.c "$(within permits_take_over 'claim_abandon\(e, owner->claim, 0\);' ';')"
mutant slot-further-places-kept lease/further.c "$(within further_withdraw 'claim_abandon\(e, lease->claim, 0\);' ';')"
mutant slot-places-not-left lease/place.c "$(within place_leave 'further_withdraw\(e, lease\);' ';')"
mutant slot-places-outside lease/place.c "$(within place_leave 'attempt->permit' 'attempt->permit \&\& lease->attempt->queue')"
mutant slot-handed-in-turn lease/handover.c "$(within next_waiter 'local_queue_is_of_permits\(queue\)' 'false')"
mutant slot-places-without-end lease/permits.c "$(within stand 'attempt->permit->place_count == PLACES_MOST' 'false')"
mutant slot-hint-while-acquiring lease/permits.c "$(within stand '!lease_is_waiting\(owner\) \|\| ' '')"
mutant slot-told-before lease/permits.c "$(within permits_told 'forget_what_was_told\(permit, lease->attempt->round.number\);' 'permit->round = lease->attempt->round.number;')"
mutant slot-wait-forgotten lease/permits.c "$(within swap_attempts 'its->wait = own->wait;' ';')"
mutant slot-given-back-unnoted lease/releasing.c "$(within releasing_begin 'permits_given_back\(e, lease->claim\);' ';')"
mutant slot-given-back-of-any lease/permits.c "$(within is_of_name 'given_back->name == slice_hash\(name\)' 'true')"
mutant slot-given-back-beyond lease/permits.c "$(within is_of_name '\(unsigned\)given_back->slot < permits' 'true')"
mutant slot-place-unfenced lease/further.c "$(within terms_of '.fence = owner->terms.fence' '.fence = false')"
mutant slot-place-max-hold lease/further.c "$(within terms_of 'owner->attempt->max_hold' '0')"
mutant slot-place-at-least lease/further.c "$(within terms_of 'owner->attempt->at_least' '0')"
mutant slot-place-ttl lease/further.c "$(within terms_of 'owner->terms.ttl' '(owner->terms.ttl / 2)')"
mutant slot-place-uncounted lease/further.c "$(within further_new 'permit->place_count\+\+;' ';')"
mutant slot-place-counted-on lease/further.c "$(within leave_owner 'permit->place_count--;' ';')"

# What is announced and observed.
mutant announce-past tasks/announcer.c "$(within announcer_work 'until > e->now' 'true')"
mutant announce-once tasks/announcer.c "$(within say 'at->due = e->now \+ \(again > SAID_AGAIN_LEAST \? again : SAID_AGAIN_LEAST\);' 'at->due = NEVER;')"
mutant announce-for-ever tasks/announcer.c "$(within say '\(left \+ 999\) / 1000' 'TTL_MS_MOST')"
mutant announce-twice-at-once tasks/announcer.c "$(within announcer_work ' \|\| announcer->task.outstanding \& 1U << i' '')"
mutant announce-old-number tasks/announcer.c "$(within announcer_set 'announcer->saying->number \+ 1' '1')"
mutant announce-late tasks/announcer.c "$(within announcer_set 'announcer->at\[i\].due = 0;' ';')"
mutant announce-any-number tasks/announcer.c "$(within hear_announce 'at->stored = at->asked;' 'at->stored = number;')"
mutant announce-refused-counts tasks/announcer.c "$(within hear_announce 'at->stored = 0;' 'at->stored = at->asked;')"
mutant announce-told-by-fewer tasks/announcer.c "$(within announcer_tell 'news->masters < e->quorum' 'false')"
mutant announce-told-twice tasks/announcer.c "$(within announcer_tell 'announcer->told = number;' ';')"
mutant announce-not-again tasks/announcer.c "$(within announcer_forget 'announcer->at\[master\].stored = announcer->at\[master\].due = 0;' ';')"
mutant unsay-none tasks/announcer.c "$(within announcer_end 'unsay\(e, announcer, i\);' ';')"
mutant unsay-untouched tasks/announcer.c "$(within announcer_end 'announcer->touched \& 1U << i \&\& ' '')"
mutant unsay-once tasks/announcer.c "$(within announcer_hear 'unsay\(e, announcer, master\);' ';')"
mutant task-text-for-ever tasks/tasks.c "$(within tasks_hear ' \&\& !\(task->whole \& bit\)' '')"
mutant task-freed-early tasks/tasks.c "$(within tasks_end 'if \(!task->in_flight\)' 'if (true)')"
mutant task-kept tasks/tasks.c "$(within tasks_hear 'if \(task->ended \&\& !task->in_flight\)' 'if (false)')"
mutant observe-of-another-process tasks/tasks.c "$(within tasks_push '!subscription_is_to_same_process\(e, master\)' 'false')"
mutant observe-of-another-name tasks/tasks.c "$(within is_about 'name.length == push->name_length \&\&' 'true || name.length == push->name_length \&\&')"
mutant observe-for-one tasks/tasks.c "$(within withdraw ' \&\& !is_observed\(e, task->names\)' '')"
mutant observe-minority tasks/verdict.c "$(within find_said 'verdict_count\(e, observer, saying\) >= enough' 'verdict_count(e, observer, saying) + 1 >= enough')"
mutant observe-abstains tasks/verdict.c "$(within counts '\!master_abstains\(e, \&e->masters\[master\]\) \|\| ' 'true || ')"
mutant observe-term-back tasks/verdict.c "$(within may_be_told 'said_order\(\&said, \&latest\) >= 0' 'true')"
mutant observe-old-number tasks/saying.c "$(within said_order 'return a->number < b->number \? -1 : a->number > b->number;' 'return 0;')"
mutant observe-nothing-of-few tasks/verdict.c "$(within nothing_is_said 'known >= e->quorum \&\& e->config.masters - known < e->quorum' 'true')"
mutant observe-nothing-too-soon tasks/verdict.c "$(within can_be_said 'says \|\| !is_known\(e, observer, i, from\)' 'says')"
mutant observe-unverified tasks/observer.c "$(within judge 'verdict_now\(e, observer, observer->verified_from\)' 'verdict_now(e, observer, 0)')"
mutant observe-unknown-at-once tasks/observer.c "$(within judge ' \&\& verdict_is_last\(e, observer\)' '')"
mutant observe-unknown-while-connecting tasks/verdict.c "$(within verdict_is_last '!master->tried \|\| master_is_connecting\(master\)' 'false')"
mutant observe-expired tasks/observer.c "$(within expire 'e->now >= heard->expires' 'false')"
mutant observe-older-answer tasks/observer.c "$(within take 'heard->overtaken \&\& says_less\(heard, \&said\)' 'false')"
mutant observe-overtaken tasks/observer.c "$(within observer_hear 'heard->overtaken \|\| ' '')"
mutant observe-older-push tasks/observer.c "$(within observer_push '!is_later\(heard, said\)' 'true')"
mutant observe-taken-back tasks/observer.c "$(within observer_push 'forget\(e, heard\);' ';')"
mutant observe-not-asked-again tasks/observer.c "$(within observer_push 'heard->due = 0;' ';')"
mutant observe-gone-process tasks/observer.c "$(within observer_forget 'forget\(e, heard\);' ';')"
mutant observe-unheard-before tasks/observer.c "$(within observer_subscribed 'observer->of\[master\].due = 0;' ';')"
mutant observe-twice tasks/observer.c "$(within observer_tell 'observer->told = observer->state;' ';')"
mutant observe-never-again tasks/observer.c "$(within take 'heard->due = e->now \+ \(subscribed \? LOOKS_SUBSCRIBED : LOOKS\);' 'heard->due = NEVER;')"
mutant observe-refused-at-once tasks/observer.c "$(within observer_hear 'heard->due = e->now \+ LOOKS;' 'heard->due = 0;')"
mutant observe-not-ended tasks/observer.c "$(within observer_end 'ask\(e, observer, i, 0\);' ';')"
mutant barrier-open-on-fewer tasks/passage.c "$(within all_are_there 'e->quorum, there' 'e->quorum - 1, there')"
mutant barrier-of-others tasks/passage.c "$(within all_are_there 'there >= party->terms.parties' 'count(e, party, STAND_OPEN) >= e->quorum')"
mutant barrier-of-fewer tasks/passage.c "$(within all_are_there 'there >= party->terms.parties' 'there + 1 >= party->terms.parties')"
mutant barrier-counted-twice tasks/passage.c "$(within is_there 'for \(unsigned i = 0; i < first; i\+\+\)' 'for (unsigned i = 0; i < 0; i++)')"
mutant barrier-spare-decides tasks/passage.c "$(within passage_is_decided '> e->config.spare' '> 0')"
mutant barrier-known-to-fewer tasks/passage.c "$(within passage_is_known '>= e->quorum' '>= e->quorum - 1')"
mutant barrier-left-of-fewer tasks/passage.c "$(within passage_is_left 'e->quorum - 1 : e->quorum' 'e->quorum - 1 : e->quorum - 1')"
mutant barrier-left-while-open tasks/passage.c "$(within passage_is_left ' \|\| party->was_open' '')"
mutant barrier-left-unheard tasks/passage.c "$(within passage_is_left ' \|\| party->unheard' '')"
mutant barrier-left-come-back tasks/passage.c "$(within passage_is_left 'party->comes_back \|\| ' '')"
mutant barrier-untouched-unasked tasks/passage.c "$(within passage_is_left 'left \+= !\(party->touched >> i \& 1\);' ';')"
mutant barrier-barred-by-fewer tasks/passage.c "$(within passage_is_barred '> e->config.masters - e->quorum' '>= e->config.masters - e->quorum')"
mutant barrier-old-word tasks/passage.c "$(within stands ' \&\& e->now < party->at\[master\].asked_at \+ passage_lasts\(e\)' '')"
mutant barrier-lasts-too-long tasks/passage.c "$(within passage_lasts 'longest / 2' 'longest')"
mutant barrier-abstainer-counts tasks/passage.c "$(within passage_counts '!master_abstains\(e, \&e->masters\[master\]\)' 'true')"
mutant barrier-lost-word tasks/party.c "$(within party_forget 'at->stand = STAND_UNKNOWN;' ';')"
mutant barrier-lost-not-asked tasks/party.c "$(within party_forget 'at->carried = at->asked = ERRAND_NONE;' ';')"
mutant barrier-told-not-stored tasks/party.c "$(within judge 'party->decided \&\& passage_is_known\(e, party\)' 'party->decided')"
mutant barrier-errand-stays tasks/party.c "$(within errand_of 'return ERRAND_TELL_PASSED;' 'return ERRAND_ARRIVE;')"
mutant barrier-not-again tasks/party.c "$(within ask 'at->due = e->now \+ ask_again_after\(e, party\);' 'at->due = NEVER;')"
mutant barrier-again-late tasks/party.c "$(within ask_again_after '/ 3' '* 3')"
mutant barrier-asks-on-when-leaving tasks/party.c "$(within is_wanted 'errand == ERRAND_DEPART \&\& !\(party->touched >> master \& 1\)' 'false')"
mutant barrier-error-waits tasks/party.c "$(within hear 'at->due = e->now \+ AFTER_ERROR;' ';')"
mutant barrier-push-unheard tasks/party.c "$(within party_look 'party->at\[master\].due = 0;' ';')"
mutant barrier-never-unheard tasks/party.c "$(within look_whether_to_leave 'party->unheard \|= e->now >= party->heard_until;' ';')"
mutant barrier-heard-for-ever tasks/party.c "$(within arrive 'party->heard_until = passage_heard_until\(e, party, e->now\);' ';')"
mutant barrier-heard-once tasks/party.c "$(within take 'until = passage_heard_until\(e, party, until - passage_lasts\(e\)\);' ';')"
mutant barrier-untried tasks/party.c "$(within look_whether_to_leave 'party->tried \&\& ' '')"
mutant barrier-waits-for-ever tasks/party.c "$(within look_whether_to_leave 'party->tried \&\& e->now >= party->leaves_at' 'false')"
mutant barrier-barred-stays tasks/party.c "$(within look_whether_to_leave '!party->decided \&\& passage_is_barred\(e, party\)' 'false')"
mutant barrier-was-open-forgotten tasks/party.c "$(within take 'party->was_open \|= at->stand == STAND_OPEN \|\| at->stand == STAND_PASSED;' ';')"
mutant barrier-undecided-at-once tasks/party.c "$(within judge_leaving 'is_answered\(e, party\)' 'true')"
mutant barrier-undecided-never tasks/party.c "$(within judge_leaving ' \|\| is_answered\(e, party\)' '')"
mutant barrier-connecting-not-awaited tasks/party.c "$(within is_answered ' \|\| master_is_connecting\(master\)' '')"
mutant barrier-kept tasks/party.c "$(within conclude 'withdraw\(e, party\);' ';')"
mutant barrier-kept-when-dropped tasks/party.c "$(within party_end 'withdraw\(e, party\);' ';')"
mutant barrier-departs-after-passing tasks/party.c "$(within party_end '!party->passage' 'true')"
mutant barrier-departs-by-name tasks/party.c "$(within depart '= true' '= false')"
mutant barrier-departs-twice tasks/party.c "$(within withdraw ' \&\& !departs' '')"
mutant barrier-own-token tasks/party.c "$(within party_begin '!party->token_length' 'true')"
mutant barrier-closed-early engine.c "$(within check_closed ' \|\| tasks_are_owed\(e\)' '')"
mutant barrier-stays-when-closed tasks/tasks.c "$(within tasks_close 'leave\(e, task, CAUSE_CLOSED\);' ';')"
mutant barrier-not-given-up tasks/tasks.c "$(within tasks_give_up 'party_give_up\(e, party_of\(task\)\);' ';')"
mutant latch-open-on-fewer tasks/tally.c "$(within tally_knows_open 'count >= enough' 'count + 1 >= enough')"
mutant latch-open-grown-old tasks/tally.c "$(within tally_knows_open 'stands\(e, latcher->at\[i\].opened_at\)' 'latcher->at[i].opened_at')"
mutant latch-arrived-on-fewer tasks/tally.c "$(within tally_counts_arrival 'count >= e->quorum' 'count + 1 >= e->quorum')"
mutant latch-arrived-grown-old tasks/tally.c "$(within tally_counts_arrival 'stands\(e, latcher->at\[i\].arrived_at\)' 'latcher->at[i].arrived_at')"
mutant latch-read-elsewhere tasks/tally.c "$(within tally_readers 'tally_has\(e, latcher, i\)' 'true')"
mutant latch-of-one tasks/tally.c "$(within tally_found 'enough = MUTANT\(LATCH_OF_ONE\)' 'enough = true')"
mutant latch-of-another-id tasks/tally.c "$(within is_asked_for ' \|\| strcmp\(record->id, latcher->record.id\) == 0' ' || true')"
mutant latch-of-any-number tasks/tally.c "$(within are_same 'a->arrivals == b->arrivals \&\& ' '')"
mutant latch-of-any-end tasks/tally.c "$(within are_same 'a->ends_ms == b->ends_ms \&\& ' '')"
mutant latch-shut-on-one tasks/tally.c "$(within tally_is_shut 'enough = MUTANT\(LATCH_OF_ONE\)' 'enough = true')"
mutant latch-shut-while-open tasks/tally.c "$(within tally_is_shut ' \&\& !count_open\(e, latcher\)' '')"
mutant latch-shut-by-doubt tasks/tally.c "$(within tally_is_shut 'tally_arrived\(e, latcher, 1\)' 'tally_arrived(e, latcher, e->config.spare + 1)')"
mutant latch-opened-by-a-liar tasks/tally.c "$(within tally_is_open 'e->config.spare \+ 1' '1')"
mutant latch-opened-by-word-only tasks/tally.c "$(within tally_is_open 'tally_arrived\(e, latcher, least\) >= latcher->record.arrivals' 'false')"
mutant latch-opened-by-fewer tasks/tally.c "$(within tally_is_open '>= latcher->record.arrivals' '+ 1 >= latcher->record.arrivals')"
mutant latch-mended-by-fewer tasks/tally.c "$(within tally_readers_enough '2 \* e->config.spare \+ 1' 'e->config.spare')"
mutant latch-mended-by-one tasks/tally.c "$(within tally_readers_enough 'return .*' 'return 1;')"
mutant latch-gone-though-unknown tasks/tally.c "$(within can_have ' \|\| !is_known\(e, latcher, i, from\)' '')"
mutant latch-gone-by-liars tasks/tally.c "$(within can_have 'may = e->config.spare' 'may = 0')"
mutant latch-gone-told-once tasks/latcher.c "$(within is_gone 'return tally_is_gone\(e, latcher, latcher->verified_from\);' 'return true;')"
mutant latch-gone-not-again tasks/latch_ask.c "$(within is_wanted 'latcher->verified_from \&\& ' 'false \&\& ')"
mutant latch-gone-twice-at-different-times tasks/latcher.c "$(within is_gone 'latcher->verified_from = e->now;' 'latcher->verified_from = 1;')"
mutant latch-counted-anywhere tasks/tally.c "$(within lists_begin 'tally_has\(e, latcher, i\)' 'true')"
mutant latch-mends-what-was-read tasks/latch_ask.c "$(within can_be_mended 'tally_readers\(e, latcher, from\)' 'tally_readers(e, latcher, 0)')"
mutant latch-not-read-again tasks/latch_ask.c "$(within is_read_again 'latcher->at\[master\].asked_at < latcher->at\[i\].none_since' 'false')"
mutant latch-mends-lies tasks/latch_ask.c "$(within mend 'least = e->config.spare \+ 1' 'least = 1')"
mutant latch-unmended tasks/latch_ask.c "$(within is_wanted 'return can_be_mended\(e, latcher, master\);' 'return false;')"
mutant latch-told-while-mending tasks/latch_ask.c "$(within latch_is_mending 'return true;' 'return false;')"
mutant latch-mends-for-ever tasks/latcher.c "$(within take '!at->mends' 'true')"
mutant latch-mended-unopened tasks/latch_ask.c "$(within put '.open = latcher->decided' '.open = false')"
mutant latch-made-for-the-younger tasks/latch_ask.c "$(within is_wanted_of_creation '!is_another_process\(e, latcher, master\)' 'true')"
mutant latch-made-of-whom-it-is tasks/latch_ask.c "$(within make 'put\(e, latcher, master, at->run\);' 'put(e, latcher, master, e->masters[master].facts.run_id); at->run[0] = 0;')"
mutant latch-made-without-end tasks/latch_ask.c "$(within is_wanted_of_creation ' \&\& latcher->record.ends_ms' '')"
mutant latch-ends-early tasks/latcher.c "$(within set_end ' \+ e->config.skew_ms \+ 1' '')"
mutant latch-ends-anew tasks/latcher.c "$(within set_end '!latcher->record.ends_ms \&\& ' '')"
mutant latch-near-its-end tasks/latcher.c "$(within take 'reply->remaining_ms <= e->config.skew_ms' 'reply->remaining_ms <= 0')"
mutant latch-made-on-one tasks/latcher.c "$(within judge_creation '>= e->quorum' '>= 1')"
mutant latch-has-another-unseen tasks/latcher.c "$(within judge_creation 'tally_is_gone\(e, latcher, 0\) \&\& ' '')"
mutant latch-made-for-ever tasks/latcher.c "$(within latcher_begin 'latcher->call == LATCH_CREATE \? passage_lasts\(e\) : NEVER' 'NEVER')"
mutant latch-kept-when-not-made tasks/latcher.c "$(within conclude 'latch_withdraw\(e, latcher\);' ';')"
mutant latch-kept-when-dropped tasks/latcher.c "$(within latcher_end 'latch_withdraw\(e, latcher\);' ';')"
mutant latch-taken-away-when-made tasks/latcher.c "$(within conclude ' \&\& end != LATCH_MADE' '')"
mutant latch-dropped-once tasks/latcher.c "$(within latcher_hear 'latch_drop\(e, latcher, master\);' ';')"
mutant latch-open-untold tasks/latcher.c "$(within judge_arrival 'latcher->decided \&\& !latcher->open \&\& !is_over\(e, latcher\)' 'false')"
mutant latch-open-unstored tasks/latcher.c "$(within judge 'latcher->open \|\| \(latcher->decided \&\& tally_knows_open\(e, latcher\)\)' 'latcher->decided')"
mutant latch-open-not-sent tasks/latch_ask.c "$(within tally '.open = latcher->decided' '.open = false')"
mutant latch-open-not-asked tasks/latch_ask.c "$(within is_wanted '\(latcher->decided \&\& !at->opened_at\)' 'false')"
mutant latch-arrival-not-asked tasks/latch_ask.c "$(within is_wanted '\(latcher->arrival\[0\] \&\& !at->arrived_at\)' 'false')"
mutant latch-arrives-at-any tasks/latch_ask.c "$(within tally '!latcher->any \|\| latch_is_bound\(latcher\)' 'true')"
mutant latch-shut-too-soon tasks/latcher.c "$(within judge_wait 'e->now >= latcher->leaves_at \&\& ' '')"
mutant latch-never-shut tasks/latcher.c "$(within judge_wait 'may_end \&\& tally_is_shut\(e, latcher\)' 'false')"
mutant latch-arrived-by-asking tasks/latcher.c "$(within take_record 'at->carries_arrival \?' 'true ?')"
mutant latch-lost-word tasks/latcher.c "$(within latcher_forget 'at->stands = LATCHED_UNKNOWN;' ';')"
mutant latch-lost-not-asked tasks/latcher.c "$(within latcher_forget 'at->arrived_at = at->opened_at = at->due = ' 'at->arrived_at = at->opened_at = ')"
mutant latch-error-at-once tasks/latcher.c "$(within latcher_hear 'at->paused_until = e->now \+ AFTER_ERROR' 'at->paused_until = 0')"
mutant latch-noscript-waits tasks/latcher.c "$(within latcher_hear 'if \(needs_text\)$' 'if (false)')"
mutant latch-push-unheard tasks/latcher.c "$(within latcher_look 'latcher->at\[master\].due = 0;' ';')"
mutant latch-looks-never tasks/latch_ask.c "$(within ask 'at->due = e->now \+ ask_again_after\(e, master\);' 'at->due = NEVER;')"
mutant latch-looks-seldom tasks/latch_ask.c "$(within ask_again_after 'subscription_is_to_same_process\(e, master\)' 'true')"
mutant latch-unsubscribed tasks/latch_ask.c "$(within latch_ask_all 'subscription_keep\(e\);' ';')"
mutant latch-unknown-at-once tasks/latcher.c "$(within is_over 'latch_is_answered\(e, latcher\)' 'true')"
mutant latch-unknown-late tasks/latcher.c "$(within is_over ' \|\| latch_is_answered\(e, latcher\)' '')"
mutant latch-undecided-unasked tasks/latcher.c "$(within latcher_tell ' \&\& latcher->sent' '')"
mutant latch-decided-unsaid tasks/latch_ask.c "$(within make 'latcher->sent = true;' ';')"
mutant latch-sent-unsaid tasks/latch_ask.c "$(within tally 'latcher->sent \|= at->carries_arrival;' ';')"
mutant latch-stays-when-closed tasks/tasks.c "$(within is_owed 'task->kind == TASK_LATCHER \&\& ' 'false \&\& ')"

# When memory is out.
mutant starved-leak lease/making.c "$(within lease_make 'attempt_give\(e, lease->attempt\);' '')"

printf '%d caught, %d not\n' "$killed" "$survived"
((survived == 0))
