/*
 * sync_lease.c - leases, from acquire to free.
 */
#include "owner.h"
#include "redlock/recipes.h"
#include "sync_client.h"
#include "sync_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the events of a lease ---- */

static void end_acquiring(redlock_sync_lease *lease, const redlock_event *event)
{
    sync_now_held(lease);
    snprintf(lease->token, sizeof lease->token, "%s", redlock_lease_token(lease->handle));
    sync_finish_with(lease->client, &lease->acquiring, REDLOCK_OK, event);
}

static void stop_heeding(redlock_sync_lease *lease)
{
    redlock_heeder_free(lease->heeder);
    lease->heeder = NULL;
    atomic_store(&lease->wished, -1);
}

static void free_handle(redlock_sync_lease *lease)
{
    stop_heeding(lease);
    lease->side->leases--;
    redlock_lease_free(lease->handle);
}

/* The thread that waits frees the rest. */
static void end_vain_acquiring(redlock_sync_lease *lease, const redlock_event *event)
{
    free_handle(lease);
    sync_finish_with(lease->client, &lease->acquiring, event->code, event);
}

static struct call *take_postponed(redlock_sync_lease *lease)
{
    const struct list *pending = &lease->client->pending;
    for (struct list *at = pending->next; at != pending; at = at->next) {
        struct call *call = LIST_OWNER(at, struct call, place);
        if (call->lease == lease && call->postponed) {
            sync_set_out(call);
            call->postponed = false;
            return call;
        }
    }
    lease->postpones = false;
    return NULL;
}

static void end_postponed(redlock_sync_lease *lease, redlock_code code, const redlock_event *event)
{
    for (struct call *call; lease->postpones && (call = take_postponed(lease));)
        sync_finish_with(lease->client, &call, code, event);
}

static void end_holding(redlock_sync_lease *lease, const redlock_event *event)
{
    redlock_sync *client = lease->client;
    bool lost = event->kind == REDLOCK_LOST;
    redlock_code code = lost ? event->code : REDLOCK_E_CANCELLED;
    end_postponed(lease, code, event);
    sync_no_longer_held(lease);
    sync_finish_with(client, &lease->extending, code, event);
    sync_finish_with(client, &lease->changing, code, event);
    sync_finish_with(client, &lease->announcing, code, event);
    sync_finish_with(client, &lease->wanting, code, event);
    stop_heeding(lease);
    if (!lost)
        sync_finish_with(client, &lease->releasing, event->code, event);
}

/* The fence comes first: a thread that reads that the lease is exclusive has its fence as well. */
static void make_known(redlock_sync_lease *lease, const redlock_event *event)
{
    if (event->kind == REDLOCK_ACQUIRED || event->kind == REDLOCK_CHANGED)
        atomic_store(&lease->fence, event->fence);
    if (event->kind == REDLOCK_ACQUIRED)
        atomic_store(&lease->slot, redlock_lease_slot(lease->handle));
    if (event->kind != REDLOCK_NOT_ACQUIRED)
        sync_publish(lease);
}

/* Comes last, as the callback may free the lease. */
static void tell_lease_event(const redlock_sync_lease *lease, const redlock_event *event)
{
    if (lease->on_event)
        lease->on_event(event, lease->data);
}

static void start_postponed(redlock_sync_lease *lease)
{
    for (struct call *call; lease->postpones && (call = take_postponed(lease));)
        call->start(lease->client, call);
}

static void go_over(redlock_sync_lease *lease)
{
    lease->side->leases--;
    lease->side = sync_side_of(lease->client, client_of_lease(lease->handle));
    lease->side->leases++;
}

static void end_moving(redlock_sync_lease *lease, const redlock_event *event)
{
    if (event->kind == REDLOCK_MOVED)
        go_over(lease);
    start_postponed(lease);
}

/* The call goes with its lease, and no user hears of that. */
static void end_moving_acquire(redlock_sync_lease *lease, const redlock_event *event)
{
    struct call *call = lease->acquiring;
    if (event->kind != REDLOCK_MOVED)
        return;
    go_over(lease);
    sync_set_out(call);
    sync_set_pending(lease->client, call);
}

/* The acquire ended for want of the present list alone: redlock_relist() ended it, as it could not
 * go over, or its own list is over. */
static bool has_next_list(const redlock_sync_lease *lease, const redlock_event *event)
{
    bool was_left = event->code == REDLOCK_E_CANCELLED && lease->side->former;
    return !lease->cancelled && (was_left || sync_may_begin_anew(lease->side, event->code));
}

