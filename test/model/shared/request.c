/*
 * The fate of a round of requests, or of releases, at each master.  A prompt request is carried
 * out, answered and heard in one step.  All else counts as late: a request that is not sent, one
 * that is on its way, and an answer that is.  A release, and with a queue the first request, may
 * only be on its way; with a queue no other request may be.
 *
 * Messages on one connection stay in order.  A connection may end at any time:
 * then its requests are carried out later or never, and nobody hears the answer.
 */
#include "world.h"

static bool within_clocks(const struct visit *v, const struct world *next)
{
    for (int i = 0; i < v->rules->masters; i++)
        if (next->master[i].clock > v->rules->clocks)
            return false;
    return true;
}

void take(const struct visit *v, struct step step, const struct world *next)
{
    struct world world = *next;
    client_settle(v->rules, &world);
    client_judge(v->rules, &world);
    step.wrong = world.wrong;
    if (v->rules->question != ORDER || within_clocks(v, &world))
        v->visit(v->visitor, &step, &world);
}

static bool be_late(struct world *next)
{
    if (!next->late)
        return false;
    next->late -= next->late != ANY_NUMBER;
    return true;
}

/* ---- one message ---------------------------------------------------------------------- */

static enum vote carry_out(const struct visit *v, struct world *next, int c, int i,
                           const struct message *message)
{
    switch (message->kind) {
    case TAKE:
        return master_take(v->rules, next, c, i, message->alone);
    case UPGRADE:
        return master_upgrade(v->rules, next, c, i);
    case QUEUE:
        return master_queue(v->rules, next, c, i);
    default:
        return master_renew(v->rules, next, c, i, message->alone, message->kind == CONVERT);
    }
}

static void carry_out_at(const struct visit *v, struct world *next, int c, int i, int k)
{
    struct link *link = &next->master[i].link[c];
    struct message *message = &link->flight[k];
    message->vote = carry_out(v, next, c, i, message);
    if (message->stage == DEAD || next->client[c].phase == DONE)
        client_forget_message(link, k);
    else
        message->stage = ANSWERED;
}

static void hear_at(const struct visit *v, struct world *next, int c, int i, int k)
{
    struct link *link = &next->master[i].link[c];
    struct message message = link->flight[k];
    client_forget_message(link, k);
    client_hear(v->rules, next, c, i, &message);
}

/* Whether an earlier message of the same connection has not come as far. */
static bool is_behind(const struct link *link, int k, enum stage stage)
{
    for (int j = 0; j < k; j++)
        if (link->flight[j].stage == stage)
            return true;
    return false;
}

/* With a queue, what is carried out late is heard at once. */
void request_carry_out(const struct visit *v, int c, int i)
{
    const struct link *link = &v->now->master[i].link[c];
    for (int k = 0; k < FLIGHTS && link->flight[k].kind; k++) {
        struct step step = {.act = CARRY_OUT, .client = c, .master = i, .message = k};
        struct world next = *v->now;
        enum stage stage = link->flight[k].stage;
        if (stage == ANSWERED || is_behind(link, k, stage))
            continue;
        carry_out_at(v, &next, c, i, k);
        if (has_queue(v->rules) && next.master[i].link[c].flight[k].stage == ANSWERED)
            hear_at(v, &next, c, i, k);
        step.honest = true;
        take(v, step, &next);
    }
}

void request_hear(const struct visit *v, int c, int i)
{
    const struct link *link = &v->now->master[i].link[c];
    for (int k = 0; k < FLIGHTS && link->flight[k].kind; k++) {
        struct step step = {.act = HEAR, .client = c, .master = i, .message = k, .honest = true};
        struct world next = *v->now;
        if (link->flight[k].stage != ANSWERED || is_behind(link, k, ANSWERED))
            continue;
        hear_at(v, &next, c, i, k);
        take(v, step, &next);
    }
}

/* ---- a round ------------------------------------------------------------------------------ */

static bool is_release(const struct step *step)
{
    return step->act != ASK;
}

/* Whether a message of the connection that stands is under way. */
static bool is_under_way(const struct link *link, bool answers_too)
{
    for (int k = 0; k < FLIGHTS && link->flight[k].kind; k++)
        if (link->flight[k].stage == SENT || (answers_too && link->flight[k].stage == ANSWERED))
            return true;
    return false;
}

/* Whether it can happen, and is counted then. */
static bool is_allowed(const struct visit *v, const struct step *step, struct world *next, int i,
                       enum fate fate)
{
    const struct link *link = &v->now->master[i].link[step->client];
    if (fate == PROMPT)
        return is_release(step) || !is_under_way(link, true);
    if (is_release(step))
        return fate == REQUEST_LATE && be_late(next);
    if (has_queue(v->rules) && fate != (step->kind == TAKE ? REQUEST_LATE : NOT_SENT))
        return false;
    if (fate == NOT_SENT && is_of_one(v->rules))
        return false;
    if (fate == ANSWER_LATE && is_under_way(link, false))
        return false;
    return be_late(next);
}

static void request(const struct visit *v, const struct step *step, struct world *next, int i,
                    enum kind kind)
{
    enum fate fate = step->of[i];
    int c = step->client, k = FLIGHTS;
    if (fate == NOT_SENT || (is_release(step) && fate == REQUEST_LATE))
        return;
    if (is_release(step)) {
        master_release(v->rules, next, c, i);
        return;
    }
    client_send(v->rules, next, c, i, kind);
    while (!next->master[i].link[c].flight[k - 1].kind)
        k--;
    if (fate != REQUEST_LATE)
        carry_out_at(v, next, c, i, k - 1);
    if (fate == PROMPT)
        hear_at(v, next, c, i, k - 1);
}

/* The question there, or NOTHING. */
static enum kind asked(const struct visit *v, const struct step *step, const struct world *world,
                       int i)
{
    if (is_release(step))
        return world->master[i].link[step->client].giving ? RELEASE : NOTHING;
    return client_asks(v->rules, world, step->client, i, step->kind);
}

static void round_from(const struct visit *v, struct step step, const struct world *world, int i)
{
    if (i == v->rules->masters) {
        take(v, step, world);
        return;
    }
    enum kind kind = asked(v, &step, world, i);
    if (kind == NOTHING) {
        round_from(v, step, world, i + 1);
        return;
    }
    for (enum fate fate = NOT_SENT; fate <= PROMPT; fate++) {
        struct world next = *world;
        struct step as = step;
        as.of[i] = fate;
        as.honest = step.honest && fate == PROMPT;
        if (!is_allowed(v, &step, &next, i, fate))
            continue;
        request(v, &as, &next, i, kind);
        round_from(v, as, &next, i + 1);
    }
}

void request_round(const struct visit *v, struct step step, const struct world *world)
{
    for (int i = 0; i < v->rules->masters; i++)
        if (asked(v, &step, world, i) != NOTHING) {
            round_from(v, step, world, 0);
            return;
        }
    if (is_release(&step))
        take(v, step, world);
}
