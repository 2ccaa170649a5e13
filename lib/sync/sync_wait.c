#include "sync_wait.h"

#include "double_time.h"

/* In virtual time, for which a wait without an end lasts: longer than any lease that nobody renews.
 */
#define NEVER_US (INT64_C(25) * 3600 * 1000000)

void sync_init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static struct timespec time_after(int64_t ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += (time_t)(ms / 1000);
    at.tv_nsec += (long)(ms % 1000) * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

static int64_t virtual_time_after(int64_t ms)
{
    return double_now(0) + (ms <= INT64_MAX / 2000 ? ms * 1000 : NEVER_US);
}

struct deadline sync_deadline(int64_t ms)
{
    if (double_is_virtual())
        return (struct deadline){.at_us = virtual_time_after(ms)};
    if (ms == INT64_MAX)
        return (struct deadline){.never = true};
    return (struct deadline){.at = time_after(ms)};
}

static bool wait_in_virtual_time(pthread_mutex_t *lock, int64_t until)
{
    pthread_mutex_unlock(lock);
    bool in_time = double_go_on(until);
    pthread_mutex_lock(lock);
    return in_time;
}

bool sync_wait(pthread_cond_t *condition, pthread_mutex_t *lock, const struct deadline *until)
{
    if (double_is_virtual())
        return wait_in_virtual_time(lock, until->at_us);
    if (until->never)
        return !pthread_cond_wait(condition, lock);
    return !pthread_cond_timedwait(condition, lock, &until->at);
}