static void begin_anew(redlock_sync_lease *lease);

static void on_lease_event(redlock_lease *handle, const redlock_event *event, void *data)
{
    redlock_sync_lease *lease = data;
    bool moves = event->kind == REDLOCK_MOVED || event->kind == REDLOCK_NOT_MOVED;
    (void)handle;
    if (event->kind == REDLOCK_LOST) /* first: a thread that sees the end can read the reason */
        sync_reentry_lost(lease, event->code);
    if (moves && lease->acquiring) {
        end_moving_acquire(lease, event);
        return;
    }
    make_known(lease, event);
    switch (event->kind) {
    case REDLOCK_ACQUIRED:
        end_acquiring(lease, event);
        break;
    case REDLOCK_NOT_ACQUIRED:
        if (has_next_list(lease, event))
            begin_anew(lease);
        else
            end_vain_acquiring(lease, event);
        break;
    case REDLOCK_MOVED:
        end_moving(lease, event);
        tell_lease_event(lease, event);
        break;
    case REDLOCK_NOT_MOVED:
        end_moving(lease, event);
        break;
    case REDLOCK_EXTENDED:
    case REDLOCK_NOT_EXTENDED:
        sync_finish_with(lease->client, &lease->extending, event->code, event);
        break;
    case REDLOCK_ANNOUNCED:
        sync_finish_with(lease->client, &lease->announcing, REDLOCK_OK, event);
        break;
    case REDLOCK_CHANGED:
    case REDLOCK_NOT_CHANGED:
        sync_finish_with(lease->client, &lease->changing, event->code, event);
        break;
    case REDLOCK_RELEASED:
        end_holding(lease, event);
        break;
    case REDLOCK_LOST:
        end_holding(lease, event);
        tell_lease_event(lease, event);
        break;
    default:
        tell_lease_event(lease, event);
    }
}

/* ---- acquire ---- */

static void ask(redlock_sync_lease *lease, struct call *call, const redlock_lease_options *options)
{
    struct side *side = sync_present(lease->client);
    redlock_code code = redlock_acquire_names(side->redlock, &lease->handle, call->names,
                                              call->count, options, on_lease_event, lease);
    lease->side = side;
    side->leases += !code;
    sync_await(lease->client, call, &lease->acquiring, code);
}

static void start_acquire(redlock_sync *client, struct call *call)
{
    (void)client;
    call->begun = sync_now_us();
    ask(call->lease, call, call->options);
}

static void begin_anew(redlock_sync_lease *lease)
{
    struct call *call = lease->acquiring;
    redlock_lease_options rest = *call->options;
    rest.wait_ms = sync_rest_of(rest.wait_ms, call->begun);
    lease->acquiring = NULL;
    free_handle(lease);
    sync_set_out(call);
    ask(lease, call, &rest);
}

static redlock_sync_lease *new_sync_lease(redlock_sync *client, redlock_sync_callback *on_event,
                                          void *data)
{
    redlock_sync_lease *lease = calloc(1, sizeof *lease);
    if (!lease)
        return NULL;
    lease->client = client;
    atomic_init(&lease->slot, -1);
    atomic_init(&lease->wished, -1);
    lease->on_event = on_event;
    lease->data = data;
    atomic_fetch_add(&client->references, 1);
    return lease;
}

static void drop_lease(redlock_sync_lease *lease)
{
    redlock_sync *client = lease->client;
    free(lease->reentry);
    free(lease->wishes);
    free(lease);
    sync_forget(client);
}

/* This thread may have been woken late: the lease must be valid now. */
static redlock_code test_last(redlock_sync_lease *lease, redlock_sync_result *result)
{
    if (redlock_sync_lease_valid_for(lease) > 0)
        return REDLOCK_OK;
    redlock_sync_lease_free(lease);
    sync_report(result, REDLOCK_E_TOO_SLOW,
                "acquired, but its validity was over before this thread ran again");
    return REDLOCK_E_TOO_SLOW;
}

/* The acquire of a lease that this thread does not own. */
static redlock_code acquire(redlock_sync_lease *lease, struct call *call)
{
    redlock_code code = sync_carry_out(lease->client, call);
    if (code) {
        drop_lease(lease);
        return code;
    }
    return test_last(lease, call->result);
}

