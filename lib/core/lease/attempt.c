#include "lease/attempt.h"

#include "ground/sanity.h"
#include "ground/shared.h"

#define SPARE_ATTEMPTS 1024 /* attempts kept for the next lease; more are freed */

void attempt_begin(struct attempt *attempt, struct names *names, const struct terms *terms)
{
    attempt->names = names_share(names);
    attempt->wait = terms->wait;
    attempt->max_hold = terms->max_hold;
    attempt->at_least = terms->at_least;
    attempt->place = (struct queue_place){0};
    attempt->ahead_alone = 0;
    attempt->yields = 0;
    attempt->yielded_at = 0;
    attempt->unfounded = false;
    ASSERT(!attempt->permit);
}

void attempt_open(struct attempt *attempt, unsigned masters, enum request_kind kind,
                  uint32_t number, usec give_up)
{
    attempt->fence = 0;
    attempt->basis = 0;
    attempt->place.refreshed_at = 0;
    attempt->place.early = 0;
    attempt->place.minority_since = 0;
    round_begin(&attempt->round, masters, kind, number, give_up);
}

static size_t attempt_size(const struct engine *e)
{
    return sizeof(struct attempt) + e->config.masters * sizeof(struct ballot);
}

struct attempt *attempt_take(struct engine *e)
{
    struct attempt *attempt = e->free_attempts;
    if (!attempt)
        return e->memory.take(e->memory.pool, attempt_size(e));
    e->free_attempts = attempt->next_free;
    e->spare_attempts--;
    return attempt;
}

void attempt_give(struct engine *e, struct attempt *attempt)
{
    names_drop(&e->memory, attempt->names);
    attempt->names = NULL;
    if (attempt->permit)
        e->memory.give(e->memory.pool, attempt->permit, sizeof *attempt->permit);
    attempt->permit = NULL;
    round_hush(&attempt->round, &e->memory, e->config.masters);
    if (e->spare_attempts == SPARE_ATTEMPTS) {
        e->memory.give(e->memory.pool, attempt, attempt_size(e));
        return;
    }
    attempt->next_free = e->free_attempts;
    e->free_attempts = attempt;
    e->spare_attempts++;
}

bool attempt_for_permit(struct engine *e, struct attempt *attempt, unsigned count)
{
    attempt->permit = e->memory.take(e->memory.pool, sizeof *attempt->permit);
    if (attempt->permit)
        attempt->permit->count = (uint16_t)count;
    return attempt->permit != NULL;
}

void attempts_drop(struct engine *e)
{
    while (e->free_attempts) {
        struct attempt *attempt = e->free_attempts;
        e->free_attempts = attempt->next_free;
        e->memory.give(e->memory.pool, attempt, attempt_size(e));
    }
}
