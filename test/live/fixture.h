/*
 * fixture.h - shared by the cases of a live test. The masters run from the first case to the last,
 * with one client for all cases if the test wants one.
 *
 * A case that needs masters of its own has a scene (scene.h).
 */
#ifndef REDLOCK_TEST_FIXTURE_H
#define REDLOCK_TEST_FIXTURE_H

#include <redlock.h>
#include <stdio.h>
#include <string.h>

#include "../cases.h"
#include "cluster.h"

struct user;

struct fixture {
    unsigned masters;
    const char *flags;              /* of cluster_start() */
    bool fenced;                    /* the masters are for clients of fence_options() */
    bool has_user;                  /* `user` is open, and must leave no key behind */
    const redlock_options *options; /* of that user; may be NULL */
    void (*begun)(void);            /* called when the masters are there */
    void (*ending)(void);           /* called before the masters end */
};

extern struct cluster cluster;
extern struct user user;

int fixture_start(void **state);
int fixture_stop(void **state);

/* The program of a test: runs the cases that are no scenes with such a fixture, and then the
 * scenes. PROGRAM(.masters = 5)  Without masters there is no fixture. */
#define PROGRAM(...)                                                                               \
    int main(void)                                                                                 \
    {                                                                                              \
        return RUN_WITH(__VA_ARGS__);                                                              \
    }
/* For a main() that has more to do.  No road leads a scene to masters inside the process. */
#define RUN_WITH(...)                                                                              \
    (fixture = (struct fixture){__VA_ARGS__}, fixture_filter(),                                    \
     cases_run(scene_set_up, true, fixture_start, fixture_stop) +                                  \
         (cluster_is_inside() ? 0 : cases_run(scene_set_up, false, NULL, NULL)))
int scene_set_up(void **state);
/* REDLOCK_CASE=PATTERN runs only cases with such a name. */
void fixture_filter(void);
extern struct fixture fixture;

#endif
