#include "search.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_PARENT = UINT32_MAX, FIRST_ROOM = 1 << 16, TABLE_PER_WORLD = 2 };

static void *resized(void *memory, size_t count, size_t size)
{
    void *larger = realloc(memory, count * size);
    if (larger)
        return larger;
    fprintf(stderr, "out of memory\n");
    exit(70);
}

static uint64_t *world_at(const struct search *search, uint32_t at)
{
    return search->worlds + (size_t)at * search->model->words;
}

static bool same(const struct model *model, const uint64_t *a, const uint64_t *b)
{
    return memcmp(a, b, model->words * sizeof *a) == 0;
}

static uint64_t hash_of(const struct model *model, const uint64_t *world)
{
    uint64_t hash = 0;
    for (unsigned i = 0; i < model->words; i++) {
        hash = (hash ^ world[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
        hash ^= hash >> 29;
    }
    return hash;
}

/* Where a world is in the table, or belongs. */
static uint32_t *slot_of(const struct search *search, const uint64_t *world)
{
    uint64_t mask = (uint64_t)search->room * TABLE_PER_WORLD - 1;
    uint64_t at = hash_of(search->model, world) & mask;
    while (search->table[at] &&
           !same(search->model, world_at(search, search->table[at] - 1), world))
        at = (at + 1) & mask;
    return &search->table[at];
}

static void grow(struct search *search)
{
    search->room = search->room ? search->room * 2 : FIRST_ROOM;
    size_t slots = (size_t)search->room * TABLE_PER_WORLD;
    size_t size = search->model->words * sizeof *search->worlds;
    free(search->table);
    search->table = resized(NULL, slots, sizeof *search->table);
    memset(search->table, 0, slots * sizeof *search->table);
    search->worlds = resized(search->worlds, search->room, size);
    search->parents = resized(search->parents, search->room, sizeof *search->parents);
    for (uint32_t i = 0; i < search->count; i++)
        *slot_of(search, world_at(search, i)) = i + 1;
}

static bool is_so(const void *step, size_t at)
{
    return *(const bool *)((const char *)step + at);
}

static void meet(void *visitor, const struct step *step, const struct world *next)
{
    struct search *search = visitor;
    const struct model *model = search->model;
    uint64_t world[MODEL_WORDS];
    if (search->found_wrong)
        return;
    model_pack(model->rules, next, world);
    if (step && is_so(step, model->wrong_at)) {
        search->found_wrong = true;
        memcpy(search->wrong, world, sizeof world);
        return;
    }
    if (search->count == search->room)
        grow(search);
    uint32_t *slot = slot_of(search, world);
    if (*slot)
        return;
    memcpy(world_at(search, search->count), world, model->words * sizeof *world);
    search->parents[search->count] = step ? search->expanding : NO_PARENT;
    *slot = ++search->count;
}

static void expand(struct search *search, uint32_t at, model_visit *visit, void *visitor)
{
    const struct model *model = search->model;
    alignas(max_align_t) unsigned char world[MODEL_WORLD_SIZE];
    struct visit v = {model->rules, (struct world *)world, visit, visitor};
    search->expanding = at;
    model_unpack(model->rules, world_at(search, at), (struct world *)world);
    model_steps(&v);
}

static void find_wrong(struct search *search)
{
    model_begin(&(struct visit){.rules = search->model->rules, .visit = meet, .visitor = search});
    uint32_t level_ends = search->count;
    for (uint32_t at = 0; at < search->count && !search->unfinished; at++) {
        if (at == level_ends) {
            level_ends = search->count;
            search->depth++;
        }
        expand(search, at, meet, search);
        if (search->found_wrong)
            break;
        search->unfinished = search->model->most && search->count > search->model->most;
    }
    search->depth += search->found_wrong;
}

/* ---- from where the goal can be reached ------------------------------------------ */

struct hope {
    struct search *search;
    uint8_t *hopeful; /* for each world, that it is known to lead to the goal */
};

static void look(void *visitor, const struct step *step, const struct world *next)
{
    struct hope *hope = visitor;
    const struct model *model = hope->search->model;
    uint32_t at = hope->search->expanding;
    uint64_t world[MODEL_WORDS];
    if (hope->hopeful[at] || !is_so(step, model->honest_at))
        return;
    model_pack(model->rules, next, world);
    uint32_t *slot = slot_of(hope->search, world);
    hope->hopeful[at] = *slot && hope->hopeful[*slot - 1];
}

static bool is_goal(const struct search *search, uint32_t at)
{
    alignas(max_align_t) unsigned char world[MODEL_WORLD_SIZE];
    model_unpack(search->model->rules, world_at(search, at), (struct world *)world);
    return search->model->is_goal(search->model->rules, (struct world *)world);
}

/* Late worlds first, since steps mostly lead to later ones.  Whether one more was found. */
static bool look_at_all(struct hope *hope)
{
    bool one_more = false;
    for (uint32_t at = hope->search->count; at-- > 0;) {
        if (hope->hopeful[at])
            continue;
        expand(hope->search, at, look, hope);
        one_more |= hope->hopeful[at];
    }
    return one_more;
}

static int depth_of(const struct search *search, uint32_t at)
{
    int depth = 0;
    for (; search->parents[at] != NO_PARENT; at = search->parents[at])
        depth++;
    return depth;
}

static void find_stuck(struct search *search)
{
    struct hope hope = {search, resized(NULL, search->count, 1)};
    for (uint32_t at = 0; at < search->count; at++)
        hope.hopeful[at] = is_goal(search, at);
    while (look_at_all(&hope))
        continue;
    const uint8_t *stuck = memchr(hope.hopeful, false, search->count);
    if (stuck) {
        search->is_stuck = true;
        search->expanding = (uint32_t)(stuck - hope.hopeful);
        search->depth = depth_of(search, search->expanding);
    }
    free(hope.hopeful);
}

/* ---- from where idle steps can go on for ever ------------------------------------ */

static void look_whether_idle(void *visitor, const struct step *step, const struct world *next)
{
    struct hope *hope = visitor;
    const struct model *model = hope->search->model;
    uint32_t at = hope->search->expanding;
    uint64_t world[MODEL_WORDS];
    if (!hope->hopeful[at] || !is_so(step, model->honest_at) || !is_so(step, model->idle_at))
        return;
    model_pack(model->rules, next, world);
    uint32_t *slot = slot_of(hope->search, world);
    hope->hopeful[at] = *slot && (*slot - 1 == at || hope->hopeful[*slot - 1]);
}

/* Comes to rest: each idle step that changes anything leads to a world that does. */
static bool rests(struct hope *hope, uint32_t at)
{
    hope->hopeful[at] = true;
    /* look_whether_idle() reads the mark of other worlds only. */
    expand(hope->search, at, look_whether_idle, hope);
    return hope->hopeful[at];
}

static bool let_all_rest(struct hope *hope)
{
    bool one_more = false;
    for (uint32_t at = hope->search->count; at-- > 0;)
        if (!hope->hopeful[at])
            one_more |= rests(hope, at);
    return one_more;
}

static void find_restless(struct search *search)
{
    struct hope hope = {search, resized(NULL, search->count, 1)};
    memset(hope.hopeful, false, search->count);
    while (let_all_rest(&hope))
        continue;
    const uint8_t *restless = memchr(hope.hopeful, false, search->count);
    if (restless) {
        search->is_restless = true;
        search->expanding = (uint32_t)(restless - hope.hopeful);
        search->depth = depth_of(search, search->expanding);
    }
    free(hope.hopeful);
}

void search_run(struct search *search, const struct model *model)
{
    *search = (struct search){.model = model};
    find_wrong(search);
    if (model->is_goal && !search->found_wrong && !search->unfinished)
        find_stuck(search);
    if (model->looks_for_rest && !search->found_wrong && !search->unfinished)
        find_restless(search);
}

/* ---- the story --------------------------------------------------------------------- */

/* Like masters are numbered anew in every world kept: the story follows the numbers of the
 * first. */
struct teller {
    const struct model *model;
    model_visit *visit;
    void *visitor;
    const uint64_t *wanted;
    bool is_wrong_wanted, is_told;
    alignas(max_align_t) unsigned char now[MODEL_WORLD_SIZE];
};

static void tell_if_wanted(void *visitor, const struct step *step, const struct world *next)
{
    struct teller *teller = visitor;
    uint64_t world[MODEL_WORDS];
    if (teller->is_told || is_so(step, teller->model->wrong_at) != teller->is_wrong_wanted)
        return;
    model_pack(teller->model->rules, next, world);
    if (!same(teller->model, world, teller->wanted))
        return;
    teller->is_told = true;
    teller->visit(teller->visitor, step, next);
    memcpy(teller->now, next, teller->model->world_size);
}

static void tell_next(struct teller *teller, const uint64_t *wanted)
{
    alignas(max_align_t) unsigned char from[MODEL_WORLD_SIZE];
    struct visit v = {teller->model->rules, (struct world *)from, tell_if_wanted, teller};
    memcpy(from, teller->now, sizeof from);
    teller->wanted = wanted;
    teller->is_told = false;
    model_steps(&v);
}

static void tell_up_to(const struct search *search, struct teller *teller, uint32_t at)
{
    const uint64_t *world = world_at(search, at);
    if (search->parents[at] != NO_PARENT) {
        tell_up_to(search, teller, search->parents[at]);
        tell_next(teller, world);
        return;
    }
    model_unpack(search->model->rules, world, (struct world *)teller->now);
    teller->visit(teller->visitor, NULL, (struct world *)teller->now);
}

void search_tell(const struct search *search, model_visit *visit, void *visitor)
{
    struct teller teller = {.model = search->model, .visit = visit, .visitor = visitor};
    tell_up_to(search, &teller, search->expanding);
    teller.is_wrong_wanted = search->found_wrong;
    if (search->found_wrong)
        tell_next(&teller, search->wrong);
}

void search_free(struct search *search)
{
    free(search->worlds);
    free(search->parents);
    free(search->table);
}
