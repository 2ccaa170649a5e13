/*
 * Barriers on real masters: passing and leaving, and the outcome of each party.
 * rule: B1
 */
#include "pair.h"
#include "recipe_user.h"
#include "scene.h"

#define MASTERS 5
#define MANY    8

static int64_t generation; /* each case has its own */

static redlock_barrier_options barrier(unsigned parties, int64_t timeout_ms)
{
    redlock_barrier_options options = {.size = sizeof options};
    options.parties = parties;
    options.generation = generation;
    options.timeout_ms = timeout_ms;
    return options;
}

static void arrive(struct arrival *arrival, struct user *user, unsigned parties, int64_t timeout_ms)
{
    redlock_barrier_options options = barrier(parties, timeout_ms);
    arrival_begin(arrival, user, "gate", &options);
}

/* The number of masters that count `parties` parties. */
static unsigned counted_on(struct cluster *on, long long parties)
{
    return cluster_answering(on, parties, "ZCOUNT redlock:barrier:%d:gate 1 (+inf",
                             (int)generation);
}

static int join_next(void **state)
{
    generation++;
    return pair_join(state);
}

/* ---- passing --------------------------------------------------------------------------- */

#define WITH_BOTH(name) CASE_WITH(name, join_next, pair_leave)

WITH_BOTH(test_all_pass_when_the_last_one_arrives)
{
    struct arrival parties[MANY];
    for (unsigned turn = 0; turn < 3; turn++, generation++) {
        for (unsigned i = 0; i + 1 < MANY; i++)
            arrive(&parties[i], i % 2 ? &ours : &theirs, MANY, 0);
        AWAIT(&ours, counted_on(&cluster, MANY - 1) == MASTERS);
        for (unsigned i = 0; i + 1 < MANY; i++)
            assert_int_equal(parties[i].times, 0);
        arrive(&parties[MANY - 1], &ours, MANY, 0);
        for (unsigned i = 0; i < MANY; i++) {
            arrival_end(&parties[i], &ours, REDLOCK_OK);
            assert_false(parties[i].told.undecided);
            assert_int_equal(parties[i].told.parties, MANY);
        }
    }
}

WITH_BOTH(test_as_many_as_there_may_be)
{
    static struct arrival parties[REDLOCK_PARTIES_MAX];
    for (unsigned i = 0; i < REDLOCK_PARTIES_MAX; i++)
        arrive(&parties[i], i % 2 ? &ours : &theirs, REDLOCK_PARTIES_MAX, 0);
    for (unsigned i = 0; i < REDLOCK_PARTIES_MAX; i++)
        arrival_end(&parties[i], &ours, REDLOCK_OK);
}

WITH_BOTH(test_they_are_told_at_once)
{
    struct arrival first, last;
    arrive(&first, &theirs, 2, 0);
    AWAIT(&ours, counted_on(&cluster, 1) == MASTERS);
    AWAIT(&ours, cluster_count(&cluster, 0, "ZCARD redlock:observers:gate") >= 1);
    arrive(&last, &ours, 2, REDLOCK_ZERO);
    AWAIT_AWAKE_MS(&ours, first.times && last.times, 1000); /* it would ask again after 3.3 s */
    arrival_end(&first, &ours, REDLOCK_OK);
    arrival_end(&last, &ours, REDLOCK_OK);
}

/* A party comes back with the reported token, as the same party. */
WITH_BOTH(test_masters_know_the_token_that_is_told)
{
    NEEDS_SERVERS();
    struct arrival alone;
    arrive(&alone, &ours, 1, REDLOCK_ZERO);
    arrival_end(&alone, &ours, REDLOCK_OK);
    unsigned know = cluster_answering(&cluster, 1, "EVAL %s 1 redlock:barrier:%d:gate t:%s",
                                      "return redis.call('zscore', KEYS[1], ARGV[1]) and 1 or 0",
                                      (int)generation, alone.told.token);
    assert_true(know >= MASTERS / 2 + 1);
}

/* ---- leaving ---------------------------------------------------------------------------- */

