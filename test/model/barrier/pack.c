/*
 * A world in a few words.  Facts that no later step looks at are forgotten first, so that fewer
 * worlds differ.  Masters are alike, and so are parties, so they are sorted.
 */
#include <string.h>

#include "world.h"

#include "../bits.h"

INLINE void word_fields(struct bits *bits, struct word *word)
{
    field(bits, 3, &word->stand);
    field(bits, PARTIES, &word->tokens);
    field(bits, 3, &word->age);
}

INLINE void link_fields(struct bits *bits, struct link *link)
{
    field(bits, 2, &link->stage);
    field(bits, 2, &link->errand);
    word_fields(bits, &link->flight);
    word_fields(bits, &link->known);
    flag(bits, &link->touched);
    flag(bits, &link->stale);
    flag(bits, &link->orphan);
    flag(bits, &link->has_counted);
}

INLINE void master_fields(const struct rules *rules, struct bits *bits, struct master *master)
{
    flag(bits, &master->data.open);
    flag(bits, &master->data.passed);
    flag(bits, &master->data.record);
    flag(bits, &master->data.of_others);
    field(bits, PARTIES, &master->data.there);
    flag(bits, &master->barred);
    flag(bits, &master->has_saved);
    flag(bits, &master->saved_open);
    flag(bits, &master->saved_passed);
    flag(bits, &master->saved_record);
    flag(bits, &master->saved_of_others);
    field(bits, PARTIES, &master->saved_there);
    field(bits, 4, &master->abstains);
    field(bits, 4, &master->kept);
    for (int c = 0; c < rules->parties; c++) {
        field(bits, 2, &master->data.live[c]);
        link_fields(bits, &master->link[c]);
    }
}

INLINE void other_fields(struct bits *bits, struct world *world)
{
    for (int c = 0; c < PARTIES; c++) {
        struct party *party = &world->party[c];
        field(bits, 3, &party->phase);
        flag(bits, &party->uncertain);
        flag(bits, &party->decided);
        field(bits, 3, &party->heard);
        field(bits, 3, &party->gone);
    }
    field(bits, PARTIES, &world->with);
    field(bits, PARTIES, &world->may);
    flag(bits, &world->any_decided);
    flag(bits, &world->any_told);
    field(bits, 2, &world->restarts);
    field(bits, 2, &world->saves);
    field(bits, 3, &world->late);
    field(bits, 2, &world->deaths);
    field(bits, 2, &world->returns);
    field(bits, 2, &world->others);
    field(bits, 2, &world->expiries);
}

/* ---- what does not matter --------------------------------------------------------------- */

static void forget_word(const struct rules *rules, const struct party *party, struct word *word)
{
    if (party->decided ? word->stand != PASSED : party->uncertain && word->stand > PASSED)
        *word = (struct word){.age = word->age};
    /* As long as it is older than the last hearing of a quorum, it is part of no later one. */
    bool counts = rules->lasts && !party->uncertain;
    bool is_later = !party->heard || rules->lasts - word->age + 1 > party->heard;
    if (word->stand == SHUT && !(counts && is_later))
        word->age = rules->lasts + 1;
}

static void forget_link(const struct rules *rules, const struct party *party, struct link *link)
{
    bool asks = party->phase == WAITS || party->phase == LEAVES;
    if (!asks) {
        if (link->stage == ANSWERED)
            link->stage = IDLE;
        link->known = (struct word){.age = rules->lasts + 1};
        link->touched = link->stale = link->has_counted = false;
        link->flight.age = 0;
    }
    if (link->stage == IDLE) {
        link->errand = ARRIVE;
        link->flight = (struct word){0};
    }
    if (!asks)
        return;
    link->touched |= party->uncertain;
    link->has_counted |= party->uncertain;
    forget_word(rules, party, &link->known);
    if (link->stage == ANSWERED)
        forget_word(rules, party, &link->flight);
}

static void forget_master(const struct rules *rules, const struct world *world,
                          struct master *master)
{
    struct data *data = &master->data;
    if (data->passed)
        *data = (struct data){.passed = true, .record = data->record};
    if (!data->open && !data->passed)
        master->kept = 0;
    if (!world->restarts) {
        master->has_saved = master->saved_open = master->saved_passed = false;
        master->saved_record = master->saved_of_others = false;
        master->saved_there = 0;
    }
    for (int c = 0; c < rules->parties; c++)
        forget_link(rules, &world->party[c], &master->link[c]);
}

static void forget_party(const struct rules *rules, const struct world *world, struct party *party)
{
    bool asks = party->phase == WAITS || party->phase == LEAVES;
    bool has_ended = party->phase == UNDECIDED || party->phase == DEAD;
    if (has_ended || (party->phase == HAS_PASSED && !world->returns))
        party->phase = DEAD;
    if (!asks)
        party->decided = party->uncertain = false;
    if (!asks || !rules->lasts)
        party->heard = 0;
    if (!has_ended || world->any_decided || !rules->ttl)
        party->gone = 0;
}

