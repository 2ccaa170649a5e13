/*
 * The acts of a client.  A promise lasts for the ttl from the sending of its request; a quorum
 * of them is the lease, for a reader as for a writer (R4).  A writer's part is counted apart, as
 * `alone`: for a reader it is nothing.
 *
 * Downgrade: the mode changes first; then each master is asked to convert.
 * Upgrade: only a reader asks.  Those answers count as a writer's that are of this round, and
 * only if a quorum of them came is the client a writer.  Otherwise it goes on as a reader,
 * and each master is asked to convert.  While it upgrades it asks nobody to convert; and it
 * upgrades on no master on which a converting request is unanswered, or was lost.  Where one
 * was lost a writer renews nothing either: it may still come, and make a reader of it.
 * Nor does an upgraded one on a master that abstains: a token that is there may be from
 * before it was a reader, and other readers forgotten.
 */
#include "world.h"

/* ---- what it asks ------------------------------------------------------------------- */

static int free_flight(const struct link *link)
{
    for (int k = 0; k < FLIGHTS; k++)
        if (!link->flight[k].kind)
            return k;
    return link->flight[0].stage == DEAD ? 0 : FLIGHTS;
}

static bool is_converting(const struct rules *rules, const struct link *link)
{
    if (link->lost)
        return !broken(rules, UPGRADE_AFTER_LOST_CONVERT);
    for (int k = 0; k < FLIGHTS; k++)
        if (link->flight[k].kind == CONVERT && link->flight[k].stage != DEAD)
            return !broken(rules, UPGRADE_WHILE_CONVERTING);
    return false;
}

static bool may_renew_alone(const struct rules *rules, const struct client *client,
                            const struct master *master, const struct link *link)
{
    if (link->lost && !broken(rules, RENEWAL_AFTER_LOST_CONVERT))
        return false;
    return !client->is_upgraded || !master->quarantine || broken(rules, RENEWAL_AFTER_ROLLBACK);
}

static enum kind renewal(const struct rules *rules, const struct client *client,
                         const struct link *link)
{
    bool is_reader = !client->alone || broken(rules, DOWNGRADE_LATE);
    bool may_convert = client->phase == HOLDING || broken(rules, CONVERTS_WHILE_UPGRADING);
    if (link->to_convert && is_reader && may_convert)
        return CONVERT;
    return has_queue(rules) ? NOTHING : RENEW;
}

enum kind client_asks(const struct rules *rules, const struct world *world, int c, int i,
                      enum kind kind)
{
    const struct link *link = &world->master[i].link[c];
    const struct client *client = &world->client[c];
    if (link->stale || free_flight(link) == FLIGHTS)
        return NOTHING;
    if (kind == RENEW && client->alone && !may_renew_alone(rules, client, &world->master[i], link))
        return NOTHING;
    if (kind == RENEW)
        return renewal(rules, client, link);
    if (kind == UPGRADE && is_converting(rules, link))
        return NOTHING;
    return kind;
}

void client_forget_message(struct link *link, int k)
{
    for (; k + 1 < FLIGHTS; k++)
        link->flight[k] = link->flight[k + 1];
    link->flight[k] = (struct message){0};
}

void client_send(const struct rules *rules, struct world *world, int c, int i, enum kind kind)
{
    struct link *link = &world->master[i].link[c];
    const struct client *client = &world->client[c];
    if (link->flight[FLIGHTS - 1].kind)
        client_forget_message(link, 0);
    link->flight[free_flight(link)] = (struct message){
        .kind = kind,
        .alone = kind == TAKE ? client->wants_alone : client->alone && kind != CONVERT,
        .left = ttl_of(rules, c),
        .is_of_round = true,
    };
    if (kind == CONVERT)
        link->to_convert = false;
}

/* ---- what it hears -------------------------------------------------------------------- */

static void hear_upgraded(const struct client *client, struct link *link,
                          const struct message *message)
{
    link->promise = larger(link->promise, message->left);
    if (message->is_of_round && (client->phase == UPGRADING || client->alone))
        link->alone = larger(link->alone, message->left);
    else
        link->to_convert = !client->alone;
}

static bool counts_as_alone(const struct rules *rules, const struct client *client,
                            const struct message *message)
{
    if (!client->alone)
        return false;
    if (broken(rules, SHARED_COUNTS_AS_ALONE))
        return true;
    return message->alone && message->is_of_round;
}

