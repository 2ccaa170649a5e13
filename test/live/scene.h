/*
 * scene.h - where a counter-example is played: masters of its own, a road to each of them
 * that can be spoilt, and clients on one loop.
 */
#ifndef REDLOCK_TEST_SCENE_H
#define REDLOCK_TEST_SCENE_H

#include "fences.h"
#include "fixture.h"
#include "proxy.h"

#define SKEW_MS 50
#define ALL     (~0U) /* masters, as bits */

struct scene {
    struct cluster cluster;
    struct ev_loop *loop;
    int64_t max_ttl_ms;
    struct proxy *roads[CLUSTER_MAX]; /* used on request */
};

/* A case that is played in `scene`, whose masters have run for long, as far as they can tell:
 * SCENE(what_is_true, .masters = 3) { ... } */
#define SCENE(name, ...)                                                                           \
    static struct scene_terms name##_terms = {__VA_ARGS__};                                        \
    CASE_OF(name, scene_set_up, scene_tear_down, &name##_terms)
struct scene_terms {
    unsigned masters;
    int64_t max_ttl_ms; /* 0: 30 s */
};
extern struct scene scene;
int scene_tear_down(void **state);

/* Patient with masters. */
redlock_options scene_options(const struct scene *scene);
#define NODES_SIZE (CLUSTER_MAX * URI_SIZE)
/* The list of masters: some, given as bits, by their roads, and the others directly. */
void scene_nodes(const struct scene *scene, unsigned by_road, char nodes[NODES_SIZE]);
/* A client with such a list. */
void scene_join(struct scene *scene, struct user *user, unsigned by_road,
                const redlock_options *options);
/* A client of a fleet that lists `count` masters, from `first` on.  It may not be ready yet. */
void scene_list(struct scene *scene, struct user *user, const char *fleet, unsigned first,
                unsigned count);
/* Likewise, and waits until all of them vote. */
void scene_join_list(struct scene *scene, struct user *user, const char *fleet, unsigned first,
                     unsigned count);
/* With scene_options() and a label. */
void scene_enter(struct scene *scene, struct user *user, const char *label, unsigned by_road);
void scene_leave(struct user *user);

/* Live waiters with this label, on some masters. */
unsigned scene_waiters(struct scene *scene, unsigned masters, const char *label);
/* Notification connections of the client with this label, as a master knows them.  The master
 * may know of one a moment before the client does. */
unsigned scene_subscriptions(struct scene *scene, unsigned master, const char *label);
void scene_settle(struct user *user);
/* Asks for a held name, and waits until the lease is enqueued and subscribed on every master,
 * and has all answers. */
void scene_enqueue(struct scene *scene, struct take *take, struct user *user, const char *label,
                   const redlock_lease_options *terms);
/* One user takes the name, and another is enqueued for it as "waiter". */
void scene_enqueue_behind(struct scene *scene, struct take *holder, struct user *holds,
                          struct take *waiter, struct user *waits);
/* The holder releases, and the waiter gets the name in time and by a push; then all is released. */
void scene_hand_over_by_push(struct scene *scene, struct take *holder, struct take *waiter,
                             int64_t within_ms);
/* Scripts that a master was asked for. */
long long scene_scripts(struct scene *scene, unsigned master);

#endif
