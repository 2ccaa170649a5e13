/*
 * recipe_user.h - a user of recipes in a live test: what it asks for on its loop, and what it heard
 * last.
 */
#ifndef REDLOCK_TEST_RECIPE_USER_H
#define REDLOCK_TEST_RECIPE_USER_H

#include <redlock/recipes.h>

#include "user.h"

/* A fenced lease on the name, with which its holder may announce. */
void take_lead(struct take *take, struct user *user, const char *name, int64_t ttl_ms,
               int64_t wait_ms);
/* Waits until the value is announced. */
void take_announce(struct take *take, const char *value);

/* An observer.  No term that it hears goes back. */
struct watch {
    redlock_observer *observer;
    unsigned times;
    redlock_leader last; /* its pointers are not to be used */
    char value[REDLOCK_VALUE_MAX + 1];
    int64_t highest; /* term */
    bool frees;      /* itself, when it hears something */
};
void watch_begin(struct watch *watch, struct user *user, const char *name);
bool watch_hears(const struct watch *watch, const char *value);
bool watch_hears_nobody(const struct watch *watch);

/* A party at a barrier. */
struct arrival {
    redlock_barrier *party;
    int64_t at_us; /* of its beginning */
    unsigned times;
    redlock_barrier_result told;
};
void arrival_begin(struct arrival *arrival, struct user *user, const char *name,
                   const redlock_barrier_options *options);
/* Waits until the party hears this, once, and frees it. */
void arrival_end(struct arrival *arrival, struct user *user, redlock_code code);

/* A call about a latch. */
struct latching {
    redlock_latch *latch;
    unsigned times;
    redlock_latch_result told;
};
typedef redlock_code latch_function(redlock *client, redlock_latch **latch, const char *name,
                                    const redlock_latch_options *options,
                                    redlock_latch_callback *callback, void *data);
void latching_begin(struct latching *latching, struct user *user, latch_function *function,
                    const char *name, const redlock_latch_options *options);
/* As arrival_end(). */
void latching_end(struct latching *latching, struct user *user, redlock_code code);

#endif
