#include "sync_wait.h"

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

struct deadline sync_deadline(int64_t ms)
{
    if (ms == INT64_MAX)
        return (struct deadline){.never = true};
    return (struct deadline){.at = time_after(ms)};
}

bool sync_wait(pthread_cond_t *condition, pthread_mutex_t *lock, const struct deadline *until)
{
    if (until->never)
        return !pthread_cond_wait(condition, lock);
    return !pthread_cond_timedwait(condition, lock, &until->at);
}
