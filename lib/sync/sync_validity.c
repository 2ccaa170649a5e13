/*
 * sync_validity.c - the validity and the mode of leases, for every thread to read.
 *
 * Both are one word, so no thread reads the deadline of a reader with the mode of a writer.  It is
 * the deadline, CLOCK_BOOTTIME in microseconds, times two, plus one if the lease has a name shared.
 */
#include "double_time.h"
#include "sync_client.h"

#include <time.h>

/* With up to this number of leases held, the deadlines are brought up to date in
 * every iteration of the loop. */
#define REFRESH_AT_ONCE 64

#define NOT_HELD 0
/* A word that no renewal may replace any more: the lease was given back, or is over. */
#define GIVEN_BACK (-1)

int64_t sync_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return double_now((int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000);
}

int64_t sync_rest_of(int64_t wait_ms, int64_t begun)
{
    int64_t left = wait_ms - (sync_now_us() - begun) / 1000;
    return wait_ms == REDLOCK_FOREVER ? wait_ms : left > 0 ? left : 0;
}

static bool is_shared(int64_t word)
{
    return word & 1;
}

static int64_t ms_left(int64_t word)
{
    int64_t left = word > NOT_HELD ? word / 2 - sync_now_us() : 0;
    return left > 0 ? left / 1000 : 0;
}

/* `now` was read before: the deadline is the true one or a little earlier (about 1 ms),
 * never later. */
static int64_t word_of(const redlock_sync_lease *lease, int64_t now)
{
    int64_t valid = redlock_lease_valid_for(lease->handle);
    return valid > 0 ? (now + valid * 1000) * 2 + redlock_lease_is_shared(lease->handle) : NOT_HELD;
}

/* A lease that another thread gave back meanwhile stays given back. */
static void publish(redlock_sync_lease *lease, int64_t now)
{
    int64_t word = word_of(lease, now), old = atomic_load(&lease->word);
    if (old != GIVEN_BACK && old != word)
        atomic_compare_exchange_strong(&lease->word, &old, word);
}

void sync_publish(redlock_sync_lease *lease)
{
    publish(lease, sync_now_us());
}

void sync_end_lease(redlock_sync_lease *lease)
{
    atomic_store(&lease->word, GIVEN_BACK);
}

void sync_now_held(redlock_sync_lease *lease)
{
    lease->is_held = true;
    list_append(&lease->client->held, &lease->held);
    lease->client->held_count++;
}

void sync_no_longer_held(redlock_sync_lease *lease)
{
    sync_end_lease(lease);
    if (!lease->is_held)
        return;
    lease->is_held = false;
    list_remove(&lease->held);
    lease->client->held_count--;
}

static void refresh_all(redlock_sync *client, int64_t now)
{
    for (struct list *at = client->held.next; at != &client->held; at = at->next)
        publish(LIST_OWNER(at, redlock_sync_lease, held), now);
    client->refresh_at = client->held_count > REFRESH_AT_ONCE ? now + client->held_count : 0;
}

/* A renewal that succeeds makes no event, and validity may also shrink when a master
 * says that it lost the lease: so the sweep looks at all leases held.  With many leases
 * a sweep takes long compared to a turn, so the time between two sweeps is some
 * ten times the time of a sweep. */
int sync_refresh(redlock_sync *client)
{
    if (list_is_empty(&client->held))
        return -1;
    int64_t now = sync_now_us();
    if (now < client->refresh_at)
        return (int)((client->refresh_at - now + 999) / 1000);
    refresh_all(client, now);
    return -1;
}

void sync_end_validity(redlock_sync *client)
{
    for (struct list *at = client->held.next; at != &client->held; at = at->next)
        sync_end_lease(LIST_OWNER(at, redlock_sync_lease, held));
}

static int64_t read_word(const redlock_sync_lease *lease)
{
    if (!lease || lease->client->process != forks_process())
        return NOT_HELD;
    return atomic_load(&lease->word);
}

int64_t sync_look(const redlock_sync_lease *lease, bool *shared)
{
    int64_t word = read_word(lease);
    *shared = is_shared(word);
    return ms_left(word);
}

int64_t redlock_sync_lease_valid_for(const redlock_sync_lease *lease)
{
    return ms_left(read_word(lease));
}

int64_t redlock_sync_lease_exclusive_for(const redlock_sync_lease *lease)
{
    bool shared;
    int64_t left = sync_look(lease, &shared);
    return shared ? 0 : left;
}
