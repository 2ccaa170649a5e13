/*
 * The steps of the world.  A request to a master is carried out and answered in one step.  As many
 * as `late` allows are on their way for as long as they like, or until the connection ends.  A
 * leaving party may hear at any time that it is undecided.  Its requests to count it no more are
 * then left out, as an expiry does the same.
 *
 * A step is honest unless it is the world's fault, or its malice, or a party's wish.
 */
#include "world.h"

static void take(const struct visit *v, struct step step, struct world *next)
{
    for (int c = 0; c < v->rules->parties; c++)
        party_settle(v->rules, next, c);
    party_judge(v->rules, next);
    step.wrong = next->wrong;
    v->visit(v->visitor, &step, next);
}

static struct step step_of(enum act act, int c, int i, bool honest)
{
    return (struct step){.act = act, .party = c, .master = i, .honest = honest};
}

static bool is_asking(const struct party *party)
{
    return party->phase == WAITS || party->phase == LEAVES;
}

/* ---- requests ------------------------------------------------------------------------ */

static void carry_out(const struct visit *v, struct world *next, int c, int i)
{
    struct master *master = &next->master[i];
    struct link *link = &master->link[c];
    uint8_t age = link->flight.age;
    link->flight = master_carry_out(v->rules, master, c, link->errand);
    link->flight.age = age;
    link->stage = ANSWERED;
    if (link->errand != DEPART)
        next->party[c].gone = v->rules->ttl + v->rules->lasts + 1;
}

static bool may_ask(const struct visit *v, int c, int i)
{
    const struct party *party = &v->now->party[c];
    const struct link *link = &v->now->master[i].link[c];
    if (!(party->phase == AWAY || is_asking(party)) || link->stage != IDLE || link->stale)
        return false;
    /* A party that is uncertain may as well ask again. */
    if (party_errand(party) == DEPART && !party->uncertain &&
        (!link->touched || link->known.stand == GONE))
        return false;
    return party_counts(v->rules, v->now, c, i);
}

static void ask(const struct visit *v, int c, int i)
{
    for (int fate = 0; fate < FATES && may_ask(v, c, i); fate++) {
        struct world next = *v->now;
        struct step step = step_of(ASK, c, i, fate == PROMPT);
        step.fate = fate;
        step.errand = party_errand(&next.party[c]);
        if (fate != PROMPT && next.late-- == 0)
            continue;
        party_asks(v->rules, &next, c, i);
        if (fate != REQUEST_LATE)
            carry_out(v, &next, c, i);
        if (fate == PROMPT)
            party_hears(v->rules, &next, c, i, next.master[i].link[c].flight);
        take(v, step, &next);
    }
}

static void arrive_late(const struct visit *v, int c, int i)
{
    const struct link *link = &v->now->master[i].link[c];
    struct world next = *v->now;
    if (link->stage == SENT) {
        carry_out(v, &next, c, i);
        take(v, step_of(CARRY_OUT, c, i, true), &next);
    }
    if (link->stage == ANSWERED && is_asking(&v->now->party[c])) {
        party_hears(v->rules, &next, c, i, link->flight);
        take(v, step_of(HEAR, c, i, true), &next);
    }
    if (link->orphan) {
        next = *v->now;
        next.master[i].link[c].orphan = false;
        next.party[c].gone = v->rules->ttl + v->rules->lasts + 1;
        (void)master_carry_out(v->rules, &next.master[i], c, ARRIVE);
        take(v, step_of(CARRY_OUT_ORPHAN, c, i, true), &next);
    }
}

/* The former connection is ended before a new one is used: what was sent on it is never carried
 * out after that. */
static void reconnect(const struct visit *v, int c, int i)
{
    struct world next = *v->now;
    struct link *link = &next.master[i].link[c];
    bool knows = link->stage != IDLE || link->known.stand != SHUT;
    if (!is_asking(&v->now->party[c]) || !(link->stale || (knows && next.late)))
        return;
    next.late -= !link->stale;
    link->orphan |=
        link->stage == SENT && link->errand == ARRIVE && broken(v->rules, ARRIVES_BEHIND);
    *link = (struct link){
        .orphan = link->orphan, .touched = link->touched, .known.age = link->known.age};
    take(v, step_of(RECONNECT, c, i, v->now->master[i].link[c].stale), &next);
}

static void expire(const struct visit *v, int c, int i)
{
    struct world next = *v->now;
    if (!next.expiries || !next.master[i].data.live[c])
        return;
    next.expiries--;
    next.master[i].data.live[c] = 0;
    if (!next.master[i].data.open)
        next.master[i].data.there &= ~(1 << c);
    take(v, step_of(EXPIRE, c, i, true), &next);
}

/* The question is whether each party hears in the end; nobody leaves by its own wish. */
static bool must_end(const struct rules *rules)
{
    return rules->question == PROGRESS || rules->question == SLEEPER;
}

