/*
 * A world in a few words.  Facts that no later step looks at are forgotten first, so that fewer
 * worlds differ.  Masters are alike, so they are sorted.
 */
#include "world.h"

#include "../bits.h"

INLINE void id_field(const struct rules *rules, struct bits *bits, uint8_t *id)
{
    field(bits, rules->creators ? 2 : 1, id);
}

INLINE void message_fields(const struct rules *rules, int c, struct bits *bits,
                           struct message *message)
{
    field(bits, 2, &message->kind);
    field(bits, 2, &message->stage);
    id_field(rules, bits, &message->id);
    if (clears(rules))
        flag(bits, &message->of_other);
    if (is_creator(rules, c))
        return;
    flag(bits, &message->open);
    field(bits, rules->arrivers, &message->arrived);
    field(bits, 2, &message->rank);
    flag(bits, &message->verified);
}

INLINE void link_fields(const struct rules *rules, int c, struct bits *bits, struct link *link)
{
    message_fields(rules, c, bits, &link->message);
    field(bits, 2, &link->stands);
    id_field(rules, bits, &link->id);
    flag(bits, &link->stale);
    field(bits, 2, &link->left);
    if (clears(rules))
        flag(bits, &link->old);
    if (is_creator(rules, c)) {
        flag(bits, &link->touched);
        flag(bits, &link->other);
        return;
    }
    field(bits, rules->arrivers, &link->arrived);
    flag(bits, &link->missing);
    field(bits, 2, &link->rank);
    flag(bits, &link->verified);
}

INLINE void master_fields(const struct rules *rules, struct bits *bits, struct master *master)
{
    flag(bits, &master->lies);
    id_field(rules, bits, &master->record.id);
    flag(bits, &master->record.of_run);
    flag(bits, &master->record.open);
    field(bits, rules->arrivers, &master->record.arrived);
    field(bits, 3, &master->quarantine);
    if (clears(rules)) {
        field(bits, 3, &master->record.age);
        field(bits, 4, &master->forgot);
    }
    for (int c = 0; c < clients(rules); c++)
        link_fields(rules, c, bits, &master->link[c]);
}

INLINE void other_fields(const struct rules *rules, struct bits *bits, struct world *world)
{
    for (int c = 0; c < clients(rules); c++) {
        struct client *client = &world->client[c];
        field(bits, 2, &client->phase);
        field(bits, 2, &client->id);
        flag(bits, &client->bound);
        flag(bits, &client->decided);
        flag(bits, &client->open);
        flag(bits, &client->verifies);
        field(bits, 3, &client->left);
        flag(bits, &client->after_open);
        field(bits, ARRIVERS, &client->after);
        flag(bits, &client->was_none);
    }
    flag(bits, &world->told_open);
    field(bits, ARRIVERS, &world->told_counted);
    field(bits, 2, &world->told);
    field(bits, 4, &world->made);
    field(bits, 4, &world->lost);
    field(bits, 3, &world->late);
    field(bits, 2, &world->restarts);
}

static void forget(const struct rules *rules, struct world *world)
{
    for (int i = 0; i < rules->masters; i++)
        for (int c = 0; c < clients(rules); c++) {
            struct link *link = &world->master[i].link[c];
            if (!world->client[c].verifies)
                link->verified = link->message.verified = false;
            if (is_creator(rules, c))
                link->arrived = link->rank = link->message.rank = 0;
            if (link->message.stage == FORMER && link->message.kind != PUT)
                link->message.stage = DEAD; /* it is for any process */
        }
}

PACKING(rules->masters, 2, 2)
