#include "lease/lists.h"

#include "lease/lease.h"
#include "ground/histogram.h"
#include "ground/sanity.h"

static struct lease_list *list_of(struct engine *e, const struct lease *lease)
{
    switch ((enum lease_place)lease->place) {
    case PLACE_IDLE:
        return &e->idle;
    case PLACE_BUSY:
        return &e->busy;
    case PLACE_THROTTLED:
        return &e->throttled;
    case PLACE_STRANDED:
        return &e->stranded;
    case PLACE_HELD:
        return &e->held;
    case PLACE_NONE:
        break;
    }
    return NULL;
}

/* A lease is held as long as it is in that list, but not before ACQUIRED was reported. */
static void count_held(struct engine *e, struct lease *lease)
{
    if (lease->risk)
        e->at_risk--;
    lease->risk = RISK_NONE;
    if (lease->acquired)
        histogram_add(&e->counters.holding, lease_held_for(lease, e->now));
}

void engine_list(struct engine *e, struct lease_list *list, struct lease *lease)
{
    ASSERT(list->place != PLACE_NONE);
    engine_unlist(e, lease);
    lease->prev = NULL;
    lease->next = list->first;
    if (list->first)
        list->first->prev = lease;
    else
        list->last = lease;
    list->first = lease;
    list->count++;
    lease->place = list->place;
}

void engine_unlist(struct engine *e, struct lease *lease)
{
    struct lease_list *list = list_of(e, lease);
    if (!list)
        return;
    if (e->next_visited == lease)
        e->next_visited = lease->prev;
    ASSERT(list->count > 0 && (!lease->next || lease->next->prev == lease));
    ASSERT(lease->prev ? lease->prev->next == lease : list->first == lease);
    if (lease->prev)
        lease->prev->next = lease->next;
    else
        list->first = lease->next;
    if (lease->next)
        lease->next->prev = lease->prev;
    else
        list->last = lease->prev;
    list->count--;
    if (lease->place == PLACE_HELD)
        count_held(e, lease);
    lease->place = PLACE_NONE;
}

void lists_each(struct engine *e, const struct lease_list *list,
                void (*visit)(struct engine *, struct lease *, unsigned), unsigned master)
{
    ASSERT(!e->next_visited);
    IF_ASSERTS(size_t most = list->count;)
    for (struct lease *lease = list->last; lease; lease = e->next_visited) {
        IF_ASSERTS(ASSERT(most-- > 0);) /* none is listed again in front of those to come */
        e->next_visited = lease->prev;
        visit(e, lease, master);
    }
}
