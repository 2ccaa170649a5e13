#include "system.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "double.h"
#include "forks.h"

static usec time_since_boot(void)
{
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return (usec)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

usec system_now(void)
{
    return double_now(time_since_boot());
}

usec system_wall_lead(void)
{
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    return (usec)wall.tv_sec * 1000000 + wall.tv_nsec / 1000 - time_since_boot();
}

int system_start(void)
{
    return sodium_init() < 0 ? -1 : forks_watch();
}

void system_forget(void *bytes, size_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)bytes;
    uintptr_t from = (begin + page - 1) & ~(page - 1), to = (begin + size) & ~(page - 1);
    if (from < to)
        madvise((char *)bytes + (from - begin), to - from, MADV_DONTNEED);
}

/* Bytes of this age may be part of a snapshot from which several machines go on. */
#define STALE_NS 10000000

void randomness_forget(struct randomness_store *store)
{
    store->drawn_at = 0;
}

static int64_t wall_ns(void)
{
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    return (int64_t)wall.tv_sec * 1000000000 + wall.tv_nsec;
}

static bool is_good(const struct randomness_store *store, int64_t now)
{
    return sizeof store->bytes - store->used >= RANDOMNESS_PER_STEP && store->drawn_at &&
           now >= store->drawn_at && now < store->drawn_at + STALE_NS &&
           store->process == forks_process();
}

static void draw_bytes(struct randomness_store *store, int64_t now)
{
    randombytes_buf(store->bytes, sizeof store->bytes);
    store->used = 0;
    store->drawn_at = now;
    store->process = forks_process();
}

/* Puts the moment into each token: so tokens differ even if they are drawn from copied bytes, or
 * by copies of one kernel. */
static void stir_bytes(uint8_t *bytes, int64_t now)
{
    uint8_t moment[sizeof now];
    memcpy(moment, &now, sizeof now);
    for (size_t i = 0; i < RANDOMNESS_PER_STEP; i += TOKEN_RANDOM)
        for (size_t j = 0; j < sizeof moment; j++)
            bytes[i + j] ^= moment[j];
}

struct randomness randomness_lend(struct randomness_store *store)
{
    int64_t now = wall_ns();
    if (!is_good(store, now))
        draw_bytes(store, now);
    /* The moment goes into a copy: when bytes are lent twice, their two moments must not mix. */
    memcpy(store->lent, store->bytes + store->used, sizeof store->lent);
    stir_bytes(store->lent, now);
    return (struct randomness){store->lent, sizeof store->lent};
}

void randomness_settle(struct randomness_store *store, struct randomness rest)
{
    size_t taken = RANDOMNESS_PER_STEP - rest.left;
    if (!taken) /* most steps draw nothing */
        return;
    sodium_memzero(store->bytes + store->used, taken);
    sodium_memzero(store->lent, taken);
    store->used += taken;
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
