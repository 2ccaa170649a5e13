/*
 * Elections on real masters: a leader's announcement, the reports to observers, and the next
 * leader.
 * rule: E1, E2, E5, E6
 */
#include "pair.h"
#include "recipe_user.h"
#include "scene.h"

#define MASTERS 5
#define TTL     6000
#define LONGEST REDLOCK_VALUE_MAX

static void lead(struct take *take, struct user *user)
{
    take_lead(take, user, "name", TTL, REDLOCK_FOREVER);
}

CASE_WITH(test_what_is_announced_is_told, pair_join, pair_leave)
{
    struct take leader, next;
    struct watch watch, same;
    watch_begin(&watch, &theirs, "name");
    AWAIT(&theirs, watch_hears_nobody(&watch));
    lead(&leader, &ours);
    take_announce(&leader, "a");
    AWAIT(&theirs, watch_hears(&watch, "a"));
    int64_t term = redlock_lease_fence(leader.lease);
    assert_true(watch.last.term == term);
    take_announce(&leader, "b");
    AWAIT(&theirs, watch_hears(&watch, "b"));
    assert_true(watch.last.term == term);
    watch_begin(&same, &ours, "name"); /* late, and of the leader's own client */
    AWAIT(&ours, watch_hears(&same, "b"));
    assert_code(take_release(&leader), REDLOCK_OK);
    AWAIT(&theirs, watch_hears_nobody(&watch));
    lead(&next, &theirs);
    take_announce(&next, "");
    AWAIT(&theirs, watch_hears(&watch, ""));
    assert_true(watch.last.term > term);
    assert_code(take_release(&next), REDLOCK_OK);
    AWAIT(&theirs, watch_hears_nobody(&watch) && watch_hears_nobody(&same));
    redlock_observer_free(watch.observer);
    redlock_observer_free(same.observer);
}

/* By a push: the next look would come 5 s later. */
CASE_WITH(test_it_is_told_at_once, pair_join, pair_leave)
{
    NEEDS_SERVERS();
    struct take leader;
    struct watch watch;
    watch_begin(&watch, &theirs, "name");
    AWAIT(&theirs, watch_hears_nobody(&watch));
    AWAIT(&theirs,
          cluster_count(&cluster, MASTERS - 1, "PUBSUB NUMPAT") == 0 && user_is_quiet(&theirs));
    lead(&leader, &ours);
    take_announce(&leader, "at once");
    AWAIT_AWAKE_MS(&theirs, watch_hears(&watch, "at once"), 1000);
    assert_code(take_release(&leader), REDLOCK_OK);
    AWAIT_AWAKE_MS(&theirs, watch_hears_nobody(&watch), 1000);
    redlock_observer_free(watch.observer);
}

CASE_WITH(test_who_may_announce, pair_join, pair_leave)
{
    static const redlock_name two[] = {NAME("name"), NAME("more")};
    struct take plain, shared, several, permit, pending, leader;
    redlock_lease_options terms = lease_terms(TTL, 0);
    assert_code(take_lock(&plain, &ours, "plain", &terms), REDLOCK_OK);
    assert_code(redlock_lease_announce(plain.lease, "x", 1), REDLOCK_E_STATE);
    assert_non_null(strstr(redlock_last_error(ours.client), "fence"));
    assert_code(take_release(&plain), REDLOCK_OK);
    terms.fence = true;
    terms.mode = REDLOCK_SHARED;
    assert_code(take_lock(&shared, &ours, "shared", &terms), REDLOCK_OK);
    assert_code(redlock_lease_announce(shared.lease, "x", 1), REDLOCK_E_STATE);
    assert_code(take_release(&shared), REDLOCK_OK);
    terms.mode = REDLOCK_EXCLUSIVE;
    take_init(&several, &ours);
    assert_code(
        redlock_acquire_names(ours.client, &several.lease, two, 2, &terms, take_hear, &several),
        REDLOCK_OK);
    AWAIT(&ours, several.told[REDLOCK_ACQUIRED].times);
    assert_code(redlock_lease_announce(several.lease, "x", 1), REDLOCK_E_STATE);
    assert_code(take_release(&several), REDLOCK_OK);
    terms.permits = 2;
    assert_code(take_lock(&permit, &ours, "permits", &terms), REDLOCK_OK);
    assert_code(redlock_lease_announce(permit.lease, "x", 1), REDLOCK_E_STATE);
    assert_code(take_release(&permit), REDLOCK_OK);
    lead(&leader, &ours);
    assert_code(redlock_lease_announce(leader.lease, NULL, 1), REDLOCK_E_ARGUMENT);
    terms = lease_terms(TTL, REDLOCK_FOREVER);
    terms.fence = true;
    take_ask(&pending, &ours, "name", &terms);
    assert_code(redlock_lease_announce(pending.lease, "x", 1), REDLOCK_E_STATE);
    take_free(&pending);
    assert_code(redlock_lease_release(leader.lease), REDLOCK_OK);
    assert_code(redlock_lease_announce(leader.lease, "x", 1), REDLOCK_E_STATE);
    AWAIT(&ours, leader.told[REDLOCK_RELEASED].times);
    take_free(&leader);
}

