#include "effects.h"

#include "events.h"
#include "link.h"
#include "logins.h"
#include "nodes.h"
#include "notify.h"
#include "queues.h"
#include "tasks.h"

#define SAID_UNTIL_ASKED 1000

/* The grant, and hints; or whatever is said until it is asked for again. */
static void expect_pushes(redlock *client, unsigned master, const struct request *request)
{
    bool waits = request->tag.kind == REQUEST_QUEUE;
    notify_expect(client, master, waits ? 1U + request->queue.permits : SAID_UNTIL_ASKED);
}

static void send_request(redlock *client, unsigned master, const struct request *request)
{
    link_send(client->links[master], request);
    if (request_brings_pushes(request->tag.kind))
        expect_pushes(client, master, request);
}

/* Changes are rare: their code must not slow down the other effects. */
static void __attribute__((cold, noinline)) note_change(redlock *client, unsigned master)
{
    nodes_note_change(client, master);
}

void effects_emit(void *shell, const struct effect *effect)
{
    redlock *client = shell;
    if (effect->kind == EFFECT_SEND) { /* nearly all of them */
        send_request(client, effect->master, effect->request);
        return;
    }
    switch (effect->kind) {
    case EFFECT_CONNECT:
        logins_renew(client, effect->master, client->links[effect->master]);
        link_connect(client->links[effect->master]);
        break;
    case EFFECT_DISCONNECT:
        link_close(client->links[effect->master]);
        break;
    case EFFECT_SEND: /* see above */
        break;
    case EFFECT_SUBSCRIBE:
        notify_subscribe(client, effect->master);
        break;
    case EFFECT_PROBE:
        notify_probe(client, effect->master);
        break;
    case EFFECT_UNSUBSCRIBE:
        notify_end(client, effect->master);
        break;
    case EFFECT_TELL:
        queue_untold(client, lease_of_core(effect->lease));
        break;
    case EFFECT_TELL_TASK:
        client_tasks_note(effect->task);
        break;
    case EFFECT_READY:
        client->ready = true;
        break;
    case EFFECT_CLOSED:
        client->closed = true;
        break;
    case EFFECT_NOTICE:
        note_change(client, effect->master);
        break;
    case EFFECT_LISTS:
        nodes_note_lists(client);
        event_log_refusal(client);
        break;
    }
}
