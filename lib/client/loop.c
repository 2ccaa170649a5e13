#include "loop.h"

#include <ev.h>
#include <stdlib.h>

#include "parts.h"
#include "pump.h"

struct loop {
    struct ev_loop *ev;
    ev_prepare prepare;
    ev_timer timer;
    usec timer_at;
    bool holds;
};

/* ---- the timer: it only wakes the loop; the pump follows ---------------------- */

/* The timer has stopped itself, which took a reference that set_timer() had dropped. */
static void on_timer(struct ev_loop *ev, ev_timer *timer, int events)
{
    (void)events;
    struct loop *loop = timer->data;
    loop->timer_at = NEVER;
    ev_ref(ev);
}

static void set_timer(struct loop *loop, usec at)
{
    if (at == loop->timer_at)
        return;
    if (loop->timer_at != NEVER) {
        ev_ref(loop->ev);
        ev_timer_stop(loop->ev, &loop->timer);
    }
    loop->timer_at = at;
    if (at == NEVER)
        return;
    usec after = at - system_now();
    ev_timer_set(&loop->timer, after > 0 ? (double)after / 1e6 : 0., 0.);
    ev_timer_start(loop->ev, &loop->timer);
    ev_unref(loop->ev);
}

/* ---- references ---------------------------------------------------------------- */

void loop_hold(redlock *client)
{
    struct loop *loop = client->loop;
    bool hold = pump_holds_loop(client);
    if (hold && !loop->holds)
        ev_ref(loop->ev);
    else if (!hold && loop->holds)
        ev_unref(loop->ev);
    loop->holds = hold;
}

/* ---- beginning, turns and end --------------------------------------------------- */

static void destroy(redlock *client)
{
    struct loop *loop = client->loop;
    set_timer(loop, NEVER);
    if (loop->holds)
        ev_unref(loop->ev);
    ev_ref(loop->ev);
    ev_prepare_stop(loop->ev, &loop->prepare);
    free(loop);
    parts_free(client);
}

/* A callback may run the loop, so this function may be called from inside the pump. */
static void on_prepare(struct ev_loop *ev, ev_prepare *prepare, int events)
{
    (void)ev, (void)events;
    redlock *client = prepare->data;
    if (client->pumping || client->logging)
        return;
    if (!client_is_stopped(client)) {
        client->pumping = true;
        while (pump_step(client))
            ;
        client->pumping = false;
    }
    if (client->dying) {
        destroy(client);
        return;
    }
    if (!client_is_usable(client))
        return;
    set_timer(client->loop, pump_next_wake(client));
    loop_hold(client);
}

struct loop *loop_new(redlock *client, struct ev_loop *ev_loop)
{
    struct loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        return NULL;
    loop->ev = ev_loop;
    loop->timer_at = NEVER;
    ev_init(&loop->timer, on_timer);
    loop->timer.data = loop;
    ev_prepare_init(&loop->prepare, on_prepare);
    loop->prepare.data = client;
    return loop;
}

void loop_start(redlock *client)
{
    struct loop *loop = client->loop;
    ev_prepare_start(loop->ev, &loop->prepare);
    ev_unref(loop->ev);
    loop_hold(client);
}

void loop_end(redlock *client)
{
    loop_hold(client); /* the loop lives until on_prepare() frees the client, if not now */
    if (!client->pumping && !client->logging)
        destroy(client);
}

void loop_free(struct loop *loop)
{
    free(loop);
}