/* ---- taking back before the lease ends ----------------------------------------------------- */

/* A master with the lease and its announcement: one that was late to start may abstain. */
static unsigned master_of(const struct take *leader)
{
    unsigned master = 0;
    while (leader->told[REDLOCK_ACQUIRED].votes[master].kind != REDLOCK_VOTE_GRANTED)
        master++;
    AWAIT(&ours, cluster_count(&cluster, master, "EXISTS redlock:leader:name") == 1);
    return master;
}

static bool is_called(const char *line, const char *call)
{
    const char *in_script = strstr(line, "lua] ");
    return in_script && strstr(in_script, call);
}

static void await_unsay_before(redisContext *monitor, const char *call)
{
    bool unsaid = false;
    for (void *reply; redisGetReply(monitor, &reply) == REDIS_OK; freeReplyObject(reply)) {
        const char *line = ((redisReply *)reply)->str;
        unsaid |= is_called(line, "\"del\" \"redlock:leader:name\"");
        if (is_called(line, call)) {
            assert_true(unsaid);
            freeReplyObject(reply);
            redisFree(monitor);
            return;
        }
    }
    fail_msg("the master has not called %s: %s", call, monitor->errstr);
}

static redisContext *lead_under_monitor(struct take *leader)
{
    NEEDS_SERVERS();
    lead(leader, &ours);
    take_announce(leader, "mine");
    return cluster_monitor(&cluster, master_of(leader));
}

CASE_WITH(test_a_release_goes_behind_unsay, pair_join, pair_leave)
{
    struct take leader;
    redisContext *monitor = lead_under_monitor(&leader);
    assert_code(take_release(&leader), REDLOCK_OK);
    await_unsay_before(monitor, "\"del\" \"name\"");
}

CASE_WITH(test_the_release_of_what_is_freed_goes_behind_unsay, pair_join, pair_leave)
{
    struct take leader;
    redisContext *monitor = lead_under_monitor(&leader);
    take_free(&leader);
    for (unsigned i = 0; i < MASTERS; i++)
        AWAIT(&ours, cluster_count(&cluster, i, "EXISTS name") == 0);
    await_unsay_before(monitor, "\"del\" \"name\"");
}

CASE_WITH(test_a_downgrade_goes_behind_unsay, pair_join, pair_leave)
{
    struct take leader;
    redisContext *monitor = lead_under_monitor(&leader);
    assert_code(redlock_lease_downgrade(leader.lease), REDLOCK_OK);
    AWAIT(&ours, leader.told[REDLOCK_CHANGED].times);
    assert_code(take_release(&leader), REDLOCK_OK);
    await_unsay_before(monitor, "\"redlock:shared\"");
}

CASE_WITH(test_what_is_detached_is_said_no_more, pair_join, pair_leave)
{
    struct take leader;
    lead(&leader, &ours);
    take_announce(&leader, "mine");
    assert_code(redlock_lease_detach(leader.lease), REDLOCK_OK);
    for (unsigned i = 0; i < MASTERS; i++) {
        AWAIT(&ours, cluster_count(&cluster, i, "EXISTS redlock:leader:name") == 0);
        cluster_tell(&cluster, i, "DEL name");
    }
}

/* A name of its own: what a client sends as it is closed may be lost, and what it said then stays
 * for as long as it is valid. */
