/*
 * sync_side.c - the clients of redlock.h behind a client: one for each list of masters.
 */
#include "sync_client.h"

#include <stdio.h>
#include <stdlib.h>

#include "sized.h"

struct side *sync_present(const redlock_sync *client)
{
    return LIST_OWNER(client->sides.next, struct side, place);
}

/* ---- Callbacks.  The data of former ones may be gone. ---- */

static void note_ready(redlock_sync *client, redlock_code code, const char *text)
{
    pthread_mutex_lock(&client->lock);
    client->ready = true;
    client->ready_code = code;
    snprintf(client->ready_text, sizeof client->ready_text, "%s", text);
    pthread_cond_broadcast(&client->changed);
    pthread_mutex_unlock(&client->lock);
}

static void ask_to_follow(redlock_sync *client)
{
    client->may_follow = client->follow_asked = true;
}

static void on_ready(redlock *redlock, redlock_code code, const char *text, void *data)
{
    const struct side *side = data;
    if (side->former)
        return;
    if (code == REDLOCK_E_DIFFERS && side->client->follow(side->client))
        return; /* that of the next list tells */
    note_ready(side->client, code, text);
    if (side->options.on_ready)
        side->options.on_ready(redlock, code, text, side->options.data);
}

static void on_log(redlock_level level, const char *text, void *data)
{
    const struct side *side = data;
    const struct side *to = side->former ? sync_present(side->client) : side;
    if (to->options.on_log)
        to->options.on_log(level, text, to->options.data);
}

static void on_node(redlock *redlock, unsigned node, void *data)
{
    const struct side *side = data;
    if (side->former)
        return;
    ask_to_follow(side->client);
    if (side->options.on_node)
        side->options.on_node(redlock, node, side->options.data);
}

static redlock_options our_options(struct side *side)
{
    redlock_options ours = side->options;
    ours.on_ready = on_ready;
    ours.on_log = ours.on_log ? on_log : NULL;
    ours.on_node = ours.on_node || side->follows ? on_node : NULL;
    ours.data = side;
    return ours;
}

/* ---- From open to free --------------------------------------------------- */

/* A size that is not known stays, for redlock_open() refuses it. */
static bool keep_options(struct side *side, const redlock_options *options)
{
    static const struct sized sized = SIZED_OPTIONS;
    side->options.size = sizeof side->options;
    if (options && !sized_take(&sized, &side->options, options)) {
        side->options.size = options->size;
        return true;
    }
    side->follows = side->options.follow == 0;
    return !side->follows || sync_options_keep(&side->options);
}

static void free_side(struct side *side)
{
    if (side->follows)
        sync_options_drop(&side->options);
    free(side);
}

redlock_code sync_side_open(redlock_sync *client, struct side **out, const redlock_options *options,
                            char *why, size_t why_size)
{
    struct side *side = calloc(1, sizeof *side);
    *out = NULL;
    if (!side)
        return REDLOCK_E_MEMORY;
    side->client = client;
    redlock_code code = keep_options(side, options) ? REDLOCK_OK : REDLOCK_E_MEMORY;
    redlock_options ours = our_options(side);
    if (!code)
        code = redlock_open(&side->redlock, NULL, &ours, why, why_size);
    if (code)
        free_side(side);
    else
        *out = side;
    return code;
}

/* Calls have gone over, or end with the client. */
static void pass_calls_on(struct side *side)
{
    struct side *to = sync_present(side->client);
    const struct list *pending = &side->client->pending;
    for (struct list *at = pending->next; at != pending; at = at->next) {
        struct call *call = LIST_OWNER(at, struct call, place);
        if (call->side == side)
            call->side = to;
    }
    to->calls += side->calls;
    side->calls = 0;
}

static void on_former_closed(redlock *redlock, unsigned left, void *data)
{
    struct side *side = data;
    (void)redlock;
    side->closed = true;
    side->client->left += left;
    side->client->open_sides--;
    pass_calls_on(side);
}

