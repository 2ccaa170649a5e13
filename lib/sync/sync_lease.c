/*
 * sync_lease.c - leases, and their validity for every thread to read.
 */
#include "sync_client.h"
#include "sync_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* With up to this number of leases held, the deadlines are brought up to date in
 * every iteration of the loop. */
#define REFRESH_AT_ONCE 64

/* A deadline that no renewal may raise any more: the lease was given back, or is over. */
#define GIVEN_BACK (-1)

/* ---- validity ---- */

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* `now` was read before: the deadline is the true one or a little earlier (about 1 ms),
 * never later.  A lease that another thread gave back meanwhile stays given back. */
static void publish(redlock_sync_lease *lease, int64_t now)
{
    int64_t valid = redlock_valid_for(lease->handle);
    int64_t deadline = valid > 0 ? now + valid * 1000 : 0;
    int64_t old = atomic_load(&lease->deadline);
    if (old != GIVEN_BACK && old != deadline)
        atomic_compare_exchange_strong(&lease->deadline, &old, deadline);
}

static void end_validity(redlock_sync_lease *lease)
{
    atomic_store(&lease->deadline, GIVEN_BACK);
}

static void now_held(redlock_sync_lease *lease)
{
    lease->is_held = true;
    list_append(&lease->client->held, &lease->held);
    lease->client->held_count++;
}

