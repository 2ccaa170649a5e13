/*
 * A thousand acquires cancelled, freed or given back at any moment, and a thousand clients
 * closed in mid-round: once closed() has come with nothing left, no key is left either.
 * Moments are counted in iterations of the loop, so that they fall between any two steps.
 */
#include "fixture.h"
#include "user.h"

#include <time.h>

#define RACES   1000
#define AT_ONCE 20

static uint64_t random_state;

static void seed(void)
{
    const char *seed = getenv("REDLOCK_SEED");
    random_state = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
    print_message("    REDLOCK_SEED=%llu\n", (unsigned long long)random_state);
}

static unsigned below(unsigned limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % limit;
}

/* ---- One race ---- */

enum plan {
    RELEASE_LATER,
    FREE_LATER,
    EXTEND_AND_FREE,
    FREE_IN_CALLBACK,
    RELEASE_IN_CALLBACK,
    AGAIN_IN_CALLBACK,
    PLANS
};

struct race {
    struct user *user;
    redlock_lease *lease; /* NULL: freed */
    enum plan plan;
    unsigned moment; /* iterations until its plan is carried out */
    unsigned finals, nested;
};

static void hear(redlock_lease *lease, const redlock_event *event, void *data);

static void ask(struct race *race)
{
    char name[16];
    redlock_name names[2] = {{.size = sizeof(redlock_name), .bytes = name}, NAME("second")};
    redlock_lease_options terms = lease_terms(3000, below(3) ? 0 : below(40));
    names[0].length = (size_t)snprintf(name, sizeof name, "race %u", below(4) ? below(1000) : 7);
    unsigned count = below(5) ? 1 : 2;
    redlock_code code =
        redlock_acquire_names(race->user->client, &race->lease, names, count, &terms, hear, race);
    if (code != REDLOCK_E_CLOSED)
        assert_code(code, REDLOCK_OK);
}

static void hear(redlock_lease *lease, const redlock_event *event, void *data)
{
    struct race *race = data;
    assert_ptr_equal(lease, race->lease);
    bool final = event->kind == REDLOCK_NOT_ACQUIRED || event->kind == REDLOCK_RELEASED;
    race->finals += final;
    if (event->kind == REDLOCK_LOST)
        fail_msg("%s", event->text);
    assert_true(race->finals <= 1);
    if (final || race->plan == FREE_IN_CALLBACK || race->plan == AGAIN_IN_CALLBACK) {
        redlock_lease_free(lease);
        race->lease = NULL;
        race->finals = 0;
    } else if (race->plan == RELEASE_IN_CALLBACK && event->kind == REDLOCK_ACQUIRED) {
        assert_code(redlock_lease_release(lease), REDLOCK_OK);
    }
    if (race->plan == AGAIN_IN_CALLBACK && race->nested++ == 0)
        ask(race);
}

static void carry_out(struct race *race)
{
    if (!race->lease)
        return;
    switch (race->plan) {
    case EXTEND_AND_FREE:
        redlock_lease_extend(race->lease, 0);
        redlock_lease_free(race->lease);
        race->lease = NULL;
        break;
    case FREE_LATER:
        redlock_lease_free(race->lease);
        race->lease = NULL;
        break;
    default:
        redlock_lease_release(race->lease);
        break;
    }
}

static struct race plan_race(struct user *user)
{
    struct race race = {.user = user, .plan = (enum plan)below(PLANS)};
    race.moment = below(8);
    return race;
}

/* ---- Acquire and cancel ---- */

static void meddle(unsigned how)
{
    if (!how || below(20))
        return;
    unsigned master = below(5);
    if (how == 1)
        cluster_tell(&cluster, master, "CLIENT KILL TYPE normal SKIPME yes");
    else if (how == 2)
        cluster_tell(&cluster, master, "CLIENT PAUSE %u WRITE", 20 + below(100));
    else if (how == 3)
        cluster_tell(&cluster, master, "SCRIPT FLUSH");
}

/* One iteration of the loop, that waits for an event or does not. */
static void go_on(struct user *user)
{
    if (below(2))
        user_step(user, INT64_MAX);
    else
        ev_run(user->loop, EVRUN_NOWAIT);
}

