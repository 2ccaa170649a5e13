/*
 * Breadth-first search of every world of a model that can be reached, until a step is wrong
 * or nothing is left: the story it finds is one of the shortest.  After that, if the model has a
 * goal, the first world from which no honest step leads on to it.  If it has idle steps, the first
 * world from which these alone can go on for ever.
 */
#ifndef MODEL_SEARCH_H
#define MODEL_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MODEL_WORDS = 12, MODEL_WORLD_SIZE = 512 };

/* Each model has its own. */
struct rules;
struct world;
struct step;

/* A step that leads to a world; NULL: a world to begin with. */
typedef void model_visit(void *visitor, const struct step *step, const struct world *next);

struct visit {
    const struct rules *rules;
    const struct world *now; /* from which steps lead on */
    model_visit *visit;
    void *visitor;
};

/* ---- what a model has to do ---- */

void model_begin(const struct visit *v);
void model_steps(const struct visit *v);
/* One packed world for all that differ in nothing that matters. */
void model_pack(const struct rules *rules, const struct world *world, uint64_t *words);
void model_unpack(const struct rules *rules, const uint64_t *words, struct world *world);
/* Of a model that has one. */
bool model_is_goal(const struct rules *rules, const struct world *world);

struct model {
    const struct rules *rules;
    unsigned words;    /* that a packed world has, at most MODEL_WORDS */
    uint32_t most;     /* worlds to be looked at; 0: all of them */
    size_t world_size; /* at most MODEL_WORLD_SIZE */
    bool (*is_goal)(const struct rules *rules, const struct world *world); /* NULL: none */
    const char *stuck_words; /* "from here on ..." no goal is reached */
    bool looks_for_rest;
    /* Where a step has the bool that says so. */
    size_t wrong_at;
    size_t honest_at; /* with a goal, or looking for rest */
    size_t idle_at;   /* looking for rest */
};

struct search {
    const struct model *model;
    uint64_t *worlds; /* in the order in which they were found */
    uint32_t *parents;
    uint32_t *table; /* by hash: 1 + the place in worlds; 0: empty */
    uint32_t count, room;
    uint32_t expanding;
    bool found_wrong; /* a step from `expanding` is wrong, and leads to `wrong` */
    bool is_stuck;    /* no goal can be reached from `expanding` */
    bool is_restless; /* idle steps can go on for ever from `expanding` */
    bool unfinished;
    uint64_t wrong[MODEL_WORDS];
    int depth; /* of the last world, or of what was found */
};

void search_run(struct search *search, const struct model *model);
static inline bool search_found(const struct search *search)
{
    return search->found_wrong || search->is_stuck || search->is_restless;
}
/* After search_found: visits the story; the first step is NULL. */
void search_tell(const struct search *search, model_visit *visit, void *visitor);
void search_free(struct search *search);

#endif