CASE_WITH(test_nothing_is_left, pair_join, pair_leave)
{
    struct take leader;
    struct watch watch;
    watch_begin(&watch, &theirs, "left");
    take_lead(&leader, &ours, "left", TTL, REDLOCK_FOREVER);
    take_announce(&leader, "short");
    assert_code(take_release(&leader), REDLOCK_OK);
    AWAIT(&theirs, watch_hears_nobody(&watch));
    redlock_observer_free(watch.observer);
    for (unsigned i = 0; i < MASTERS; i++)
        AWAIT(&theirs,
              cluster_count(&cluster, i, "EXISTS redlock:leader:left redlock:observers:left") == 0);
}

/* ---- candidates -------------------------------------------------------------------------- */

struct runner {
    redlock_campaign *candidate;
    unsigned times[KINDS];
    int64_t term;
    redlock_code code; /* of the last */
    bool frees, resigns_when_lost;
    redlock *closes_when_lost;
};

static void run(redlock_campaign *candidate, const redlock_event *event, void *data)
{
    struct runner *runner = data;
    runner->times[event->kind]++;
    runner->code = event->code;
    if (event->kind == REDLOCK_ACQUIRED) {
        assert_true(event->fence > runner->term);
        runner->term = event->fence;
    }
    if (event->kind == REDLOCK_LOST && runner->resigns_when_lost)
        assert_code(redlock_campaign_resign(candidate), REDLOCK_OK);
    if (runner->closes_when_lost && event->kind == REDLOCK_LOST)
        redlock_close(runner->closes_when_lost, 0, NULL, NULL);
    if (runner->frees && event->kind == REDLOCK_ACQUIRED) {
        redlock_campaign_free(candidate);
        runner->candidate = NULL;
    }
}

static void stand_on(struct runner *runner, struct user *user, const char *value,
                     redlock_campaign_options options)
{
    options.ttl_ms = TTL;
    options.value = value;
    options.length = value ? strlen(value) : 0;
    assert_code(
        redlock_campaign_begin(user->client, &runner->candidate, "name", &options, run, runner),
        REDLOCK_OK);
}

static void stand(struct runner *runner, struct user *user, const char *value)
{
    stand_on(runner, user, value,
             (redlock_campaign_options){.size = sizeof(redlock_campaign_options)});
}

CASE_WITH(test_candidates_lead_in_turn, pair_join, pair_leave)
{
    struct runner first = {0}, second = {0};
    struct watch watch;
    watch_begin(&watch, &theirs, "name");
    stand(&first, &ours, "first");
    AWAIT(&ours, watch_hears(&watch, "first") && first.times[REDLOCK_ANNOUNCED] == 1);
    stand(&second, &theirs, "second");
    assert_code(redlock_campaign_announce(second.candidate, "the second", 10), REDLOCK_OK);
    assert_code(redlock_campaign_announce(first.candidate, "still", 5), REDLOCK_OK);
    AWAIT(&ours, watch_hears(&watch, "still"));
    assert_code(redlock_campaign_resign(first.candidate), REDLOCK_OK);
    assert_code(redlock_campaign_resign(first.candidate), REDLOCK_E_STATE);
    AWAIT(&ours, watch_hears(&watch, "the second") && first.times[REDLOCK_RELEASED]);
    assert_true(second.term > first.term && watch.last.term == second.term);
    assert_true(redlock_lease_valid_for(redlock_campaign_lease(second.candidate)) > 0);
    redlock_campaign_free(first.candidate);
    redlock_campaign_free(second.candidate);
    AWAIT(&ours, watch_hears_nobody(&watch));
    redlock_observer_free(watch.observer);
}

static void forget_the_name(void)
{
    cluster_tell_all(&cluster, "SET name stolen PX 300");
}

CASE_WITH(test_who_was_lost_stands_again, pair_join, pair_leave)
{
    struct runner runner = {0};
    struct watch watch;
    watch_begin(&watch, &theirs, "name");
    stand(&runner, &ours, "it");
    AWAIT(&ours, watch_hears(&watch, "it"));
    int64_t term = runner.term;
    forget_the_name();
    AWAIT(&ours, runner.times[REDLOCK_LOST] == 1);
    AWAIT(&ours, runner.times[REDLOCK_ACQUIRED] == 2);
    AWAIT(&ours, watch_hears(&watch, "it") && watch.last.term == runner.term);
    assert_true(runner.term > term);
    redlock_campaign_free(runner.candidate);
    AWAIT(&ours, watch_hears_nobody(&watch));
    redlock_observer_free(watch.observer);
}

