/*
 * A world in a few words.  Facts that no later step looks at are forgotten first, so that fewer
 * worlds differ.  Masters are alike, so they are sorted.
 */
#include <stdlib.h>

#include "world.h"

typedef unsigned __int128 chunk;

enum { WORD = 64 };

/* Fields are written and read by the same functions, in the same order. */
struct bits {
    chunk chunk;
    unsigned at;
    bool reads;
};

#define INLINE static inline __attribute__((always_inline))

INLINE void field(struct bits *bits, unsigned width, uint8_t *value)
{
    uint8_t mask = (1u << width) - 1;
    if (bits->reads) {
        *value = (uint8_t)(bits->chunk >> bits->at) & mask;
    } else {
        bits->chunk |= (chunk)*value << bits->at;
        if (*value > mask || bits->at + width > 2 * WORD)
            abort();
    }
    bits->at += width;
}

INLINE void flag(struct bits *bits, bool *value)
{
    uint8_t as = *value;
    field(bits, 1, &as);
    *value = as;
}

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

static void sort(chunk *low, chunk *high)
{
    if (*low <= *high)
        return;
    chunk former = *low;
    *low = *high;
    *high = former;
}

void latch_pack(const void *of_rules, const void *of_world, uint64_t *words)
{
    const struct rules *rules = of_rules;
    struct world world = *(const struct world *)of_world;
    chunk master[MASTERS] = {0};
    struct bits others = {0};
    forget(rules, &world);
    for (int i = 0; i < rules->masters; i++) {
        struct bits bits = {0};
        master_fields(rules, &bits, &world.master[i]);
        master[i] = bits.chunk;
    }
    for (int last = rules->masters - 1; last > 0; last--)
        for (int i = 0; i < last; i++)
            sort(&master[i], &master[i + 1]);
    for (int i = 0; i < rules->masters; i++) {
        *words++ = (uint64_t)master[i];
        *words++ = (uint64_t)(master[i] >> WORD);
    }
    other_fields(rules, &others, &world);
    *words++ = (uint64_t)others.chunk;
    *words = (uint64_t)(others.chunk >> WORD);
}

void latch_unpack(const void *of_rules, const uint64_t *words, void *of_world)
{
    const struct rules *rules = of_rules;
    struct world *world = of_world;
    *world = (struct world){0};
    for (int i = 0; i < rules->masters; i++) {
        struct bits bits = {.reads = true, .chunk = words[0] | (chunk)words[1] << WORD};
        words += 2;
        master_fields(rules, &bits, &world->master[i]);
    }
    struct bits others = {.reads = true, .chunk = words[0] | (chunk)words[1] << WORD};
    other_fields(rules, &others, world);
}
