#define _GNU_SOURCE /* secure_getenv; NOLINT(bugprone-reserved-identifier) */

/*
 * sync_relist.c - another list of masters takes the place of the present one.
 */
#include "sync_client.h"
#include "sync_wait.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the next list ---- */

void sync_note_left_behind(redlock_sync *client)
{
    unsigned left = sync_sides_left_behind(client);
    if (client->left_behind == left)
        return;
    pthread_mutex_lock(&client->lock);
    client->left_behind = left;
    pthread_cond_broadcast(&client->changed);
    pthread_mutex_unlock(&client->lock);
}

static void be_unready(redlock_sync *client)
{
    pthread_mutex_lock(&client->lock);
    client->ready = false;
    pthread_mutex_unlock(&client->lock);
}

static redlock_code open_next(redlock_sync *client, const redlock_options *options, char *why,
                              size_t why_size)
{
    struct side *next;
    if (sync_present(client)->closing)
        return REDLOCK_E_CLOSED;
    if (sync_sides_are_full(client)) {
        snprintf(why, why_size, "leases or calls of %u former lists are left: end these first",
                 SIDES_MOST - 1);
        return REDLOCK_E_STATE;
    }
    redlock_code code = sync_side_open(client, &next, options, why, why_size);
    if (code)
        return code;
    code = sync_side_enter(next, why, why_size);
    if (code) {
        sync_side_free(next);
        return code;
    }
    be_unready(client);
    sync_note_left_behind(client);
    return REDLOCK_OK;
}

/* ---- by itself ---- */

#define LISTS_EVERY_US   INT64_C(1000000)
#define LISTS_AT_ONCE_US (60 * LISTS_EVERY_US) /* liars may lead us on for ever */

static void forgive_lists(redlock_sync *client, int64_t now)
{
    if (client->follow_at < now - LISTS_AT_ONCE_US)
        client->follow_at = now - LISTS_AT_ONCE_US;
}

static void warn(const struct side *side, const char *text)
{
    if (side->options.on_log && side->options.log_level >= REDLOCK_LOG_WARNING)
        side->options.on_log(REDLOCK_LOG_WARNING, text, side->options.data);
}

static void say_list(const struct side *side)
{
    char text[2048];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   "this list of masters is over: goes on with the one in its "
                                   "place, ");
    for (unsigned i = 0; i < redlock_node_count(side->redlock) && used < sizeof text; i++) {
        redlock_node node = {.size = sizeof node};
        if (redlock_node_get(side->redlock, i, &node) == REDLOCK_OK)
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? "," : "", node.node);
    }
    warn(side, text);
}

static void say_failure(const struct side *side, redlock_code code, const char *why)
{
    char text[512];
    snprintf(text, sizeof text,
             "this list of masters is over, and the client cannot go on with the one in its place: "
             "%s",
             why[0] ? why : redlock_code_text(code));
    warn(side, text);
}

/* Where redlock_open() has read the list if no option says it. */
static const char *file_of_list(const redlock_options *options)
{
    const char *list = secure_getenv("REDLOCK_NODES"), *path = secure_getenv("REDLOCK_NODES_FILE");
    bool is_read = !options->nodes && !(list && *list) && path && *path;
    return options->nodes_file ? options->nodes_file : is_read ? path : NULL;
}

static redlock_code open_successor(redlock_sync *client, const char *nodes)
{
    char why[256] = "";
    const struct side *side = sync_present(client);
    redlock_options options = side->options;
    options.nodes_file = file_of_list(&options); /* where new logins are */
    options.nodes = nodes;
    redlock_code code = open_next(client, &options, why, sizeof why);
    if (code)
        say_failure(side, code, why);
    else
        say_list(sync_present(client));
    return code;
}

bool sync_go_over_to_successor(redlock_sync *client)
{
    const struct side *side = sync_present(client);
    const char *nodes = side->follows && !side->closing ? redlock_successor(side->redlock) : NULL;
    if (!nodes || !client->may_follow)
        return false;
    int64_t now = sync_now_us();
    forgive_lists(client, now);
    if (client->follow_at > now) {
        client->follow_asked = true;
        return false;
    }
    client->follow_at += LISTS_EVERY_US;
    client->may_follow = open_successor(client, nodes) == REDLOCK_OK;
    return client->may_follow;
}

int sync_follow(redlock_sync *client)
{
    int64_t left = client->follow_at - sync_now_us();
    if (!client->follow_asked)
        return -1;
    if (left > 0)
        return (int)((left + 999) / 1000);
    client->follow_asked = false;
    return sync_go_over_to_successor(client) ? 0 : -1;
}

/* ---- the call ---- */

struct relisting {
    struct call call;
    const redlock_options *options;
    char *why;
    size_t why_size;
};

static void start_relist(redlock_sync *client, struct call *call)
{
    const struct relisting *relisting = LIST_OWNER(call, struct relisting, call);
    sync_finish(client, call,
                open_next(client, relisting->options, relisting->why, relisting->why_size));
}

/* ---- any thread ---- */

/* A close releases what is left on former lists. */
static redlock_code await_the_rest(redlock_sync *client, int64_t timeout_ms, char *why,
                                   size_t why_size)
{
    struct deadline until = sync_deadline(timeout_ms);
    pthread_mutex_lock(&client->lock);
    while (client->left_behind && !client->closing &&
           sync_wait(&client->changed, &client->lock, &until))
        continue;
    bool closing = client->closing;
    unsigned left = client->left_behind;
    pthread_mutex_unlock(&client->lock);
    if (left && !closing)
        snprintf(why, why_size, "%u leases or calls are still with former masters", left);
    return closing ? REDLOCK_E_CLOSED : left ? REDLOCK_E_UNAVAILABLE : REDLOCK_OK;
}

redlock_code redlock_sync_relist(redlock_sync *client, const redlock_options *options,
                                 int64_t timeout_ms, char *why, size_t why_size)
{
    char text[256] = "";
    struct relisting relisting = {
        .call = {.start = start_relist}, .options = options, .why = text, .why_size = sizeof text};
    redlock_code code = timeout_ms < 0 ? REDLOCK_E_ARGUMENT : sync_check(client);
    if (!code)
        code = sync_carry_out(client, &relisting.call);
    if (!code)
        code = await_the_rest(client, timeout_ms, text, sizeof text);
    if (why && why_size)
        snprintf(why, why_size, "%s", text[0] || !code ? text : sync_why_not(client, code));
    return code;
}