CASE_WITH(test_who_resigns_when_lost_stands_no_more, pair_join, pair_leave)
{
    struct runner runner = {.resigns_when_lost = true}, next = {0};
    stand(&runner, &ours, NULL);
    AWAIT(&ours, runner.term);
    forget_the_name();
    AWAIT(&ours, runner.times[REDLOCK_RELEASED] == 1);
    assert_int_equal(runner.times[REDLOCK_ACQUIRED], 1);
    stand(&next, &ours, NULL);
    AWAIT(&ours, next.term);
    assert_int_equal(runner.times[REDLOCK_ACQUIRED], 1);
    assert_int_equal(next.times[REDLOCK_ANNOUNCED], 0);
    redlock_campaign_free(runner.candidate);
    redlock_campaign_free(next.candidate);
}

CASE_WITH(test_who_cannot_stand_again_is_told, pair_join, pair_leave)
{
    struct user closes;
    user_join(&closes, ours.loop, &cluster);
    struct runner runner = {.closes_when_lost = closes.client};
    stand(&runner, &closes, NULL);
    AWAIT(&ours, runner.term);
    forget_the_name();
    AWAIT(&ours, runner.times[REDLOCK_NOT_ACQUIRED]);
    assert_code(runner.code, REDLOCK_E_CLOSED);
    assert_int_equal(runner.times[REDLOCK_LOST], 1);
    assert_null(redlock_campaign_lease(runner.candidate));
    assert_code(redlock_campaign_announce(runner.candidate, "x", 1), REDLOCK_OK);
    assert_code(redlock_campaign_resign(runner.candidate), REDLOCK_E_STATE);
    redlock_campaign_free(runner.candidate);
    redlock_free(closes.client);
}

CASE_WITH(test_once_a_loss_is_the_end, pair_join, pair_leave)
{
    struct runner once = {0}, next = {0};
    redlock_campaign_options options = {.size = sizeof options};
    options.once = true;
    stand_on(&once, &ours, "once", options);
    AWAIT(&ours, once.times[REDLOCK_ANNOUNCED] == 1);
    forget_the_name();
    AWAIT(&ours, once.times[REDLOCK_LOST] == 1);
    stand(&next, &theirs, NULL);
    AWAIT(&ours, next.term > once.term);
    redlock_campaign_free(next.candidate);
    stand(&next, &ours, NULL); /* behind the other one, if that stood again */
    AWAIT(&ours, next.times[REDLOCK_ACQUIRED] == 2);
    assert_int_equal(once.times[REDLOCK_ACQUIRED], 1);
    redlock_campaign_free(once.candidate);
    redlock_campaign_free(next.candidate);
}

CASE_WITH(test_a_candidate_is_freed_in_its_callback, pair_join, pair_leave)
{
    struct runner runner = {.frees = true}, next = {0};
    stand(&runner, &ours, "gone");
    AWAIT(&ours, runner.term && !runner.candidate);
    stand(&next, &theirs, NULL);
    AWAIT(&ours, next.term > runner.term);
    redlock_campaign_free(next.candidate);
}

/* ---- masters that go and come --------------------------------------------------------------- */

SCENE(test_each_master_restarts_in_turn, .masters = MASTERS, .max_ttl_ms = TTL)
{
    struct user user;
    struct take leader;
    struct watch watch;
    scene_enter(&scene, &user, "observer", 0);
    watch_begin(&watch, &user, "name");
    lead(&leader, &user);
    take_announce(&leader, "0");
    for (unsigned i = 0; i < MASTERS; i++) {
        char command[40], value[8];
        snprintf(command, sizeof command, "restart %u --empty", i + 1);
        user_meanwhile(&user, &scene.cluster, command);
        snprintf(value, sizeof value, "%u", i + 1);
        AWAIT(&user, node_of(&user, i).state == REDLOCK_NODE_ABSTAINS);
        AWAIT(&user, node_of(&user, i).state == REDLOCK_NODE_UP);
        take_announce(&leader, value);
        AWAIT(&user, watch_hears(&watch, value));
    }
    assert_int_equal(leader.told[REDLOCK_LOST].times, 0);
    assert_code(take_release(&leader), REDLOCK_OK);
    AWAIT(&user, watch_hears_nobody(&watch));
    redlock_observer_free(watch.observer);
    scene_leave(&user);
}

PROGRAM(.masters = MASTERS, .fenced = true)
