#include "masters/subscription.h"

#include <stdio.h>
#include <string.h>

#include "ground/sanity.h"
#include "ground/shared.h"
#include "masters/master.h"

#define LINGERS MS(10000) /* a client that has waited once will wait again */
#define QUIET   MS(3000)  /* after that long without a sign of life, one is asked for */

static void await(struct engine *e, struct subscription *sub)
{
    sub->due = e->now + e->config.connect_timeout;
    deadlines_at_latest(&e->deadlines, &e->deadline, sub->due);
}

static void subscribe_to_master(struct engine *e, unsigned index)
{
    struct subscription *sub = &e->masters[index].subscription;
    ASSERT(!sub->asked && !e->closing);
    *sub = (struct subscription){.asked = true};
    await(e, sub);
    engine_emit(e, EFFECT_SUBSCRIBE, index, NULL);
}

static void unsubscribe(struct engine *e, unsigned index)
{
    struct subscription *sub = &e->masters[index].subscription;
    sub->due = 0;
    sub->run_id[0] = '\0'; /* pushes that still come do not count */
    if (!sub->asked || sub->leaving)
        return;
    sub->leaving = true;
    engine_emit(e, EFFECT_UNSUBSCRIBE, index, NULL);
}

static void probe(struct engine *e, unsigned index)
{
    struct subscription *sub = &e->masters[index].subscription;
    if (!sub->heard_at || sub->leaving || sub->due || e->now < sub->heard_at + QUIET)
        return;
    await(e, sub);
    engine_emit(e, EFFECT_PROBE, index, NULL);
}

void subscription_keep(struct engine *e)
{
    e->subscribe_until = e->now + LINGERS;
    for (unsigned i = 0; i < e->config.masters; i++) {
        const struct master *master = &e->masters[i];
        if (!master_is_up(master) || e->closing)
            continue;
        if (master->subscription.asked)
            probe(e, i);
        else
            subscribe_to_master(e, i);
    }
    deadlines_at_latest(&e->deadlines, &e->deadline, e->subscribe_until);
}

void subscription_end(struct engine *e)
{
    for (unsigned i = 0; i < e->config.masters; i++)
        unsubscribe(e, i);
    e->subscribe_until = 0;
}

void subscription_lost(struct engine *e, unsigned master)
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

void subscription_look(struct engine *e)
{
    end_the_dead(e);
    if (!e->subscribe_until)
        return;
    if (e->now >= e->subscribe_until)
        subscription_end(e);
    else
        deadlines_at_latest(&e->deadlines, &e->deadline, e->subscribe_until);
}

void subscription_heard(struct engine *e, unsigned master)
{
    struct subscription *sub = &e->masters[master].subscription;
    if (!sub->heard_at)
        return;
    sub->heard_at = e->now;
    sub->due = 0;
}

/* If the subscription is to another process, the other connection may be dead without having
 * noticed it: so it is asked. */
bool subscription_begun(struct engine *e, unsigned master, const char *run_id)
{
    struct subscription *sub = &e->masters[master].subscription;
    ASSERT(sub->asked && !sub->heard_at);
    if (sub->leaving)
        return false;
    sub->heard_at = sub->begun_at = e->now;
    sub->due = 0;
    snprintf(sub->run_id, sizeof sub->run_id, "%s", run_id ? run_id : "");
    if (!subscription_is_to_same_process(e, master))
        master_look(e, master);
    return true;
}

void subscription_ended(struct engine *e, unsigned master)
{
    ASSERT(e->masters[master].subscription.asked);
    e->masters[master].subscription = (struct subscription){0};
}

bool subscription_is_to_same_process(const struct engine *e, unsigned master)
{
    const struct master *it = &e->masters[master];
    return it->subscription.run_id[0] && strcmp(it->subscription.run_id, it->facts.run_id) == 0;
}
