/*
 * sync_wait.h - waiting for a condition, for a time at most.
 */
#ifndef REDLOCK_SYNC_WAIT_H
#define REDLOCK_SYNC_WAIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct deadline {
    bool never;
    struct timespec at; /* CLOCK_MONOTONIC */
    int64_t at_us;      /* of virtual time */
};

/* A condition that sync_wait() can wait for. */
void sync_init_condition(pthread_cond_t *condition);
/* After `ms`, which are not negative; INT64_MAX (REDLOCK_FOREVER): never. */
struct deadline sync_deadline(int64_t ms);
/* Waits until the condition is signalled, or for no reason; the lock is held.  False: the time is
 * over.  In virtual time that comes to never, too: see redlock/testing.h. */
bool sync_wait(pthread_cond_t *condition, pthread_mutex_t *lock, const struct deadline *until);

#endif