static void hear_yours(const struct rules *rules, const struct client *client, struct link *link,
                       const struct message *message)
{
    link->promise = larger(link->promise, message->left);
    if (counts_as_alone(rules, client, message))
        link->alone = larger(link->alone, message->left);
    if (message->kind == CONVERT)
        link->alone = 0;
    if (message->vote == ALONE && !client->alone && client->phase == HOLDING)
        link->to_convert = true;
}

static void hear_refused(struct master *master, struct link *link, const struct message *message)
{
    if (message->kind == TAKE)
        link->told = master->clock;
    else if (message->kind != UPGRADE)
        link->promise = link->alone = 0;
}

void client_hear(const struct rules *rules, struct world *world, int c, int i,
                 const struct message *message)
{
    const struct client *client = &world->client[c];
    struct link *link = &world->master[i].link[c];
    struct message heard = *message;
    if (broken(rules, DATED_FROM_ANSWER))
        heard.left = ttl_of(rules, c);
    link->ahead = heard.vote == AHEAD;
    if (heard.vote == REFUSED || heard.vote == QUEUED)
        hear_refused(&world->master[i], link, &heard);
    else if (heard.kind == UPGRADE)
        hear_upgraded(client, link, &heard);
    else if (heard.vote != ABSENT)
        hear_yours(rules, client, link, &heard);
}

/* ---- its connections -------------------------------------------------------------------- */

void client_reconnect(struct link *link)
{
    for (int k = FLIGHTS; k-- > 0;) {
        struct message *message = &link->flight[k];
        if (!message->kind || message->stage == DEAD)
            continue;
        link->lost |= message->kind == CONVERT;
        if (message->stage == SENT)
            message->stage = DEAD;
        else
            client_forget_message(link, k);
    }
}

/* Nobody carries out messages to the former process. */
void client_notice(struct link *link)
{
    for (int k = FLIGHTS; k-- > 0;)
        client_forget_message(link, k);
    link->stale = link->lost = false;
}

/* ---- changes of mode -------------------------------------------------------------------- */

/* Of no answer that is still to come it is known which mode it is for. */
static void begin_round(const struct rules *rules, struct world *world, int c, bool to_convert)
{
    for (int i = 0; i < rules->masters; i++) {
        struct link *link = &world->master[i].link[c];
        link->to_convert = to_convert;
        for (int k = 0; k < FLIGHTS; k++)
            link->flight[k].is_of_round = broken(rules, ROUNDS_MIXED) && link->flight[k].kind;
    }
}

static void forget_alone(const struct rules *rules, struct world *world, int c)
{
    for (int i = 0; i < rules->masters; i++)
        world->master[i].link[c].alone = 0;
}

void client_downgrade(const struct rules *rules, struct world *world, int c)
{
    begin_round(rules, world, c, true);
    if (broken(rules, DOWNGRADE_LATE))
        return;
    world->client[c].alone = world->client[c].is_upgraded = false;
    forget_alone(rules, world, c);
}

void client_begin_upgrade(const struct rules *rules, struct world *world, int c)
{
    world->client[c].phase = UPGRADING;
    begin_round(rules, world, c, broken(rules, CONVERTS_WHILE_UPGRADING));
}

/* An answer that comes after the end is of this round for a writer only. */
void client_end_upgrade(const struct rules *rules, struct world *world, int c, bool is_upgraded)
{
    world->client[c].phase = HOLDING;
    world->client[c].alone = world->client[c].is_upgraded = is_upgraded;
    if (!is_upgraded) {
        begin_round(rules, world, c, true);
        forget_alone(rules, world, c);
        return;
    }
    for (int i = 0; i < rules->masters; i++) {
        struct link *link = &world->master[i].link[c];
        link->to_convert = false;
        if (broken(rules, SHARED_COUNTS_AS_ALONE))
            link->alone = link->promise;
    }
}

/* ---- what it gives back ------------------------------------------------------------------- */

/* A waiter goes on with a fresh token, and the former one is there until its release is
 * carried out. */
static void rename_token(struct master *master, int c)
{
    struct data *data = &master->data;
    if (data->name == TOKEN + c)
        data->name = GIVEN_BACK + c;
    data->ghosts |= data->members & 1 << c;
    data->members &= ~(1 << c);
    data->score[c] = 0;
    master->ghosts |= master->queue & 1 << c;
    master->queue &= ~(1 << c);
}

