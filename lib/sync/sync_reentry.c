/*
 * sync_reentry.c - leases that a thread acquires while it holds them.
 *
 * A reentrant lease belongs to the thread that acquired it.  When its owner acquires the same
 * names once more it gets the same handle, and two numbers grow:
 *
 *   handles   acquires that were not freed yet
 *   held      acquires that were neither released nor, unreleased, freed
 *
 * All acquires share one handle, so a free does not say to which acquire it belongs.  It counts for
 * a released acquire, if there is any.  Only when held == handles there is none, and then the free
 * lowers both.  So always held <= handles, and a free makes held 0 only together with handles.  A
 * lease is given back by the release that makes held 0, or by the free that makes handles 0.
 *
 * A lease is in its client's list `reentrant` from the end of its first acquire until held is 0.
 * A thread owns no two leases of the list that have a name in common.
 */
#include "margin.h"
#include "sync_client.h"
#include "sync_report.h"

#include <stdlib.h>
#include <string.h>

struct reentry {
    struct list place; /* in the client's list `reentrant` */
    redlock_sync_lease *lease;
    uint64_t owner;
    unsigned held, handles;
    int64_t margin_ms;
    redlock_code lost; /* what LOST said; else REDLOCK_OK */
    bool all_shared;   /* it was downgraded; an upgrade since shows in the lease's word */
    size_t count;
    redlock_name names[]; /* their bytes follow */
};

/* No number is used again, unlike a pthread_t or an address. */
static uint64_t this_thread(void)
{
    static _Atomic uint64_t threads;
    static _Thread_local uint64_t number;
    if (!number)
        number = atomic_fetch_add(&threads, 1) + 1;
    return number;
}

/* ---- a lease that can be acquired once more ---- */

static bool is_same_name(const redlock_name *a, const redlock_name *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

static const redlock_name *find_name(const redlock_name *names, size_t count,
                                     const redlock_name *name)
{
    for (size_t i = 0; i < count; i++)
        if (is_same_name(&names[i], name))
            return &names[i];
    return NULL;
}

static bool has_mode(const redlock_name *name)
{
    return name->mode == REDLOCK_EXCLUSIVE || name->mode == REDLOCK_SHARED;
}

/* The rest of what can be wrong with names is found when a lease is asked for. */
static bool take_set(const redlock_name *names, size_t count, redlock_name *to)
{
    static const struct sized sized = SIZED_NAME;
    if (!names || count == 0 || count > REDLOCK_NAMES_MAX)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!sized_take_element(&sized, &to[i], names, i) || !has_mode(&to[i]) || !to[i].bytes ||
            to[i].length > REDLOCK_NAME_MAX || find_name(to, i, &to[i]))
            return false;
    return true;
}

static size_t size_for_names(const redlock_name *names, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += names[i].length;
    return bytes;
}

static void copy_names(struct reentry *reentry, const redlock_name *names, bool all_shared)
{
    char *bytes = (char *)(reentry->names + reentry->count);
    for (size_t i = 0; i < reentry->count; i++) {
        memcpy(bytes, names[i].bytes, names[i].length);
        reentry->names[i] = names[i];
        reentry->names[i].bytes = bytes;
        if (all_shared)
            reentry->names[i].mode = REDLOCK_SHARED;
        bytes += names[i].length;
    }
}

bool sync_reentry_prepare(redlock_sync_lease *lease, const redlock_name *names, size_t count,
                          bool all_shared)
{
    redlock_name taken[REDLOCK_NAMES_MAX];
    if (!take_set(names, count, taken))
        return true; /* it is about to be refused */
    struct reentry *reentry =
        calloc(1, sizeof *reentry + count * sizeof *taken + size_for_names(taken, count));
    if (!reentry)
        return false;
    list_init(&reentry->place);
    reentry->lease = lease;
    reentry->held = reentry->handles = 1;
    reentry->count = count;
    copy_names(reentry, taken, all_shared);
    lease->reentry = reentry;
    return true;
}