/* ---- steps of a party ------------------------------------------------------------------- */

static void leave(const struct visit *v, int c)
{
    struct world next = *v->now;
    next.party[c].phase = LEAVES;
    take(v, step_of(LEAVE, c, -1, false), &next);
}

static void give_up(const struct visit *v, int c)
{
    struct world next = *v->now;
    party_ends(v->rules, &next, c, UNDECIDED);
    take(v, step_of(GIVE_UP, c, -1, true), &next);
}

static void die(const struct visit *v, int c)
{
    struct world next = *v->now;
    next.deaths--;
    party_ends(v->rules, &next, c, DEAD);
    take(v, step_of(DIE, c, -1, false), &next);
}

static void come_back(const struct visit *v, int c)
{
    struct world next = *v->now;
    next.returns--;
    party_comes_back(v->rules, &next, c);
    take(v, step_of(COME_BACK, c, -1, false), &next);
}

static void steps_of_party(const struct visit *v, int c)
{
    enum phase phase = v->now->party[c].phase;
    for (int i = 0; i < v->rules->masters; i++) {
        ask(v, c, i);
        arrive_late(v, c, i);
        reconnect(v, c, i);
        expire(v, c, i);
    }
    if (phase == WAITS && !must_end(v->rules))
        leave(v, c);
    if (phase == LEAVES)
        give_up(v, c);
    if ((phase == WAITS || phase == LEAVES) && v->now->deaths)
        die(v, c);
    if ((phase == UNDECIDED || phase == DEAD) && v->now->returns)
        come_back(v, c);
}

/* ---- steps of masters --------------------------------------------------------------------- */

static void others(const struct visit *v, int i)
{
    struct world next = *v->now;
    if (next.master[i].barred) {
        next.master[i].barred = false;
        take(v, step_of(OTHERS_GO, -1, i, true), &next);
        next = *v->now;
        master_others_pass(&next.master[i]);
        take(v, step_of(OTHERS_PASS, -1, i, false), &next);
    } else if (next.others && master_lets_others_in(v->rules, &next.master[i])) {
        next.others--;
        next.master[i].barred = true;
        take(v, step_of(OTHERS_COME, -1, i, false), &next);
    }
}

static void restart(const struct visit *v, int i)
{
    for (int memory = EMPTY; memory <= AS_SAVED; memory++) {
        struct world next = *v->now;
        struct step step = step_of(RESTART, -1, i, false);
        step.memory = memory;
        if (memory == AS_SAVED && !next.master[i].has_saved)
            continue;
        next.restarts--;
        master_restart(v->rules, &next.master[i], memory);
        for (int c = 0; c < v->rules->parties; c++)
            next.master[i].link[c].stale = is_asking(&next.party[c]);
        take(v, step, &next);
    }
}

static void save(const struct visit *v, int i)
{
    struct world next = *v->now;
    next.saves--;
    master_save(v->rules, &next.master[i]);
    take(v, step_of(SAVE, -1, i, false), &next);
}

static void tick(const struct visit *v)
{
    struct world next = *v->now;
    for (int i = 0; i < v->rules->masters; i++)
        master_tick(v->rules, &next.master[i]);
    for (int c = 0; c < v->rules->parties; c++)
        party_tick(v->rules, &next, c);
    take(v, step_of(TICK, -1, -1, true), &next);
}

void model_steps(const struct visit *v)
{
    for (int c = 0; c < v->rules->parties; c++)
        steps_of_party(v, c);
    for (int i = 0; i < v->rules->masters; i++) {
        others(v, i);
        if (v->now->restarts)
            restart(v, i);
        if (v->now->saves && v->now->restarts && !v->now->master[i].has_saved)
            save(v, i);
    }
    if (v->rules->lasts)
        tick(v);
}

/* ---- to begin with, and in the end ---------------------------------------------------------- */

void model_begin(const struct visit *v)
{
    const struct rules *rules = v->rules;
    struct world world = {.restarts = rules->restarts,
                          .saves = rules->saves,
                          .late = rules->late,
                          .deaths = rules->deaths,
                          .returns = rules->returns,
                          .expiries = rules->expiries,
                          .others = rules->others};
    for (int i = 0; i < MASTERS; i++)
        for (int c = 0; c < PARTIES; c++)
            world.master[i].link[c].known.age = rules->lasts + 1;
    v->visit(v->visitor, NULL, &world);
}

/* Each party heard its outcome, or is dead; or there are too few, and nobody heard that it has
 * passed. */
bool model_is_goal(const struct rules *rules, const struct world *world)
{
    int there = 0, waiting = 0;
    for (int c = 0; c < rules->parties; c++) {
        there += world->party[c].phase == AWAY || is_asking(&world->party[c]);
        waiting += is_asking(&world->party[c]);
    }
    return !waiting || (there < rules->wanted && !world->any_told);
}
