/*
 * A leader moves to a client of other masters, with what it announces: its term and its value stay.
 * Observers of either list hear of nothing in between.
 * rule: D8
 */
#include "recipe_user.h"
#include "scene.h"

#define FLEET "fleet"
#define TTL   5000

static struct user former, next, eyes, their_eyes;
static struct take leader;
static int64_t term;

static void lead(unsigned masters)
{
    scene_join_list(&scene, &former, FLEET, 0, masters);
    scene_join_list(&scene, &next, FLEET, 0, masters + 1);
    take_lead(&leader, &former, "name", TTL, 0);
    term = redlock_lease_fence(leader.lease);
}

static void move(struct user *to)
{
    unsigned before = leader.told[REDLOCK_MOVED].times;
    assert_code(redlock_lease_move(leader.lease, to->client), REDLOCK_OK);
    AWAIT(to, leader.told[REDLOCK_MOVED].times > before);
    assert_int_equal(redlock_lease_fence(leader.lease), term);
    leader.user = to;
}

static void end(void)
{
    assert_int_equal(user_end(&former, 5000), 0);
    assert_int_equal(user_end(&next, 5000), 0);
}

/* The number of masters that say exactly this. */
static unsigned masters_saying(unsigned number, const char *value)
{
    unsigned count = 0;
    char record[256];
    snprintf(record, sizeof record, "%lld %u %s %s", (long long)term, number,
             redlock_lease_token(leader.lease), value);
    for (unsigned i = 0; i < scene.cluster.count; i++) {
        redisReply *reply = cluster_ask(&scene.cluster, i, "GET redlock:leader:name");
        count += reply && reply->type == REDIS_REPLY_STRING && strcmp(reply->str, record) == 0;
        freeReplyObject(reply);
    }
    return count;
}

static bool nothing_is_said(void)
{
    return cluster_answering(&scene.cluster, 0, "EXISTS redlock:leader:name") ==
           scene.cluster.count;
}

/* ---- what observers hear -------------------------------------------------------------- */

/* The present leader's value. */
static bool hears(const struct watch *watch, const char *value)
{
    return watch_hears(watch, value) && watch->last.term == term;
}

/* ---- what a master is asked ----------------------------------------------------------- */

/* Until now.  The number of times that its announcement was taken back. */
static unsigned count_unsaid(redisContext *monitor, unsigned master)
{
    unsigned count = 0;
    bool is_over = false;
    cluster_tell(&scene.cluster, master, "ECHO until-now");
    for (void *reply; !is_over && redisGetReply(monitor, &reply) == REDIS_OK;
         freeReplyObject(reply)) {
        const char *line = ((redisReply *)reply)->str;
        count += strstr(line, "\"del\" \"redlock:leader:name\"") != NULL;
        is_over = strstr(line, "until-now");
    }
    assert_true(is_over);
    redisFree(monitor);
    return count;
}

/* ---- it goes along ---------------------------------------------------------------------- */

SCENE(test_the_term_goes_on, .masters = 6)
{
    struct watch watch, their_watch;
    lead(5);
    scene_join_list(&scene, &eyes, FLEET, 0, 5);
    scene_join_list(&scene, &their_eyes, FLEET, 0, 6);
    take_announce(&leader, "a");
    AWAIT(&former, masters_saying(1, "a") == 5);
    watch_begin(&watch, &eyes, "name");
    watch_begin(&their_watch, &their_eyes, "name");
    AWAIT(&eyes, hears(&watch, "a") && hears(&their_watch, "a"));
    redisContext *monitor = cluster_monitor(&scene.cluster, 0);
    move(&next);
    AWAIT(&next, masters_saying(1, "a") == 6);
    assert_int_equal(user_end(&former, 5000), 0);
    unsigned renewals = stats_of(&next).renewals;
    AWAIT(&next, stats_of(&next).renewals >= renewals + 4); /* longer than the former one said it */
    AWAIT(&next, masters_saying(1, "a") == 6);
    assert_int_equal(count_unsaid(monitor, 0), 0);
    assert_int_equal(watch.times, 1);
    assert_int_equal(their_watch.times, 1);
    assert_int_equal(leader.told[REDLOCK_ANNOUNCED].times, 1);

    take_announce(&leader, "b");
    assert_true(leader.told[REDLOCK_ANNOUNCED].event.granted >= 4);
    AWAIT(&next, masters_saying(2, "b") == 6);
    AWAIT(&next, hears(&watch, "b") && hears(&their_watch, "b"));
    assert_code(take_release(&leader), REDLOCK_OK);
    AWAIT(&next,
          nothing_is_said() && watch_hears_nobody(&watch) && watch_hears_nobody(&their_watch));
    redlock_observer_free(watch.observer);
    redlock_observer_free(their_watch.observer);
    assert_int_equal(user_end(&eyes, 5000), 0);
    assert_int_equal(user_end(&their_eyes, 5000), 0);
    assert_int_equal(user_end(&next, 5000), 0);
}

