/*
 * The steps of the world.  A request may be on its way for ever.  The holder's requests may
 * overtake each other, which is more than a link allows; the heir's keep their order.  A master may
 * forget a script at any moment, and a name: the name has ended, was evicted, or was deleted.  Each
 * renewal of the holder heals, and is late only when a lease of the whole ttl would be over.
 */
#include "world.h"

static void take(const struct visit *v, enum act act, int i, int k, const struct world *next)
{
    struct step step = {.act = act, .master = i, .renewal = k, .wrong = next->wrong};
    v->visit(v->visitor, &step, next);
}

/* ---- the holder ----------------------------------------------------------------------------- */

static void steps_of_renewal(const struct visit *v, int i, int k)
{
    enum stage stage = v->now->master[i].renewal[k].stage;
    struct world next = *v->now;
    if (holder_may_ask(v->rules, v->now, i, k)) {
        holder_ask(v->rules, &next, i, k);
        take(v, ASK, i, k, &next);
    }
    if (stage == ON_ITS_WAY) {
        master_renew(v->rules, &next, i, k);
        take(v, CARRY_OUT, i, k, &next);
        next = *v->now;
        next.master[i].renewal[k].stage = UNHEARD;
        take(v, FORGET, i, k, &next);
    }
    if (stage == UNHEARD) {
        holder_hear_forgotten(v->rules, &next, i, k);
        take(v, HEAR_FORGOTTEN, i, k, &next);
    }
}

static void steps_of_holder(const struct visit *v)
{
    struct world next = *v->now;
    if (!v->now->left) {
        holder_detach(v->rules, &next);
        take(v, DETACH, 0, 0, &next);
    }
    for (int i = 0; i < v->rules->masters; i++) {
        for (int k = 0; k < v->rules->renewals; k++)
            steps_of_renewal(v, i, k);
        next = *v->now;
        if (holder_may_write(v->now, i)) {
            holder_write(&next, i);
            take(v, WRITE, i, 0, &next);
        }
    }
}

/* ---- the heir ------------------------------------------------------------------------------- */

static void renewals_of_heir(const struct visit *v, int i)
{
    enum answer answer = v->now->master[i].heir.renewal;
    struct world next = *v->now;
    if (heir_may_renew(v->now, i)) {
        heir_renew(&next, i);
        take(v, RENEW, i, 0, &next);
    } else if (answer == ASKED) {
        master_renew_heirs(v->rules, &next, i);
        take(v, CARRY_OUT_HEIRS, i, 0, &next);
    } else if (answer) {
        heir_hear_renewal(v->rules, &next, i);
        take(v, HEAR_RENEWAL, i, 0, &next);
    }
}

static void releases_of_heir(const struct visit *v, int i)
{
    const struct heir_link *link = &v->now->master[i].heir;
    struct world next = *v->now;
    if (link->release == SENT && link->renewal != ASKED) {
        master_release(v->rules, &next, i);
        take(v, CARRY_OUT_RELEASE, i, 0, &next);
        next = *v->now;
        next.master[i].heir.release = SAID_NOSCRIPT;
        take(v, FORGET_RELEASE, i, 0, &next);
    }
    if (heir_may_hear_release(v->now, i)) {
        heir_hear_release(v->rules, &next, i);
        take(v, HEAR_RELEASE, i, 0, &next);
    }
    if (link->renewal || link->release) {
        next = *v->now;
        heir_cut(v->rules, &next, i);
        take(v, CUT, i, 0, &next);
    }
}

static void steps_of_heir(const struct visit *v)
{
    struct world next = *v->now;
    if (v->now->heir == WITHOUT_TOKEN && v->now->left) {
        next.heir = WITH_TOKEN;
        take(v, HAND_ON, 0, 0, &next);
    }
    if (v->now->heir == WITH_TOKEN && v->rules->question == TAKEN) {
        heir_attach(v->rules, &next);
        take(v, ATTACH, 0, 0, &next);
    }
    if (heir_may_give_back(v->rules, v->now)) {
        next = *v->now;
        heir_give_back(v->rules, &next);
        take(v, GIVE_BACK, 0, 0, &next);
    }
    for (int i = 0; i < v->rules->masters; i++) {
        renewals_of_heir(v, i);
        releases_of_heir(v, i);
    }
}

static void steps_of_second(const struct visit *v)
{
    struct world next = *v->now;
    if (second_may_attach(v->rules, v->now)) {
        second_attach(v->rules, &next);
        take(v, ATTACH_SECOND, 0, 0, &next);
    }
    for (int i = 0; i < v->rules->masters; i++) {
        next = *v->now;
        if (next.master[i].second != ASKED)
            continue;
        master_renew_seconds(v->rules, &next, i);
        take(v, CARRY_OUT_SECONDS, i, 0, &next);
    }
}

/* ---- masters, others, time --------------------------------------------------------------------
 */

static void become(const struct visit *v, enum act act, int i, enum owner owner)
{
    struct world next = *v->now;
    next.master[i].owner = owner;
    take(v, act, i, 0, &next);
}

static void steps_of_master(const struct visit *v, int i)
{
    enum owner owner = v->now->master[i].owner;
    struct world next = *v->now;
    if (owner == TOKEN)
        become(v, LOSE, i, FREE);
    if (owner == FREE)
        become(v, OTHER_TAKES, i, OTHERS);
    if (owner == OTHERS)
        become(v, OTHER_GIVES_BACK, i, FREE);
    if (master_may_take(v->now, i)) {
        master_take(&next, i);
        take(v, TAKE, i, 0, &next);
        next = *v->now;
    }
    master_restart(v->rules, &next, i);
    take(v, RESTART, i, 0, &next);
}

void model_steps(const struct visit *v)
{
    struct world next = *v->now;
    steps_of_holder(v);
    steps_of_heir(v);
    steps_of_second(v);
    for (int i = 0; i < v->rules->masters; i++) {
        steps_of_master(v, i);
        master_tick(v->rules, &next, i);
    }
    if (v->rules->question != AGAIN)
        take(v, TICK, 0, 0, &next);
}

void model_begin(const struct visit *v)
{
    const struct rules *rules = v->rules;
    struct world world = {0};
    for (int i = 0; i < rules->masters; i++)
        world.master[i].owner = TOKEN;
    for (int i = 0; i < rules->masters && rules->question == AGAIN; i++)
        world.master[i].taking = true;
    v->visit(v->visitor, NULL, &world);
}