/* In ms, rounded down like the validity that it is compared with. */
static int64_t margin_of(const redlock_lease_options *options)
{
    int64_t ttl_ms = options->ttl_ms ? options->ttl_ms : TTL_MS_USUAL;
    if (options->margin_ms == REDLOCK_ZERO)
        return 0;
    return options->margin_ms ? options->margin_ms : margin_usual(ttl_ms * 1000) / 1000;
}

void sync_reentry_begin(redlock_sync_lease *lease, const redlock_lease_options *options)
{
    redlock_sync *client = lease->client;
    lease->reentry->margin_ms = margin_of(options);
    pthread_mutex_lock(&client->lock);
    lease->reentry->owner = this_thread();
    list_append(&client->reentrant, &lease->reentry->place);
    pthread_mutex_unlock(&client->lock);
}

/* ---- what becomes of it ---- */

void sync_reentry_lost(redlock_sync_lease *lease, redlock_code code)
{
    if (!lease->reentry)
        return;
    pthread_mutex_lock(&lease->client->lock);
    lease->reentry->lost = code;
    pthread_mutex_unlock(&lease->client->lock);
}

void sync_reentry_downgraded(redlock_sync_lease *lease)
{
    if (!lease->reentry)
        return;
    pthread_mutex_lock(&lease->client->lock);
    lease->reentry->all_shared = true;
    pthread_mutex_unlock(&lease->client->lock);
}

/* ---- acquiring it once more; all under the client's lock ---- */

static size_t names_in_common(const struct reentry *reentry, const redlock_name *names,
                              size_t count)
{
    size_t common = 0;
    for (size_t i = 0; i < count; i++)
        common += find_name(reentry->names, reentry->count, &names[i]) != NULL;
    return common;
}

/* The lease of this thread that has one of the names, or NULL. */
static struct reentry *find_own(redlock_sync *client, const redlock_name *names, size_t count,
                                size_t *common)
{
    uint64_t own = this_thread();
    for (struct list *at = client->reentrant.next; at != &client->reentrant; at = at->next) {
        struct reentry *reentry = LIST_OWNER(at, struct reentry, place);
        *common = reentry->owner == own ? names_in_common(reentry, names, count) : 0;
        if (*common)
            return reentry;
    }
    return NULL;
}

static bool is_same_set(const struct reentry *reentry, size_t common, size_t count)
{
    return common == count && common == reentry->count;
}

static bool has_shared(const struct reentry *reentry, const redlock_name *name)
{
    return find_name(reentry->names, reentry->count, name)->mode == REDLOCK_SHARED;
}

static bool would_write_a_shared_name(const struct reentry *reentry, const redlock_name *names,
                                      const redlock_lease_options *options)
{
    for (size_t i = 0; i < reentry->count && options->mode != REDLOCK_SHARED; i++)
        if (names[i].mode != REDLOCK_SHARED &&
            (reentry->all_shared || has_shared(reentry, &names[i])))
            return true;
    return false;
}

static redlock_code once_more(struct reentry *reentry, const redlock_name *names,
                              const redlock_lease_options *options, redlock_sync_result *result)
{
    bool shared;
    int64_t valid_ms = sync_look(reentry->lease, &shared);
    if (reentry->lost)
        return sync_report(result, reentry->lost, redlock_code_text(reentry->lost));
    if (valid_ms <= reentry->margin_ms)
        return sync_report(result, REDLOCK_E_EXPIRED,
                           "the lease that this thread holds ends within its margin");
    if (shared && would_write_a_shared_name(reentry, names, options))
        return sync_report(result, REDLOCK_E_STATE,
                           "this thread has a name shared that it asks for exclusively: "
                           "redlock_sync_lease_upgrade() makes the lease that it holds exclusive");
    if (options->fence && !atomic_load(&reentry->lease->fence))
        return sync_report(result, REDLOCK_E_STATE,
                           "a fence is asked for, but the lease that this thread holds has none: "
                           "ask for it in the first acquire");
    reentry->held++;
    reentry->handles++;
    return sync_report_depth(result, REDLOCK_OK, valid_ms, "held by this thread already",
                             reentry->held);
}