/* This takes back what the former client said, too. */
SCENE(test_a_release_at_once_takes_it_back, .masters = 6)
{
    lead(5);
    take_announce(&leader, "a");
    AWAIT(&former, masters_saying(1, "a") == 5);
    move(&next);
    assert_code(take_release(&leader), REDLOCK_OK);
    AWAIT(&next, nothing_is_said());
    end();
}

SCENE(test_it_goes_there_and_back, .masters = 6)
{
    struct watch watch;
    lead(5);
    scene_join_list(&scene, &eyes, FLEET, 0, 5);
    take_announce(&leader, "a");
    watch_begin(&watch, &eyes, "name");
    AWAIT(&eyes, hears(&watch, "a"));
    for (unsigned i = 0; i < 3; i++) {
        move(&next);
        move(&former);
    }
    assert_int_equal(watch.times, 1);
    take_announce(&leader, "b");
    AWAIT(&former, hears(&watch, "b"));
    assert_int_equal(watch.times, 2);
    assert_int_equal(leader.told[REDLOCK_ANNOUNCED].times, 2);
    assert_code(take_release(&leader), REDLOCK_OK);
    AWAIT(&former, watch_hears_nobody(&watch));
    redlock_observer_free(watch.observer);
    assert_int_equal(user_end(&eyes, 5000), 0);
    end();
}

/* It asks for the value to be kept, and moves before it hears that it is. */
SCENE(test_what_no_quorum_has_yet_is_told_there, .masters = 6)
{
    lead(5);
    assert_code(redlock_lease_announce(leader.lease, "a", 1), REDLOCK_OK);
    move(&next);
    AWAIT(&next, leader.told[REDLOCK_ANNOUNCED].times == 1 && masters_saying(1, "a") == 6);
    take_announce(&leader, "b");
    assert_code(take_release(&leader), REDLOCK_OK);
    end();
}

SCENE(test_another_value_has_to_wait, .masters = 6)
{
    lead(5);
    take_announce(&leader, "a");
    assert_code(redlock_lease_move(leader.lease, next.client), REDLOCK_OK);
    assert_code(redlock_lease_announce(leader.lease, "b", 1), REDLOCK_E_STATE);
    AWAIT(&next, leader.told[REDLOCK_MOVED].times == 1);
    AWAIT(&next, masters_saying(1, "a") == 6);
    take_announce(&leader, "b");
    AWAIT(&next, masters_saying(2, "b") == 6);
    assert_code(take_release(&leader), REDLOCK_OK);
    end();
}

/* ---- it stays ----------------------------------------------------------------------------- */

/* Of the four masters two have the name for another. */
SCENE(test_in_vain_nothing_is_said_there, .masters = 4)
{
    struct watch watch;
    lead(3);
    scene_join_list(&scene, &eyes, FLEET, 0, 3);
    take_announce(&leader, "a");
    watch_begin(&watch, &eyes, "name");
    AWAIT(&eyes, hears(&watch, "a"));
    cluster_tell(&scene.cluster, 2, "SET name another PX 30000");
    cluster_tell(&scene.cluster, 3, "SET name another PX 30000");
    assert_code(redlock_lease_move(leader.lease, next.client), REDLOCK_OK);
    AWAIT(&former, leader.told[REDLOCK_NOT_MOVED].times == 1);
    cluster_tell(&scene.cluster, 3, "DEL name");
    take_announce(&leader, "b");
    AWAIT(&former, hears(&watch, "b"));
    assert_int_equal(watch.times, 2);
    assert_int_equal(cluster_count(&scene.cluster, 3, "EXISTS redlock:leader:name"), 0);
    assert_code(take_release(&leader), REDLOCK_OK);
    AWAIT(&former, watch_hears_nobody(&watch));
    redlock_observer_free(watch.observer);
    assert_int_equal(user_end(&eyes, 5000), 0);
    end();
}