static redlock_code acquire_reentrant(redlock_sync_lease *lease, struct call *call)
{
    bool all_shared = call->options->mode == REDLOCK_SHARED;
    if (!sync_reentry_prepare(lease, call->names, call->count, all_shared)) {
        drop_lease(lease);
        return sync_report(call->result, REDLOCK_E_MEMORY, redlock_code_text(REDLOCK_E_MEMORY));
    }
    redlock_code code = acquire(lease, call);
    if (!code)
        sync_reentry_begin(lease, call->options);
    return code;
}

/* The client of redlock.h does not get the options of this header. */
static redlock_code take_options(const redlock_lease_options *options, redlock_lease_options *o,
                                 redlock_sync_result *result)
{
    static const struct sized sized = SIZED_LEASE_OPTIONS;
    *o = (redlock_lease_options){.size = sizeof *o};
    if (!options || sized_take(&sized, o, options))
        return REDLOCK_OK;
    return sync_report_size(result, &sized, options->size);
}

/* Options that redlock.h is about to refuse ask for no lease once more. */
static bool asks_reentrant(const redlock_lease_options *o)
{
    bool is_mode = o->mode == REDLOCK_EXCLUSIVE || o->mode == REDLOCK_SHARED;
    bool are_flags =
        sized_is_flag(&o->reentrant) && sized_is_flag(&o->fence) && sized_is_flag(&o->no_renew);
    return is_mode && are_flags && o->reentrant;
}

redlock_code redlock_sync_acquire_names(redlock_sync *client, redlock_sync_lease **out,
                                        const redlock_name *names, size_t count,
                                        const redlock_lease_options *options,
                                        redlock_sync_result *result)
{
    redlock_lease_options o;
    if (!out || !sync_report_is_usable(result))
        return REDLOCK_E_ARGUMENT;
    *out = NULL;
    redlock_code code = sync_check(client);
    if (code)
        return sync_report(result, code, sync_why_not(client, code));
    code = take_options(options, &o, result);
    if (code)
        return code;
    bool reentrant = asks_reentrant(&o);
    if (reentrant && o.permits)
        return sync_report(result, REDLOCK_E_ARGUMENT,
                           "a permit cannot be reentrant: acquire it once, and keep the handle");
    if (reentrant && sync_reentry_enter(client, out, names, count, &o, result, &code))
        return code;
    redlock_sync_lease *lease = new_sync_lease(client, o.on_event, o.data);
    if (!lease)
        return sync_report(result, REDLOCK_E_MEMORY, redlock_code_text(REDLOCK_E_MEMORY));
    struct call call = {.start = start_acquire,
                        .lease = lease,
                        .names = names,
                        .count = count,
                        .options = &o,
                        .result = result};
    o.on_event = NULL;
    if (reentrant)
        o.reentrant = false;
    code = reentrant ? acquire_reentrant(lease, &call) : acquire(lease, &call);
    if (!code)
        *out = lease;
    return code;
}

redlock_code redlock_sync_acquire(redlock_sync *client, redlock_sync_lease **lease,
                                  const char *name, const redlock_lease_options *options,
                                  redlock_sync_result *result)
{
    redlock_name names = redlock_name_of(name);
    return redlock_sync_acquire_names(client, lease, &names, 1, options, result);
}

static bool cancel_if_meant(const struct call *other, const struct call *cancel)
{
    redlock_sync_lease *lease = other->lease;
    if (other->start != start_acquire || lease->data != cancel->data)
        return false;
    bool is_first = !lease->cancelled;
    lease->cancelled = true;
    (void)redlock_lease_release(lease->handle); /* redlock_relist() may have asked for that */
    return is_first;
}

static void start_cancel(redlock_sync *client, struct call *call)
{
    call->count = 0;
    for (struct list *at = client->pending.next; at != &client->pending; at = at->next)
        if (cancel_if_meant(LIST_OWNER(at, struct call, place), call))
            call->count++;
    sync_finish(client, call, REDLOCK_OK);
}

unsigned redlock_sync_cancel(redlock_sync *client, const void *data)
{
    struct call call = {.start = start_cancel, .data = (void *)data};
    if (sync_check(client) || sync_carry_out(client, &call))
        return 0;
    return (unsigned)call.count;
}

/* ---- having a lease ---- */

int64_t redlock_sync_lease_fence(const redlock_sync_lease *lease)
{
    return lease ? atomic_load(&lease->fence) : 0;
}

