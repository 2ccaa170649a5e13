/*
 * sync_leaders.c - announcing and observing, for threads that wait.
 */
#include "sync_client.h"
#include "sync_report.h"

#include <string.h>

/* ---- announcing ---- */

struct announcement {
    struct call call;
    const void *value;
    size_t length;
};

static void start_announce(redlock_sync *client, struct call *call)
{
    struct announcement *announcement = LIST_OWNER(call, struct announcement, call);
    redlock_sync_lease *lease = call->lease;
    redlock_code code =
        redlock_lease_announce(lease->handle, announcement->value, announcement->length);
    if (!code) /* what another thread announced is replaced, and is not told any more */
        sync_finish_with(client, &lease->announcing, REDLOCK_E_CANCELLED, NULL);
    sync_await(client, call, &lease->announcing, code);
}

redlock_code redlock_sync_lease_announce(redlock_sync_lease *lease, const void *value,
                                         size_t length, redlock_sync_result *result)
{
    struct announcement announcement = {
        .call = {.start = start_announce, .result = result}, .value = value, .length = length};
    return sync_ask_about(lease, &announcement.call);
}

/* ---- observing ---- */

struct look {
    struct call call;
    redlock_sync *client;
    redlock_observer *observer;
    const char *name;
    redlock_leader *leader;
    void *value; /* the caller's, of `size` bytes */
    size_t size;
};

static void on_leader(redlock_observer *observer, const redlock_leader *leader, void *data)
{
    struct look *look = data;
    size_t length = leader->length < look->size ? leader->length : look->size;
    *look->leader = *leader;
    look->leader->value = look->value ? look->value : "";
    look->leader->text = "";
    if (look->value && length)
        memcpy(look->value, leader->value, length);
    redlock_observer_free(observer);
    sync_finish(look->client, &look->call,
                sync_report(look->call.result, leader->code,
                            leader->text[0] ? leader->text : redlock_code_text(leader->code)));
}

static void start_look(redlock_sync *client, struct call *call)
{
    struct look *look = LIST_OWNER(call, struct look, call);
    redlock_code code =
        redlock_observer_begin(client->redlock, &look->observer, look->name, on_leader, look);
    if (code)
        sync_refuse(client, call, code);
    else
        sync_set_pending(client, call);
}

redlock_code redlock_sync_leader_get(redlock_sync *client, const char *name, redlock_leader *leader,
                                     void *value, size_t size, redlock_sync_result *result)
{
    struct look look = {.call = {.start = start_look, .result = result},
                        .client = client,
                        .name = name,
                        .leader = leader,
                        .value = value,
                        .size = value ? size : 0};
    if (!leader || !sync_report_is_usable(result))
        return REDLOCK_E_ARGUMENT;
    *leader = (redlock_leader){.code = REDLOCK_E_UNAVAILABLE, .value = "", .text = ""};
    return sync_ask(client, &look.call);
}
