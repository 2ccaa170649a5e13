/*
 * sync_leaders.c - leading, announcing and observing, for threads that wait.
 */
#include "campaign.h"
#include "redlock/recipes.h"
#include "sized.h"
#include "sync_client.h"
#include "sync_report.h"
#include "timeout.h"

#include <stdio.h>
#include <string.h>

/* ---- announcing ---- */

struct announcement {
    struct call call;
    const void *value;
    size_t length;
};

static redlock_code announce(const struct announcement *announcement)
{
    return redlock_lease_announce(announcement->call.lease->handle, announcement->value,
                                  announcement->length);
}

static void start_announce(redlock_sync *client, struct call *call)
{
    redlock_sync_lease *lease = call->lease;
    if (sync_postpone(client, call))
        return;
    redlock_code code = announce(LIST_OWNER(call, struct announcement, call));
    if (!code) /* this replaces another thread's announcement, which is not reported any more */
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

/* ---- leading ---- */

static void start_first_announcement(redlock_sync *client, struct call *call)
{
    if (sync_postpone(client, call))
        return;
    redlock_code code = announce(LIST_OWNER(call, struct announcement, call));
    if (code)
        sync_refuse(client, call, code);
    else
        sync_finish(client, call, REDLOCK_OK);
}

/* A thread that cannot announce leads all the same. */
static void announce_first(redlock_sync_lease *lease, const redlock_campaign_options *options,
                           redlock_sync_result *result)
{
    redlock_sync_result own = {.size = sizeof own};
    struct announcement announcement = {
        .call = {.start = start_first_announcement, .lease = lease, .result = &own},
        .value = options->value,
        .length = options->length};
    if (sync_carry_out(lease->client, &announcement.call))
        sync_report(result, REDLOCK_OK, own.text);
}

redlock_code redlock_sync_campaign(redlock_sync *client, redlock_sync_lease **lease,
                                   const char *name, const redlock_campaign_options *given,
                                   redlock_sync_result *result)
{
    redlock_campaign_options options;
    redlock_lease_options terms;
    char why[160];
    if (!lease || !sync_report_is_usable(result))
        return REDLOCK_E_ARGUMENT;
    *lease = NULL;
    redlock_code code = campaign_read(given, &options, &terms, why, sizeof why);
    if (code)
        return sync_report(result, code, why);
    redlock_sync_result first = {.size = sizeof first}; /* the value may lie in `result` */
    code = redlock_sync_acquire(client, lease, name, &terms, &first);
    if (!code && options.value)
        announce_first(*lease, &options, &first);
    if (result)
        sized_give(result, &first);
    return code;
}

/* ---- observing ---- */

static const struct sized leader_kind = SIZED(redlock_leader, text);

struct look {
    struct call call;
    redlock_sync *client;
    redlock_observer *observer;
    const char *name;
    int64_t after_term;    /* a larger term ends it */
    bool hasty;            /* any report ends it */
    redlock_leader leader; /* the last report */
    void *value;           /* the caller's, of `size` bytes */
    size_t size;
};

static void keep_report(struct look *look, const redlock_leader *leader)
{
    size_t length = leader->length < look->size ? leader->length : look->size;
    look->leader = *leader;
    look->leader.value = look->value ? look->value : "";
    look->leader.text = "";
    if (look->value && length)
        memcpy(look->value, leader->value, length);
}

static redlock_code code_of_report(const struct look *look, const redlock_leader *leader)
{
    if (leader->code)
        return leader->code;
    return leader->term > look->after_term ? REDLOCK_OK : REDLOCK_E_UNAVAILABLE;
}

static const char *text_of_report(redlock_code code, const redlock_leader *leader)
{
    if (code && !leader->code)
        return "no leader with a later term is announced";
    return leader->text[0] ? leader->text : redlock_code_text(code);
}

static void end_look(struct look *look, redlock_code code, const char *text)
{
    redlock_observer_free(look->observer);
    sync_finish(look->client, &look->call, sync_report(look->call.result, code, text));
}

static void start_look(redlock_sync *client, struct call *call);

static void look_again(struct look *look)
{
    redlock_observer_free(look->observer);
    sync_set_out(&look->call);
    start_look(look->client, &look->call);
}

static void on_leader(redlock_observer *observer, const redlock_leader *leader, void *data)
{
    struct look *look = data;
    redlock_code code = code_of_report(look, leader);
    (void)observer;
    keep_report(look, leader);
    if (sync_may_begin_anew(look->call.side, code))
        look_again(look);
    else if (look->hasty || !code || redlock_code_class(code) == REDLOCK_CLASS_MISUSE)
        end_look(look, code, text_of_report(code, leader));
}

static void start_look(redlock_sync *client, struct call *call)
{
    struct look *look = LIST_OWNER(call, struct look, call);
    redlock_code code = redlock_observer_begin(sync_present(client)->redlock, &look->observer,
                                               look->name, on_leader, look);
    if (code)
        sync_refuse(client, call, code);
    else
        sync_set_pending(client, call);
}

/* The time of a look is over, unless it has ended since. */
static void start_late(redlock_sync *client, struct call *call)
{
    struct look *look = call->data;
    if (!look->call.done)
        end_look(look, REDLOCK_E_UNAVAILABLE, text_of_report(REDLOCK_E_UNAVAILABLE, &look->leader));
    sync_finish(client, call, REDLOCK_OK);
}

/* The name may lie in `leader` or `value`. */
static redlock_code carry_out_look(redlock_sync *client, struct look *look, int64_t wait_ms,
                                   redlock_leader *leader, redlock_sync_result *result)
{
    struct call late = {.start = start_late, .data = look};
    if (!leader || !sync_report_is_usable(result))
        return REDLOCK_E_ARGUMENT;
    if (!sized_is_known(&leader_kind, leader->size))
        return sync_report_size(result, &leader_kind, leader->size);
    look->call.start = start_look;
    look->call.result = result;
    look->client = client;
    look->leader = (redlock_leader){.code = REDLOCK_E_UNAVAILABLE, .value = "", .text = ""};
    redlock_code code = sync_ask_for(client, &look->call, wait_ms, &late);
    sized_give(leader, &look->leader);
    return code;
}

redlock_code redlock_sync_leader_get(redlock_sync *client, const char *name, redlock_leader *leader,
                                     void *value, size_t size, redlock_sync_result *result)
{
    struct look look = {
        .name = name, .after_term = -1, .hasty = true, .value = value, .size = value ? size : 0};
    return carry_out_look(client, &look, REDLOCK_FOREVER, leader, result);
}

redlock_code redlock_sync_leader_next(redlock_sync *client, const char *name, int64_t after_term,
                                      int64_t timeout_ms, redlock_leader *leader, void *value,
                                      size_t size, redlock_sync_result *result)
{
    int64_t wait_ms = timeout_wait_ms(timeout_ms);
    char why[128];
    struct look look = {.name = name,
                        .after_term = after_term,
                        .hasty = wait_ms == 0,
                        .value = value,
                        .size = value ? size : 0};
    if (!sync_report_is_usable(result))
        return REDLOCK_E_ARGUMENT;
    if (after_term < 0)
        return sync_report(result, REDLOCK_E_ARGUMENT, "after_term is negative: 0 for any leader");
    if (!timeout_is_valid(timeout_ms)) {
        snprintf(why, sizeof why, TIMEOUT_COMPLAINT, (long long)timeout_ms);
        return sync_report(result, REDLOCK_E_ARGUMENT, why);
    }
    return carry_out_look(client, &look, wait_ms ? wait_ms : REDLOCK_FOREVER, leader, result);
}