SCENE(test_a_release_while_it_moves_takes_it_back, .masters = 6)
{
    lead(5);
    take_announce(&leader, "a");
    assert_code(redlock_lease_move(leader.lease, next.client), REDLOCK_OK);
    assert_code(take_release(&leader), REDLOCK_OK);
    AWAIT(&next, user_is_quiet(&next) && nothing_is_said());
    assert_int_equal(leader.told[REDLOCK_MOVED].times, 0);
    end();
}

SCENE(test_clients_that_close_meanwhile, .masters = 6)
{
    lead(5);
    take_announce(&leader, "a");
    assert_code(redlock_lease_move(leader.lease, next.client), REDLOCK_OK);
    assert_int_equal(user_end(&next, 5000), 0);
    assert_int_equal(leader.told[REDLOCK_NOT_MOVED].times, 1);
    take_announce(&leader, "b");
    AWAIT(&former, masters_saying(2, "b") == 5);

    scene_join_list(&scene, &next, FLEET, 0, 6);
    assert_code(redlock_lease_move(leader.lease, next.client), REDLOCK_OK);
    assert_int_equal(user_end(&former, 5000), 0);
    assert_int_equal(leader.told[REDLOCK_RELEASED].times, 1);
    AWAIT(&next, user_is_quiet(&next) && nothing_is_said());
    assert_int_equal(user_end(&next, 5000), 0);
}

SCENE(test_clients_that_are_freed_meanwhile, .masters = 6)
{
    lead(5);
    take_announce(&leader, "a");
    assert_code(redlock_lease_move(leader.lease, next.client), REDLOCK_OK);
    redlock_free(next.client);
    take_announce(&leader, "b");
    assert_code(take_release(&leader), REDLOCK_OK);
    assert_int_equal(user_end(&former, 5000), 0);

    lead(5);
    take_announce(&leader, "a");
    assert_code(redlock_lease_move(leader.lease, next.client), REDLOCK_OK);
    redlock_free(former.client);
    AWAIT(&next, user_is_quiet(&next) && stats_of(&next).held == 0);
    assert_int_equal(leader.told[REDLOCK_MOVED].times, 0);
    assert_int_equal(user_end(&next, 5000), 0);
}

/* ---- candidates ------------------------------------------------------------------------------ */

struct runner {
    unsigned times[KINDS];
    int64_t term;
};

static void run(redlock_campaign *candidate, const redlock_event *event, void *data)
{
    struct runner *runner = data;
    (void)candidate;
    runner->times[event->kind]++;
    if (event->kind == REDLOCK_ACQUIRED)
        runner->term = event->fence;
}

/* And stands again with the client that it went to. */
SCENE(test_a_candidate_moves_with_its_term, .masters = 6)
{
    struct runner runner = {.term = 0};
    struct watch watch;
    redlock_campaign *candidate;
    redlock_campaign_options options = {.size = sizeof options};
    options.ttl_ms = TTL;
    options.value = "a";
    options.length = 1;
    scene_join_list(&scene, &former, FLEET, 0, 5);
    scene_join_list(&scene, &next, FLEET, 0, 6);
    watch_begin(&watch, &next, "name");
    AWAIT(&next, watch_hears_nobody(&watch));
    assert_code(redlock_campaign_begin(former.client, &candidate, "name", &options, run, &runner),
                REDLOCK_OK);
    AWAIT(&former, runner.times[REDLOCK_ANNOUNCED] == 1);
    term = runner.term;
    assert_code(redlock_lease_move(redlock_campaign_lease(candidate), next.client), REDLOCK_OK);
    AWAIT(&next, runner.times[REDLOCK_MOVED] == 1);
    redlock_free(former.client);
    assert_code(redlock_campaign_announce(candidate, "b", 1), REDLOCK_OK);
    AWAIT(&next, hears(&watch, "b"));
    assert_int_equal(runner.times[REDLOCK_ACQUIRED], 1);

    cluster_tell_all(&scene.cluster, "SET name stolen PX 300");
    AWAIT(&next, runner.times[REDLOCK_LOST] == 1 && runner.times[REDLOCK_ACQUIRED] == 2);
    assert_true(runner.term > term);
    term = runner.term;
    AWAIT(&next, hears(&watch, "b"));
    redlock_campaign_free(candidate);
    AWAIT(&next, watch_hears_nobody(&watch));
    redlock_observer_free(watch.observer);
    assert_int_equal(user_end(&next, 5000), 0);
}

PROGRAM(.masters = 0)
