#include "lease/further.h"

#include "lease/lease_parts.h"

static struct further_place *place_of(struct lease *lease)
{
    ASSERT(lease->further);
    return (struct further_place *)(void *)lease;
}

static struct terms terms_of(const struct lease *owner)
{
    return (struct terms){.ttl = owner->terms.ttl,
                          .margin = owner->terms.margin,
                          .wait = NEVER,
                          .max_hold = owner->attempt->max_hold,
                          .at_least = owner->attempt->at_least,
                          .renew = owner->terms.renew,
                          .fence = owner->terms.fence};
}

static bool make_place(struct engine *e, struct lease *lease, const struct lease *owner,
                       struct names *names)
{
    struct terms terms = terms_of(owner);
    if (!lease_make(e, lease, names, &terms, NULL, 0))
        return false;
    if (attempt_for_permit(e, lease->attempt, owner->attempt->permit->count))
        return true;
    lease_unmake(e, lease);
    return false;
}

struct lease *further_new(struct engine *e, struct lease *owner, struct names *names)
{
    struct further_place *place = e->memory.take(e->memory.pool, sizeof *place);
    if (!place)
        return NULL;
    if (!make_place(e, &place->lease, owner, names)) {
        e->memory.give(e->memory.pool, place, sizeof *place);
        return NULL;
    }
    struct permit *permit = owner->attempt->permit;
    place->lease.further = true;
    place->owner = owner;
    place->next = permit->places;
    permit->places = place;
    permit->place_count++;
    return &place->lease;
}

static void leave_owner(struct further_place *place)
{
    struct permit *permit = place->owner->attempt->permit;
    struct further_place **from = &permit->places;
    while (*from != place)
        from = &(*from)->next;
    *from = place->next;
    permit->place_count--;
}

void further_end(struct engine *e, struct lease *lease)
{
    struct further_place *place = place_of(lease);
    ASSERT(!lease->claim);
    leave_owner(place);
    lease_become(lease, LEASE_IDLE);
    engine_unlist(e, lease);
    deadlines_set(&e->deadlines, &lease->deadline, NEVER);
    round_close(lease->attempt->round, lease_masters(e));
    place->next = e->withdrawn;
    e->withdrawn = place;
    deadlines_set(&e->deadlines, &e->deadline, e->now);
}

void further_withdraw(struct engine *e, struct lease *owner)
{
    struct permit *permit = owner->attempt->permit;
    while (permit->places) {
        struct lease *lease = &permit->places->lease;
        if (lease->claim && !lease->claim->abandoned)
            claim_abandon(e, lease->claim, 0);
        claim_let_go(&lease->claim);
        further_end(e, lease);
    }
}

static void free_place(struct engine *e, struct further_place *place)
{
    lease_unmake(e, &place->lease);
    e->memory.give(e->memory.pool, place, sizeof *place);
}

void further_free_withdrawn(struct engine *e)
{
    while (e->withdrawn) {
        struct further_place *place = e->withdrawn;
        e->withdrawn = place->next;
        free_place(e, place);
    }
}

void further_drop(struct engine *e, struct lease *owner)
{
    struct permit *permit = owner->attempt->permit;
    while (permit->places) {
        struct further_place *place = permit->places;
        leave_owner(place);
        free_place(e, place);
    }
}
