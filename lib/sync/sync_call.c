/*
 * sync_call.c - calls, from any thread to the background thread and back.
 */
#include "double_time.h"
#include "sync_client.h"
#include "sync_report.h"
#include "sync_wait.h"

#include <sys/eventfd.h>

/* The client whose background thread this thread is. */
static _Thread_local const redlock_sync *running;

void sync_note_running(const redlock_sync *client)
{
    running = client;
}

bool sync_is_inside(const redlock_sync *client)
{
    return client->place ? double_runs() : running == client;
}

/* Virtual time is another thread's. */
static bool is_elsewhere(const redlock_sync *client)
{
    return client->place && !double_is_here();
}

/* ---- any thread ---- */

redlock_code sync_check(const redlock_sync *client)
{
    if (!client)
        return REDLOCK_E_ARGUMENT;
    if (client->process != forks_process())
        return REDLOCK_E_FORKED;
    return sync_is_inside(client) || is_elsewhere(client) ? REDLOCK_E_STATE : REDLOCK_OK;
}

const char *sync_why_not(const redlock_sync *client, redlock_code code)
{
    if (code == REDLOCK_E_STATE && is_elsewhere(client))
        return SYNC_ELSEWHERE;
    if (code == REDLOCK_E_STATE && sync_is_inside(client))
        return "a callback cannot wait: the thread that it runs on would wait for itself";
    return redlock_code_text(code);
}

bool sync_may_free(const redlock_sync *client)
{
    return client->process == forks_process() && !is_elsewhere(client);
}

/* False: the client has ended, and takes no calls.  Under the lock, as the bell may be closed once
 * it has. */
static bool hand_in(redlock_sync *client, struct call *call)
{
    if (client->ended)
        return false;
    sync_init_condition(&call->finished);
    if (client->place)
        double_stir(client->place);
    else if (list_is_empty(&client->mailbox))
        eventfd_write(client->bell, 1);
    list_append(&client->mailbox, &call->place);
    return true;
}

/* False: the call was not finished in time. */
static bool await_call(redlock_sync *client, struct call *call, int64_t ms)
{
    struct deadline until = sync_deadline(ms);
    while (!call->done && sync_wait(&call->finished, &client->lock, &until))
        continue;
    return call->done;
}

static void start_end(redlock_sync *client, struct call *call)
{
    sync_sides_close(client, 0);
    sync_finish(client, call, REDLOCK_OK);
}

/* In virtual time, where only this thread could bring its end about: the client is closed. */
static void end_in_vain(redlock_sync *client, struct call *call)
{
    struct call end = {.start = start_end};
    if (hand_in(client, &end)) {
        await_call(client, &end, REDLOCK_FOREVER);
        pthread_cond_destroy(&end.finished);
    }
    while (!call->done)
        await_call(client, call, REDLOCK_FOREVER);
    sync_report(call->result, call->code,
                "closed, as nobody could end this wait: in virtual time there is one thread");
}

static void await_end(redlock_sync *client, struct call *call)
{
    if (!await_call(client, call, REDLOCK_FOREVER))
        end_in_vain(client, call);
    pthread_cond_destroy(&call->finished);
}

static redlock_code carry_out_for(redlock_sync *client, struct call *call, int64_t ms,
                                  struct call *late)
{
    pthread_mutex_lock(&client->lock);
    if (!hand_in(client, call)) {
        pthread_mutex_unlock(&client->lock);
        return sync_report(call->result, REDLOCK_E_CLOSED, redlock_code_text(REDLOCK_E_CLOSED));
    }
    if (late && !await_call(client, call, ms) && hand_in(client, late))
        await_end(client, late);
    await_end(client, call);
    pthread_mutex_unlock(&client->lock);
    return call->code;
}

redlock_code sync_carry_out(redlock_sync *client, struct call *call)
{
    return carry_out_for(client, call, REDLOCK_FOREVER, NULL);
}

redlock_code sync_ask_for(redlock_sync *client, struct call *call, int64_t ms, struct call *late)
{
    if (!sync_report_is_usable(call->result))
        return REDLOCK_E_ARGUMENT;
    redlock_code code = sync_check(client);
    if (code)
        return sync_report(call->result, code, sync_why_not(client, code));
    return carry_out_for(client, call, ms, late);
}

redlock_code sync_ask(redlock_sync *client, struct call *call)
{
    return sync_ask_for(client, call, REDLOCK_FOREVER, NULL);
}

/* ---- the background thread ---- */

static struct call *take_first(struct list *calls)
{
    struct list *place = calls->next;
    list_remove(place);
    return LIST_OWNER(place, struct call, place);
}

void sync_set_pending(redlock_sync *client, struct call *call)
{
    call->side = sync_present(client);
    call->side->calls++;
    list_append(&client->pending, &call->place);
}

void sync_set_out(struct call *call)
{
    if (!call->side)
        return;
    list_remove(&call->place);
    call->side->calls--;
    call->side = NULL;
}

void sync_finish(redlock_sync *client, struct call *call, redlock_code code)
{
    sync_set_out(call);
    pthread_mutex_lock(&client->lock);
    call->code = code;
    call->done = true;
    pthread_cond_signal(&call->finished);
    pthread_mutex_unlock(&client->lock);
}

void sync_finish_with(redlock_sync *client, struct call **slot, redlock_code code,
                      const redlock_event *event)
{
    struct call *call = *slot;
    *slot = NULL;
    if (call)
        sync_finish(client, call,
                    event ? sync_report_event(call->result, code, event)
                          : sync_report(call->result, code, redlock_code_text(code)));
}

void sync_refuse(redlock_sync *client, struct call *call, redlock_code code)
{
    const struct side *side = call->lease ? call->lease->side : sync_present(client);
    sync_finish(client, call, sync_report(call->result, code, redlock_last_error(side->redlock)));
}

void sync_take_mail(redlock_sync *client)
{
    struct list calls;
    list_init(&calls);
    pthread_mutex_lock(&client->lock);
    list_append_all(&calls, &client->mailbox);
    pthread_mutex_unlock(&client->lock);
    while (!list_is_empty(&calls)) {
        struct call *call = take_first(&calls);
        call->start(client, call);
    }
}

void sync_finish_all(redlock_sync *client)
{
    const char *text = redlock_code_text(REDLOCK_E_CLOSED);
    pthread_mutex_lock(&client->lock);
    client->ended = true; /* from here on no thread adds to the mailbox */
    pthread_cond_broadcast(&client->changed);
    pthread_mutex_unlock(&client->lock);
    while (!list_is_empty(&client->mailbox)) {
        struct call *call = take_first(&client->mailbox);
        sync_finish(client, call, sync_report(call->result, REDLOCK_E_CLOSED, text));
    }
    while (!list_is_empty(&client->pending)) {
        struct call *call = LIST_OWNER(client->pending.next, struct call, place);
        sync_finish(client, call, sync_report(call->result, REDLOCK_E_CLOSED, text));
    }
}
