/*
 * sync_wanted.c - the wishes for a name that a thread holds: kept for it, and waited for.
 *
 * The lease heeds wishes from the first call on.  It keeps those that no thread has taken, and
 * tells how many they are: so to look costs nothing while there are none.
 */
#include "redlock/recipes.h"
#include "sized.h"
#include "sync_client.h"
#include "sync_report.h"

#include <stdio.h>
#include <stdlib.h>

#define KEPT_MOST 16 /* the oldest of more go */

static const struct sized wish_kind = SIZED(redlock_wish, waiting);

struct kept_wish {
    unsigned waiting;
    char who[80], text[208];
};

struct kept_wishes {
    struct kept_wish of[KEPT_MOST];
    unsigned first;
    struct kept_wish given; /* to a thread: that of the last call */
};

struct wanted_call {
    struct call call;
    bool heeds; /* else only a break is heard of */
    int64_t wait_ms;
};

/* ---- what is kept ---- */

static void keep_wish(redlock_sync_lease *lease, const redlock_wish *wish)
{
    struct kept_wishes *kept = lease->wishes;
    int count = atomic_load(&lease->wished);
    if (count == KEPT_MOST) {
        kept->first = (kept->first + 1) % KEPT_MOST;
        count--;
    }
    struct kept_wish *it = &kept->of[(kept->first + (unsigned)count) % KEPT_MOST];
    it->waiting = wish->waiting;
    snprintf(it->who, sizeof it->who, "%s", wish->who);
    snprintf(it->text, sizeof it->text, "%s", wish->text);
    atomic_store(&lease->wished, count + 1);
}

static void give_wish(redlock_sync_lease *lease)
{
    struct kept_wishes *kept = lease->wishes;
    kept->given = kept->of[kept->first];
    kept->first = (kept->first + 1) % KEPT_MOST;
    atomic_fetch_sub(&lease->wished, 1);
}

/* ---- the background thread ---- */

static void end_wanted(struct call **slot, redlock_sync *client)
{
    struct call *call = *slot;
    give_wish(call->lease);
    *slot = NULL;
    sync_finish(client, call, sync_report(call->result, REDLOCK_OK, "somebody asks for it"));
}

static void on_wish(redlock_heeder *heeder, const redlock_wish *wish, void *data)
{
    redlock_sync_lease *lease = data;
    (void)heeder;
    keep_wish(lease, wish);
    if (lease->wanting)
        end_wanted(&lease->wanting, lease->client);
}

/* One that only listens for a break begins anew when a thread wants wishes, too. */
static redlock_code hear_for(redlock_sync_lease *lease, bool heeds)
{
    bool has_begun = lease->heeder && (!heeds || atomic_load(&lease->wished) >= 0);
    if (has_begun)
        return REDLOCK_OK;
    redlock_heeder *heeder;
    redlock_code code =
        redlock_heed(lease->handle, &heeder, heeds ? on_wish : NULL, heeds ? lease : NULL);
    if (code)
        return code;
    redlock_heeder_free(lease->heeder);
    lease->heeder = heeder;
    if (heeds)
        atomic_store(&lease->wished, 0);
    return REDLOCK_OK;
}

static const char nobody_asks[] = "nobody asks for it";

static void start_wanted(redlock_sync *client, struct call *call)
{
    redlock_sync_lease *lease = call->lease;
    struct wanted_call *wanted = LIST_OWNER(call, struct wanted_call, call);
    if (sync_postpone(client, call))
        return;
    if (lease->wanting && wanted->wait_ms) {
        sync_finish(client, call,
                    sync_report(call->result, REDLOCK_E_STATE,
                                "another thread waits for a wish: one at a time"));
        return;
    }
    redlock_code code = hear_for(lease, wanted->heeds);
    if (code)
        sync_refuse(client, call, code);
    else if (!wanted->heeds)
        sync_finish(client, call, sync_report(call->result, REDLOCK_OK, ""));
    else if (atomic_load(&lease->wished))
        end_wanted(&call, client);
    else if (wanted->wait_ms == 0)
        sync_finish(client, call, sync_report(call->result, REDLOCK_E_UNAVAILABLE, nobody_asks));
    else
        sync_await(client, call, &lease->wanting, REDLOCK_OK);
}

/* The time of the call is over, unless it has ended since. */
static void start_late(redlock_sync *client, struct call *late)
{
    struct call *call = late->data;
    if (!call->done) {
        if (call->lease->wanting == call)
            call->lease->wanting = NULL;
        sync_finish(client, call, sync_report(call->result, REDLOCK_E_UNAVAILABLE, nobody_asks));
    }
    sync_finish(client, late, REDLOCK_OK);
}

/* ---- any thread ---- */

/* Only the background thread heeds, and keeps wishes.  (In virtual time it needs a turn for that.)
 */
static bool has_nothing_new(const redlock_sync_lease *lease, int64_t wait_ms)
{
    return wait_ms == 0 && !lease->client->place && atomic_load(&lease->wished) == 0 &&
           redlock_sync_lease_valid_for(lease) > 0;
}

static redlock_code check_wanted(const redlock_sync_lease *lease, const redlock_wish *wish,
                                 int64_t wait_ms, redlock_sync_result *result)
{
    if (!lease || !sync_report_is_usable(result))
        return REDLOCK_E_ARGUMENT;
    if (wish && !sized_is_known(&wish_kind, wish->size))
        return sync_report_size(result, &wish_kind, wish->size);
    if (wait_ms < 0)
        return sync_report(result, REDLOCK_E_ARGUMENT,
                           "wait_ms is negative: 0 to look, or REDLOCK_FOREVER");
    return REDLOCK_OK;
}

/* A second call at a time finds it made. */
static bool make_room(redlock_sync_lease *lease)
{
    pthread_mutex_lock(&lease->client->lock);
    if (!lease->wishes)
        lease->wishes = calloc(1, sizeof *lease->wishes);
    bool has_room = lease->wishes;
    pthread_mutex_unlock(&lease->client->lock);
    return has_room;
}

static void fill_wish(redlock_wish *wish, const struct kept_wish *given)
{
    redlock_wish full = {
        .size = sizeof full, .who = given->who, .text = given->text, .waiting = given->waiting};
    sized_give(wish, &full);
}

redlock_code redlock_sync_wanted(redlock_sync_lease *lease, redlock_wish *wish, int64_t wait_ms,
                                 redlock_sync_result *result)
{
    redlock_code code = check_wanted(lease, wish, wait_ms, result);
    if (code)
        return code;
    if (wish && has_nothing_new(lease, wait_ms))
        return sync_report(result, REDLOCK_E_UNAVAILABLE, nobody_asks);
    code = sync_check(lease->client);
    if (code)
        return sync_report(result, code, sync_why_not(lease->client, code));
    if (!make_room(lease))
        return sync_report(result, REDLOCK_E_MEMORY, redlock_code_text(REDLOCK_E_MEMORY));
    struct wanted_call wanted = {.call = {.start = start_wanted, .lease = lease, .result = result},
                                 .heeds = wish != NULL,
                                 .wait_ms = wait_ms};
    struct call late = {.start = start_late, .data = &wanted.call};
    code = sync_ask_for(lease->client, &wanted.call, wait_ms ? wait_ms : REDLOCK_FOREVER, &late);
    if (!code && wish)
        fill_wish(wish, &lease->wishes->given);
    return code;
}