static void no_longer_held(redlock_sync_lease *lease)
{
    end_validity(lease);
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
 * a sweep takes long compared to an iteration, so the time between two sweeps is some
 * ten times the time of a sweep. */
void sync_refresh(redlock_sync *client)
{
    if (list_is_empty(&client->held))
        return;
    int64_t now = now_us();
    if (now >= client->refresh_at) {
        refresh_all(client, now);
    } else if (!ev_is_active(&client->refresh)) {
        ev_timer_set(&client->refresh, (double)(client->refresh_at - now) / 1e6, 0.);
        ev_timer_start(client->loop, &client->refresh);
    }
}

void sync_end_validity(redlock_sync *client)
{
    for (struct list *at = client->held.next; at != &client->held; at = at->next)
        end_validity(LIST_OWNER(at, redlock_sync_lease, held));
}

int64_t redlock_sync_valid_for(const redlock_sync_lease *lease)
{
    if (!lease || lease->client->process != forks_process())
        return 0;
    int64_t deadline = atomic_load(&lease->deadline);
    int64_t left = deadline > 0 ? deadline - now_us() : 0;
    return left > 0 ? left / 1000 : 0;
}

/* ---- the events of a lease ---- */

static void acquired(redlock_sync_lease *lease, const redlock_event *event)
{
    now_held(lease);
    snprintf(lease->token, sizeof lease->token, "%s", redlock_token(lease->handle));
    lease->fence = event->fence;
    sync_finish_with(lease->client, &lease->acquiring, REDLOCK_OK, event);
}

/* The thread that waits frees the rest. */
static void not_acquired(redlock_sync_lease *lease, const redlock_event *event)
{
    redlock_lease_free(lease->handle);
    sync_finish_with(lease->client, &lease->acquiring, event->code, event);
}

static void over(redlock_sync_lease *lease, const redlock_event *event)
{
    redlock_sync *client = lease->client;
    bool lost = event->kind == REDLOCK_LOST;
    no_longer_held(lease);
    sync_finish_with(client, &lease->extending, lost ? event->code : REDLOCK_E_CANCELLED, event);
    if (!lost)
        sync_finish_with(client, &lease->releasing, event->code, event);
}

/* Comes last, as the callback may free the lease. */
static void tell(const redlock_sync_lease *lease, const redlock_event *event)
{
    if (lease->on_event)
        lease->on_event(event, lease->data);
}

static void on_lease_event(redlock_lease *handle, const redlock_event *event, void *data)
{
    redlock_sync_lease *lease = data;
    int64_t now = now_us();
    (void)handle;
    if (event->kind != REDLOCK_NOT_ACQUIRED)
        publish(lease, now);
    switch (event->kind) {
    case REDLOCK_ACQUIRED:
        acquired(lease, event);
        break;
    case REDLOCK_NOT_ACQUIRED:
        not_acquired(lease, event);
        break;
    case REDLOCK_EXTENDED:
    case REDLOCK_NOT_EXTENDED:
        sync_finish_with(lease->client, &lease->extending, event->code, event);
        break;
    case REDLOCK_RELEASED:
        over(lease, event);
        break;
    case REDLOCK_LOST:
        over(lease, event);
        tell(lease, event);
        break;
    default:
        tell(lease, event);
    }
}

/* ---- acquire ---- */

static void start_acquire(redlock_sync *client, struct call *call)
{
    redlock_sync_lease *lease = call->lease;
    lease->acquiring = call;
    redlock_code code = redlock_acquire_names(client->redlock, &lease->handle, call->names,
                                              call->count, call->options, on_lease_event, lease);
    if (code)
        sync_refuse(client, call, code);
    else
        sync_set_pending(client, call);
}

static redlock_sync_lease *new_lease(redlock_sync *client, redlock_sync_callback *on_event,
                                     void *data)
{
    redlock_sync_lease *lease = calloc(1, sizeof *lease);
    if (!lease)
        return NULL;
    lease->client = client;
    lease->on_event = on_event;
    lease->data = data;
    atomic_fetch_add(&client->references, 1);
    return lease;
}

static void drop_lease(redlock_sync_lease *lease)
{
    redlock_sync *client = lease->client;
    free(lease);
    sync_forget(client);
}

/* This thread may have been woken late: the lease must be valid now. */
static redlock_code test_last(redlock_sync_lease *lease, redlock_sync_result *result)
{
    if (redlock_sync_valid_for(lease) > 0)
        return REDLOCK_OK;
    redlock_sync_lease_free(lease);
    return sync_report(result, REDLOCK_E_TOO_SLOW,
                       "acquired, but its validity was over before this thread ran again");
}

redlock_code redlock_sync_acquire_names(redlock_sync *client, redlock_sync_lease **out,
                                        const redlock_name *names, size_t count,
                                        const redlock_lease_options *options,
                                        redlock_sync_callback *on_event, void *data,
                                        redlock_sync_result *result)
{
    if (!out || !sync_report_is_usable(result))
        return REDLOCK_E_ARGUMENT;
    *out = NULL;
    redlock_code code = sync_check(client);
    if (code)
        return sync_report(result, code, sync_why_not(client, code));
    redlock_sync_lease *lease = new_lease(client, on_event, data);
    if (!lease)
        return sync_report(result, REDLOCK_E_MEMORY, redlock_code_text(REDLOCK_E_MEMORY));
    struct call call = {.start = start_acquire,
                        .lease = lease,
                        .names = names,
                        .count = count,
                        .options = options,
                        .result = result};
    code = sync_carry_out(client, &call);
    if (code) {
        drop_lease(lease);
        return code;
    }
    code = test_last(lease, result);
    if (!code)
        *out = lease;
    return code;
}

redlock_code redlock_sync_acquire(redlock_sync *client, redlock_sync_lease **lease,
                                  const char *name, const redlock_lease_options *options,
                                  redlock_sync_result *result)
{
    redlock_name names = {.bytes = name, .length = name ? strlen(name) : 0};
    return redlock_sync_acquire_names(client, lease, &names, 1, options, NULL, NULL, result);
}

static bool cancel_if_meant(const struct call *other, const struct call *cancel)
{
    return other->start == start_acquire && other->lease->data == cancel->data &&
           redlock_release(other->lease->handle) == REDLOCK_OK;
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

int64_t redlock_sync_fence(const redlock_sync_lease *lease)
{
    return lease ? lease->fence : 0;
}

const char *redlock_sync_token(const redlock_sync_lease *lease)
{
    return lease ? lease->token : "";
}

static redlock_code ask_about(redlock_sync_lease *lease, struct call *call)
{
    redlock_sync *client = lease ? lease->client : NULL;
    redlock_code code = sync_check(client);
    if (code)
        return sync_report(call->result, code, sync_why_not(client, code));
    call->lease = lease;
    return sync_carry_out(client, call);
}

static void start_extend(redlock_sync *client, struct call *call)
{
    redlock_code code = redlock_extend(call->lease->handle, call->ms);
    if (code) {
        sync_refuse(client, call, code);
        return;
    }
    call->lease->extending = call;
    sync_set_pending(client, call);
}

redlock_code redlock_sync_extend(redlock_sync_lease *lease, int64_t ttl_ms,
                                 redlock_sync_result *result)
{
    if (!sync_report_is_usable(result))
        return REDLOCK_E_ARGUMENT;
    struct call call = {.start = start_extend, .ms = ttl_ms, .result = result};
    return ask_about(lease, &call);
}

static void start_release(redlock_sync *client, struct call *call)
{
    redlock_sync_lease *lease = call->lease;
    redlock_code code = redlock_release(lease->handle);
    if (code) {
        sync_refuse(client, call, code);
        return;
    }
    lease->releasing = call;
    sync_set_pending(client, call);
}

redlock_code redlock_sync_release(redlock_sync_lease *lease, redlock_sync_result *result)
{
    if (!sync_report_is_usable(result))
        return REDLOCK_E_ARGUMENT;
    struct call call = {.start = start_release, .result = result};
    if (lease && !sync_check(lease->client))
        end_validity(lease);
    return ask_about(lease, &call);
}

static void let_go(redlock_sync_lease *lease)
{
    no_longer_held(lease);
    redlock_lease_free(lease->handle);
}

static void start_free(redlock_sync *client, struct call *call)
{
    let_go(call->lease);
    sync_finish(client, call, REDLOCK_OK);
}

void redlock_sync_lease_free(redlock_sync_lease *lease)
{
    if (!lease || lease->client->process != forks_process())
        return;
    struct call call = {.start = start_free, .lease = lease};
    end_validity(lease);
    /* Once the client has ended there is no handle to let go of. */
    if (!sync_is_inside(lease->client))
        sync_carry_out(lease->client, &call);
    else if (lease->client->redlock)
        let_go(lease);
    drop_lease(lease);
}