void client_give_back(const struct rules *rules, struct world *world, int c, enum phase then)
{
    world->client[c].phase = then;
    for (int i = 0; i < rules->masters; i++) {
        struct link *link = &world->master[i].link[c];
        for (int k = FLIGHTS; k-- > 0;)
            if (link->flight[k].stage == ANSWERED || then != DONE)
                client_forget_message(link, k);
        if (then != DONE)
            rename_token(&world->master[i], c);
        link->giving = true;
        link->promise = link->alone = link->told = 0;
        link->to_convert = link->lost = link->ahead = false;
    }
}

bool client_has_to_yield(const struct rules *rules, const struct world *world, int c)
{
    bool is_behind = false;
    for (int i = 0; i < rules->masters; i++)
        is_behind |= world->master[i].link[c].ahead && world->master[i].link[c].promise;
    return world->client[c].phase == WAITING && is_behind && !broken(rules, NO_YIELD);
}

/* The largest clock that a quorum told, of those heard; 0: none yet. */
int client_ticket(const struct rules *rules, const struct world *world, int c, int heard)
{
    int told = 0, ticket = 0;
    for (int i = 0; i < rules->masters; i++) {
        int clock = world->master[i].link[c].told;
        if (!(heard & 1 << i) || !clock)
            continue;
        told++;
        ticket = larger(ticket, clock);
    }
    return told < (broken(rules, TICKET_OF_ONE) ? 1 : quorum(rules)) ? 0 : ticket;
}

/* ---- what it has ---------------------------------------------------------------------------- */

static int count(const struct rules *rules, const struct world *world, int c, bool alone)
{
    int promises = 0;
    for (int i = 0; i < rules->masters; i++) {
        const struct link *link = &world->master[i].link[c];
        promises += (alone ? link->alone : link->promise) > 0;
    }
    return promises;
}

static bool has_quorum(const struct rules *rules, const struct world *world, int c, bool alone)
{
    int enough = quorum(rules) - (broken(rules, READER_ON_FEWER) && !alone) -
                 (broken(rules, UPGRADED_ON_FEWER) && alone && !world->client[c].wants_alone);
    return count(rules, world, c, alone) >= enough;
}

static void settle(const struct rules *rules, struct world *world, int c)
{
    struct client *client = &world->client[c];
    bool asks = client->phase == TRYING || client->phase == WAITING;
    if (asks && has_quorum(rules, world, c, client->wants_alone)) {
        client->phase = HOLDING;
        client->alone = client->wants_alone;
    }
    if (client->phase == UPGRADING && has_quorum(rules, world, c, true))
        client_end_upgrade(rules, world, c, true);
    if (client->phase != HOLDING && client->phase != UPGRADING)
        return;
    if (!has_quorum(rules, world, c, client->alone))
        client_give_back(rules, world, c, DONE);
}

/* Of one master alone nobody can say what the others give: that is left to steps. */
void client_settle(const struct rules *rules, struct world *world)
{
    for (int c = 0; c < rules->clients && !is_of_one(rules); c++)
        settle(rules, world, c);
}

static bool holds(const struct world *world, int c)
{
    return world->client[c].phase == HOLDING || world->client[c].phase == UPGRADING;
}

static void judge_two(const struct rules *rules, struct world *world, int a, int b)
{
    if (holds(world, a) && holds(world, b) && world->client[a].alone && !is_of_one(rules))
        world->wrong = TWO_HOLD;
    for (int i = 0; i < rules->masters; i++) {
        const struct link *link = world->master[i].link;
        if (link[a].alone && link[b].promise && is_of_one(rules))
            world->wrong = TWO_COUNT;
    }
}

/* A token that a master took back, and that has come to nobody's knowledge since. */
static void judge_risen(const struct rules *rules, struct world *world, int c, int i)
{
    const struct master *master = &world->master[i];
    if (world->client[c].phase == DONE && !master->link[c].giving && !master->restarted &&
        data_has(rules, &master->data, TOKEN + c))
        world->wrong = RISEN;
}

void client_judge(const struct rules *rules, struct world *world)
{
    for (int a = 0; a < rules->clients; a++) {
        for (int b = 0; b < rules->clients; b++)
            if (a != b)
                judge_two(rules, world, a, b);
        for (int i = 0; i < rules->masters; i++)
            judge_risen(rules, world, a, i);
    }
}

void client_tick(const struct rules *rules, struct world *world)
{
    for (int c = 0; c < rules->clients; c++)
        for (int i = 0; i < rules->masters; i++) {
            struct link *link = &world->master[i].link[c];
            pass(&link->promise);
            pass(&link->alone);
            for (int k = 0; k < FLIGHTS; k++)
                pass(&link->flight[k].left);
        }
}
