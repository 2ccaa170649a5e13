#include "list_chain.h"

#include <limits.h>

enum { SIDE = REDLOCK_MASTERS_MAX + 1, NO_WAY = UINT_MAX };

struct way {
    unsigned steps; /* to the last list; NO_WAY: there is none */
    struct chain_list next;
};

struct ways {
    struct way from[SIDE][SIDE];
};

unsigned chain_masters(const struct list_chain *chain, struct chain_list list)
{
    return chain->staying + list.going + list.coming;
}

static bool may_be_used(const struct list_chain *chain, struct chain_list list)
{
    unsigned masters = chain_masters(chain, list), least = chain->spare ? chain->spare + 3 : 1;
    return masters >= least && masters <= REDLOCK_MASTERS_MAX;
}

static unsigned quorum_of(const struct list_chain *chain, struct chain_list list)
{
    return redlock_quorum(chain_masters(chain, list), chain->spare);
}

/* Any two quorums share more masters than may be wrong.  `to` has none of those that have gone. */
static bool may_meet(const struct list_chain *chain, struct chain_list from, struct chain_list to)
{
    unsigned all = chain_masters(chain, (struct chain_list){from.going, to.coming});
    return quorum_of(chain, from) + quorum_of(chain, to) > all + chain->spare;
}

static bool is_better(const struct list_chain *chain, const struct way *way, unsigned steps,
                      struct chain_list to)
{
    bool is_longer =
        way->steps == steps && chain_masters(chain, to) > chain_masters(chain, way->next);
    return steps < way->steps || is_longer;
}

static void try_next(const struct list_chain *chain, struct ways *ways, struct chain_list from,
                     struct chain_list to)
{
    struct way *way = &ways->from[from.going][from.coming];
    unsigned further = ways->from[to.going][to.coming].steps;
    if (further != NO_WAY && may_be_used(chain, to) && may_meet(chain, from, to) &&
        is_better(chain, way, further + 1, to))
        *way = (struct way){further + 1, to};
}

static void find_way(const struct list_chain *chain, struct ways *ways, struct chain_list from)
{
    struct way *way = &ways->from[from.going][from.coming];
    bool is_last = !from.going && from.coming == chain->coming;
    *way = (struct way){.steps = is_last ? 0 : NO_WAY};
    for (unsigned going = 0; going <= from.going; going++)
        for (unsigned coming = from.coming; coming <= chain->coming; coming++)
            if (going != from.going || coming != from.coming)
                try_next(chain, ways, from, (struct chain_list){going, coming});
}

bool chain_find(struct list_chain *chain)
{
    struct ways ways = {0};
    struct chain_list list = {chain->going, 0};
    for (unsigned going = 0; going <= chain->going; going++)
        for (unsigned coming = chain->coming + 1; coming-- > 0;)
            find_way(chain, &ways, (struct chain_list){going, coming});
    const struct way *way = &ways.from[list.going][list.coming];
    bool is_found = way->steps != NO_WAY;
    for (chain->count = 0; is_found; way = &ways.from[list.going][list.coming]) {
        chain->lists[chain->count++] = list;
        if (!way->steps)
            break;
        list = way->next;
    }
    return is_found;
}
