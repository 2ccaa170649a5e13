#include "system.h"

#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static atomic_uint forks;
static pthread_once_t armed = PTHREAD_ONCE_INIT;
static int arming;

usec system_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return (usec)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

usec system_wall_lead(void)
{
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    return (usec)wall.tv_sec * 1000000 + wall.tv_nsec / 1000 - system_now();
}

static void count_fork(void)
{
    atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed);
}

static void arm(void)
{
    arming = pthread_atfork(NULL, NULL, count_fork);
}

int system_start(void)
{
    if (sodium_init() < 0 || pthread_once(&armed, arm) != 0 || arming != 0)
        return -1;
    return 0;
}

unsigned system_fork_count(void)
{
    return atomic_load_explicit(&forks, memory_order_relaxed);
}

void randomness_init(struct randomness_store *store)
{
    store->used = sizeof store->bytes;
    store->forks = system_fork_count();
}

struct randomness randomness_lend(struct randomness_store *store)
{
    bool parents = store->forks != system_fork_count();
    if (parents || sizeof store->bytes - store->used < RANDOMNESS_PER_STEP) {
        randombytes_buf(store->bytes, sizeof store->bytes);
        store->used = 0;
        store->forks = system_fork_count();
    }
    return (struct randomness){store->bytes + store->used, sizeof store->bytes - store->used};
}

void randomness_settle(struct randomness_store *store, struct randomness rest)
{
    size_t used = sizeof store->bytes - rest.left;
    if (used == store->used) /* most steps draw nothing */
        return;
    sodium_memzero(store->bytes + store->used, used - store->used);
    store->used = used;
}

void system_label(char *label, size_t size)
{
    char host[256], pid[24];
    if (gethostname(host, sizeof host) != 0)
        snprintf(host, sizeof host, "unknown");
    host[sizeof host - 1] = '\0';
    for (char *at = host; *at; at++)
        if (*at <= ' ' || *at > '~')
            *at = '?';
    int length = snprintf(pid, sizeof pid, ":%ld", (long)getpid());
    int room = (int)size - 1 - length;
    snprintf(label, size, "%.*s%s", room > 0 ? room : 0, host, pid);
}
