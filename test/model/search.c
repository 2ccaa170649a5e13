#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "search.h"

enum { NO_PARENT = UINT32_MAX, FIRST_ROOM = 1 << 16, TABLE_PER_WORLD = 2 };

static void *resized(void *memory, size_t count, size_t size)
{
    void *larger = realloc(memory, count * size);
    if (larger)
        return larger;
    fprintf(stderr, "fence-model: out of memory\n");
    exit(70);
}

static bool same(struct packed a, struct packed b)
{
    return a.masters == b.masters && a.attempts == b.attempts;
}

/* Where a world is in the table, or belongs. */
static uint32_t *slot_of(const struct search *search, struct packed world)
{
    uint64_t mask = (uint64_t)search->room * TABLE_PER_WORLD - 1;
    uint64_t hash = world.masters * UINT64_C(0x9e3779b97f4a7c15) ^ world.attempts;
    hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
    uint64_t at = (hash ^ hash >> 29) & mask;
    while (search->table[at] && !same(search->worlds[search->table[at] - 1], world))
        at = (at + 1) & mask;
    return &search->table[at];
}

static void grow(struct search *search)
{
    search->room = search->room ? search->room * 2 : FIRST_ROOM;
    size_t slots = (size_t)search->room * TABLE_PER_WORLD;
    free(search->table);
    search->table = resized(NULL, slots, sizeof *search->table);
    memset(search->table, 0, slots * sizeof *search->table);
    search->worlds = resized(search->worlds, search->room, sizeof *search->worlds);
    search->parents = resized(search->parents, search->room, sizeof *search->parents);
    for (uint32_t i = 0; i < search->count; i++)
        *slot_of(search, search->worlds[i]) = i + 1;
}

static void meet(void *visitor, const struct step *step, const struct world *next)
{
    struct search *search = visitor;
    struct packed world = fence_pack(next);
    if (search->found_wrong)
        return;
    if (step && step->wrong) {
        search->found_wrong = true;
        search->wrong = world;
        return;
    }
    if (search->count == search->room)
        grow(search);
    uint32_t *slot = slot_of(search, world);
    if (*slot)
        return;
    search->worlds[search->count] = world;
    search->parents[search->count] = step ? search->expanding : NO_PARENT;
    *slot = ++search->count;
}

void search_run(struct search *search, const struct rules *rules)
{
    *search = (struct search){.rules = rules};
    fence_begin(rules, meet, search);
    uint32_t level_ends = search->count;
    for (uint32_t at = 0; at < search->count; at++) {
        if (at == level_ends) {
            level_ends = search->count;
            search->depth++;
        }
        search->expanding = at;
        struct world world = fence_unpack(search->worlds[at]);
        fence_steps(rules, &world, meet, search);
        if (search->found_wrong)
            break;
    }
    search->depth += search->found_wrong;
}

/* Masters are numbered anew in every world kept: the story follows the numbers of the first. */
struct teller {
    fence_visit *visit;
    void *visitor;
    struct packed wanted;
    bool is_told;
    struct world now;
};

static void tell_if_wanted(void *visitor, const struct step *step, const struct world *next)
{
    struct teller *teller = visitor;
    if (teller->is_told || !same(fence_pack(next), teller->wanted))
        return;
    teller->is_told = true;
    teller->visit(teller->visitor, step, next);
    teller->now = *next;
}

static void tell_next(const struct search *search, struct teller *teller, struct packed wanted)
{
    struct world from = teller->now;
    teller->wanted = wanted;
    teller->is_told = false;
    fence_steps(search->rules, &from, tell_if_wanted, teller);
}

static void tell_up_to(const struct search *search, struct teller *teller, uint32_t at)
{
    struct packed world = search->worlds[at];
    if (search->parents[at] != NO_PARENT) {
        tell_up_to(search, teller, search->parents[at]);
        tell_next(search, teller, world);
        return;
    }
    teller->now = fence_unpack(world);
    teller->visit(teller->visitor, NULL, &teller->now);
}

void search_tell(const struct search *search, fence_visit *visit, void *visitor)
{
    struct teller teller = {.visit = visit, .visitor = visitor};
    tell_up_to(search, &teller, search->expanding);
    tell_next(search, &teller, search->wrong);
}

void search_free(struct search *search)
{
    free(search->worlds);
    free(search->parents);
    free(search->table);
}
