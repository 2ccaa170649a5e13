#include "lease/lease_parts.h"
#include "lease/local_queue.h"

static bool needs_extra(const struct terms *terms)
{
    return terms->max_hold || terms->at_least || terms->fence;
}

static size_t size_with(bool extra)
{
    return sizeof(struct lease) + (extra ? sizeof(struct lease_extra) : 0);
}

size_t lease_size(const struct terms *terms)
{
    return size_with(needs_extra(terms));
}

size_t lease_size_of(const struct lease *lease)
{
    return size_with(lease->has_extra);
}

bool lease_make(struct engine *e, struct lease *lease, struct names *names,
                const struct terms *terms, const char *token, size_t token_length)
{
    *lease = (struct lease){.terms = {.ttl = terms->ttl,
                                      .margin = terms->margin,
                                      .renew = terms->renew,
                                      .fence = terms->fence},
                            .attached = token != NULL,
                            .shadow = terms->moves_by != 0,
                            .valid_until = terms->moves_by,
                            .has_extra = needs_extra(terms)};
    if (lease->has_extra)
        *lease_extra(lease) = (struct lease_extra){.hold_until = NEVER};
    lease->deadline.owner = OWNER_LEASE;
    lease->wake_at = NEVER;
    lease->attempt = attempt_take(e);
    if (!lease->attempt)
        return false;
    if (!deadlines_enter(&e->deadlines, &e->memory)) {
        attempt_give(e, lease->attempt);
        return false;
    }
    if (!claim_new(e, &lease->claim, names, token, token_length)) {
        deadlines_leave(&e->deadlines, &lease->deadline);
        attempt_give(e, lease->attempt);
        return false;
    }
    attempt_begin(lease->attempt, names, terms);
    engine_list(e, &e->idle, lease);
    attempt_open(lease->attempt, lease_masters(e), REQUEST_ACQUIRE, 0, 0);
    return true;
}

void lease_unmake(struct engine *e, struct lease *lease)
{
    engine_unlist(e, lease);
    if (lease->claim && !lease->claim->abandoned)
        claim_drop(e, lease->claim);
    else
        claim_let_go(&lease->claim);
    if (lease->attempt && lease->attempt->queue)
        local_queue_leave(e, lease);
    if (lease->attempt)
        attempt_give(e, lease->attempt);
    lease->attempt = NULL;
    deadlines_leave(&e->deadlines, &lease->deadline);
    lease_become(lease, LEASE_IDLE);
}
