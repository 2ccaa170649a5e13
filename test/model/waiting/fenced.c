/*
 * A fenced waiter with grants of a quorum, or more, takes the quorum-th smallest grant as its
 * fence, and has it stored where the grant was lower.  The master moves its clock up to the fence,
 * if it still has the waiter's token.  The lease is reported once a quorum of masters that the
 * waiter has is at the fence or above.  It is reported only while a quorum of those whose grant was
 * no higher when the fence was fixed has been kept ever since (R-F).
 */
#include "world.h"

static int fence_of(const struct rules *rules, const struct world *world, int w)
{
    uint8_t grants[MASTERS] = {0};
    int count = 0;
    for (int i = 0; i < rules->masters; i++) {
        const struct link *link = &world->master[i].link[w];
        if (!link->promise)
            continue;
        int at = count++;
        for (; at > 0 && grants[at - 1] > link->told; at--)
            grants[at] = grants[at - 1];
        grants[at] = link->told;
    }
    return grants[broken(rules, FENCE_MINIMUM) ? 0 : quorum(rules) - 1];
}

void fenced_fix(const struct rules *rules, struct world *world, int w)
{
    int fence = fence_of(rules, world, w);
    world->waiter[w].phase = STORING;
    world->waiter[w].fence = fence;
    for (int i = 0; i < rules->masters; i++) {
        struct link *link = &world->master[i].link[w];
        link->backs = link->promise && (link->told <= fence || broken(rules, FENCE_MINIMUM));
        link->raising = link->promise && link->told < fence;
    }
}

bool fenced_may_tell(const struct rules *rules, const struct world *world, int w)
{
    int stored = 0, backs = 0;
    if (world->waiter[w].phase != STORING)
        return false;
    for (int i = 0; i < rules->masters; i++) {
        const struct link *link = &world->master[i].link[w];
        bool is_stored = link->told >= world->waiter[w].fence || broken(rules, FENCE_UNSTORED);
        stored += link->promise && is_stored;
        backs += link->backs;
    }
    return stored >= quorum(rules) &&
           (backs >= quorum(rules) || broken(rules, FENCE_ON_LATER_GRANT));
}

void fenced_tell(const struct rules *rules, struct world *world, int w)
{
    uint8_t fence = world->waiter[w].fence;
    client_acquire(rules, world, w);
    if (fence <= world->top)
        world->wrong = FENCE_BACKWARDS;
    world->top = larger(world->top, fence);
}