WITH_BOTH(test_who_leaves_is_not_counted)
{
    struct arrival gone, waits, last;
    arrive(&gone, &theirs, 2, 0);
    AWAIT(&ours, counted_on(&cluster, 1) == MASTERS);
    assert_code(redlock_barrier_leave(gone.party), REDLOCK_OK);
    assert_code(redlock_barrier_leave(gone.party), REDLOCK_E_STATE);
    AWAIT(&ours, gone.times);
    assert_code(redlock_barrier_leave(gone.party), REDLOCK_E_STATE);
    arrival_end(&gone, &ours, REDLOCK_E_CANCELLED);
    assert_int_equal(gone.told.arrived, 1);
    AWAIT(&ours, counted_on(&cluster, 0) == MASTERS); /* one that counted both would open */

    arrive(&waits, &theirs, 2, 0);
    AWAIT(&ours, counted_on(&cluster, 1) == MASTERS);
    assert_int_equal(waits.times, 0);
    arrive(&last, &ours, 2, 0);
    arrival_end(&waits, &ours, REDLOCK_OK);
    arrival_end(&last, &ours, REDLOCK_OK);
}

WITH_BOTH(test_who_is_freed_leaves)
{
    struct arrival gone;
    arrive(&gone, &ours, 2, 0);
    AWAIT(&ours, counted_on(&cluster, 1) == MASTERS);
    redlock_barrier_free(gone.party);
    redlock_barrier_free(NULL);
    AWAIT(&ours, counted_on(&cluster, 0) == MASTERS);
    assert_int_equal(gone.times, 0);
}

WITH_BOTH(test_who_closes_leaves)
{
    struct user brief;
    struct arrival gone;
    user_join(&brief, ours.loop, &cluster);
    arrive(&gone, &brief, 2, 0);
    AWAIT(&ours, counted_on(&cluster, 1) == MASTERS);
    assert_int_equal(user_end(&brief, 10000), 0);
    assert_int_equal(gone.times, 1);
    assert_code(gone.told.code, REDLOCK_E_CLOSED);
    assert_false(gone.told.undecided);
    AWAIT(&ours, counted_on(&cluster, 0) == MASTERS);
}

/* ---- calls in the callback --------------------------------------------------------------- */

struct walk {
    struct user *user;
    redlock_barrier *party;
    unsigned rounds;
};

static void walk_on(redlock_barrier *party, const redlock_barrier_result *passage, void *data)
{
    struct walk *walk = data;
    assert_code(passage->code, REDLOCK_OK);
    assert_code(redlock_barrier_leave(party), REDLOCK_E_STATE);
    redlock_barrier_free(party);
    walk->party = NULL;
    if (++walk->rounds == 5)
        return;
    redlock_barrier_options options = barrier(2, 0);
    options.generation += walk->rounds;
    assert_code(
        redlock_barrier_arrive(walk->user->client, &walk->party, "walk", &options, walk_on, walk),
        REDLOCK_OK);
}

WITH_BOTH(test_who_passes_arrives_at_the_next)
{
    struct walk one = {.user = &ours}, other = {.user = &theirs};
    const redlock_barrier_options options = barrier(2, 0);
    assert_code(redlock_barrier_arrive(ours.client, &one.party, "walk", &options, walk_on, &one),
                REDLOCK_OK);
    assert_code(
        redlock_barrier_arrive(theirs.client, &other.party, "walk", &options, walk_on, &other),
        REDLOCK_OK);
    AWAIT(&ours, one.rounds == 5 && other.rounds == 5);
}

/* ---- the loop --------------------------------------------------------------------------- */

WITH_BOTH(test_who_was_told_keeps_no_loop)
{
    struct user alone;
    struct arrival passes;
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    user_join(&alone, loop, &cluster);
    arrive(&passes, &alone, 1, 0);
    ev_run(loop, 0);
    assert_code(passes.told.code, REDLOCK_OK);
    redlock_barrier_free(passes.party);
    assert_int_equal(user_end(&alone, 10000), 0);
    ev_loop_destroy(loop);
}

