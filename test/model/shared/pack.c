/*
 * A world in a few words.  Facts that no later step looks at are forgotten first, so that fewer
 * worlds differ.  Masters are alike, so they are sorted.
 */
#include "world.h"

#include "../bits.h"

/* ---- what is forgotten ------------------------------------------------------------------ */

static bool has_anything(const struct rules *rules, const struct master *master, int c)
{
    const struct data *const both[] = {&master->data, &master->saved};
    for (int k = 0; k < 2; k++) {
        int name = both[k]->name;
        if (name == TOKEN + c || name == GIVEN_BACK + c ||
            (both[k]->members | both[k]->ghosts) & 1 << c)
            return true;
    }
    return (master->queue | master->ghosts) & 1 << c || master->link[c].flight[0].kind ||
           broken(rules, SET_NOT_DELETED);
}

static void forget_answer(struct message *message)
{
    message->left = message->vote = 0;
    message->is_of_round = false;
}

/* To hear it changes nothing. */
static bool is_over(const struct message *message)
{
    bool says_more = message->kind == CONVERT || message->kind == UPGRADE ||
                     message->vote == ALONE || message->vote == REFUSED;
    return message->kind && message->stage == ANSWERED && !message->left && !says_more;
}

static void forget_message(struct message *message)
{
    bool is_answered = message->kind && message->stage == ANSWERED;
    if (!is_answered)
        message->vote = 0;
    if (is_answered && message->kind != UPGRADE && message->vote == REFUSED)
        message->left = 0;
    if (message->stage == DEAD)
        forget_answer(message);
}

static void forget_link(const struct rules *rules, struct world *world, int c, int i)
{
    struct link *link = &world->master[i].link[c];
    struct client *client = &world->client[c];
    for (int k = 0; k < FLIGHTS; k++)
        forget_message(&link->flight[k]);
    for (int k = FLIGHTS; k-- > 0;)
        if (is_over(&link->flight[k]) && !broken(rules, DATED_FROM_ANSWER))
            client_forget_message(link, k);
    if (client->phase == DONE) {
        link->stale = false;
        link->giving = link->giving && has_anything(rules, &world->master[i], c);
        for (int k = 0; k < FLIGHTS; k++)
            forget_answer(&link->flight[k]);
    }
    if (!link->promise)
        link->ahead = false;
    if (!rules->restarts)
        link->stale = false;
    if (client->phase != TRYING)
        link->told = 0;
}

static void forget(const struct rules *rules, struct world *world)
{
    for (int c = 0; c < rules->clients; c++) {
        struct client *client = &world->client[c];
        if (client->phase == DONE && !broken(rules, RELEASED_BY_MODE))
            client->alone = false;
        if (client->phase == DONE) {
            client->ticket = 0;
            client->is_upgraded = false;
            client->wants_alone = client->wants_alone && has_queue(rules);
        }
        for (int x = 0; x < rules->clients; x++)
            if (world->client[x].phase >= HOLDING || client->phase >= HOLDING)
                client->after &= ~(1 << x);
        for (int i = 0; i < rules->masters; i++)
            forget_link(rules, world, c, i);
    }
    for (int i = 0; i < rules->masters && !world->restarts; i++) {
        world->master[i].saved = (struct data){0};
        world->master[i].has_saved = false;
    }
    for (int i = 0; i < rules->masters && rules->question != ORDER; i++)
        world->master[i].clock = 0;
}

/* ---- bits ----------------------------------------------------------------------------------- */

enum { TIME = 2, KIND = 3, CLOCK = 4 };

INLINE void message_fields(struct bits *bits, struct message *message)
{
    field(bits, KIND, &message->kind);
    flag(bits, &message->alone);
    field(bits, TIME, &message->stage);
    field(bits, TIME, &message->left);
    field(bits, KIND, &message->vote);
    flag(bits, &message->is_of_round);
}

INLINE void link_fields(const struct rules *rules, struct bits *bits, struct link *link)
{
    message_fields(bits, &link->flight[0]);
    flag(bits, &link->giving);
    field(bits, TIME, &link->promise);
    field(bits, TIME, &link->alone);
    flag(bits, &link->to_convert);
    if (has_queue(rules)) {
        field(bits, CLOCK, &link->told);
        flag(bits, &link->ahead);
        return;
    }
    message_fields(bits, &link->flight[1]);
    flag(bits, &link->lost);
    flag(bits, &link->stale);
}

INLINE void data_fields(const struct rules *rules, struct bits *bits, struct data *data)
{
    field(bits, KIND, &data->name);
    field(bits, TIME, &data->left);
    field(bits, CLIENTS, &data->members);
    if (has_queue(rules))
        field(bits, CLIENTS, &data->ghosts);
    for (int c = 0; c < rules->clients; c++)
        field(bits, TIME, &data->score[c]);
}

INLINE void master_fields(const struct rules *rules, struct bits *bits, struct master *master)
{
    data_fields(rules, bits, &master->data);
    if (has_queue(rules)) {
        field(bits, CLOCK, &master->clock);
        field(bits, CLIENTS, &master->queue);
        field(bits, CLIENTS, &master->ghosts);
    } else {
        data_fields(rules, bits, &master->saved);
        flag(bits, &master->has_saved);
        flag(bits, &master->restarted);
        field(bits, TIME, &master->quarantine);
    }
    for (int c = 0; c < rules->clients; c++)
        link_fields(rules, bits, &master->link[c]);
}

INLINE void other_fields(const struct rules *rules, struct bits *bits, struct world *world)
{
    for (int c = 0; c < rules->clients; c++) {
        struct client *client = &world->client[c];
        field(bits, KIND, &client->phase);
        flag(bits, &client->wants_alone);
        flag(bits, &client->alone);
        flag(bits, &client->is_upgraded);
        field(bits, CLOCK, &client->ticket);
        field(bits, CLIENTS, &client->after);
    }
    field(bits, KIND, &world->late);
    field(bits, KIND, &world->restarts);
    field(bits, KIND, &world->changes);
}

/* ---- words ------------------------------------------------------------------------------- */

static unsigned words_of_master(const struct rules *rules)
{
    struct bits bits = {0};
    master_fields(rules, &bits, &(struct master){0});
    return (bits.at + WORD - 1) / WORD;
}

PACKING(rules->masters, words_of_master(rules), 1)
