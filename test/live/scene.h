/*
 * scene.h - where a counter-example is played: masters of its own, a road to each of them
 * that can be spoilt, and clients on one loop.
 */
#ifndef REDLOCK_TEST_SCENE_H
#define REDLOCK_TEST_SCENE_H

#include "fences.h"
#include "proxy.h"

#define SKEW_MS 50
#define ALL     (~0U) /* masters, as bits */

struct scene {
    struct cluster cluster;
    struct ev_loop *loop;
    int64_t max_ttl_ms;
    struct proxy *roads[CLUSTER_MAX]; /* used by who asks for it */
};

/* The masters have run for long, as far as they can tell.  The road to the last master has the
 * forger on it, if there is one. */
void scene_open(struct scene *scene, unsigned masters, int64_t max_ttl_ms, forge *forge,
                void *data);
void scene_close(struct scene *scene);

/* Patient with masters. */
redlock_options scene_options(const struct scene *scene);
/* The client reaches some masters, given as bits, by their roads, and the others directly. */
void scene_join(struct scene *scene, struct user *user, unsigned by_road,
                const redlock_options *options);
void scene_leave(struct user *user);

bool has(const struct take *take);
redlock_stats stats_of(const struct user *user);

/* Waiters whose label is this, and who are alive, on some masters. */
unsigned scene_waiters(struct scene *scene, unsigned masters, const char *label);
/* Notification connections of the client with this label, as a master knows them.  It may
 * know of one before the client has heard so; that is over when things have settled. */
unsigned scene_ears(struct scene *scene, unsigned master, const char *label);
void scene_settle(struct user *user);
/* Asks for what somebody holds, and waits until it stands on every master, is told of handovers,
 * and has heard all that it was answered. */
void scene_stand(struct scene *scene, struct take *take, struct user *user, const char *label,
                 const redlock_lease_options *terms);
/* Scripts that a master was asked for. */
long long scene_scripts(struct scene *scene, unsigned master);

#endif
