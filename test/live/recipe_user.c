#include "recipe_user.h"

#define PATIENCE_MS 20000

void take_lead(struct take *take, struct user *user, const char *name, int64_t ttl_ms,
               int64_t wait_ms)
{
    redlock_lease_options terms = lease_terms(ttl_ms, wait_ms);
    terms.fence = true;
    assert_code(take_lock(take, user, name, &terms), REDLOCK_OK);
}

void take_announce(struct take *take, const char *value)
{
    const struct told *told = &take->told[REDLOCK_ANNOUNCED];
    unsigned before = told->times;
    assert_code(redlock_lease_announce(take->lease, value, strlen(value)), REDLOCK_OK);
    AWAIT(take->user, told->times > before);
    assert_int_equal(told->times, before + 1);
    assert_true(told->event.granted >= told->event.quorum);
    assert_int_equal(told->event.fence, redlock_lease_fence(take->lease));
}

static void hear_leader(redlock_observer *observer, const redlock_leader *leader, void *data)
{
    struct watch *watch = data;
    assert_ptr_equal(observer, watch->observer);
    assert_non_null(leader->value);
    assert_true(leader->length <= REDLOCK_VALUE_MAX);
    assert_true(leader->term == 0 || leader->term >= watch->highest);
    if (leader->term)
        watch->highest = leader->term;
    watch->times++;
    watch->last = *leader;
    memcpy(watch->value, leader->value, leader->length);
    watch->value[leader->length] = '\0';
    if (watch->frees)
        redlock_observer_free(observer);
}

void watch_begin(struct watch *watch, struct user *user, const char *name)
{
    memset(watch, 0, sizeof *watch);
    assert_code(redlock_observer_begin(user->client, &watch->observer, name, hear_leader, watch),
                REDLOCK_OK);
    assert_int_equal(watch->times, 0);
}

bool watch_hears(const struct watch *watch, const char *value)
{
    return watch->last.code == REDLOCK_OK && watch->last.term && strcmp(watch->value, value) == 0;
}

bool watch_hears_nobody(const struct watch *watch)
{
    return watch->times && watch->last.code == REDLOCK_OK && !watch->last.term;
}

static void hear_passage(redlock_barrier *party, const redlock_barrier_result *passage, void *data)
{
    struct arrival *arrival = data;
    assert_ptr_equal(party, arrival->party);
    arrival->times++;
    arrival->told = *passage;
}

void arrival_begin(struct arrival *arrival, struct user *user, const char *name,
                   const redlock_barrier_options *options)
{
    *arrival = (struct arrival){.at_us = now_us()};
    assert_code(
        redlock_barrier_arrive(user->client, &arrival->party, name, options, hear_passage, arrival),
        REDLOCK_OK);
    assert_int_equal(arrival->times, 0);
}

void arrival_end(struct arrival *arrival, struct user *user, redlock_code code)
{
    AWAIT_MS(user, arrival->times, PATIENCE_MS);
    assert_int_equal(arrival->times, 1);
    assert_code(arrival->told.code, code);
    redlock_barrier_free(arrival->party);
}

static void hear_tally(redlock_latch *latch, const redlock_latch_result *tally, void *data)
{
    struct latching *latching = data;
    assert_ptr_equal(latch, latching->latch);
    latching->times++;
    latching->told = *tally;
}

void latching_begin(struct latching *latching, struct user *user, latch_function *function,
                    const char *name, const redlock_latch_options *options)
{
    *latching = (struct latching){0};
    assert_code(function(user->client, &latching->latch, name, options, hear_tally, latching),
                REDLOCK_OK);
    assert_int_equal(latching->times, 0);
}

void latching_end(struct latching *latching, struct user *user, redlock_code code)
{
    AWAIT_MS(user, latching->times, PATIENCE_MS);
    assert_int_equal(latching->times, 1);
    assert_code(latching->told.code, code);
    redlock_latch_free(latching->latch);
}
