/*
 * Breadth-first search of every world that can be reached, until a wrong fence is shown or
 * nothing is left: the story it finds is one of the shortest.
 */
#ifndef MODEL_SEARCH_H
#define MODEL_SEARCH_H

#include "fence.h"

struct search {
    const struct rules *rules;
    struct packed *worlds; /* in the order in which they were found */
    uint32_t *parents;
    uint32_t *table; /* by hash: 1 + the place in worlds; 0: empty */
    uint32_t count, room;
    uint32_t expanding;
    bool found_wrong; /* a step from `expanding` shows a wrong fence, and leads to `wrong` */
    struct packed wrong;
    int depth;
};

void search_run(struct search *search, const struct rules *rules);
/* After found_wrong: visits the story; the first step is NULL. */
void search_tell(const struct search *search, fence_visit *visit, void *visitor);
void search_free(struct search *search);

#endif
