/*
 * sync_call.c - calls, from any thread to the background thread and back.
 */
#include "sync_client.h"
#include "sync_report.h"

/* The client whose background thread this is. */
static _Thread_local const redlock_sync *running;

void sync_is_running(const redlock_sync *client)
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
    if (client->forks != sync_forks())
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
    /* Under the lock, as the loop may be destroyed once the client has ended. */
    if (STAILQ_EMPTY(&client->mailbox))
        ev_async_send(client->loop, &client->mail);
    STAILQ_INSERT_TAIL(&client->mailbox, call, queued);
    while (!call->done)
        pthread_cond_wait(&call->finished, &client->lock);
    pthread_mutex_unlock(&client->lock);
    pthread_cond_destroy(&call->finished);
    return call->code;
}

/* ---- the background thread ---- */

void sync_set_pending(redlock_sync *client, struct call *call)
{
    call->pending = true;
    LIST_INSERT_HEAD(&client->pending, call, waiting);
}

void sync_finish(redlock_sync *client, struct call *call, redlock_code code)
{
    if (call->pending)
        LIST_REMOVE(call, waiting);
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
        sync_finish(client, call, sync_report_event(call->result, code, event));
}

void sync_refuse(redlock_sync *client, struct call *call, redlock_code code)
{
    sync_finish(client, call, sync_report(call->result, code, redlock_last_error(client->redlock)));
}

void sync_on_mail(struct ev_loop *loop, ev_async *mail, int events)
{
    (void)loop, (void)events;
    redlock_sync *client = mail->data;
    struct mailbox calls = STAILQ_HEAD_INITIALIZER(calls);
    pthread_mutex_lock(&client->lock);
    if (client->redlock) /* otherwise it is about to end, and all are refused */
        STAILQ_CONCAT(&calls, &client->mailbox);
    pthread_mutex_unlock(&client->lock);
    while (!STAILQ_EMPTY(&calls)) {
        struct call *call = STAILQ_FIRST(&calls);
        STAILQ_REMOVE_HEAD(&calls, queued);
        call->start(client, call);
    }
}

void sync_finish_all(redlock_sync *client)
{
    const char *text = redlock_code_text(REDLOCK_E_CLOSED);
    pthread_mutex_lock(&client->lock);
    client->ended = true; /* from here on nobody adds to the mailbox */
    pthread_cond_broadcast(&client->changed);
    pthread_mutex_unlock(&client->lock);
    while (!STAILQ_EMPTY(&client->mailbox)) {
        struct call *call = STAILQ_FIRST(&client->mailbox);
        STAILQ_REMOVE_HEAD(&client->mailbox, queued);
        sync_finish(client, call, sync_report(call->result, REDLOCK_E_CLOSED, text));
    }
    while (!LIST_EMPTY(&client->pending)) {
        struct call *call = LIST_FIRST(&client->pending);
        sync_finish(client, call, sync_report(call->result, REDLOCK_E_CLOSED, text));
    }
}
