#include "listening.h"

#include <stdio.h>
#include <string.h>

#include "engine.h"
#include "mutant.h"

#define LINGERS MS(10000) /* who has waited once will wait again */
#define QUIET   MS(3000)  /* unheard of for so long, it is asked whether it is still there */

static void await(struct engine *e, struct subscription *sub)
{
    sub->due = e->now + e->config.connect_timeout;
    deadlines_at_latest(&e->deadlines, &e->deadline, sub->due);
}

static void subscribe(struct engine *e, unsigned index)
{
    struct subscription *sub = &e->masters[index].subscription;
    *sub = (struct subscription){.asked = true};
    await(e, sub);
    engine_emit(e, EFFECT_LISTEN, index, NULL);
}

static void unsubscribe(struct engine *e, unsigned index)
{
    struct subscription *sub = &e->masters[index].subscription;
    sub->due = 0;
    sub->run_id[0] = '\0'; /* what is still heard of it does not count */
    if (!sub->asked || sub->leaving)
        return;
    sub->leaving = true;
    engine_emit(e, EFFECT_DEAFEN, index, NULL);
}

static void probe(struct engine *e, unsigned index)
{
    struct subscription *sub = &e->masters[index].subscription;
    if (!sub->heard_at || sub->leaving || sub->due || e->now < sub->heard_at + QUIET)
        return;
    await(e, sub);
    engine_emit(e, EFFECT_PROBE, index, NULL);
}

void listening_keep(struct engine *e)
{
    e->listen_until = e->now + LINGERS;
    for (unsigned i = 0; i < e->config.masters; i++) {
        const struct master *master = &e->masters[i];
        if (!master_is_up(master) || e->closing)
            continue;
        if (master->subscription.asked)
            probe(e, i);
        else
            subscribe(e, i);
    }
    deadlines_at_latest(&e->deadlines, &e->deadline, e->listen_until);
}

void listening_end(struct engine *e)
{
    for (unsigned i = 0; i < e->config.masters; i++)
        unsubscribe(e, i);
    e->listen_until = 0;
}

void listening_lost(struct engine *e, unsigned master)
{
    unsubscribe(e, master);
}

static void end_the_dead(struct engine *e)
{
    for (unsigned i = 0; i < e->config.masters; i++) {
        const struct subscription *sub = &e->masters[i].subscription;
        if (sub->due && e->now >= sub->due)
            unsubscribe(e, i);
        else if (sub->due)
            deadlines_at_latest(&e->deadlines, &e->deadline, sub->due);
    }
}

void listening_look(struct engine *e)
{
    end_the_dead(e);
    if (!e->listen_until)
        return;
    if (e->now >= e->listen_until)
        listening_end(e);
    else
        deadlines_at_latest(&e->deadlines, &e->deadline, e->listen_until);
}

void listening_heard(struct engine *e, unsigned master)
{
    struct subscription *sub = &e->masters[master].subscription;
    if (!sub->heard_at)
        return;
    sub->heard_at = e->now;
    sub->due = 0;
}

/* What was granted before it listened was told to nobody.  Where another process is heard, the
 * other connection may be dead without having noticed it: it is asked. */
void listening_begun(struct engine *e, unsigned master, const char *run_id)
{
    struct subscription *sub = &e->masters[master].subscription;
    if (sub->leaving)
        return;
    sub->heard_at = e->now;
    sub->due = 0;
    snprintf(sub->run_id, sizeof sub->run_id, "%s", run_id ? run_id : "");
    if (!listening_to_same_process(e, master))
        master_look(e, master);
    for (struct lease *lease = e->busy.first, *next; lease; lease = next) {
        next = lease->next;
        lease_look_again(e, lease, master);
    }
}

void listening_ended(struct engine *e, unsigned master)
{
    e->masters[master].subscription = (struct subscription){0};
}

bool listening_to_same_process(const struct engine *e, unsigned master)
{
    const struct master *it = &e->masters[master];
    return (it->subscription.run_id[0] && strcmp(it->subscription.run_id, it->facts.run_id) == 0) ||
           MUTANT(PUSH_OF_ANOTHER);
}
