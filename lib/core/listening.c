#include "listening.h"

#include "engine.h"

#define LINGERS MS(10000) /* who has waited once will wait again */

void listening_keep(struct engine *e)
{
    e->listen_until = e->now + LINGERS;
    for (unsigned i = 0; i < e->config.masters; i++) {
        struct master *master = &e->masters[i];
        if (master->listening || !master_is_up(master) || e->closing)
            continue;
        master->listening = true;
        engine_emit(e, EFFECT_LISTEN, i, NULL);
    }
    deadlines_at_latest(&e->deadlines, &e->deadline, e->listen_until);
}

void listening_end(struct engine *e)
{
    for (unsigned i = 0; i < e->config.masters; i++)
        if (e->masters[i].listening)
            engine_emit(e, EFFECT_DEAFEN, i, NULL);
    e->listen_until = 0;
}

void listening_lost(struct engine *e, unsigned master)
{
    if (e->masters[master].listening)
        engine_emit(e, EFFECT_DEAFEN, master, NULL);
}

void listening_look(struct engine *e)
{
    if (!e->listen_until)
        return;
    if (e->now >= e->listen_until)
        listening_end(e);
    else
        deadlines_at_latest(&e->deadlines, &e->deadline, e->listen_until);
}

/* What was granted before it listened was told to nobody. */
void listening_begun(struct engine *e, unsigned master)
{
    for (struct lease *lease = e->busy.first, *next; lease; lease = next) {
        next = lease->next;
        lease_look_again(e, lease, master);
    }
}

void listening_ended(struct engine *e, unsigned master)
{
    e->masters[master].listening = false;
}