static void race_all(unsigned how)
{
    struct user user;
    redlock_options options = impatient();
    user_open(&user, &cluster, &options);
    for (unsigned done = 0; done < RACES; done += AT_ONCE) {
        struct race races[AT_ONCE];
        for (unsigned i = 0; i < AT_ONCE; i++) {
            races[i] = plan_race(&user);
            ask(&races[i]);
        }
        for (unsigned moment = 0; moment < 8; moment++) {
            for (unsigned i = 0; i < AT_ONCE; i++)
                if (races[i].moment == moment)
                    carry_out(&races[i]);
            meddle(how);
            go_on(&user);
        }
        for (unsigned i = 0; i < AT_ONCE; i++) {
            if (below(2) && races[i].lease)
                AWAIT(&user, !races[i].lease || redlock_lease_valid_for(races[i].lease) > 0);
            redlock_lease_free(races[i].lease);
        }
    }
    redlock_stats stats = {.size = sizeof stats};
    AWAIT(&user, (redlock_stats_get(user.client, &stats), stats.held == 0));
    assert_int_equal(stats.lost, 0);
    user_close_clean(&user, &cluster);
}

CASE(test_cancelled)
{
    race_all(0);
}

CASE(test_cancelled_while_connections_break)
{
    race_all(1);
}

CASE(test_cancelled_while_masters_stall)
{
    race_all(2);
}

CASE(test_cancelled_while_scripts_vanish)
{
    race_all(3);
}

/* ---- Clients closed in mid-round ---- */

struct closing {
    struct user user;
    struct race races[4];
    unsigned closes; /* at which moment */
    unsigned closed; /* times told */
};

static struct ev_loop *loop;

static void count_closed(redlock *client, unsigned left, void *data)
{
    struct closing *closing = data;
    assert_int_equal(left, 0);
    assert_ptr_equal(client, closing->user.client);
    closing->closed++;
    if (below(2)) { /* the other way: later */
        redlock_free(client);
        closing->user.client = NULL;
    }
}

static void close_one(struct closing *closing)
{
    for (unsigned i = 0; i < COUNT(closing->races); i++)
        if (below(3) == 0)
            carry_out(&closing->races[i]);
    redlock_close(closing->user.client, 20000, count_closed, closing);
}

static unsigned count(const struct closing *closings)
{
    unsigned closed = 0;
    for (unsigned i = 0; i < AT_ONCE; i++)
        closed += closings[i].closed;
    return closed;
}

static void finish(struct closing *closing)
{
    assert_int_equal(closing->closed, 1);
    if (!closing->user.client)
        return; /* its leases are freed with it */
    for (unsigned i = 0; i < COUNT(closing->races); i++)
        redlock_lease_free(closing->races[i].lease);
    redlock_free(closing->user.client);
}

static void close_in_mid_round(unsigned how)
{
    static struct closing closings[AT_ONCE];
    redlock_options options = impatient();
    for (unsigned c = 0; c < AT_ONCE; c++) {
        struct closing *closing = &closings[c];
        user_begin(&closing->user, loop, cluster.nodes, &options);
        closing->closed = 0;
        closing->closes = below(60);
        for (unsigned i = 0; i < COUNT(closing->races); i++) {
            closing->races[i] = plan_race(&closing->user);
            ask(&closing->races[i]);
        }
    }
    for (unsigned moment = 0; moment < 60; moment++) {
        for (unsigned c = 0; c < AT_ONCE; c++)
            if (closings[c].closes == moment)
                close_one(&closings[c]);
        meddle(how);
        go_on(&closings[0].user);
    }
    AWAIT_MS(&closings[0].user, count(closings) == AT_ONCE, 25000);
    if (cluster_keys(&cluster))
        fail_msg("%u keys left", cluster_keys(&cluster));
    for (unsigned c = 0; c < AT_ONCE; c++)
        finish(&closings[c]);
    ev_run(loop, 0);
}

CASE(test_closed_in_mid_round)
{
    loop = ev_loop_new(0);
    for (unsigned i = 0; i < RACES; i += AT_ONCE)
        close_in_mid_round(0);
    ev_loop_destroy(loop);
}

CASE(test_closed_while_connections_break)
{
    loop = ev_loop_new(0);
    for (unsigned i = 0; i < RACES / 2; i += AT_ONCE)
        close_in_mid_round(1);
    ev_loop_destroy(loop);
}

PROGRAM(.masters = 5, .begun = seed)