int redlock_sync_lease_slot(const redlock_sync_lease *lease)
{
    return lease ? atomic_load(&lease->slot) : -1;
}

const char *redlock_sync_lease_token(const redlock_sync_lease *lease)
{
    return lease ? lease->token : "";
}

redlock_code sync_ask_about(redlock_sync_lease *lease, struct call *call)
{
    if (!sync_report_is_usable(call->result))
        return REDLOCK_E_ARGUMENT;
    redlock_sync *client = lease ? lease->client : NULL;
    redlock_code code = sync_check(client);
    if (code)
        return sync_report(call->result, code, sync_why_not(client, code));
    call->lease = lease;
    return sync_carry_out(client, call);
}

void sync_await(redlock_sync *client, struct call *call, struct call **slot, redlock_code code)
{
    if (code) {
        sync_refuse(client, call, code);
        return;
    }
    *slot = call;
    sync_set_pending(client, call);
}

bool sync_postpone(redlock_sync *client, struct call *call)
{
    call->postponed = client_moves_lease(call->lease->handle);
    if (call->postponed) {
        call->lease->postpones = true;
        sync_set_pending(client, call);
    }
    return call->postponed;
}

static void start_extend(redlock_sync *client, struct call *call)
{
    if (sync_postpone(client, call))
        return;
    redlock_code code = redlock_lease_extend(call->lease->handle, call->ms);
    sync_await(client, call, &call->lease->extending, code);
}

redlock_code redlock_sync_lease_extend(redlock_sync_lease *lease, int64_t ttl_ms,
                                       redlock_sync_result *result)
{
    struct call call = {.start = start_extend, .ms = ttl_ms, .result = result};
    return sync_ask_about(lease, &call);
}

/* The loop sends nothing before this function returns: no reader comes in while a thread may
 * read that the lease is exclusive. */
static void start_downgrade(redlock_sync *client, struct call *call)
{
    if (sync_postpone(client, call))
        return;
    redlock_code code = redlock_lease_downgrade(call->lease->handle);
    if (!code) {
        sync_reentry_downgraded(call->lease);
        sync_publish(call->lease);
        sync_finish_with(client, &call->lease->announcing, REDLOCK_E_CANCELLED, NULL);
    }
    sync_await(client, call, &call->lease->changing, code);
}

redlock_code redlock_sync_lease_downgrade(redlock_sync_lease *lease, redlock_sync_result *result)
{
    struct call call = {.start = start_downgrade, .result = result};
    return sync_ask_about(lease, &call);
}

static void start_upgrade(redlock_sync *client, struct call *call)
{
    if (sync_postpone(client, call))
        return;
    redlock_code code = redlock_lease_upgrade(call->lease->handle);
    sync_await(client, call, &call->lease->changing, code);
}

redlock_code redlock_sync_lease_upgrade(redlock_sync_lease *lease, redlock_sync_result *result)
{
    struct call call = {.start = start_upgrade, .result = result};
    return sync_ask_about(lease, &call);
}

static void start_release(redlock_sync *client, struct call *call)
{
    redlock_code code = redlock_lease_release(call->lease->handle);
    sync_await(client, call, &call->lease->releasing, code);
}

redlock_code redlock_sync_lease_release(redlock_sync_lease *lease, redlock_sync_result *result)
{
    struct call call = {.start = start_release, .result = result};
    redlock_code code;
    if (!lease || !sync_report_is_usable(result) || sync_check(lease->client))
        return sync_ask_about(lease, &call); /* which refuses it */
    if (sync_reentry_release(lease, result, &code))
        return code;
    sync_end_lease(lease);
    return sync_ask_about(lease, &call);
}

static void let_go(redlock_sync_lease *lease)
{
    sync_no_longer_held(lease);
    free_handle(lease);
}

static void start_free(redlock_sync *client, struct call *call)
{
    let_go(call->lease);
    sync_finish(client, call, REDLOCK_OK);
}

void redlock_sync_lease_free(redlock_sync_lease *lease)
{
    if (!lease || !sync_may_free(lease->client) || sync_reentry_free(lease))
        return;
    struct call call = {.start = start_free, .lease = lease};
    sync_end_lease(lease);
    /* Once the client has ended there is no handle to let go of. */
    if (!sync_is_inside(lease->client))
        sync_carry_out(lease->client, &call);
    else if (!list_is_empty(&lease->client->sides))
        let_go(lease);
    drop_lease(lease);
}