static redlock_code leave_side_for(struct side *former, const struct side *next, char *why,
                                   size_t why_size)
{
    redlock_code code = redlock_relist(former->redlock, next->redlock, on_former_closed, former);
    if (code)
        snprintf(why, why_size, "%s", redlock_last_error(former->redlock));
    else
        former->former = true;
    return code;
}

redlock_code sync_side_enter(struct side *side, char *why, size_t why_size)
{
    redlock_sync *client = side->client;
    bool is_first = list_is_empty(&client->sides);
    redlock_code code =
        is_first ? REDLOCK_OK : leave_side_for(sync_present(client), side, why, why_size);
    if (code)
        return code;
    list_append(client->sides.next, &side->place); /* before the first */
    client->open_sides++;
    client->may_follow = true;
    return REDLOCK_OK;
}

void sync_side_free(struct side *side)
{
    redlock_free(side->redlock);
    free_side(side);
}

struct side *sync_side_of(const redlock_sync *client, const redlock *redlock)
{
    struct list *at = client->sides.next;
    while (LIST_OWNER(at, struct side, place)->redlock != redlock)
        at = at->next;
    return LIST_OWNER(at, struct side, place);
}

bool sync_may_begin_anew(const struct side *side, redlock_code code)
{
    redlock_sync *client = side->client;
    return code == REDLOCK_E_DIFFERS && (side != sync_present(client) || client->follow(client));
}

/* ---- All of a client ------------------------------------------------------- */

nfds_t sync_sides_poll(const redlock_sync *client, struct pollfd *ready)
{
    nfds_t count = 0;
    for (struct list *at = client->sides.next; at != &client->sides; at = at->next) {
        const struct side *side = LIST_OWNER(at, struct side, place);
        if (!side->closed)
            ready[count++] = (struct pollfd){.fd = redlock_fd(side->redlock), .events = POLLIN};
    }
    return count;
}

static bool is_done_with(const struct side *side)
{
    return side->closed && !side->leases;
}

bool sync_sides_are_full(const redlock_sync *client)
{
    unsigned count = 0;
    for (struct list *at = client->sides.next; at != &client->sides; at = at->next)
        count += !is_done_with(LIST_OWNER(at, struct side, place));
    return count >= SIDES_MOST;
}

static void drop_closed(struct side *side)
{
    list_remove(&side->place);
    ask_to_follow(side->client); /* there is room for one more */
    sync_side_free(side);
}

/* The present one comes first: what its answers bring about for a former one is sent in this turn.
 */
void sync_sides_process(redlock_sync *client)
{
    for (struct list *at = client->sides.next, *next; at != &client->sides; at = next) {
        struct side *side = LIST_OWNER(at, struct side, place);
        next = at->next;
        if (is_done_with(side))
            drop_closed(side);
        else if (!client->place) /* in virtual time the side has turns of its own */
            redlock_process(side->redlock);
    }
}

unsigned sync_sides_left_behind(const redlock_sync *client)
{
    unsigned left = 0;
    for (struct list *at = client->sides.next->next; at != &client->sides; at = at->next) {
        const struct side *side = LIST_OWNER(at, struct side, place);
        left += side->leases + side->calls;
    }
    return left;
}

static void on_closed(redlock *redlock, unsigned left, void *data)
{
    struct side *side = data;
    (void)redlock;
    side->client->left += left;
    side->client->open_sides--;
}

/* A former one that closes already keeps its patience if that is shorter. */
void sync_sides_close(redlock_sync *client, int64_t patience_ms)
{
    for (struct list *at = client->sides.next; at != &client->sides; at = at->next) {
        struct side *side = LIST_OWNER(at, struct side, place);
        side->closing = true;
        redlock_close(side->redlock, patience_ms, on_closed, side);
    }
}

void sync_sides_free(redlock_sync *client)
{
    for (struct list *at = client->sides.next, *next; at != &client->sides; at = next) {
        next = at->next;
        sync_side_free(LIST_OWNER(at, struct side, place));
    }
    list_init(&client->sides);
}