static void forget(const struct rules *rules, struct world *world)
{
    if (!world->restarts)
        world->saves = 0;
    for (int i = 0; i < rules->masters; i++)
        forget_master(rules, world, &world->master[i]);
    for (int c = 0; c < rules->parties; c++)
        forget_party(rules, world, &world->party[c]);
}

/* ---- packing ------------------------------------------------------------------------------ */

static void pack(const struct rules *rules, struct world *world, chunk *chunks)
{
    struct bits others = {0};
    for (int i = 0; i < rules->masters; i++) {
        struct bits bits = {0};
        master_fields(rules, &bits, &world->master[i]);
        chunks[i] = bits.chunk;
    }
    sort_chunks(chunks, rules->masters);
    other_fields(&others, world);
    chunks[MASTERS] = others.chunk;
}

/* ---- parties in another order --------------------------------------------------------------- */

static uint8_t permuted(const uint8_t *order, uint8_t set)
{
    uint8_t as = 0;
    for (int c = 0; c < PARTIES; c++)
        as |= (set >> order[c] & 1) << c;
    return as;
}

static void permute_master(const uint8_t *order, const struct master *from, struct master *to)
{
    *to = *from;
    to->data.there = permuted(order, from->data.there);
    to->saved_there = permuted(order, from->saved_there);
    for (int c = 0; c < PARTIES; c++) {
        struct link *link = &to->link[c];
        to->data.live[c] = from->data.live[order[c]];
        *link = from->link[order[c]];
        link->flight.tokens = permuted(order, link->flight.tokens);
        link->known.tokens = permuted(order, link->known.tokens);
    }
}

static void permute(const struct rules *rules, const uint8_t *order, const struct world *from,
                    struct world *to)
{
    *to = *from;
    to->with = permuted(order, from->with);
    to->may = permuted(order, from->may);
    for (int c = 0; c < PARTIES; c++)
        to->party[c] = from->party[order[c]];
    for (int i = 0; i < rules->masters; i++)
        permute_master(order, &from->master[i], &to->master[i]);
}

static unsigned rank(const struct world *world, int c)
{
    const struct party *party = &world->party[c];
    unsigned sets = (world->with >> c & 1) << 1 | (world->may >> c & 1);
    return ((((sets << 3 | party->phase) << 3 | party->heard) << 3 | party->gone) << 1 |
            party->uncertain)
               << 1 |
           party->decided;
}

/* Those that differ in themselves are in one order only. */
static bool is_sorted(const struct rules *rules, const uint8_t *order, const unsigned *ranks)
{
    for (int c = 0; c + 1 < rules->parties; c++)
        if (ranks[order[c]] > ranks[order[c + 1]])
            return false;
    return true;
}

static void pack_least(const struct rules *rules, const struct world *world, chunk *least)
{
    static const uint8_t orders[][PARTIES] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1},
                                              {2, 1, 0}, {1, 2, 0}, {2, 0, 1}};
    static const int count[] = {1, 1, 2, 6};
    unsigned ranks[PARTIES];
    bool is_first = true;
    for (int c = 0; c < PARTIES; c++)
        ranks[c] = rank(world, c);
    for (int k = 0; k < count[rules->parties]; k++) {
        struct world other;
        chunk chunks[MASTERS + 1] = {0};
        if (!is_sorted(rules, orders[k], ranks))
            continue;
        permute(rules, orders[k], world, &other);
        pack(rules, &other, chunks);
        if (is_first || memcmp(chunks, least, sizeof chunks) < 0)
            memcpy(least, chunks, sizeof chunks);
        is_first = false;
    }
}

enum { WORDS_OF_CHUNK = 2 };

unsigned model_words(const struct rules *rules)
{
    (void)rules;
    return WORDS_OF_CHUNK * (MASTERS + 1);
}

void model_pack(const struct rules *rules, const struct world *of, uint64_t *words)
{
    struct world world = *of;
    chunk chunks[MASTERS + 1];
    forget(rules, &world);
    pack_least(rules, &world, chunks);
    for (int i = 0; i <= MASTERS; i++)
        words = put_chunk(chunks[i], WORDS_OF_CHUNK, words);
}

void model_unpack(const struct rules *rules, const uint64_t *words, struct world *world)
{
    struct bits others = {.reads = true};
    *world = (struct world){0};
    for (int i = 0; i < MASTERS; i++) {
        struct bits bits = {.reads = true};
        words = take_chunk(&bits.chunk, WORDS_OF_CHUNK, words);
        master_fields(rules, &bits, &world->master[i]);
    }
    take_chunk(&others.chunk, WORDS_OF_CHUNK, words);
    other_fields(&others, world);
}