/* ---- misuse --------------------------------------------------------------------------------- */

static void ignore(redlock_barrier *party, const redlock_barrier_result *passage, void *data)
{
    (void)party, (void)passage, (void)data;
}

static void refused(const char *name, redlock_barrier_options options, redlock_code code)
{
    redlock_barrier *party = (void *)1;
    assert_code(redlock_barrier_arrive(ours.client, &party, name, &options, ignore, NULL), code);
    assert_null(party);
}

WITH_BOTH(test_what_is_refused)
{
    redlock_barrier *party;
    const redlock_barrier_options one = barrier(1, REDLOCK_ZERO);
    redlock_barrier_options bad = one;
    refused("gate", barrier(0, REDLOCK_ZERO), REDLOCK_E_ARGUMENT);
    refused("gate", barrier(REDLOCK_PARTIES_MAX + 1, REDLOCK_ZERO), REDLOCK_E_ARGUMENT);
    bad.generation = -1;
    refused("gate", bad, REDLOCK_E_ARGUMENT);
    bad.generation = REDLOCK_GENERATION_MAX + 1;
    refused("gate", bad, REDLOCK_E_ARGUMENT);
    bad.generation = 0;
    refused("gate", barrier(1, -2), REDLOCK_E_ARGUMENT);
    refused("", one, REDLOCK_E_NAME);
    refused("redlock:x", one, REDLOCK_E_NAME);
    bad.token = "two words";
    refused("gate", bad, REDLOCK_E_ARGUMENT);
    bad.token = "";
    refused("gate", bad, REDLOCK_E_ARGUMENT);
    bad.token = NULL;
    bad.ttl_ms = REDLOCK_ZERO;
    refused("gate", bad, REDLOCK_E_TTL);
    bad.ttl_ms = 30001;
    refused("gate", bad, REDLOCK_E_TTL);
    bad.size = 0;
    refused("gate", bad, REDLOCK_E_ARGUMENT);
    assert_code(redlock_barrier_arrive(ours.client, &party, "gate", NULL, ignore, NULL),
                REDLOCK_E_ARGUMENT);
    assert_code(redlock_barrier_arrive(ours.client, &party, "gate", &one, NULL, NULL),
                REDLOCK_E_ARGUMENT);
    assert_code(redlock_barrier_arrive(ours.client, NULL, "gate", &one, ignore, NULL),
                REDLOCK_E_ARGUMENT);
    assert_code(redlock_barrier_arrive(NULL, &party, "gate", &one, ignore, NULL),
                REDLOCK_E_ARGUMENT);
}

WITH_BOTH(test_who_looks_only_does_not_arrive)
{
    struct user looks;
    redlock_barrier *party;
    const redlock_barrier_options one = barrier(1, REDLOCK_ZERO);
    redlock_options options = {.size = sizeof options};
    options.looks_only = true;
    user_open(&looks, &cluster, &options);
    assert_code(redlock_barrier_arrive(looks.client, &party, "gate", &one, ignore, NULL),
                REDLOCK_E_ARGUMENT);
    assert_non_null(strstr(redlock_last_error(looks.client), "looks_only"));
    assert_int_equal(user_close(&looks, 10000), 0);
}

/* ---- masters that go ------------------------------------------------------------------------ */

SCENE(test_masters_restart_while_they_wait, .masters = MASTERS, .max_ttl_ms = 30000)
{
    struct user user;
    struct arrival first, last;
    scene_enter(&scene, &user, "user", 0);
    arrive(&first, &user, 2, 0);
    AWAIT(&user, counted_on(&scene.cluster, 1) == MASTERS);
    user_meanwhile(&user, &scene.cluster, "restart 1 --empty");
    user_meanwhile(&user, &scene.cluster, "kill 2");
    assert_int_equal(first.times, 0);
    arrive(&last, &user, 2, 0);
    arrival_end(&first, &user, REDLOCK_OK);
    arrival_end(&last, &user, REDLOCK_OK);
    scene_leave(&user);
}

PROGRAM(.masters = MASTERS)