static redlock_code enter_held(const redlock_sync *client, struct reentry *reentry, size_t common,
                               const redlock_name *names, size_t count,
                               const redlock_lease_options *options, redlock_sync_result *result)
{
    if (client->closing)
        return sync_report(result, REDLOCK_E_CLOSED, redlock_code_text(REDLOCK_E_CLOSED));
    if (!is_same_set(reentry, common, count))
        return sync_report(result, REDLOCK_E_STATE,
                           "this thread holds some of the names by a reentrant lease on other "
                           "names, and would wait for itself: acquire the same names, or release "
                           "that lease first");
    return once_more(reentry, names, options, result);
}

bool sync_reentry_enter(redlock_sync *client, redlock_sync_lease **lease, const redlock_name *names,
                        size_t count, const redlock_lease_options *options,
                        redlock_sync_result *result, redlock_code *code)
{
    size_t common = 0;
    redlock_name taken[REDLOCK_NAMES_MAX];
    if (!take_set(names, count, taken))
        return false;
    pthread_mutex_lock(&client->lock);
    struct reentry *reentry = find_own(client, taken, count, &common);
    if (reentry)
        *code = enter_held(client, reentry, common, taken, count, options, result);
    if (reentry && !*code)
        *lease = reentry->lease;
    pthread_mutex_unlock(&client->lock);
    return reentry != NULL;
}

/* As once_more() would let it in: a lost lease is valid for 0 ms. */
static bool is_good(const struct reentry *reentry)
{
    return redlock_sync_lease_valid_for(reentry->lease) > reentry->margin_ms;
}

unsigned redlock_sync_hold_count(redlock_sync *client, const redlock_name *names, size_t count)
{
    size_t common = 0;
    redlock_name taken[REDLOCK_NAMES_MAX];
    if (sync_check(client) || !take_set(names, count, taken))
        return 0;
    pthread_mutex_lock(&client->lock);
    const struct reentry *reentry = find_own(client, taken, count, &common);
    bool holds = reentry && is_same_set(reentry, common, count) && is_good(reentry);
    unsigned held = holds ? reentry->held : 0;
    pthread_mutex_unlock(&client->lock);
    return held;
}

/* ---- giving it back; all under the client's lock ---- */

/* One acquire less that holds the lease. */
static void leave_held(struct reentry *reentry)
{
    if (--reentry->held == 0)
        list_remove(&reentry->place);
}

static redlock_code outcome_of_release(const redlock_sync *client, const struct reentry *reentry,
                                       redlock_sync_result *result)
{
    bool shared;
    if (client->closing)
        return sync_report(result, REDLOCK_E_CLOSED, redlock_code_text(REDLOCK_E_CLOSED));
    if (reentry->lost)
        return sync_report(result, REDLOCK_E_GONE, redlock_code_text(reentry->lost));
    int64_t valid_ms = sync_look(reentry->lease, &shared);
    if (valid_ms == 0) /* LOST comes when the background thread runs again */
        return sync_report(result, REDLOCK_E_GONE, redlock_code_text(REDLOCK_E_EXPIRED));
    return sync_report_depth(result, REDLOCK_OK, valid_ms,
                             "still held for other acquires of the thread", reentry->held);
}

bool sync_reentry_release(redlock_sync_lease *lease, redlock_sync_result *result,
                          redlock_code *code)
{
    struct reentry *reentry = lease->reentry;
    if (!reentry)
        return false;
    pthread_mutex_lock(&lease->client->lock);
    if (reentry->held > 0)
        leave_held(reentry);
    bool goes_on = reentry->held > 0;
    if (goes_on)
        *code = outcome_of_release(lease->client, reentry, result);
    pthread_mutex_unlock(&lease->client->lock);
    return goes_on;
}

bool sync_reentry_free(redlock_sync_lease *lease)
{
    struct reentry *reentry = lease->reentry;
    if (!reentry)
        return false;
    pthread_mutex_lock(&lease->client->lock);
    if (reentry->held == reentry->handles)
        leave_held(reentry);
    bool goes_on = --reentry->handles > 0;
    pthread_mutex_unlock(&lease->client->lock);
    return goes_on;
}
