/*
 * sync_call.c - calls, from any thread to the background thread and back.
 */
#include "sync_client.h"
#include "sync_report.h"

#include <sys/eventfd.h>

/* The client whose background thread this thread is. */
static _Thread_local const redlock_sync *running;

void sync_note_running(const redlock_sync *client)
{
    running = client;
}

bool sync_is_inside(const redlock_sync *client)
{
    return running == client;
}

/* ---- any thread ---- */

redlock_code sync_check(const redlock_sync *client)
{
    if (!client)
        return REDLOCK_E_ARGUMENT;
    if (client->process != forks_process())
        return REDLOCK_E_FORKED;
    return sync_is_inside(client) ? REDLOCK_E_STATE : REDLOCK_OK;
}

const char *sync_why_not(const redlock_sync *client, redlock_code code)
{
    if (code == REDLOCK_E_STATE && sync_is_inside(client))
        return "a callback cannot wait: the thread that it runs on would wait for itself";
    return redlock_code_text(code);
}

redlock_code sync_carry_out(redlock_sync *client, struct call *call)
{
    pthread_mutex_lock(&client->lock);
    if (client->ended) {
        pthread_mutex_unlock(&client->lock);
        return sync_report(call->result, REDLOCK_E_CLOSED, redlock_code_text(REDLOCK_E_CLOSED));
    }
    pthread_cond_init(&call->finished, NULL);
    /* Under the lock, as the bell may be closed once the client has ended. */
    if (list_is_empty(&client->mailbox))
        eventfd_write(client->bell, 1);
    list_append(&client->mailbox, &call->place);
    while (!call->done)
        pthread_cond_wait(&call->finished, &client->lock);
    pthread_mutex_unlock(&client->lock);
    pthread_cond_destroy(&call->finished);
    return call->code;
}

redlock_code sync_ask(redlock_sync *client, struct call *call)
{
    if (!sync_report_is_usable(call->result))
        return REDLOCK_E_ARGUMENT;
    redlock_code code = sync_check(client);
    if (code)
        return sync_report(call->result, code, sync_why_not(client, code));
    return sync_carry_out(client, call);
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
    call->pending = true;
    list_append(&client->pending, &call->place);
}

void sync_finish(redlock_sync *client, struct call *call, redlock_code code)
{
    if (call->pending)
        list_remove(&call->place);
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
    sync_finish(client, call, sync_report(call->result, code, redlock_last_error(client->redlock)));
}

void sync_take_mail(redlock_sync *client)
{
    struct list calls;
    list_init(&calls);
    pthread_mutex_lock(&client->lock);
    if (client->redlock) /* otherwise the thread is about to end, and refuses all calls */
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
