/*
 * sync_user.h - what tests of the blocking API share: clients, leases, and waiting for a condition.
 */
#ifndef REDLOCK_TEST_SYNC_USER_H
#define REDLOCK_TEST_SYNC_USER_H

#include <pthread.h>
#include <redlock/recipes.h>
#include <redlock/sync.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

#include "../cases.h"
#include "asserts.h"
#include "cluster.h"
#include "named.h"

#define MS_US 1000

#define AWAIT_MS(condition, ms)                                                                    \
    do {                                                                                           \
        int64_t end_ = now_us() + (int64_t)(ms)*MS_US;                                             \
        while (!(condition)) {                                                                     \
            if (now_us() > end_)                                                                   \
                fail_msg("not within %lld ms: %s", (long long)(ms), #condition);                   \
            usleep(1000);                                                                          \
        }                                                                                          \
    } while (0)
#define AWAIT(condition) AWAIT_MS(condition, 10000)

redlock_stats stats_now(redlock_sync *client);
/* On a busy machine masters are slow: each has so much time for a request. */
redlock_sync *open_patient(const struct cluster *cluster, int64_t request_ms);
redlock_sync *open_on(const struct cluster *cluster);
/* A case with a client of the fixture's masters. */
extern redlock_sync *client;
int client_open(void **state);
int client_close(void **state);
#define WITH_CLIENT(name) CASE_WITH(name, client_open, client_close)
/* For a case that leaves nothing on the masters. */
int client_close_clean(void **state);
#define WITH_CLEAN_CLIENT(name) CASE_WITH(name, client_open, client_close_clean)

/* As if the masters had started long ago: the clocks of young ones are not believed by all. */
void make_them_old(void);

/* Waits for the masters to have its releases.  Returns how many are still owed. */
unsigned close_and_free(redlock_sync *client);
/* Nothing may be left on the masters. */
void close_clean(redlock_sync *client, struct cluster *cluster);

redlock_lease_options terms(int64_t ttl_ms, int64_t wait_ms);
/* The test fails unless the lease is given. */
redlock_sync_lease *take(redlock_sync *client, const char *name,
                         const redlock_lease_options *options);
void give_back(redlock_sync_lease *lease);

/* A call that waits in a thread of its own; call_end() is its outcome. */
struct call {
    redlock_code (*act)(struct call *call);
    redlock_sync *client;
    redlock_sync_lease *lease;
    const char *name;
    int64_t timeout_ms;       /* of an act that waits */
    const void *data;         /* for an act of the test's own */
    pthread_barrier_t *start; /* may be NULL */
    redlock_sync_result result;
    union {
        redlock_barrier_result passage;
        redlock_latch_result tally;
        redlock_leader leader;
    };
    redlock_code code;
    pthread_t thread;
    atomic_int id; /* of the thread; 0: it has not begun */
    atomic_bool done;
};
void call_begin(struct call *call);
redlock_code call_end(struct call *call);
/* Some that are alike begin; all end well. */
void calls_begin(struct call *calls, unsigned count, const struct call *like);
void calls_end(struct call *calls, unsigned count);
/* Its call is in the mail for the background thread: a thread that has begun sleeps nowhere else.
 */
bool call_is_asleep(const struct call *call);

/* Acts.  A lease that is taken is for 10 s. */
redlock_code take_it(struct call *call);
redlock_code extend_it(struct call *call);
redlock_code release_it(struct call *call);
redlock_code close_it(struct call *call);
/* As one of two parties. */
redlock_code arrive(struct call *call);
redlock_code await_latch(struct call *call);
redlock_code await_leader(struct call *call);

/* The background thread stands still from pause_begin() to pause_end(). */
struct pause {
    struct call call;
    sem_t begun, end;
};
void pause_begin(struct pause *pause, redlock_sync *client);
void pause_end(struct pause *pause);

#endif
